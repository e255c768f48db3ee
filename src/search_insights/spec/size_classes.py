"""Size classes: ranges of populations that divide the regions of one level (Section 2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from search_insights.errors import Problem
from search_insights.spec.checks import refuse, require


@dataclass(frozen=True, slots=True)
class SizeClass:
    """A range of populations, both ends included; without a maximum there is no upper limit."""

    name: str
    min_population: int = 0
    max_population: int | None = None

    def __post_init__(self) -> None:
        top = self.max_population
        key = f"size_classes.class {self.name!r}"
        refuse(require(self.min_population >= 0, key, "a min_population of 0 or more", self.min_population))
        in_order = top is None or self.min_population <= top
        refuse(require(in_order, key, "max_population of at least min_population", top))

    def holds(self, population: int) -> bool:
        """Return whether a region of this population is of this class."""
        return self.min_population <= population and (self.max_population is None or population <= self.max_population)


def wrong_size_classes(size_classes: Sequence[SizeClass]) -> Iterator[Problem]:
    """Check that every population belongs to exactly one class: no overlap, no gap, no upper limit."""
    expected = 0
    for i, size_class in enumerate(size_classes):
        key = f"size_classes.class {size_class.name!r}"
        word = "overlap" if size_class.min_population < expected else "a gap"
        yield from require(
            size_class.min_population == expected,
            f"{key}.min_population",
            f"{expected} (classes in order of size, without gap or overlap)",
            f"{size_class.min_population}, which leaves {word}",
        )
        top, last = size_class.max_population, i == len(size_classes) - 1
        limit = "no upper limit: it is the last class" if last else "an upper limit: it is not the last class"
        yield from require((top is None) == last, f"{key}.max_population", limit, "none" if top is None else top)
        if top is None:
            return  # what follows can only overlap
        expected = top + 1
