"""What `calibrate` tells of the sigmas that it found, next to those of other specs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from search_insights.commands.console import note, out, out_json, table
from search_insights.spec.spec import Spec

if TYPE_CHECKING:
    from search_insights.calibration.expectation import Expectation
    from search_insights.calibration.reference import Comparison
    from search_insights.dp.accounting import Accounting


@dataclass(frozen=True)
class Found:
    """The old spec, if it had sigmas, and the new one; with a profile, also what is expected of them.

    The reference is the spec that no level and trend may fall below.
    """

    specs: tuple[Spec, ...]
    expected: "tuple[Expectation, ...]" = ()
    reference: "Expectation | None" = None
    other_logs: "tuple[Comparison, ...]" = ()

    @property
    def new(self) -> Spec:
        """The spec with the sigmas that were found."""
        return self.specs[-1]

    @property
    def columns(self) -> "tuple[Expectation, ...]":
        """What is expected of the reference, of the old spec if it is another one, and of the new spec."""
        if self.reference is None:
            return self.expected
        reference = self.reference
        return (reference, *(e for e in self.expected if e.spec.fingerprint != reference.spec.fingerprint))


def print_found_json(path: Path, found: Found, accountings: "Sequence[Accounting]") -> None:
    """Print the new spec for a program to read, and what is expected of it."""
    new = found.new
    answer: dict[str, Any] = {
        "spec": str(path),
        "promise": {"epsilon": new.promise.epsilon, "delta": new.promise.delta},
        "cases": [{"name": c.case.name, "epsilon": c.epsilon} for c in accountings[-1].cases],
        "sigmas": [
            {"level": s.level, "size_class": s.size_class, "category": s.category, "sigma": s.value} for s in new.sigmas
        ],
    }
    if found.expected:
        before = {"before": found.expected[0].total} if len(found.expected) > 1 else {}
        answer["expected_points"] = {**before, "after": found.expected[-1].total}
        answer["expected_values"] = _values_by_level(found)
    if found.reference:
        answer["reference"] = {"spec": found.reference.spec.name, "expected_points": found.reference.total}
        answer["other_logs"] = [
            {"log": c.log.name, "reference": c.reference, "after": c.values, "ratio": c.ratio} for c in found.other_logs
        ]
    out_json(answer)
    _warn(found)


def _values_by_level(found: Found) -> list[dict[str, Any]]:
    names = {trend.id: trend.name for trend in found.new.trends}
    columns = {"after": found.expected[-1]}
    if len(found.expected) > 1:
        columns = {"before": found.expected[0], **columns}
    if found.reference:
        columns = {"reference": found.reference, **columns}
    return [
        {"level": key[0], "trend": names[key[1]], **{name: e.of_levels.get(key, 0.0) for name, e in columns.items()}}
        for key in found.expected[-1].of_levels
    ]


def print_found(path: Path, found: Found, accountings: "Sequence[Accounting]") -> None:
    """Show the new spec; beside the old one, if that had sigmas, and beside the reference."""
    specs, new = found.specs, found.new
    right = (1, 2)[: len(specs)]
    epsilons = zip(*(a.cases for a in accountings), strict=True)
    rows = [(of_case[0].case.name, *(f"{c.epsilon:.4f}" for c in of_case)) for of_case in epsilons]
    header = [f"epsilon of {specs[0].name}", *(f"of {spec.name}" for spec in specs[1:])]
    out(table(("case", *header), rows, right=right))
    out(f"\nThe target is epsilon {new.promise.epsilon:g} at delta {new.promise.delta:g}.\n")
    sigmas = zip(*(spec.sigmas for spec in specs), strict=True)
    changed = [(pair[0].key.removeprefix("sigma."), *(f"{s.value:g}" for s in pair)) for pair in sigmas]
    out(table(("sigma", *(spec.name for spec in specs)), changed, right=right))
    if found.expected:
        _print_values(found)
    if found.other_logs:
        _print_other_logs(found)
    out(f"\n{path}: the new spec. A store takes it as a new edition: 'search-insights store edition'.")
    _warn(found)


def _print_values(found: Found) -> None:
    """Show the expected number of values of every level and trend."""
    columns = found.columns
    names = {trend.id: trend.name for trend in found.new.trends}
    rows = [
        _row(level, names[trend], [e.of_levels.get((level, trend), 0.0) for e in columns])
        for level, trend in columns[-1].of_levels
    ]
    rows.append(_row("all", "", [e.total for e in columns]))
    times = ("times",) if len(columns) > 1 else ()
    out("")
    header = ("expected values", "trend", *(e.spec.name for e in columns), *times)
    out(table(header, rows, right=range(2, len(header))))


def _row(level: str, trend: str, values: Sequence[float]) -> tuple[str, ...]:
    """Lay out numbers of values, and how many times as many the last is as the first."""
    times = (_times(values[-1] / values[0] if values[0] >= 0.5 else None),) if len(values) > 1 else ()
    return (level, trend, *(f"{value:,.0f}" for value in values), *times)


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:,.2f}"


def _print_other_logs(found: Found) -> None:
    """Show the comparison on logs unlike the profile."""
    rows = [(c.log.name, f"{c.reference:,.0f}", f"{c.values:,.0f}", _times(c.ratio)) for c in found.other_logs]
    names = (found.reference.spec.name if found.reference else "", found.new.name)
    out("")
    out(table(("logs unlike the profile", *names, "times"), rows, right=(1, 2, 3)))


def _warn(found: Found) -> None:
    """Tell where the new sigmas would publish fewer values than the reference."""
    for each in found.other_logs:
        if each.ratio is not None and each.ratio < 1 and found.reference:
            note(
                f"warning: on a log like the profile with {each.log.name}, the new sigmas are expected to publish "
                f"{each.ratio:.2f} times the values of {found.reference.spec.name}; if yours may be like that, "
                "optimize for a profile of such a log too"
            )
