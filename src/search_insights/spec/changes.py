"""What differs between two coverages, of which kind each difference is, and how present rules apply to earlier weeks.

Three kinds. *Words* say how things are called. *Derivation* says what follows from noisy counts. *Counting* is
everything else: what is counted, with how much noise. Words and derivation cost nothing and apply to all weeks; another
counting holds for later weeks only. What is not known here to be words or derivation is counting.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Geography, Region
from search_insights.spec.spec import Level, Spec, Trend

Kind = Literal["words", "derivation", "counting"]
KINDS: tuple[Kind, ...] = ("words", "derivation", "counting")

MEANING: Mapping[Kind, str] = {
    "words": "all weeks are shown with the new words from the next publish on",
    "derivation": "all weeks are derived again from the stored noisy counts; that spends nothing, and values that move "
    "are recorded as a correction",
    "counting": "a new edition begins; earlier weeks keep what they were counted under, and readers see the break",
}

# Keys of the canonical spec. A trend is called by its title, name and column; its definition is derivation.
_WORDS = re.compile(
    r"name|title|dataset|trends\.(order|[^.]+\.(name|title|column))|levels\.[^.]+\.(published_name|hide_parent_code)"
)
_DERIVATION = re.compile(r"(trends|reliability|sparsity|scaling)\..*")
_WORDS_OF_A_REGION = ("name", "latitude", "longitude")
_FACTS_OF_A_REGION = ("population", "land_area_km2")  # words, as long as nobody's size class or reporting changes
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs: where, what it was, what it is now (empty if there is nothing), and its kind."""

    key: str
    old: str
    new: str
    kind: Kind


def differences(old: Coverage, new: Coverage) -> list[Difference]:
    """Return what differs between two coverages, those that weigh most first."""
    found = [*_of_specs(old.spec, new.spec), *_of_geographies(old, new)]
    return sorted(found, key=lambda difference: -KINDS.index(difference.kind))


def kind_of(found: Sequence[Difference]) -> Kind:
    """Return the kind of a change as a whole: that of its weightiest difference."""
    return max((difference.kind for difference in found), key=KINDS.index)


def _of_specs(old: Spec, new: Spec) -> Iterator[Difference]:
    before, after = (flat(keyed(json.loads(spec.canonical()))) for spec in (old, new))
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) != after.get(key):
            yield Difference(_named(key), _shown(before.get(key)), _shown(after.get(key)), _kind_of_key(key))
    yield from _of_words(old, new)


def _of_words(old: Spec, new: Spec) -> Iterator[Difference]:
    """Yield what differs in the words that the canonical text leaves out: of topics, publisher and other languages."""
    both = {c.id for c in old.categories} & {c.id for c in new.categories}
    before, after = (flat(_words(spec, both)) for spec in (old, new))
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) != after.get(key):
            yield Difference(key, _shown(before.get(key)), _shown(after.get(key)), "words")


def _words(spec: Spec, ids: Collection[str]) -> dict[str, Any]:
    topics = {c.id: {"definition": c.definition, "examples": _list(c.examples)} for c in spec.categories if c.id in ids}
    words = asdict(spec.publisher) if spec.publisher else {}
    languages = {t.language: dict(t.words) for t in spec.translations}
    publisher = words | ({"authors": _list(words["authors"])} if words else {})
    return {"categories": topics, "publisher": publisher, "translation": languages}


def _list(texts: tuple[str, ...] | None) -> str | None:
    return None if texts is None else ", ".join(texts)


def _kind_of_key(key: str) -> Kind:
    if _WORDS.fullmatch(key):
        return "words"
    return "derivation" if _DERIVATION.fullmatch(key) else "counting"


def _named(key: str) -> str:
    """Return a key as the spec's file has it, not as the canonical text does."""
    return key.removeprefix("given_").replace("sigmas.sigma.", "sigma.")


def _shown(value: object) -> str:
    text = "" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def keyed(value: Any) -> Any:
    """Return nested values in which lists of named things are tables by name, with their order as one more value."""
    if isinstance(value, dict):
        return {key: keyed(inner) for key, inner in value.items()}
    if not value or not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return value
    names = [item.get("id", item.get("name", str(i))) for i, item in enumerate(value)]
    rest = [{k: v for k, v in item.items() if k != ("id" if "id" in item else "name")} for item in value]
    return {**dict(zip(names, map(keyed, rest), strict=True)), "order": names}


def flat(value: Any, path: str = "") -> dict[str, Any]:
    """Return nested values by their paths, such as promise.epsilon."""
    if value == []:
        return {}  # an empty list is the same as none
    if not isinstance(value, dict):
        return {path: value}
    found: dict[str, Any] = {}
    for key, inner in value.items():
        found |= flat(inner, f"{path}.{key}" if path else str(key))
    return found


