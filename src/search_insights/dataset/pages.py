"""What a published folder shows to people: `PRIVACY.md` and `summary.svg`, made from its JSON files alone.

A dashboard makes them anew, so that a folder from elsewhere cannot bring its own markup or script.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Any

from search_insights.support.charts import save_chart
from search_insights.trends.outcomes import OUTCOMES

# What Markdown takes for markup, anywhere in a line. An underscore inside a word is one of the word.
_MARKUP = re.compile(r"[\\`*\[\]{}|~#$]|(?<!\w)_|_(?!\w)")
_JOINERS = "\u200c\u200d"  # not printable by themselves, but many scripts need them
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "://": "&#58;//"}


def as_text(text: str) -> str:
    """Write text so that a Markdown page shows it as it is, on one line: no tags, links, emphasis or cells."""
    shown = "".join(
        c if c.isprintable() or c in _JOINERS else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split())
    )
    escaped = _MARKUP.sub(lambda found: "\\" + found[0], shown)
    return re.sub(r"[&<>]|://", lambda found: _ENTITIES[found[0]], escaped)


def _escaped(value: Any) -> Any:
    """Write every text in a statement as a page must."""
    if isinstance(value, Mapping):
        return {key: _escaped(below) for key, below in value.items()}
    if isinstance(value, list):
        return [_escaped(item) for item in value]
    return as_text(value) if isinstance(value, str) else value


def privacy_page(privacy: Mapping[str, Any]) -> str:
    """Return the privacy statement of a release for people, as Markdown, from the content of `privacy.json`."""
    statement = _escaped(privacy)
    loss, weeks = statement["privacy_loss"], statement["ledger"]
    all_days = statement["not_promised"]["user_active_on_all_days"]
    week = statement["not_promised"]["user_active_on_7_days"]
    cases = "\n".join(
        f"| {c['name']} | {c['epsilon']:.3f} | {c['delta']:g} | {', '.join(f'{s:g}' for s in c['sigmas'])} |"
        for c in loss["cases"]
    )
    lines = "\n".join
    return f"""# Privacy of this dataset: {statement["name"]}

This dataset protects what each user searched on each day with ({loss["epsilon"]:g}, {loss["delta"]:g})-differential
privacy: whether one user's searches of one day were in the log or not changes the probability of any outcome by at
most a factor of e^{loss["epsilon"]:g}, up to a probability of {loss["delta"]:g}.

- **Unit.** {statement["flavor"]["privacy_unit"]}.
- **Neighbouring logs.** {statement["flavor"]["neighbouring_relation"]}.
- **Mechanism.** {statement["implementation"]["mechanism"]}; sensitivity {statement["implementation"]["sensitivity"]};
  randomness from the operating system. Every count of every reported region gets noise, also those of 0.
- **Model.** Central: the publisher holds the log; each week is noised once and released once.

## How much one user-day can contribute
{lines(f"- {text}" for text in statement["flavor"]["bounds"])}

## Epsilon, case by case
Computed with the {statement["accounting"]["library"]} library from {statement["accounting"]["composition"]}.

| case | epsilon | delta | standard deviations of the noise |
| --- | ---: | ---: | --- |
{cases}

The promise {"holds" if loss["holds"] else "DOES NOT HOLD"}: the worst case is at most {loss["epsilon"]:g}.
{_editions(statement.get("editions", []))}
## What is not promised
{lines(f"- {text}" for text in statement["not_covered"])}

For a user who searched on all 7 days of a week the same noise gives epsilon {week["epsilon"]:.2f} at delta
{week["delta"]:g} for that week; on all {all_days["days"]} days of this release, {all_days["epsilon"]:.2f}.

## What was spent
{_spent(weeks)} `privacy.json` lists every week with the
checksum of its noisy counts.
{_top_searches(statement.get("top_searches"))}\
{_counts(statement.get("noisy_counts_published", False))}\
{_classification(statement.get("classification"))}{_lost_weeks(statement.get("lost_weeks", []))}\
{_notes(statement.get("notes", []))}"""


def _counts(published: bool) -> str:
    """Say that noisy counts are published, and why that costs no privacy; nothing if they are not."""
    if not published:
        return ""
    return """
