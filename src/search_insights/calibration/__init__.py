"""Sigmas for a promise: those that keep it, and those that publish the most."""
