"""The published folder: written here, and read here by all who need it."""
