"""Whether texts that are called rising rose, and how often the intervals of changes contain the truth.

Counts of people are drawn from known rates (Poisson) and get the program's own noise. The sizes are those that a
country and its states have in the prototype: the country 700 texts and sigma 30, a large state 110 and a state of the
middle 30 texts, both with sigma 10; the rate of a text falls with its rank. The noisy topic says how the topic grew.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from evidence.measuring import Result
from evidence.pages import markdown_table
from search_insights.commands.console import note
from search_insights.dp.noise import add_noise
from search_insights.support.arrays import Floats
from search_insights.trends.rising import DEFAULT_RULE, changes, least_growth_of_new, topic_growth

THRESHOLD = 157.0  # of the country
TOPIC_GROWTHS = 0.7, 1.2, 2.0
TAIL = 1.05
TOPIC_SIZE = 40.0  # of the topic, in counts of its largest text
MOST_OFF = 6.0  # standard errors
ALLOWANCE = 0.01  # of coverage: the variance of chance is estimated from the counts themselves


@dataclass(frozen=True)
class Setting:
    """A kind of region: regions for each repeat, texts shown, the rate of the smallest, sigmas of texts and topic."""

    name: str
    regions: int
    texts: int
    smallest: float
    sigma: float
    topic_sigma: float


SETTINGS = (
    Setting("country", 50, 700, 160.0, 30.0, 300.0),
    Setting("large state", 250, 110, 40.0, 10.0, 42.0),
    Setting("middle state", 500, 30, 40.0, 10.0, 42.0),
)
# The share of texts that rise and as many that fall, and by what factor.
GROWTHS = ((0.0, 1.0), (0.05, 1.5), (0.05, 3.0), (0.2, 2.0))


@dataclass(frozen=True)
class Row:
    """What was seen in many regions of one kind."""

    setting: str
    topic: float
    rising: float
    factor: float
    called: float
    false: float
    false_error: float
    found: float
    inside: float
    above_low: float
    texts: int


def rising(repeats: int) -> Result:
    """Draw many regions of each kind and growth; see what is called rising, and what intervals contain."""
    rng = np.random.default_rng(repeats)  # of the people; the noise has no seed
    rows = [
        _row(setting, topic, share, factor, repeats, rng)
        for setting in SETTINGS
        for topic in TOPIC_GROWTHS
        for share, factor in GROWTHS
    ]
    least = _new(2500 * repeats, rng)
    worst, some = max(rows, key=lambda row: row.false), [row for row in rows if row.rising]
    showed = (
        f"{', '.join(f'{repeats * each.regions:,} times a {each.name}' for each in SETTINGS)}, for each of "
        f"{len(TOPIC_GROWTHS) * len(GROWTHS)} kinds of growth: of the texts called rising at most {worst.false:.1%} "
        f"(standard error {worst.false_error:.1%}) did not rise, {np.mean([row.false for row in rows]):.1%} in the "
        f"mean (allowed {DEFAULT_RULE.false_share:.0%}); of those that rose, {min(row.found for row in some):.0%} to "
        f"{max(row.found for row in some):.0%} were found; intervals contained "
        f"{min(row.inside for row in rows):.1%} to {max(row.inside for row in rows):.1%} of the true changes, and "
        f"{min(row.above_low for row in rows):.1%} or more were above the lower end; new texts grew at least as much "
        f"as was said in {least:.1%}"
    )
    return Result(showed, [vars(row) for row in rows] + [{"new": least}], _table(rows), _broken(rows, least))


def _row(setting: Setting, topic: float, share: float, factor: float, repeats: int, rng: np.random.Generator) -> Row:
    note(f"{setting.name}, topic {topic:g}, {share:.0%} rise {factor:g} times")
    regions, ranks = repeats * setting.regions, np.arange(setting.texts) + 1.0
    before = np.tile(setting.smallest * (setting.texts / ranks) ** TAIL, (regions, 1))
    kind = rng.random(before.shape)
    growth = np.where(kind < share, factor, np.where(kind < 2 * share, 1 / factor, 1.0))
    of_topic = np.full(regions, TOPIC_SIZE * before[0].max())
    x1, x2 = (_noisy(rate, setting.sigma, rng) for rate in (before, before * topic * growth))
    y1, y2 = (_noisy(rate, setting.topic_sigma, rng) for rate in (of_topic, of_topic * topic))
    found = [changes(x1[i], x2[i], topic_growth(y1[i], y2[i]), setting.sigma) for i in range(regions)]
    called, low, high = (np.array([getattr(each, name) for each in found]) for name in ("rising", "low", "high"))
    wrong = (called & (growth <= 1)).sum(axis=1) / np.maximum(called.sum(axis=1), 1)
    return Row(
        setting.name,
        topic,
        share,
        factor,
        float(called.sum(axis=1).mean()),
        float(wrong.mean()),
        float(wrong.std() / sqrt(regions)),
        float((called & (growth > 1)).sum() / max((growth > 1).sum(), 1)),
        float(((low <= growth - 1) & (growth - 1 <= high)).mean()),
        float((low <= growth - 1).mean()),
        growth.size,
    )


def _noisy(rates: Floats, sigma: float, rng: np.random.Generator) -> Floats:
    people = rng.poisson(rates).astype(np.int64)
    return add_noise(people.ravel(), np.full(people.size, sigma)).reshape(people.shape).astype(np.float64)


def _new(texts: int, rng: np.random.Generator) -> float:
    """Return how often a new text grew by what is said or more, of those of which anything is said."""
    sigma = SETTINGS[0].sigma
    before = rng.uniform(0, 1.2 * THRESHOLD, texts)
    growth, topic = rng.uniform(1, 10, texts), TOPIC_GROWTHS[1]
    x1, x2 = (_noisy(rate, sigma, rng) for rate in (before, before * topic * growth))
    new = (x1 < THRESHOLD) & (x2 >= THRESHOLD)
    least = least_growth_of_new(x2[new], topic, sigma, THRESHOLD)
    said = ~np.isnan(least)
    return float((least[said] <= growth[new][said] - 1).mean())


def _broken(rows: list[Row], least: float) -> list[str]:
    broken = [] if least >= (1 + DEFAULT_RULE.confidence) / 2 else [f"new texts: {least:.1%}"]
    for topic in TOPIC_GROWTHS:  # together they tell more than each kind alone
        of_topic = [row for row in rows if row.topic == topic and not row.rising]
        regions = sum(row.texts / _texts_of(row.setting) for row in of_topic)
        share = sum(row.false * row.texts / _texts_of(row.setting) for row in of_topic) / regions
        allowed = DEFAULT_RULE.false_share
        if share > allowed + MOST_OFF * sqrt(allowed * (1 - allowed) / regions):
            broken.append(f"topic {topic:g}: of regions where nothing rises, {share:.1%} call a text rising")
    for row in rows:
        where = f"{row.setting}, topic {row.topic:g}, {row.rising:.0%} rise {row.factor:g} times"
        if row.false > DEFAULT_RULE.false_share + MOST_OFF * row.false_error:
            broken.append(f"{where}: {row.false:.1%} of those called rising did not rise")
        if row.inside < DEFAULT_RULE.confidence - ALLOWANCE - MOST_OFF * sqrt(0.16 / row.texts):
            broken.append(f"{where}: intervals contain {row.inside:.1%}")
    return broken


def _texts_of(name: str) -> int:
    return next(setting.texts for setting in SETTINGS if setting.name == name)


def _table(rows: list[Row]) -> list[str]:
    header = (
        "region",
        "topic",
        "rise",
        "times",
        "called rising",
        "wrongly",
        "found",
        "interval",
        "above its lower end",
    )
    lines = [
        (
            row.setting,
            f"{row.topic:g}",
            f"{row.rising:.0%}",
            f"{row.factor:g}",
            f"{row.called:.1f}",
            *(f"{share:.1%}" for share in (row.false, row.found, row.inside, row.above_low)),
        )
        for row in rows
    ]
    return markdown_table(header, lines, text_columns=range(1))
