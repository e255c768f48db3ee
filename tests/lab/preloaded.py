"""Modules that the fork server (tests/lab/fork_server.py) loads once, so that each process starts quickly."""

import dp_accounting  # noqa: F401
import duckdb  # noqa: F401
import hypothesis.strategies  # noqa: F401
import numpy  # noqa: F401
import opendp.measurements  # noqa: F401
import pyarrow  # noqa: F401
import pytest  # noqa: F401
import scipy.stats  # noqa: F401
import vl_convert  # noqa: F401

import search_insights.anonymization
import search_insights.dashboards.site
import search_insights.dataset.publication
import search_insights.private.spark.session
import search_insights.routine.backups
import search_insights.routine.run
import search_insights.store.backup  # noqa: F401
import tests.lab.mutants
import tests.support.bounded
import tests.support.stores  # noqa: F401
from search_insights.commands.cli import command_parsers
from search_insights.spec.spec_file import load_spec
from tests.support.other_country import other_spec
from tests.support.quick_accounting import account_once

for spec in (load_spec(), other_spec()):
    account_once(spec)
command_parsers()  # imports every command
