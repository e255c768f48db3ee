"""The accounting: what a spec's noise promises, case by case (Section 3.2).

Two neighbouring logs differ by one user's searches of one day. By X1 and X2 these change at most one count, by at
most one, for each level and category; by X4 all changed counts of classed levels are of one size class; by X3 an
unreported class has no counts. So each size class is one case: its mechanisms are the discrete Gaussians of the levels
and measures that it reports, each of sensitivity 1. User-days known only at open levels are one more case. With rest
cells, those count at the level of the size classes in a rest, which has the sigmas of one class; so do user-days of a
class that is not reported there. Epsilon at
the promised delta is computed from the privacy loss distributions of the discrete Gaussian that is actually used,
composed by the dp-accounting library, whose discretisation errs on the safe side (`losses.py`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from search_insights.dp.losses import composed, epsilon_of_case, epsilon_of_mixtures, step_for
from search_insights.errors import CheckFailed
from search_insights.spec.spec import Promise, Sigma, Spec


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which neighbouring logs can differ: the mechanisms that see the difference."""

    name: str
    sigmas: tuple[Sigma, ...]


@dataclass(frozen=True, slots=True)
class CaseEpsilon:
    """A case and the epsilon that its mechanisms give together at the promised delta."""

    case: Case
    epsilon: float


@dataclass(frozen=True, slots=True)
class Accounting:
    """Every case of a spec, and its promise."""

    promise: Promise
    cases: tuple[CaseEpsilon, ...]

    @property
    def epsilon(self) -> float:
        """The epsilon of the worst case: what the spec really gives."""
        return max(c.epsilon for c in self.cases)

    @property
    def holds(self) -> bool:
        """Whether the promise covers every case."""
        return self.epsilon <= self.promise.epsilon


def cases(spec: Spec) -> tuple[Case, ...]:
    """Return the cases of a spec: one for each size class, and one for user-days known only at open levels."""
    open_sigmas = tuple(s for s in spec.sigmas if s.size_class is None)
    rest = _sigmas_of_rests(spec) if open_sigmas else ()
    of_classes = [Case(name, (*_own_sigmas(spec, name, rest), *open_sigmas)) for name in spec.class_names]
    open_only = [Case("_".join((*spec.open_levels, "only")), (*rest, *open_sigmas))] if open_sigmas else []
    return tuple(of_classes + open_only)


def _own_sigmas(spec: Spec, size_class: str, rest: tuple[Sigma, ...]) -> tuple[Sigma, ...]:
    """Return the sigmas of a class; also those of a rest, if the class is not reported at the level of the classes."""
    own = tuple(s for s in spec.sigmas if s.size_class == size_class)
    return own if any(s.level == spec.class_level for s in own) else own + rest


def _sigmas_of_rests(spec: Spec) -> tuple[Sigma, ...]:
    """Return the sigmas of the rests at the level of the size classes: those of one class (cells.py)."""
    if not spec.counting.rest_cells or spec.rest_class is None:
        return ()
    return tuple(s for s in spec.sigmas if (s.level, s.size_class) == (spec.class_level, spec.rest_class))


def account(spec: Spec) -> Accounting:
    """Compute the epsilon of every case at the promised delta."""
    return Accounting(spec.promise, tuple(_account_case(spec, case) for case in cases(spec)))


def account_case(spec: Spec, name: str) -> CaseEpsilon:
    """Compute the epsilon of one case, by its name: a search for sigmas asks for each case many times."""
    return _account_case(spec, next(case for case in cases(spec) if case.name == name))


def _account_case(spec: Spec, case: Case) -> CaseEpsilon:
    return CaseEpsilon(case, epsilon_of(case.sigmas, spec.promise.delta))


def epsilon_of_days(spec: Spec, days: int, others: Sequence[Spec] = ()) -> float:
    """Return an epsilon, at the same delta, for a user who is active on `days` days, whatever the case of each day.

    This is not promised: it is what the same noise gives for a unit larger than the user-day. If the days are those of
    several editions, `others` are their specs: each day may then be of any case of any of them, at the highest delta.
    """
    specs = (spec, *others)
    if days <= 1:
        return max(account(each).epsilon for each in specs)
    of_all = dict.fromkeys(tuple(_values(case.sigmas)) for each in specs for case in cases(each))
    return epsilon_of_mixtures(list(of_all), days, max(each.promise.delta for each in specs))


def require_promise(spec: Spec) -> Accounting:
    """Return the accounting of a spec; refuse one that promises more than its noise gives."""
    accounting = account(spec)
    if not accounting.holds:
        raise CheckFailed(
            f"spec {spec.name!r} promises epsilon {spec.promise.epsilon:g} at delta {spec.promise.delta:g}, but its "
            f"sigmas give {accounting.epsilon:.4f}; raise the sigmas or the promise (see 'search-insights privacy')"
        )
    return accounting


def epsilon_of(sigmas: Iterable[Sigma], delta: float) -> float:
    """Return the epsilon at this delta of discrete Gaussian mechanisms of sensitivity 1 together."""
    return epsilon_of_case(_values(sigmas), delta)


def advantage_of(sigmas: Iterable[Sigma]) -> float:
    """Return the largest advantage that any test has over guessing: delta at epsilon 0."""
    values = _values(sigmas)
    return composed(values, step_for(values)).delta(0.0)


def _values(sigmas: Iterable[Sigma]) -> list[float]:
    return [s.value for s in sigmas]
