"""Differential privacy itself: the noise, and the accounting of what it promises (Section 3.2)."""
