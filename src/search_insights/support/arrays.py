"""The types of the arrays that stages pass to each other."""

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]  # of events or user-days
Numbers = npt.NDArray[np.int64]  # that stand for regions, categories, cells or labels
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
