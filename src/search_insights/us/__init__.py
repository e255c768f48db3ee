"""Build the geography of the United States from official files."""
