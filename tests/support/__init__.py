"""Helpers that test modules share, and tests of `search_insights.support`."""
