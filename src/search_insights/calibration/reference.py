"""The spec that a table of sigmas is compared with: no level and trend may be expected to publish fewer values.

It is compared on the profile, and on logs unlike it: sigmas that suit one profile could lose on another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from search_insights.calibration.calibration import calibrate
from search_insights.calibration.expectation import Expectation, Outlook
from search_insights.calibration.region_noise import table_of
from search_insights.errors import InputError
from search_insights.spec.spec import Promise, Spec


@dataclass(frozen=True)
class OtherLog:
    """A log unlike the profile: what the counts of any search and of the topics are multiplied by."""

    name: str
    any_search: float
    topics: float


OTHER_LOGS = (
    OtherLog("any search x30", 30.0, 1.0),
    OtherLog("everything x10", 10.0, 10.0),
    OtherLog("any search x3, topics /3", 3.0, 1 / 3),
)


@dataclass(frozen=True)
class Comparison:
    """The expected number of values of a spec and of its reference, for one log."""

    log: OtherLog
    reference: float
    values: float

    @property
    def ratio(self) -> float | None:
        """How many times as many values the spec publishes; None if the reference publishes none."""
        return self.values / self.reference if self.reference >= 0.5 else None


def reference_for(spec: Spec, has_sigmas: bool, paper: Spec) -> Spec | None:
    """Return the reference of a spec for which none is named.

    It is the paper's, for a release with the same regions, trends and rules; otherwise the spec itself, if it has
    sigmas.
    """
    same_rules = spec.reliability == paper.reliability and spec.min_area_km2 == paper.min_area_km2
    if same_rules and not _differences(spec, paper):
        return paper
    return spec if has_sigmas else None


def at_promise(reference: Spec, promise: Promise) -> Spec:
    """Return a reference with this promise: its own sigmas, or calibrated ones if it promises something else."""
    if reference.promise == promise:
        return reference
    return calibrate(replace(reference, name=f"{reference.name}-calibrated"), promise)


def require_comparable(spec: Spec, reference: Spec) -> None:
    """Refuse a reference whose values are of other regions or trends."""
    if differences := _differences(spec, reference):
        raise InputError(
            f"`not_below` {reference.name}: cannot be compared with spec {spec.name!r}, because it has other "
            f"{' and '.join(differences)}; name a spec with the same ones"
        )


def _differences(spec: Spec, reference: Spec) -> list[str]:
    ours, theirs = (
        {
            "levels": (s.total, [(level.name, level.unreported_classes) for level in s.levels]),
            "size classes": (s.class_level, s.size_classes),
            "trends": sorted(trend.id for trend in s.trends),
        }
        for s in (spec, reference)
    )
    return [words for words in ours if ours[words] != theirs[words]]


def compare(new: tuple[Spec, Outlook], reference: tuple[Spec, Outlook]) -> Sequence[Comparison]:
    """Compare the sigmas of two specs on logs unlike the profile of their outlooks."""
    found = []
    for log in OTHER_LOGS:
        of_new, of_reference = (_expected(spec, outlook, log).total for spec, outlook in (new, reference))
        found.append(Comparison(log, of_reference, of_new))
    return found


def _expected(spec: Spec, outlook: Outlook, log: OtherLog) -> Expectation:
    return outlook.scaled(log.any_search, log.topics).expect(table_of(spec))
