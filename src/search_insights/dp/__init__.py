"""Differential privacy itself: the noise, and the accounting of what it gives (Section 3.2)."""
