"""Publish what people search for, region by region and week by week, without revealing any one of them.

The main jobs of the command line, as functions:

    from datetime import date
    from pathlib import Path

    import search_insights as si

    spec = si.load_spec()
    coverage = si.Coverage(spec, si.load_geography())
    store, dataset = Path("releases.db"), Path("dataset")

    log = si.LogSource(("log/*.parquet",))
    week = si.week_of(spec, date(2021, 3, 8))
    print(si.check(log, [week], coverage, store_path=store).warnings)
    si.anonymize(log, store, [week], coverage)
    si.publish(store, dataset)
    counties = si.load(dataset, level="county", trend="vaccination_intent")
    si.dashboard([dataset], Path("site"))

Or all of it, every week, as the settings file says:

    si.run(Path("search-insights.toml"))

A log may also be a table in memory: si.LogSource(data=frame), with a DataFrame of pandas or Polars, or a table, reader
or dataset of Arrow.
"""

from typing import TYPE_CHECKING

__all__ = [
    "Check",
    "CheckWarning",
    "Classifier",
    "Comparison",
    "Coverage",
    "LogSource",
    "SearchInsightsError",
    "Settings",
    "Sum",
    "Tolerance",
    "WeekRun",
    "account",
    "aggregate",
    "anonymize",
    "average",
    "change",
    "check",
    "combine",
    "compare",
    "dashboard",
    "evaluate",
    "fetch",
    "load",
    "load_classifier",
    "load_geography",
    "load_spec",
    "load_top_searches",
    "open_store",
    "publish",
    "rank",
    "read_settings",
    "run",
    "simulate",
    "week_of",
]

# Importing the package must be quick, so type checkers and editors see the imports, and a running program loads each
# name when it is first used.
if TYPE_CHECKING:
    from search_insights.analysis.comparison import Comparison, compare
    from search_insights.analysis.questions import average, change, rank
    from search_insights.analysis.sums import Sum, aggregate
    from search_insights.anonymization import LogSource, Tolerance, anonymize
    from search_insights.checking import Check, CheckWarning, check
    from search_insights.classifier.model import Classifier, load_classifier
    from search_insights.dashboards.site import dashboard
    from search_insights.dataset.combination import combine
    from search_insights.dataset.fetching import fetch
    from search_insights.dataset.loading import load, load_top_searches
    from search_insights.dataset.publication import publish
    from search_insights.dp.accounting import account
    from search_insights.errors import SearchInsightsError
    from search_insights.evaluation.accuracy import evaluate
    from search_insights.routine.run import WeekRun, run
    from search_insights.routine.settings import Settings, read_settings
    from search_insights.simulation.simulation import simulate
    from search_insights.spec.coverage import Coverage
    from search_insights.spec.geography import load_geography
    from search_insights.spec.spec_file import load_spec
    from search_insights.spec.weeks import week_of
    from search_insights.store.opening import open_store
else:
    _MODULE_OF = {
        "Check": "checking",
        "CheckWarning": "checking",
        "Classifier": "classifier.model",
        "Comparison": "analysis.comparison",
        "Coverage": "spec.coverage",
        "LogSource": "anonymization",
        "SearchInsightsError": "errors",
        "Settings": "routine.settings",
        "Sum": "analysis.sums",
        "Tolerance": "anonymization",
        "WeekRun": "routine.run",
        "account": "dp.accounting",
        "aggregate": "analysis.sums",
        "anonymize": "anonymization",
        "average": "analysis.questions",
        "change": "analysis.questions",
        "check": "checking",
        "combine": "dataset.combination",
        "compare": "analysis.comparison",
        "dashboard": "dashboards.site",
        "evaluate": "evaluation.accuracy",
        "fetch": "dataset.fetching",
        "load": "dataset.loading",
        "load_classifier": "classifier.model",
        "load_geography": "spec.geography",
        "load_spec": "spec.spec_file",
        "load_top_searches": "dataset.loading",
        "open_store": "store.opening",
        "publish": "dataset.publication",
        "rank": "analysis.questions",
        "read_settings": "routine.settings",
        "run": "routine.run",
        "simulate": "simulation.simulation",
        "week_of": "spec.weeks",
    }

    def __getattr__(name: str) -> object:
        """Load a public name from its module."""
        import importlib

        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names, and those that are loaded already."""
    return sorted({*__all__, *globals()})
