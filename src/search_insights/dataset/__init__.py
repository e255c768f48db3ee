"""The published folder: written here, and read here by whoever needs it."""
