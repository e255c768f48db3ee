"""The modules of dp-accounting that the accounting loads alone are the library: what they compose is the same."""

import subprocess
import sys

import dp_accounting
import numpy as np
import pytest
import scipy.fft
import scipy.signal
import scipy.special
import scipy.stats
from dp_accounting.pld import pld_pmf, privacy_loss_distribution
from hypothesis import given, settings
from hypothesis import strategies as st

from search_insights.dp import library as module
from search_insights.dp.library import Library, library

WHOLE = Library(privacy_loss_distribution, pld_pmf)


def composed(lib: Library, sigmas: list[float], times: int, cut: float) -> tuple[int, np.ndarray, float]:
    """Compose mechanisms, then all of that with itself, cutting off tails; return the distribution."""
    parts = [lib.pld.from_discrete_gaussian_mechanism(s, value_discretization_interval=1e-3) for s in sigmas]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.compose(part, 0.0)
    pmf = whole.self_compose(times, cut)._pmf_remove.to_dense_pmf()
    return pmf._lower_loss, np.asarray(pmf._probs), pmf._infinity_mass


@settings(max_examples=15)
@given(st.lists(st.floats(0.5, 40), min_size=1, max_size=4), st.integers(1, 20), st.sampled_from([0.0, 1e-15, 1e-9]))
def test_what_is_loaded_alone_composes_as_the_whole_library(sigmas: list[float], times: int, cut: float) -> None:
    """The same losses have the same masses, up to the last digits of a floating-point number of 1."""
    lowest, masses, infinite = composed(library(), sigmas, times, cut)
    whole_lowest, whole_masses, whole_infinite = composed(WHOLE, sigmas, times, cut)
    assert (lowest, masses.size) == (whole_lowest, whole_masses.size)
    np.testing.assert_allclose(masses, whole_masses, rtol=0, atol=1e-14)
    assert infinite == pytest.approx(whole_infinite, abs=1e-14)


@given(st.floats(0.3, 900), st.sampled_from([1e-4, 1e-3]))
@settings(max_examples=10)
def test_a_mechanism_is_that_of_the_whole_library(sigma: float, step: float) -> None:
    """The distribution of one mechanism is the same to the last bit: only composing transforms anything."""
    ours, whole = (
        lib.pld.from_discrete_gaussian_mechanism(sigma, value_discretization_interval=step)._pmf_remove.to_dense_pmf()
        for lib in (library(), WHOLE)
    )
    assert (ours._lower_loss, ours._infinity_mass) == (whole._lower_loss, whole._infinity_mass)
    assert np.array_equal(ours._probs, whole._probs)


def test_loading_changes_no_module_of_anyone_else() -> None:
    """Whoever imports dp-accounting or SciPy gets them whole, before and after."""
    before = dict(sys.modules)
    alone = library.__wrapped__()
    assert dict(sys.modules) == before
    assert alone.pld is not privacy_loss_distribution
    assert sys.modules["dp_accounting"] is dp_accounting
    assert sys.modules["scipy.stats"] is scipy.stats


def test_the_accounting_imports_little_and_leaves_the_rest_to_be_imported_whole() -> None:
    """Accounting loads no part of SciPy; after it both libraries can be imported and used as always."""
    program = (
        "import sys\n"
        "from search_insights.dp.accounting import account\n"
        "from search_insights.spec.spec_file import load_spec\n"
        "assert account(load_spec()).holds\n"
        "parts = ('scipy.fft', 'scipy.signal', 'scipy.special', 'scipy.stats', 'scipy.optimize', 'dp_accounting')\n"
        "assert not [part for part in parts if part in sys.modules]\n"
        "import dp_accounting, scipy.stats\n"
        "assert dp_accounting.get_epsilon_gaussian(1.0, 1e-5) > 4\n"
        "assert scipy.stats.norm.cdf(0) == 0.5\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# The functions that stand in for SciPy's


@given(st.integers(1, 3_000_000))
def test_afast_length_is_long_enough_and_has_no_large_factor(least: int) -> None:
    """It is not above SciPy's own choice among such lengths."""
    length = module.fast_length(least)
    assert least <= length <= scipy.fft.next_fast_len(least, real=True)
    for factor in (2, 3, 5):
        while length % factor == 0:
            length //= factor
    assert length == 1


@given(st.lists(st.floats(-300, 300), min_size=1), st.data())
def test_the_logarithm_of_a_sum_is_scipys(exponents: list[float], data: st.DataObject) -> None:
    """Also where the numbers themselves are too large or too small for a computer."""
    weights = data.draw(st.lists(st.floats(0.01, 1), min_size=len(exponents), max_size=len(exponents)))
    ours = module._log_of_sum(np.array(exponents) * 10, b=np.array(weights))
    assert ours == pytest.approx(scipy.special.logsumexp(np.array(exponents) * 10, b=weights), abs=1e-9)


def test_what_numpy_does_not_give_is_scipys_own() -> None:
    """A stand-in that is asked for another function gets it from SciPy."""
    stand_in = module._stand_ins()["scipy.signal"]
    assert stand_in.lfilter is scipy.signal.lfilter
    assert stand_in.fftconvolve is module._convolved
    with pytest.raises(AttributeError):
        _ = stand_in.no_such_function
