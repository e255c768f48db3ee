"""Building the packaged geography of the United States from official files."""
