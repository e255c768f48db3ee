"""The weekly routine: the settings file, which weeks are due, and `run`, which does all that is due."""