def _of_geographies(old: Coverage, new: Coverage) -> Iterator[Difference]:
    """Yield one difference for each thing that differs, with some of the regions in which it does."""
    before, after = old.geography.by_place_id, new.geography.by_place_id
    if old.geography.regions == new.geography.regions and old.geography.levels == new.geography.levels:
        before = after  # the usual case, and quick
    else:
        yield from _listed("regions that end", [p for p in before if p not in after], "counting")
        yield from _listed("regions that begin", [p for p in after if p not in before], "counting")
    both = [(before[place_id], after[place_id]) for place_id in before if place_id in after]
    for field in () if before is after else Region._fields:
        changed = [(a, b) for a, b in both if getattr(a, field) != getattr(b, field)]
        if changed:
            yield _of_field(field, changed)
    standings = [(a, b) for a, b in both if old.standings[a.place_id][:2] != new.standings[b.place_id][:2]]
    yield from _listed("regions whose size class or reporting differs", [a.place_id for a, _ in standings], "counting")


def _of_field(field: str, changed: Sequence[tuple[Region, Region]]) -> Difference:
    kind: Kind = "words" if field in (*_WORDS_OF_A_REGION, *_FACTS_OF_A_REGION) else "counting"
    was, now = changed[0]
    more = f" (and {len(changed) - 1:,} more)" if len(changed) > 1 else ""
    return Difference(
        f"regions.{was.place_id}.{field}", _shown(getattr(was, field)), f"{_shown(getattr(now, field))}{more}", kind
    )


def _listed(key: str, place_ids: Sequence[str], kind: Kind) -> Iterator[Difference]:
    if place_ids:
        more = f" and {len(place_ids) - _EXAMPLES:,} more" if len(place_ids) > _EXAMPLES else ""
        yield Difference(key, "", f"{len(place_ids):,}: {', '.join(place_ids[:_EXAMPLES])}{more}", kind)


def derived_coverage(counted: Coverage, present: Coverage) -> Coverage:
    """Return what earlier weeks are derived and shown by: counted as they were, with the present rules and words."""
    if counted == present:
        return present
    return Coverage(derived_spec(counted.spec, present.spec), _renamed(counted.geography, present.geography))


def derived_spec(counted: Spec, present: Spec) -> Spec:
    """Return the counting parts of one spec with the words and the derivation of another, as far as they apply."""
    trends = tuple(_derived_trends(counted, present))
    same_weeks = counted.first_day_of_week == present.first_day_of_week
    has_scale = not present.scaling.wrong_trend([trend.id for trend in trends])
    scaling = present.scaling if same_weeks else replace(present.scaling, first_week=None, last_week=None)
    return replace(
        counted,
        name=present.name,
        title=present.title,
        dataset=present.dataset,
        trends=trends,
        levels=tuple(_reworded(level, present.levels) for level in counted.levels),
        reliability=present.reliability,
        sparsity=present.sparsity if same_weeks else counted.sparsity,
        scaling=scaling if has_scale else counted.scaling,
        translations=present.translations,
        publisher=present.publisher,
    )


def _derived_trends(counted: Spec, present: Spec) -> Iterator[Trend]:
    """Yield the trends of earlier weeks: the present ones where they can be derived, otherwise their own."""
    own = {trend.id: trend for trend in counted.trends}
    of_both = {measure.id for measure in counted.measures if measure in present.measures}
    for trend in present.trends:
        if set(trend.sum_of) <= of_both:
            yield trend
        elif trend.id in own:
            yield replace(own[trend.id], name=trend.name, title=trend.title, column=trend.column)
    known = {trend.id for trend in present.trends}
    for trend in counted.trends:
        # One that could still be derived was left out on purpose, for all weeks.
        if trend.id not in known and not set(trend.sum_of) <= of_both:
            yield trend


def _reworded(level: Level, levels: Sequence[Level]) -> Level:
    for other in levels:
        if other.name == level.name:
            return replace(level, published_name=other.published_name, hide_parent_code=other.hide_parent_code)
    return level


def _renamed(counted: Geography, present: Geography) -> Geography:
    """Return a geography with the present names of its regions."""
    now = present.by_place_id
    if all(region.place_id not in now or now[region.place_id].name == region.name for region in counted.regions):
        return counted
    renamed = (r._replace(name=now[r.place_id].name) if r.place_id in now else r for r in counted.regions)
    return replace(counted, regions=tuple(renamed))  # names are not what regions are ordered by
