"""Publish what people search for, region by region and week by week, without revealing any one of them.

The jobs of the command line as functions:

    spec, geography = load_spec(), load_geography()
    coverage = Coverage(spec, geography)
    anonymize(LogSource(("log/*.parquet",)), Path("releases.db"), [week_of(spec, date(2021, 3, 8))], coverage)
    publish(Path("releases.db"), Path("dataset"))
    frame = load("dataset", level="county", trend="vaccination_intent")
    dashboard([Path("dataset")], Path("site"))
"""

import importlib
from typing import Any

# Loaded when they are used, so that importing the package is quick.
_WHERE = {
    "Classifier": "classifier.model",
    "Coverage": "spec.coverage",
    "LogSource": "anonymization",
    "SearchInsightsError": "errors",
    "Tolerance": "anonymization",
    "account": "dp.accounting",
    "anonymize": "anonymization",
    "dashboard": "dashboards.site",
    "evaluate": "evaluation.accuracy",
    "load": "dataset.loading",
    "load_classifier": "classifier.model",
    "load_geography": "spec.geography",
    "load_spec": "spec.spec_file",
    "open_store": "store.store",
    "publish": "dataset.publication",
    "simulate": "simulation.simulation",
    "week_of": "spec.weeks",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
