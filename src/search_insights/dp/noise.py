"""The noise: exact discrete Gaussian from the operating system's entropy (Section 3.2).

OpenDP samples the distribution exactly, on integers (Canonne, Kamath and Steinke, 2020). Floating-point noise would
leak the count in its low bits (Mironov, 2012). There is no seed, so nobody can draw the same noise again.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from search_insights.support.arrays import Counts, Floats

_Draw = Callable[[], None]

# The name of the mechanism in the ledger.
MECHANISM = "discrete Gaussian, OpenDP"

# Small enough to keep all threads busy to the end, large enough for the calls to cost nothing.
_CHUNK = 4096


class Noise:
    """Noise that is being drawn in the background, one number for each sigma, to be added once.

    It depends on no count, so it may be drawn while counts are made. Added to two lists of counts, it would show their
    exact difference: so it is handed out once.
    """

    def __init__(self, sigmas: Floats, threads: ThreadPoolExecutor) -> None:
        """Begin to draw. Each sigma's mechanism is made here: no thread has to import OpenDP."""
        self.sigmas = sigmas
        self._drawn = np.empty(sigmas.shape, dtype=np.int64)
        draws = [
            partial(self._draw, mechanism, chunk)
            for sigma in np.unique(sigmas)
            for mechanism in (_measurement(float(sigma)),)
            for chunk in _chunks(np.flatnonzero(sigmas == sigma))
        ]
        self._jobs: list[tuple[Future[None], _Draw]] | None = [(threads.submit(draw), draw) for draw in draws]

    def _draw(self, mechanism: Any, where: npt.NDArray[np.intp]) -> None:
        self._drawn[where] = mechanism([0] * where.size)

    def take(self) -> Counts:
        """Return the noise when all of it is drawn; refuse a second time. A failure of any thread is raised here.

        What no thread has begun is drawn by the caller, who would otherwise wait for it.
        """
        if self._jobs is None:
            raise RuntimeError("this noise was added already; draw new noise")
        jobs, self._jobs = self._jobs, None
        for job, draw in reversed(jobs):  # threads begin with the first
            if job.cancel():
                draw()
        for job, _ in jobs:
            if not job.cancelled():
                job.result()
        return self._drawn


@contextmanager
def drawing_noise(sigmas: Floats) -> Iterator[Noise]:
    """Draw noise while the caller does something else; what is not drawn at the end is given up.

    One core is left to the caller, whose work takes longer than the noise.
    """
    threads = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1))
    try:
        yield Noise(sigmas, threads)
    finally:
        threads.shutdown(cancel_futures=True)


def add_noise(counts: Counts, sigmas: Floats, noise: Noise | None = None) -> Counts:
    """Add independent noise to each count, with its own sigma. Results may be negative; they are not clipped.

    `noise` is what was drawn for these sigmas already, if anything was.
    """
    if counts.shape != sigmas.shape:
        raise ValueError(f"{counts.size} counts, but {sigmas.size} sigmas")
    if noise is None:
        with drawing_noise(sigmas) as drawn:
            return counts + drawn.take()
    if not np.array_equal(noise.sigmas, sigmas):
        raise ValueError("the noise was drawn for other sigmas")
    return counts + noise.take()


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
