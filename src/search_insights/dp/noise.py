"""The noise: exact discrete Gaussian from the operating system's entropy (Section 3.2).

OpenDP samples the distribution exactly, on integers (Canonne, Kamath and Steinke, 2020). Floating-point noise would
leak the count in its low bits (Mironov, 2012). There is no seed, so nobody can draw the same noise again.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from search_insights.support.arrays import Counts, Floats

# The name of the mechanism in the ledger.
MECHANISM = "discrete Gaussian, OpenDP"

# Small enough to keep all threads busy to the end, large enough for the calls to cost nothing.
_CHUNK = 4096


def add_noise(counts: Counts, sigmas: Floats) -> Counts:
    """Add independent noise to each count, with its own sigma. Results may be negative; they are not clipped."""
    if counts.shape != sigmas.shape:
        raise ValueError(f"{counts.size} counts, but {sigmas.size} sigmas")
    noisy = np.empty_like(counts)
    # One mechanism for each sigma, made here: no thread has to import OpenDP.
    mechanisms = [(_measurement(float(sigma)), np.flatnonzero(sigmas == sigma)) for sigma in np.unique(sigmas)]
    jobs = [(mechanism, chunk) for mechanism, where in mechanisms for chunk in _chunks(where)]

    def work(job: tuple[Any, npt.NDArray[np.intp]]) -> None:
        mechanism, where = job
        noisy[where] = mechanism(counts[where].tolist())

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(work, jobs))  # a list, so that a failure in any thread is raised here
    return noisy


def _chunks(where: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    return np.array_split(where, -(-where.size // _CHUNK))


def _measurement(sigma: float) -> Any:
    """Return OpenDP's discrete Gaussian mechanism on vectors of integers."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    return make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale=sigma)
