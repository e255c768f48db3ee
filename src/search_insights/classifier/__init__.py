"""From the text of a query to its category (Section 2). It sees texts and nothing else."""
