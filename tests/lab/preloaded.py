"""Modules that the fork server of tests/lab/kills.py loads once, so that each process starts quickly."""

from functools import cache

import dp_accounting  # noqa: F401
import duckdb  # noqa: F401
import numpy  # noqa: F401
import opendp.measurements  # noqa: F401
import vl_convert  # noqa: F401

import search_insights.anonymization
import search_insights.dataset.publication
import search_insights.dataset.statement
import search_insights.store.backup
from search_insights.commands.cli import _parser
from search_insights.dp import accounting
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec
from tests.support.other_country import other_spec

_account = cache(accounting.account)


def quick_accounting() -> None:
    """Skip the accounting, which writes no file: account each spec once, and take epsilon 1 a day for other units."""

    def days(spec: Spec, count: int) -> float:
        return float(count)

    for module in (accounting, search_insights.dataset.publication):
        module.account = _account  # type: ignore[attr-defined]
    for module in (accounting, search_insights.dataset.statement):
        module.epsilon_of_days = days  # type: ignore[attr-defined]


for spec in (load_spec(), other_spec()):
    _account(spec)
quick_accounting()
_parser()  # imports every command