## The noisy counts
The publisher publishes the noisy counts too, all of them, each with the standard deviation of its noise. This costs no
privacy: the promise is that of the noisy counts, and every value of the dataset is made from them alone.
"""


def _spent(weeks: Sequence[Mapping[str, Any]]) -> str:
    """Say what was spent, for each run of weeks with the same epsilon, delta and number of counts."""
    runs = groupby(weeks, key=lambda week: (week["epsilon"], week["delta"], week["cells"]))
    return "\n".join(
        f"{_span([week['week'] for week in run])}, each with epsilon {epsilon:g} and delta\n{delta:g} per user-day, "
        f"{cells:,} noisy counts a week."
        for (epsilon, delta, cells), run in runs
    )


def _editions(editions: Sequence[Mapping[str, Any]]) -> str:
    """Return the section on editions; nothing if there is one only."""
    if len(editions) < 2:
        return ""
    rows = "\n".join(
        f"| {e['edition']} | {e['first_week']} to {e['last_week']} ({e['weeks']}) | {e['epsilon']:g} | {e['delta']:g} "
        f"| {'holds' if e['holds'] else 'DOES NOT HOLD'} | {e['reason'] or 'the beginning'} |"
        for e in editions
    )
    return f"""
## Editions
What is counted, or with how much noise, changed during this series. Each edition has its own promise. A user-day is in
one week, and so in one edition: for the whole dataset the largest epsilon and the largest delta hold.

| edition | weeks | epsilon | delta | the promise | why it began |
| ---: | --- | ---: | ---: | --- | --- |
{rows}
"""


def _span(weeks: Sequence[str]) -> str:
    return f"{len(weeks)} weeks, {weeks[0]} to {weeks[-1]}" if len(weeks) > 1 else f"1 week, {weeks[0]}"


def _classification(found: Mapping[str, Any] | None) -> str:
    """Return the section on topics and models; nothing for a dataset of an earlier version, which does not tell."""
    if not found:
        return ""
    topics = "\n".join(f"- **{_named(t)}.** {t.get('definition', 'Not defined.')}" for t in found["topics"])
    runs = "\n".join(f"- {line}" for line in run_words(found))
    changes = model_changes(found)
    warning = (
        f"\nThe model changed with the week of {', '.join(changes)}: values may jump there although nobody searched "
        "differently.\n"
        if changes
        else ""
    )
    return f"""
## How searches were assigned to topics
{topics}

Which weeks, by which model:

{runs}
{warning}{"".join(_measured(model) for model in found["models"])}"""


def _top_searches(found: Mapping[str, Any] | None) -> str:
    """Return the section on top searches; nothing if the spec has none."""
    if not found:
        return ""
    if not found["weeks"]:
        return """
## Top searches
There are no lists of top searches: the publisher's log has categories only, and no texts.
"""
    text = fill(" ".join(how_texts_are_protected(found)), 118, break_long_words=False)
    return f"\n## Top searches\n{text}\n"


def how_texts_are_protected(found: Mapping[str, Any]) -> list[str]:
    """Return how a release with lists of searches protects people, in sentences that readers understand."""
    left, blocked = found["weeks_without"], found["blocklist"]["entries"]
    sentences = (
        "The lists of top and rising searches show texts that people typed, and are part of the same promise.",
        "A text can be shown only if it is made of a public list of words and at most one name of a place: that keeps "
        "out names of people, long numbers and addresses, before anything is counted.",
        "Of each user-day one text counts, and a user counts once a week in each text.",
        f"A text is shown for the first time only if at least {found['min_users']:,} users searched for it in one week "
        f"and its count, after noise with a standard deviation of {found['total_sigma']:g}, is "
        f"{found['total_threshold']:,} or more.",
        f"So a text of fewer users is not shown, and one of {found['min_users']:,} users with a chance of "
        f"{found['chance_of_showing']:g}.",
        *map(_earlier_rule, found.get("earlier", ())),
        f"From then on the text is public: every week it has a noisy count for the {found['total_level']} and, with a "
        f"standard deviation of {found['region_sigma']:g}, for every {found['region_level']}, whether anybody searched "
        "for it there or not.",
        f"So far {found['texts']:,} texts have become public, in {found['weeks']:,} weeks.",
        f"{left:,} {'week has' if left == 1 else 'weeks have'} no lists: the spec had none, or the log no texts."
        if left
        else "",
        f"The publisher left out texts that have any of {blocked:,} listed words or phrases." if blocked else "",
    )
    return [sentence for sentence in sentences if sentence]


def _earlier_rule(rule: Mapping[str, Any]) -> str:
    """Say by what numbers texts were shown in the weeks of an earlier edition."""
    users = f"{rule['min_users']:,} users"
    return (
        f"In the weeks from {rule['first_week']} to {rule['last_week']} it took {users} and a count of "
        f"{rule['total_threshold']:,} after noise of {rule['total_sigma']:g}; a text of {users} was shown with a "
        f"chance of {rule['chance_of_showing']:g}, and the noise of regions was {rule['region_sigma']:g}."
    )


def _named(topic: Mapping[str, Any]) -> str:
    """Return a topic's id and name; once, if they are the same."""
    return " ".join(dict.fromkeys((topic["id"], topic["name"])))


