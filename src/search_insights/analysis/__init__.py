"""Questions that analysts ask of a published folder: averages, changes, comparisons, ranks and sums, with intervals."""
