"""The spec: a frozen description of one release, and what follows from it.

Value objects only; each validates itself when it is made, and tells all that is wrong. `spec_file` reads them from
TOML. A spec says which levels and categories are counted, with how much noise, and what is promised; the paper's is the
packaged default.

Levels above the one that carries the size classes are *open*: X4 does not bind them, and each has one sigma per
category. The level of the size classes and those below it are *classed*: all contributions of a user-day to them are of
one class (X4), and each (level, class) has its own sigmas.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from functools import cached_property
from itertools import product

from search_insights.errors import Problem
from search_insights.spec.checks import (
    SIGMAS,
    refuse,
    require,
    require_distinct,
    require_line,
    require_one_of,
    require_within,
    require_word,
)
from search_insights.spec.measures import ONE_PLACE, PAPER_COUNTING, Counting, Measure, wrong_counting, wrong_measures
from search_insights.spec.publication_rules import Reliability, Scaling, Sparsity
from search_insights.spec.publisher import Publisher
from search_insights.spec.size_classes import SizeClass, wrong_size_classes
from search_insights.spec.top_searches import TopSearches
from search_insights.spec.translations import Translation, wrong_translations
from search_insights.spec.zones import expected_zone, is_zone

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

# The limits within which the accounting is exact, as those of a sigma; an epsilon of 100 promises nothing.
MIN_SIGMA, MAX_SIGMA = SIGMAS
_EPSILONS = (0.001, 100)
_DELTAS = (1e-10, 0.1)

# The names of the dataset's other columns, which no trend's column may have.
_RESERVED_COLUMN = re.compile(r"date|place_id|level|code|number|(country|sub)_region.*|.*_(low|high)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Promise:
    """The epsilon and delta that hold for one user's searches of one day."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        epsilon = require_within(self.epsilon, _EPSILONS, "promise.epsilon")
        refuse(epsilon + require_within(self.delta, _DELTAS, "promise.delta"))


@dataclass(frozen=True, slots=True)
class Category:
    """What an event is about. The first category of a spec counts every search; the topics exclude each other.

    Readers are shown the `definition` and the `examples`: words only, of which the fingerprint knows nothing."""

    id: str
    name: str
    definition: str | None = None
    examples: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Trend:
    """What is published: the sum of one or more measures other than any search, each times its weight (Section 4).

    In the paper the measures are the topics, and the weights are 1.
    """

    id: str
    name: str
    title: str
    sum_of: tuple[str, ...]
    column: str
    weights: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """A geographic level that is counted. X3: some of its classes may be left unreported.

    In the dataset its regions appear under their own names, or all under `published_name` (the original calls every
    postal code "postal_code" and gives the code beside it); `hide_parent_code` leaves the parent's code empty.
    """

    name: str
    unreported_classes: tuple[str, ...] = ()
    published_name: str | None = None
    hide_parent_code: bool = False


@dataclass(frozen=True, slots=True)
class Total:
    """The level above all counted ones; its values are sums of noisy counts and cost no budget."""

    level: str
    sum_of: str


@dataclass(frozen=True, slots=True)
class Sigma:
    """The standard deviation of the noise of one (level, class, measure); open levels have no class.

    `category` is the measure's id, which is the category's unless the spec has measures of its own.
    """

    level: str
    size_class: str | None
    category: str
    value: float

    @property
    def key(self) -> str:
        """The key of this value in a spec file."""
        return ".".join(part for part in ("sigma", self.level, self.size_class, self.category) if part)

    def __post_init__(self) -> None:
        refuse(require_within(self.value, SIGMAS, self.key))


