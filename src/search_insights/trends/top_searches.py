"""Top and rising searches: from the noisy counts of shown texts to ranked lists, of the total and the coarsest level.

A trend's lists have the texts of its topics. Texts that ask for the same are one line. Its value is its noisy count
divided by that of the trend, its change how that share grew since the week before. Everything here reads noisy counts
and public facts only. The lists of a week depend on that week and the one before it, as they were when the week was
committed, so they do not change when a later week comes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from functools import cached_property
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from search_insights.errors import StoreError
from search_insights.spec.measures import measure_values
from search_insights.spec.spec import Spec
from search_insights.spec.top_searches import TopSearches
from search_insights.store.ledger import LedgerEntry
from search_insights.store.store import Store
from search_insights.store.top_searches import ShownText, TopSearchWeek
from search_insights.support.arrays import Bools, Floats, Numbers
from search_insights.trends.blocklist import Blocklist
from search_insights.trends.clusters import Clusters, clusters_of
from search_insights.trends.derive import checked_counts, estimates, trend_counts, trend_variances
from search_insights.trends.reliability import Ratios, assess
from search_insights.trends.rising import RisingRule, changes, least_growth_of_new, topic_growth
from search_insights.trends.spans import Span

TOP, RISING = "top", "rising"
MOST_LINES = 25  # of a list

Objects = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Lines:
    """Lines of lists, by column. Values and changes are shares: 0.5 is a half, or half as much again.

    place, trend  where: a place_id, and the name of the trend
    query         the text that stands for the line; `members` are all its texts
    is_new        whether none of its texts was shown before this week, though the week before it has lists
    change        how the share of the trend grew since the week before; NaN where that is not known. Of a new line,
                  only its least growth is known, as `change_low`
    """

    date: Objects
    place: Objects
    trend: Objects
    query_type: Objects
    rank: Numbers
    query: Objects
    members: Objects
    value: Floats
    value_low: Floats
    value_high: Floats
    change: Floats
    change_low: Floats
    change_high: Floats
    is_new: Bools


def joined_lines(parts: Sequence[Lines]) -> Lines:
    """Put lines one after the other."""
    return Lines(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Lines)))


def no_lines() -> Lines:
    """Return no line."""
    kinds = {"rank": np.int64, "is_new": np.bool_} | dict.fromkeys(_NUMBERS, np.float64)
    return Lines(*(np.zeros(0, dtype=kinds.get(field.name, np.object_)) for field in fields(Lines)))


_NUMBERS = ("value", "value_low", "value_high", "change", "change_low", "change_high")


@dataclass(frozen=True)
class _Week:
    """A week's texts, without those that are left out, and the counts of the trends in the same places.

    counts          axes (place, text); the total is the first place
    topics, sigmas  of the trends' counts, with the axes (place, trend)
    """

    found: TopSearchWeek
    kept: Bools
    counts: Floats
    topics: Floats
    sigmas: Floats


def top_search_lines(
    store: Store, spans: Sequence[Span], entries: Sequence[LedgerEntry], blocklist: Blocklist
) -> Lines | None:
    """Return the lines of all weeks; None if no week has texts."""
    of_week = {entry.week: entry for entry in entries if entry.top_searches}
    parts = [lines for span in spans for lines in _lines_of_span(store, span, of_week, blocklist)]
    return joined_lines([no_lines(), *parts]) if of_week else None


def _lines_of_span(
    store: Store, span: Span, entries: Mapping[date, LedgerEntry], blocklist: Blocklist
) -> Iterator[Lines]:
    before: _Week | None = None
    for day in span.weeks:
        if day not in entries:
            before = None
            continue
        week = _read(store, span, entries[day], blocklist)
        compared = before if before and _comparable(entries[before.found.week], entries[day], week.found) else None
        yield from _lines_of_week(span, week, compared)
        before = week


def _comparable(before: LedgerEntry, entry: LedgerEntry, found: TopSearchWeek) -> bool:
    """Whether texts may be compared with the week before: it was there first, and texts were read in the same way."""
    same = (before.classifier, before.vocabulary) == (entry.classifier, entry.vocabulary)
    return same and found.compared_with == before.week


def checked_texts(store: Store, entry: LedgerEntry) -> TopSearchWeek:
    """Return the texts of a week; refuse others than those that were committed."""
    found = store.top_searches(entry.week)
    if found is None or found.checksum != entry.top_searches:
        raise StoreError(
            f"{store.path}: the top searches of week {entry.week} do not match the ledger; restore a backup"
        )
    return found


def _read(store: Store, span: Span, entry: LedgerEntry, blocklist: Blocklist) -> _Week:
    found, cells, spec = checked_texts(store, entry), span.edition.cells, span.coverage.spec
    places = np.array([0, *(1 + cells.coarsest)])
    counts, variances = estimates(cells, next(checked_counts(store, [entry]))[None].astype(np.float64))
    kept = ~blocklist.blocks([shown.text for shown in found.texts])
    return _Week(
        found,
        kept,
        found.noisy.T.astype(np.float64),
        trend_counts(spec, counts[0, places]),
        np.sqrt(trend_variances(spec, variances[places])),
    )


def topics_of_trends(spec: Spec) -> list[frozenset[str]]:
    """Return the topics of each trend: those that a user-day needs to have, and no other, to count in it as 1."""
    alone = measure_values(spec.measures, spec.topics, np.array([1 << i for i in range(len(spec.topics))]))
    adds = trend_counts(spec, alone.astype(np.float64))
    return [
        frozenset(topic for topic, counts in zip(spec.topics, adds[:, i] == 1, strict=True) if counts)
        for i in range(len(spec.trends))
    ]


def _lines_of_week(span: Span, week: _Week, before: _Week | None) -> Iterator[Lines]:
    spec, cells = span.coverage.spec, span.edition.cells
    country, regions = cells.coverage.geography.country, [cells.regions[i] for i in cells.coarsest]
    places = [region.place_id for region in (country, *regions)]
    for number, topics in enumerate(topics_of_trends(spec)):
        of_topic = np.array([shown.category in topics for shown in week.found.texts], dtype=np.bool_)
        chosen = np.flatnonzero(of_topic & week.kept)
        if spec.top_searches is None or not chosen.size:
            continue
        trend = _TrendWeek(spec, spec.top_searches, number, chosen, week, before)
        for place, place_id in enumerate(places):
            yield from trend.lines(place, place_id)


@dataclass(frozen=True)
class _TrendWeek:
    """The texts of one trend in one week; `chosen` are their numbers on the public list."""

    spec: Spec
    top: TopSearches
    trend: int
    chosen: Numbers
    week: _Week
    before: _Week | None

    @cached_property
    def texts(self) -> list[ShownText]:
        """The texts."""
        return [self.week.found.texts[i] for i in self.chosen]

    @cached_property
    def counts(self) -> Floats:
        """Their noisy counts, with the axes (place, text)."""
        return self.week.counts[:, self.chosen]

    @cached_property
    def clusters(self) -> Clusters:
        """Which of them are one line; the counts of the total name it, so that it has one name everywhere."""
        return clusters_of([t.text for t in self.texts], self.counts[0], [t.cluster for t in self.texts])

    @cached_property
    def sums(self) -> Floats:
        """The noisy counts of the clusters, with the axes (place, cluster)."""
        return self.clusters.sums(self.counts)

    @cached_property
    def names(self) -> Objects:
        """The text that stands for each cluster."""
        return np.array([t.text for t in self.texts], dtype=object)[self.clusters.shown]

    @cached_property
    def members(self) -> Objects:
        """The texts of each cluster."""
        return _members([t.text for t in self.texts], self.counts[0], self.clusters)

    @cached_property
    def known(self) -> Bools:
        """Which texts have a count in the week before: its list was shorter, and has the first of them."""
        known: Bools = self.chosen < (len(self.before.found.texts) if self.before else 0)
        return known

    @cached_property
    def is_new(self) -> Bools:
        """Which clusters have no text that was shown before; none, if there is no week before to be compared with."""
        shown_before = np.array([t.first_week != self.week.found.week for t in self.texts], dtype=np.bool_)
        return np.asarray((self.how_many(shown_before) == 0) & (self.before is not None), dtype=np.bool_)

    @cached_property
    def ratios(self) -> Ratios:
        """The shares of the clusters in the trend, with their intervals for the noise."""
        rule = self.spec.reliability
        of_place = np.array([self.sigma(place) for place in range(len(self.sums))])
        sigmas = of_place[:, None] * self.clusters.sigmas(1.0)
        y, sigma_y = (each[:, self.trend, None] for each in (self.week.topics, self.week.sigmas))
        return assess(self.sums, y, sigmas, sigma_y, rule, NormalDist().inv_cdf((1 + rule.confidence) / 2) * sigmas)

    def how_many(self, texts: Bools) -> Numbers:
        """Return how many of some texts each cluster has."""
        return np.bincount(self.clusters.cluster[texts], minlength=self.clusters.shown.size).astype(np.int64)

    def sigma(self, place: int) -> float:
        """Return the sigma of a text's count."""
        return self.top.region_sigma if place else self.top.total_sigma

    def listed(self, place: int) -> Bools:
        """Return which clusters are listed: one of their texts has the count that it takes, or all of them together."""
        least = self.top.region_shown_from if place else self.top.total_threshold
        alone = self.how_many(self.counts[place] >= least) > 0
        together = self.sums[place] >= least * np.sqrt(self.clusters.members)
        ratios = self.ratios
        return np.asarray((alone | together) & ratios.positive[place] & np.isfinite(ratios.high[place]), dtype=np.bool_)

    def lines(self, place: int, place_id: str) -> Iterator[Lines]:
        """Yield the top and the rising searches of a place."""
        listed, found = self.listed(place), self.changes(place)
        top, rising = np.flatnonzero(listed), np.flatnonzero(listed & found.rising)
        by_count = np.lexsort((self.names[top], -self.sums[place, top]))
        by_low = np.lexsort((self.names[rising], -self.sums[place, rising], -found.low[rising]))
        yield self._lines(place, place_id, TOP, top[by_count][:MOST_LINES], found)
        yield self._lines(place, place_id, RISING, rising[by_low][:MOST_LINES], found)

    def _lines(self, place: int, place_id: str, query_type: str, order: Numbers, found: "_Changes") -> Lines:
        where = (self.week.found.week, place_id, self.spec.trends[self.trend].name, query_type)
        dates, place_ids, trends, types = (np.full(order.size, each, dtype=object) for each in where)
        value, low, high = (part[place, order] for part in (self.ratios.value, self.ratios.low, self.ratios.high))
        change, change_low, change_high = (
            np.where(np.isfinite(part[order]), part[order], np.nan) for part in (found.value, found.low, found.high)
        )
        return Lines(
            date=dates,
            place=place_ids,
            trend=trends,
            query_type=types,
            rank=np.arange(1, order.size + 1),
            query=self.names[order],
            members=self.members[order],
            value=value,
            value_low=low,
            value_high=high,
            change=change,
            change_low=change_low,
            change_high=change_high,
            is_new=self.is_new[order],
        )

    def changes(self, place: int) -> "_Changes":
        """Return how the share of each cluster grew since the week before."""
        found = _Changes.unknown(self.names.size)
        if self.before is None:
            return found
        rho = topic_growth(*(float(week.topics[place, self.trend]) for week in (self.before, self.week)))
        rule = RisingRule(confidence=self.spec.reliability.confidence)
        if np.isfinite(rho):
            self._add_compared(found, place, rho, rule)
            if place == 0:  # what a new text had at most is known of the total only
                self._add_new(found, rho, rule)
        return found

    def _add_compared(self, found: "_Changes", place: int, rho: float, rule: RisingRule) -> None:
        """Add the changes of clusters that have texts with a count in both weeks; only these texts are compared."""
        members = self.how_many(self.known)
        which = np.flatnonzero(members)
        if self.before is None or not which.size:
            return
        x1 = self._sums_of_known(self.before.counts[place, self.chosen[self.known]])[which]
        x2 = self._sums_of_known(self.counts[place, self.known])[which]
        compared = changes(x1, x2, rho, self.sigma(place) * np.sqrt(members[which]), rule)
        found.value[which], found.low[which], found.high[which] = compared.value, compared.low, compared.high
        found.rising[which] = compared.rising

    def _sums_of_known(self, counts: Floats) -> Floats:
        cluster = self.clusters.cluster[self.known]
        return np.bincount(cluster, weights=counts, minlength=self.clusters.shown.size).astype(np.float64)

    def _add_new(self, found: "_Changes", rho: float, rule: RisingRule) -> None:
        """Add the least growth of new clusters; each of their texts was below the threshold the week before."""
        new = np.flatnonzero(self.is_new)
        texts = self.clusters.members[new].astype(np.float64)
        sigma, threshold = self.top.total_sigma * np.sqrt(texts), self.top.total_threshold * texts
        found.low[new] = least_growth_of_new(self.sums[0, new], rho, sigma, threshold, rule)
        found.rising[new] = np.isfinite(found.low[new])


@dataclass(frozen=True)
class _Changes:
    """The changes of clusters in one place, with their intervals, and which of them are rising; NaN: not known."""

    value: Floats
    low: Floats
    high: Floats
    rising: Bools

    @classmethod
    def unknown(cls, size: int) -> "_Changes":
        """Return the changes of so many clusters, of which none is known."""
        value, low, high = (np.full(size, np.nan) for _ in range(3))
        return cls(value, low, high, np.zeros(size, dtype=np.bool_))


def _members(texts: Sequence[str], counts: Floats, clusters: Clusters) -> Objects:
    """Return the texts of each cluster, the one with the largest count first."""
    members = np.empty(clusters.shown.size, dtype=object)
    members[:] = [[] for _ in range(members.size)]
    for i in np.lexsort((np.array(texts, dtype=np.str_), -counts)):
        members[clusters.cluster[i]].append(texts[i])
    return members
