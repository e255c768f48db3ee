"""Post-processing (Section 4): from noisy counts to published values. It costs no budget."""
