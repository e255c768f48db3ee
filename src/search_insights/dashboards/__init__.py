"""The dashboard: a static site made from published folders and nothing else."""