@dataclass(frozen=True)
class Spec:
    """One release: what is counted, with how much noise, what is promised, what is published."""

    name: str
    title: str
    dataset: str
    time_zone: str
    first_day_of_week: str
    promise: Promise
    categories: tuple[Category, ...]
    trends: tuple[Trend, ...]
    levels: tuple[Level, ...]
    total: Total
    class_level: str | None
    size_classes: tuple[SizeClass, ...]
    sigmas: tuple[Sigma, ...]
    min_area_km2: float
    reliability: Reliability
    sparsity: Sparsity
    scaling: Scaling
    counting: Counting = PAPER_COUNTING
    given_measures: tuple[Measure, ...] = ()
    top_searches: TopSearches | None = None
    publisher: Publisher | None = None
    translations: tuple[Translation, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is wrong, all at once, but not what only follows from something else that is wrong."""
        names = [*self._wrong_words(), *self._wrong_names()]
        names += [] if names else wrong_measures(self.given_measures, [c.id for c in self.categories])
        levels = [] if names else [*self._wrong_levels()]
        trends = [] if names else [*self._wrong_trends()]
        sigmas = [] if names or levels else [*self._wrong_sigmas()]
        area = require(0 <= self.min_area_km2 < math.inf, "reporting.min_area_km2", "0 or more", self.min_area_km2)
        counting = wrong_counting(self.counting, self.given_measures, len(self.categories) - 1)
        others = [*wrong_size_classes(self.size_classes), *levels, *sigmas, *area, *counting]
        refuse([*names, *self._wrong_calendar(), *trends, *others, *wrong_translations(self.translations)])
        # Words of what this spec does not have are left out; in a spec file they are refused.
        kept = tuple(each.among(self.named_parts) for each in self.translations)
        object.__setattr__(self, "translations", kept)

    def _wrong_words(self) -> Iterator[Problem]:
        yield from require_word(self.name, "name")
        yield from require_word(self.dataset, "dataset")
        yield from require_line(self.title, "title")
        for key, things in (("category", self.categories), ("trend", self.trends)):
            for thing in things:
                yield from require_word(thing.id, f"{key}.id")
                yield from require_word(thing.name, f"{key}.name")
        for category in self.categories:
            if category.definition is not None:
                yield from require_line(category.definition, f"category {category.id!r}.definition")
            for example in category.examples or ():
                yield from require_line(example, f"category {category.id!r}.examples")
        for trend in self.trends:
            yield from require_line(trend.title, f"trend {trend.id!r}.title")
            yield from require_word(trend.column, f"trend {trend.id!r}.column")
        for name in self.level_names:
            yield from require_word(name, "level.name")
        yield from require_word(self.total.level, "total.level")
        for level in self.levels:
            if level.published_name is not None:
                yield from require_word(level.published_name, f"level {level.name!r}.published_name")
        for size_class in self.class_names:
            yield from require_word(size_class, "size_classes.class.name")

    def _wrong_names(self) -> Iterator[Problem]:
        """Check that there is something to name, and that each name means one thing: all else refers to them."""
        number = len(self.categories)
        yield from require(number >= 2, "category", "any search and at least one topic", number)
        yield from require(number <= 200, "category", "at most 200", number)
        words = [word for c in self.categories for word in dict.fromkeys((c.id, c.name))]
        yield from require_distinct(words, "category")
        yield from require(len(self.trends) >= 1, "trend", "at least one", 0)
        yield from require(len(self.levels) >= 1, "level", "at least one", 0)
        yield from require_distinct((*self.level_names, self.total.level), "level")
        if self.class_level is None:
            yield from require(not self.size_classes, "size_classes", "a level that carries the classes", "none")
        else:
            yield from require(len(self.size_classes) >= 1, "size_classes.class", "at least one", 0)
        yield from require_distinct(self.class_names, "size_classes.class")

    def _wrong_calendar(self) -> Iterator[Problem]:
        yield from require(is_zone(self.time_zone), "time_zone", expected_zone(self.time_zone), repr(self.time_zone))
        weekday = require_one_of(self.first_day_of_week, WEEKDAYS, "first_day_of_week")
        yield from weekday
        for rule, key in () if weekday else product(("sparsity", "scaling"), ("first_week", "last_week")):
            day: date | None = getattr(getattr(self, rule), key)
            if day and WEEKDAYS[day.weekday()] != self.first_day_of_week:
                yield Problem(f"{rule}.{key}", f"a {self.first_day_of_week}", f"{day} ({day:%A})")

    def _wrong_trends(self) -> Iterator[Problem]:
        for field in ("id", "name", "column"):
            yield from require_distinct((getattr(t, field) for t in self.trends), f"trend.{field}")
        for trend in self.trends:
            free = _RESERVED_COLUMN.fullmatch(trend.column) is None
            column = repr(trend.column)
            yield from require(free, f"trend {trend.id!r}.column", "no other column of the dataset", column)
            key = f"trend {trend.id!r}.sum_of"
            yield from require(len(trend.sum_of) >= 1, key, "at least one category", "none")
            yield from require_distinct(trend.sum_of, key)
            for category in trend.sum_of:
                yield from require_one_of(category, [m.id for m in self.measures[1:]], key)
            if trend.weights is not None:
                fits = len(trend.weights) == len(trend.sum_of) and all(0 < abs(w) <= 1000 for w in trend.weights)
                expected = "a number for each of sum_of, not 0, at most 1,000"
                yield from require(fits, f"trend {trend.id!r}.weights", expected, list(trend.weights))
        yield from self.scaling.wrong_trend([t.id for t in self.trends])

    def _wrong_levels(self) -> Iterator[Problem]:
        names, sum_of = self.level_names, self.total.sum_of
        yield from require(sum_of == names[0], "total.sum_of", f"the coarsest level, {names[0]!r}", repr(sum_of))
        if self.class_level is not None and self.class_level not in names:
            yield from require_one_of(self.class_level, names, "size_classes.level")
            return  # no level is classed as it was meant
        for level in self.levels:
            key = f"level {level.name!r}.unreported_classes"
            yield from require_distinct(level.unreported_classes, key)
            if level.unreported_classes and level.name not in self.classed_levels:
                yield Problem(key, "none: this level has no size classes", "some")
                continue
            for size_class in level.unreported_classes:
                yield from require_one_of(size_class, self.class_names, key)

    def _wrong_sigmas(self) -> Iterator[Problem]:
        """Check that every reported (level, class, measure) has a sigma, and nothing else has."""
        given = [(s.level, s.size_class, s.category) for s in self.sigmas]
        yield from require(
            len(set(given)) == len(given), "sigma", "each (level, class, category) only once", "one twice"
        )
        wanted = {
            (level, size_class, measure.id) for level, size_class in self.reported_groups for measure in self.measures
        }
        for group in sorted(wanted - set(given), key=str):
            yield Problem(Sigma(*group, 1.0).key, "a standard deviation", "nothing")
        for group in sorted(set(given) - wanted, key=str):
            expected = "no such key: it names no reported (level, class, category)"
            yield Problem(Sigma(*group, 1.0).key, expected, "a value")

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """The categories other than any; they exclude each other."""
        return tuple(c.id for c in self.categories[1:])

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """What is counted; the first measure counts every search."""
        return self.given_measures or tuple(Measure(c.id, (c.id,)) for c in self.categories)

    @property
    def named_parts(self) -> dict[str, tuple[str, ...]]:
        """What may have words in other languages: the ids of trends and categories and the names of levels."""
        trends, categories = (tuple(thing.id for thing in things) for things in (self.trends, self.categories))
        levels = (self.total.level, *self.level_names)
        return {"trend": trends, "level": levels, "category": categories, "definition": categories}

    @property
    def has_one_place(self) -> bool:
        """Whether all that a user-day counts is counted in one place."""
        return self.counting.place == ONE_PLACE

    @cached_property
    def category_numbers(self) -> dict[str, int]:
        """The number of each category by its id and by its name: a log or a label may use either."""
        return {word: number for number, c in enumerate(self.categories) for word in (c.id, c.name)}

    @cached_property
    def level_names(self) -> tuple[str, ...]:
        """The counted levels, coarsest first."""
        return tuple(level.name for level in self.levels)

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """The size classes, smallest first."""
        return tuple(size_class.name for size_class in self.size_classes)

    @cached_property
    def open_levels(self) -> tuple[str, ...]:
        """The levels above the size classes, which X4 does not bind."""
        if self.class_level is None:
            return self.level_names
        return self.level_names[: self.level_names.index(self.class_level)]

    @cached_property
    def classed_levels(self) -> tuple[str, ...]:
        """The levels that X4 binds: that of the size classes, and those below it."""
        return self.level_names[len(self.open_levels) :]

    @cached_property
    def reported_groups(self) -> tuple[tuple[str, str | None], ...]:
        """Every reported (level, class), without those that X3 excludes; open levels have class None."""
        return reported_groups(self.levels, self.class_level, self.class_names)

    @cached_property
    def rest_class(self) -> str | None:
        """The size class whose sigmas the rest cells of open levels take: the reported one with the least noise.

        Their searches are of any class, or of none. Any class would do: the accounting has the case (accounting.py).
        """
        reported = [c for level, c in self.reported_groups if level == self.class_level and c is not None]
        noise = {c: sum(self.sigma(self.class_level or "", c, m.id) ** 2 for m in self.measures) for c in reported}
        return min(noise, key=lambda c: noise[c], default=None)

    def class_of(self, population: int) -> str:
        """Return the size class of a region at the class level, by its population (Section 2)."""
        return next(c.name for c in self.size_classes if c.holds(population))

    def sigma(self, level: str, size_class: str | None, category: str) -> float:
        """Return one standard deviation of the table (Section 3.2)."""
        return self._sigma_table[level, size_class, category]

    @cached_property
    def _sigma_table(self) -> dict[tuple[str, str | None, str], float]:
        return {(s.level, s.size_class, s.category): s.value for s in self.sigmas}

    def canonical(self) -> str:
        """Return the spec as text that does not depend on the layout of its file."""
        fields = asdict(self)
        del fields["publisher"], fields["translations"]  # words, as definitions are
        for key, default in (("counting", PAPER_COUNTING), ("given_measures", ()), ("top_searches", None)):
            if getattr(self, key) == default:  # not part of a spec of before it existed, whose fingerprint must stay
                del fields[key]
        for trend in fields["trends"]:
            if trend["weights"] is None:
                del trend["weights"]
        fields["scaling"] = self.scaling.canonical()
        fields["categories"] = [{"id": c.id, "name": c.name} for c in self.categories]
        fields["sigmas"] = {s.key: s.value for s in sorted(self.sigmas, key=lambda s: s.key)}
        return json.dumps(fields, sort_keys=True, indent=1, default=str)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the canonical text, which identifies the spec."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()


def reported_groups(
    levels: Sequence[Level], class_level: str | None, class_names: Sequence[str]
) -> tuple[tuple[str, str | None], ...]:
    """Return every reported (level, class): each has a sigma for every category."""
    groups: list[tuple[str, str | None]] = []
    classed = False
    for level in levels:
        classed = classed or level.name == class_level
        classes = class_names if classed else (None,)
        groups += [(level.name, c) for c in classes if c not in level.unreported_classes]
    return tuple(groups)
