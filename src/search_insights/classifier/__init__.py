"""Classify queries: from a text to its category (Section 2). The classifier sees texts and nothing else."""
