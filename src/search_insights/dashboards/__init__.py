"""The dashboard: a static site made from published folders and public tables, and nothing else."""
