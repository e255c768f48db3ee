"""Published datasets of packaged countries, with known counts, for what is about several countries."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from search_insights.dataset.publication import publish
from search_insights.spec.coverage import Coverage
from search_insights.spec.draft import Topic, draft_spec
from search_insights.spec.geography import load_country
from search_insights.spec.publication_rules import Scaling
from search_insights.spec.spec import Promise
from tests.support.stores import add_weeks

TOPICS = (Topic("pollen", "Pollen"), Topic("heat", "Heat waves"))
FIRST_WEEK = date(2021, 1, 4)


def country_dataset(folder: Path, code: str, *weeks: tuple[int, int, int], **scale: Any) -> Path:
    """Publish weeks of a packaged country, with the same counts of any search and of each topic in all regions."""
    geography = load_country(code)
    spec = draft_spec(geography, TOPICS, Promise(2.19, 1e-5), "UTC", FIRST_WEEK)
    spec = replace(spec, sigmas=tuple(replace(sigma, value=20.0) for sigma in spec.sigmas))
    if scale:
        spec = replace(spec, scaling=Scaling(100.0, "pollen", **scale))
    coverage = Coverage(spec, geography)
    store = folder / f"{code}.db"
    for start, usual in enumerate(weeks):
        add_weeks(store, coverage, {}, start=start, usual=usual)
    publish(store, folder / code)
    return folder / code