def _measured(model: Mapping[str, Any]) -> str:
    """Return what was measured of a model, as a table; nothing if its file does not say."""
    rows = "\n".join(
        f"| {c['category']} | {c['labels']:,} | {_share_words(c, 'precision')} | {_share_words(c, 'recall')} |"
        for c in model.get("categories", [])
    )
    if not rows:
        return f"\nOf model {model['fingerprint'][:12]} nothing measured is known.\n"
    return f"""
Model {model["fingerprint"][:12]}, measured on its own labels
({model.get("method", "the method is not stated")}; intervals of 95 %).
Among all searches, texts of no topic are more frequent than among labels, and precision is lower.

| topic | labels | precision | recall |
| --- | ---: | --- | --- |
{rows}
"""


def model_changes(found: Mapping[str, Any]) -> list[str]:
    """Return the first weeks of the runs after the first: there, values may jump."""
    return [run["first"] for run in found.get("weeks", [])[1:]]


def run_words(found: Mapping[str, Any]) -> list[str]:
    """Return one sentence for each run of weeks: which, and by which model."""
    names = {model["fingerprint"]: model.get("name", "") for model in found.get("models", [])}
    return [f"{_weeks(run)}: {_model(run['model'], names)}" for run in found.get("weeks", [])]


def _weeks(run: Mapping[str, Any]) -> str:
    return run["first"] if run["first"] == run["last"] else f"{run['first']} to {run['last']}"


def _model(fingerprint: str, names: Mapping[str, str]) -> str:
    if not fingerprint:
        return "the publisher's log had categories; how they were assigned is not known here"
    name = f" {names[fingerprint]}" if names.get(fingerprint) else ""
    return f"model{name}, fingerprint {fingerprint[:12]}"


def _share_words(entry: Mapping[str, Any], share: str) -> str:
    """Return a measured share with its interval; a dash where there is none."""
    if share not in entry:
        return "-"
    return f"{entry[share]:.3f} ({entry[f'{share}_low']:.3f} to {entry[f'{share}_high']:.3f})"


def _lost_weeks(lost: Sequence[Mapping[str, str]]) -> str:
    """Return the section on weeks that are not in the dataset and never will be; nothing if there are none."""
    if not lost:
        return ""
    lines = "\n".join(f"- {week['week']}: {week['reason']}" for week in lost)
    return f"""
## Weeks that are lost
These weeks were not released and never will be; the reasons are the publisher's.

{lines}
"""


def _notes(notes: Sequence[Mapping[str, str]]) -> str:
    """Return the section on weeks with which readers should take care; nothing if there are none."""
    if not notes:
        return ""
    lines = "\n".join(f"- {note['week']}: {note['reason']}" for note in notes)
    return f"""
## Notes on weeks
A week is noised once, so a mistake in its log is not corrected; the words are the publisher's.

{lines}
"""


def setting_weeks(scaling: Mapping[str, Any]) -> str:
    """Say which weeks set the scale, given its rule as `datapackage.json` has it."""
    if "first_week" in scaling and "last_week" in scaling:
        return f"in the weeks from {scaling['first_week']} to {scaling['last_week']}"
    return "in the first release"


def draw_summary(
    rows: Sequence[Mapping[str, Any]],
    path: Path,
    *,
    title: str,
    weeks: Sequence[date],
    levels: Sequence[str],
    trends: Sequence[str],
) -> None:
    """Draw the share of each outcome among the values of each level and trend, from the rows of `summary.json`."""
    long = [
        {"level": row["level"], "trend": row["trend"], "fate": outcome, "values": row.get(outcome, 0), "order": i}
        for row in rows
        for i, outcome in enumerate(OUTCOMES)
    ]
    save_chart(
        {
            "title": f"{title}: what is published, {weeks[0]} to {weeks[-1]}",
            "data": {"values": long},
            "width": 420,
            "height": {"step": 18},
            "mark": "bar",
            "encoding": {
                "row": {
                    "field": "level",
                    "sort": list(levels),
                    "title": None,
                    "header": {"labelAngle": 0, "labelAlign": "left"},
                },
                "y": {"field": "trend", "type": "nominal", "sort": list(trends), "title": None},
                "x": {
                    "field": "values",
                    "type": "quantitative",
                    "stack": "normalize",
                    "title": "share of all weeks and regions",
                    "axis": {"format": "%"},
                },
                "color": {
                    "field": "fate",
                    "type": "nominal",
                    "sort": list(OUTCOMES),
                    "scale": {
                        "domain": list(OUTCOMES),
                        "range": ["#0072b2", "#e69f00", "#999999", "#d8d8d8", "#f4f4f4"],
                    },
                    "title": None,
                },
                "order": {"field": "order"},
            },
        },
        path,
    )
