"""The accounting: what a spec's noise promises, case by case (Section 3.2).

Two neighbouring logs differ by one user's searches of one day. By X1 and X2 these change at most one count, by at
most one, for each level and category; by X4 all changed counts of classed levels are of one size class; by X3 an
unreported class has no counts. So each size class is one case: its mechanisms are the discrete Gaussians of the levels
and measures that it reports, each of sensitivity 1. User-days known only at open levels are one more case. With rest
cells, those count at the level of the size classes in a rest, which has the sigmas of one class; so do user-days of a
class that is not reported there.

A spec with top searches has each of these cases twice, for the one text that the user-day counts in. Either the text is
*known*: it is public, or it is searched by enough users without this one. Then its counts in the total and in one
region have noise, and change by at most 1: two more mechanisms. Or it is *new*: only this user makes the text reach the
floor of users. Then it can be shown in one of the two logs only, with a chance that is the tail of the noise beyond
the threshold, and everything may be told by it (`top_searches.py`). A text cannot be both, so the worse of the two is
what a user-day costs.

Epsilon at the promised delta is computed from the privacy loss distributions of the discrete Gaussian that is actually
used, whose discretisation errs on the safe side (`composition.py`). The dp-accounting library composes the same, and
`privacy` compares (`reference.py`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from search_insights.dp.losses import Seen, composed, epsilon_of_case, epsilon_of_mixtures, step_for
from search_insights.dp.top_searches import chance_of_showing
from search_insights.errors import CheckFailed
from search_insights.spec.spec import Promise, Sigma, Spec
from search_insights.spec.weeks import DAYS_OF_WEEK

# Stands for a category in the sigmas of texts; no category has this name, because it is not a word.
TEXTS = "top searches"


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which neighbouring logs can differ: the mechanisms that see the difference.

    `chance` is the probability with which the difference is seen in full.
    """

    name: str
    sigmas: tuple[Sigma, ...]
    chance: float = 0.0


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
    """Return the cases of a spec: those of its trends, each with a new text and with a known one if texts are shown."""
    return tuple(case for of_trends in trend_cases(spec) for case in with_texts(spec, of_trends))


def with_texts(spec: Spec, case: Case) -> tuple[Case, ...]:
    """Return a case of the trends with a new text, and with a known one; itself if the spec has no top searches."""
    if spec.top_searches is None:
        return (case,)
    new = Case(f"{case.name}, new text", case.sigmas, chance_of_showing(spec.top_searches))
    return new, Case(f"{case.name}, known text", (*case.sigmas, *sigmas_of_texts(spec)))


def sigmas_of_texts(spec: Spec) -> tuple[Sigma, ...]:
    """Return the sigmas of the counts of a known text: in the total, and in a region of the coarsest level."""
    if spec.top_searches is None:
        return ()
    total, region = spec.top_searches.total_sigma, spec.top_searches.region_sigma
    return Sigma(spec.total.level, None, TEXTS, total), Sigma(spec.total.sum_of, None, TEXTS, region)


def trend_cases(spec: Spec) -> tuple[Case, ...]:
    """Return the cases of the trends: one for each size class, and one for user-days known only at open levels."""
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
    delta = spec.promise.delta
    return Accounting(spec.promise, tuple(CaseEpsilon(c, epsilon_of(c, delta)) for c in cases(spec)))


def epsilon_of_trend_case(spec: Spec, name: str) -> float:
    """Return the epsilon of a case of the trends, by its name, with whatever text makes it the worst.

    A search for sigmas asks for each case many times.
    """
    of_trends = next(case for case in trend_cases(spec) if case.name == name)
    return max(epsilon_of(case, spec.promise.delta) for case in with_texts(spec, of_trends))


def epsilon_of_weeks(spec: Spec, weeks: int, others: Sequence[Spec] = (), days: int = DAYS_OF_WEEK) -> float:
    """Return an epsilon, at `delta_of_weeks`, for a user who is active on so many `days` of each of so many weeks.

    This is not promised: it is what the same noise gives for a unit larger than the user-day. The days of a week share
    its noise, so a user may change a count of the week by as many as there are days; that reveals more than as many
    counts with noise of their own would. It reveals the most if all days are of one case: days of two cases change each
    count by less, and a count's loss grows with the square of its change. Weeks have noise of their own, and each may
    be of another case. If they are of several editions, `others` are the specs of these.
    """
    of_all = dict.fromkeys(seen for each in (spec, *others) for seen in _seen_of_week(each, days))
    return epsilon_of_mixtures(list(of_all), weeks, delta_of_weeks(spec, weeks, others, days))


def _seen_of_week(spec: Spec, days: int) -> list[Seen]:
    """Return what sees the difference that a user of so many days of a week makes, for each case of the trends.

    A text counts users, so that each of the user's texts changes by 1, in the total and in a region. On one day it is
    new or known. On several days some may be new and others known, so all of them count as both.
    """
    if days == 1:
        return [Seen(tuple(_values(case.sigmas)), case.chance) for case in cases(spec)]
    texts = tuple(_values(sigmas_of_texts(spec))) * days
    chance = days * max((case.chance for case in cases(spec)), default=0.0)
    return [Seen(tuple(_values(case.sigmas)), chance, days, texts) for case in trend_cases(spec)]


def delta_of_weeks(spec: Spec, weeks: int, others: Sequence[Spec] = (), days: int = DAYS_OF_WEEK) -> float:
    """Return the delta of a user who is active on so many `days` of each of so many weeks.

    It is that of a day, and a new text's chance for each other day: each may have a new text, so that no epsilon would
    do at the delta of a single day. Of several editions, the highest delta and the highest chance count.
    """
    specs = (spec, *others)
    chance = max((case.chance for each in specs for case in cases(each)), default=0.0)
    return max(each.promise.delta for each in specs) + (days * weeks - 1) * chance


def require_promise(spec: Spec) -> Accounting:
    """Return the accounting of a spec; refuse one that promises more than its noise gives."""
    accounting = account(spec)
    if not accounting.holds:
        words = "sigmas or" if spec.top_searches is None else "sigmas, the threshold of top searches or"
        raise CheckFailed(
            f"spec {spec.name!r} promises epsilon {spec.promise.epsilon:g} at delta {spec.promise.delta:g}, but its "
            f"sigmas give {accounting.epsilon:.4f}; raise the {words} the promise (see 'search-insights privacy')"
        )
    return accounting


def epsilon_of(case: Case, delta: float) -> float:
    """Return the epsilon of a case at this delta: of its discrete Gaussian mechanisms of sensitivity 1 together."""
    return epsilon_of_case(_values(case.sigmas), delta, case.chance)


def advantage_of(sigmas: Iterable[Sigma]) -> float:
    """Return the largest advantage that any test has over guessing: delta at epsilon 0."""
    values = _values(sigmas)
    return composed(values, step_for(values)).delta(0.0)


def _values(sigmas: Iterable[Sigma]) -> list[float]:
    return [s.value for s in sigmas]
