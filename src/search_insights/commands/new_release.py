"""What `init` writes beside the spec: the settings file, and a README with this publisher's next steps."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import PACKAGED_GEOGRAPHY
from search_insights.spec.spec import Spec


@dataclass(frozen=True)
class NewRelease:
    """A new release, and the names of its files."""

    spec: Spec
    coverage: Coverage
    spec_name: str
    geography_name: str
    identity: str

    @property
    def country(self) -> str:
        """The name of the country."""
        return self.coverage.geography.country.name

    @property
    def finest(self) -> str:
        """The finest level."""
        return self.spec.level_names[-1]

    @property
    def shared_codes(self) -> tuple[str, str] | None:
        """Two levels that have a code in common, so that a bare code may mean two places."""
        levels = self.spec.level_names
        codes = {level: {r.code for r in self.coverage.geography.regions if r.level == level} for level in levels}
        return next(((a, b) for a, b in combinations(levels, 2) if codes[a] & codes[b]), None)

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for each level and class: its regions, how many are reported, and the sigmas."""
        spec = self.spec
        groups = [
            (level, size_class)
            for level in spec.level_names
            for size_class in (spec.class_names if level in spec.classed_levels else (None,))
        ]
        return [(level, size_class or "", *self._row(level, size_class)) for level, size_class in groups]

    def _row(self, level: str, size_class: str | None) -> list[str]:
        here, reported = self._regions(level, size_class)
        if (level, size_class) not in self.spec.reported_groups:
            return [f"{here:,}", "none (X3)", *["-"] * len(self.spec.measures)]
        sigmas = [f"{self.spec.sigma(level, size_class, c.id):g}" for c in self.spec.measures]
        return [f"{here:,}", f"{reported:,}", *sigmas]

    def _regions(self, level: str, size_class: str | None) -> tuple[int, int]:
        regions = [r.place_id for r in self.coverage.geography.regions if r.level == level]
        found = [self.coverage.standings[place_id] for place_id in regions]
        here = [standing for standing in found if size_class in (None, standing.size_class)]
        return len(here), sum(standing.reported for standing in here)


def settings_file(release: NewRelease) -> str:
    """Return the settings file; what may stay as it is by default is commented out."""
    table = "the packaged United States" if release.geography_name == PACKAGED_GEOGRAPHY else "the table of regions"
    role = "The level of bare region codes in the log"
    if release.shared_codes:
        role += "; {} and {} share codes, so bare codes need it".format(*release.shared_codes)
    return f"""\
# Settings of search-insights. Every command that is started in this folder reads them; options override them.
# Paths are relative to the folder of this file.

store = "releases.db"
identity = {json.dumps(release.identity)}  # of this release: its store, backups and dataset are known by it
spec = {json.dumps(release.spec_name)}
geography = {json.dumps(release.geography_name)}  # {table}
dataset = "dataset"
site = "site"
# model = "topics.model"  # the classifier, for logs with queries instead of categories
# engine = "duckdb"  # or "spark"
# memory = "2.5GB"  # of a run with DuckDB; what does not fit goes to disk

[log]
# Where the log is; one location, or a list. {{date}} stands for each day, {{week}} for the first day of the week.
location = "logs/{{date}}.parquet"
# {role}.
# code_level = {json.dumps(release.finest)}
# The zone of times without one; a log with such times needs it.
# naive_zone = {json.dumps(release.spec.time_zone)}
# The largest share of rows that cannot be used.
# max_unused = 0.05
# Warnings of `check` that do not keep `run` from a week.
# accept = []

# The columns of the log, if they have other names.
# [log.columns]
# user_id = "uid"

[backups]
folder = "backups"
keep = 8
"""


def readme(release: NewRelease) -> str:
    """Return the README: the steps from here to the first release, and what to run every week."""
    return "\n".join(_readme(release)) + "\n"


def _readme(release: NewRelease) -> Iterator[str]:
    spec = release.spec
    week, example = spec.sparsity.first_week, _example_region(release)
    topics = ", ".join(f"`{topic}`" for topic in spec.topics)
    yield from (f"# {spec.title}", "", "Made by `search-insights init`. Run all commands in this folder.", "")
    yield from _files(release)
    yield f"""
## Before the first week

1. **Look through `{release.spec_name}`.** Its comments explain every key. A later change of what is counted is a break
   in the series (`store edition`), so change it now: titles, levels, size classes, the window of sparsity (it begins
   {week}), the promise. Give each topic a `definition`: readers are shown it, and it may be reworded later.

       search-insights privacy    # what the noise promises, case by case
       search-insights regions {example}    # how one region is counted

   After a change of levels, classes, categories or the promise, find the sigmas anew, and name the new file in
   `search-insights.toml`:

       search-insights calibrate --start --name {spec.name} --out spec-2.toml

2. **Say where the log is** in `search-insights.toml`: `location`, and `[log.columns]` if its columns have other names.
   A log has one row per search with `user_id`, `timestamp`, `region` (a code or place_id of the table of regions, the
   finest that is known; or a column for each level) and `category`: {topics}, or empty for any other search.

3. **Only if the log has `query` texts instead of `category`**: label some hundred texts (a CSV with `query` and
   `category`), train a model, and name it in `search-insights.toml` as `model`. `ordinary.txt` has queries of no topic,
   one a line: they show how often the model is wrong. Training needs scikit-learn.

       search-insights classify train --labels labels.csv --ordinary ordinary.txt --out topics.model

4. **Check a week.** Nothing is spent and nothing is stored. The report is private. Of a log with texts, read the most
   frequent ones of each topic: no warning tells you that they are about something else.

       search-insights check --week {week}

5. **Anonymize it.** This spends the budget of the week, once and for all.

       search-insights anonymize --week {week}

6. **Look at the release, then publish it.** The first publication fixes the scale for good: the highest value of the
   country in its weeks. So wait for some weeks, or say in `[scaling]` of the spec which weeks set it.

       search-insights publish --dry-run
       search-insights publish
       search-insights dashboard
       search-insights serve

## Every week

    search-insights run --dry-run    # what is due
    search-insights run              # check, anonymize, publish, dashboard, backup, for every finished week

It can run as often as you like, also by a scheduler: with nothing due it changes nothing.

## What to keep

`releases.db` and `releases.db.journal` belong together. They are the only state, and cannot be made again: keep the
copies in `backups` on another machine, too. `dataset` and `site` can be made again at any time.

The promise is epsilon {spec.promise.epsilon:g} at delta {spec.promise.delta:g} for each user's searches of each day.
Never choose sigmas or size classes by looking at the log: they are published, and would tell something about it."""


def _files(release: NewRelease) -> Iterator[str]:
    yield from ("| file | contents |", "| --- | --- |")
    yield f"| `{release.spec_name}` | what is counted, with how much noise, and what is published |"
    if release.geography_name != PACKAGED_GEOGRAPHY:
        yield f"| `{release.geography_name}` | the table of regions; a store keeps it, like the spec |"
    yield "| `search-insights.toml` | where the log, the store and the dataset are |"


def _example_region(release: NewRelease) -> str:
    """Return the code of a region of the finest level, as a shell reads it."""
    return shlex.quote(next(r.code for r in release.coverage.geography.regions if r.level == release.finest))
