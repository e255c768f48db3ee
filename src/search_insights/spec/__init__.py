"""What a release is, and every public fact: spec, geography, coverage, cells, weeks. Nothing here sees a search log."""
