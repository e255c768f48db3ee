"""Attacks that try to break the promise by experiment, on the program's own code path."""
