"""What hiding a part of a user-day costs, under each packaged spec: epsilon at the promised delta.

The promise is about a whole user-day. A person may care about less: that the topics of a day stay hidden, or some of
them, while the rest of the day is known. Then counts move instead of appearing: any search from one place to another,
and a signed measure from 1 to -1, which is a difference of 2. The text that counts may be gone, or be another: then the
counts of two texts change. The worst case of the accounting is taken. The table in
docs/privacy.md is made from this.

    python -m evidence.hidden_parts --write
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evidence.measuring import ROOT, parser_of
from evidence.pages import filled, markdown_table
from search_insights.commands.console import out
from search_insights.dp.accounting import Case, sigmas_of_texts, trend_cases
from search_insights.dp.top_searches import chance_of_showing
from search_insights.spec.measures import measure_values
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import PACKAGED_SPECS, load_spec

PAGE = ROOT / "docs" / "privacy.md"
STEP = 2e-4  # of the grid of losses, which are rounded up
Changes = Counter[tuple[int, float]]  # how often a count of this sigma changes by so much


@dataclass(frozen=True)
class Hidden:
    """A part of a day that is hidden: the topics of the day with it and without it, and whether the place moves."""

    words: str
    searched: Sequence[str]
    left: Sequence[str]
    moves: bool = False
    nothing_left: bool = False


ALL = ("A1", "A2", "A3")
HIDDEN = (
    Hidden("the whole day (the promise)", ALL, (), nothing_left=True),
    Hidden("all topics; the place is kept", ALL, ()),
    Hidden("all topics; the place moves", ALL, (), moves=True),
    Hidden("A1 and A2, while a search about A3 stays; the place is kept", ALL, ("A3",)),
    Hidden("A1 and A2, while a search about A3 stays; the place moves", ALL, ("A3",), moves=True),
)


def epsilon_of_hidden(spec: Spec, hidden: Hidden) -> float:
    """Return the epsilon of the worst case."""
    every = trend_cases(spec)
    found = [_changes(spec, hidden, case, other) for case in every for other in (every if hidden.moves else (case,))]
    # The worst is that of the largest sum of (change / sigma)^2, up to the rounding of whole numbers.
    most = sorted(found, key=lambda changes: -sum(n * (d / sigma) ** 2 for (d, sigma), n in changes.items()))[:2]
    return max(
        _epsilon(*with_it, spec.promise.delta) for changes in most for with_it in _with_texts(spec, hidden, changes)
    )


def _with_texts(spec: Spec, hidden: Hidden, changes: Changes) -> Iterator[tuple[Changes, float]]:
    """Yield the changes with those of the texts, of which each is new or known, and the chance that a new one shows."""
    if spec.top_searches is None:
        yield changes, 0.0
        return
    texts = 2 if hidden.left else 1
    for known in range(texts + 1):
        of_texts = Counter({(1, s.value): known for s in sigmas_of_texts(spec) if known})
        yield changes + of_texts, 1 - (1 - chance_of_showing(spec.top_searches)) ** (texts - known)


def _changes(spec: Spec, hidden: Hidden, case: Case, other: Case) -> Changes:
    """Return what changes in the counts of a case, and of another if the place moves there."""
    values = [_day(spec, topics) for topics in (hidden.searched, hidden.left)]
    with_it, without = values[0], dict.fromkeys(values[0], 0) if hidden.nothing_left else values[1]
    if not hidden.moves:
        gone, come = {m: with_it[m] - without[m] for m in with_it}, dict.fromkeys(with_it, 0)
    else:
        gone, come = with_it, without
    changes = Counter((abs(gone[s.category]), s.value) for s in case.sigmas)
    changes.update((abs(come[s.category]), s.value) for s in other.sigmas)
    return Counter({(d, sigma): n for (d, sigma), n in changes.items() if d})


def _day(spec: Spec, topics: Sequence[str]) -> dict[str, int]:
    """Return what a user-day with these topics, and a search about none, adds to each measure."""
    bits = sum(1 << spec.topics.index(topic) for topic in topics)
    row = measure_values(spec.measures, spec.topics, np.array([bits]))[0]
    return {measure.id: int(value) for measure, value in zip(spec.measures, row, strict=True)}


def _epsilon(changes: Changes, chance: float, delta: float) -> float:
    """Return the epsilon of changes, if everything is told with a chance: delta is that, and what is left of it."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    composed = pld.identity(STEP)
    for (difference, sigma), times in sorted(changes.items()):
        one = pld.from_discrete_gaussian_mechanism(
            sigma,
            sensitivity=difference,
            truncation_bound=math.ceil(12 * sigma) + difference,
            value_discretization_interval=STEP,
        )
        composed = composed.compose(one.self_compose(times))
    return float(composed.get_epsilon_for_delta((delta - chance) / (1 - chance)))


def table() -> list[str]:
    """Return the table of the page: what is hidden, and the epsilon under each packaged spec."""
    specs = [load_spec(name) for name in PACKAGED_SPECS]
    rows = [(hidden.words, *(f"{epsilon_of_hidden(spec, hidden):.2f}" for spec in specs)) for hidden in HIDDEN]
    return markdown_table(("hidden", *(spec.name for spec in specs)), rows, text_columns=[0])


def main() -> None:
    """Print the table, or write it to its page."""
    parser = parser_of(__doc__)
    parser.add_argument("--write", action="store_true", help="write the table to docs/privacy.md")
    found = table()
    if parser.parse_args().write:
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), {"hidden parts": found}), encoding="utf-8")
    out("\n".join(found))


if __name__ == "__main__":
    main()
