"""Left of the noise: the search log, its bounding (X1 to X4, Section 3.1) and the exact counts.

Everything here is private: it stays in memory or in a private temporary folder. Only the bridge to the store
(`anonymization`), `audit` and `evaluation` may import this package; a test enforces it.
"""
