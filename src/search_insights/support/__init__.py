"""Helpers for every stage that know nothing of a release: files, folders, SQL, arrays, charts."""
