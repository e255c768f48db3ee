"""Write a simulated log and its truth as Parquet. Numbers become texts here.

A file appears complete or not at all. Every file of a log carries the options it was made with, so two simulations
never mix in one folder. A simulated log stands for a private one: only its owner can read the files and enter the
folder (simulation.py), so that nobody learns to handle a log in another way.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from search_insights.errors import InputError
from search_insights.simulation.day import Columns, World, day_columns
from search_insights.simulation.habits import form_query
from search_insights.simulation.places import level_codes
from search_insights.simulation.truth import IDENTITY
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import Week
from search_insights.support.sql import connect, identifier, literal

if TYPE_CHECKING:
    import duckdb

PRIVATE = "private: exact shares of a simulated log, for evaluation only; never publish it"

_PART = ".part"
# V2 packs numbers into as few bits as they need: smaller files that are faster to write and read.
_PARQUET = "FORMAT parquet, COMPRESSION snappy, PARQUET_VERSION V2, ROW_GROUP_SIZE 245760"


def prepare_folder(out: Path, identity: Mapping[str, Any]) -> None:
    """Create the log's folder. Refuse one that holds anything but days of the same simulation."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        paths = sorted(out.iterdir())
    except OSError as error:
        raise InputError(f"{out}: cannot be used as a folder ({error.strerror})") from None
    with connect() as connection:
        for path in paths:
            if not (path.name.startswith(".") and path.name.endswith(_PART)):  # left by an interrupted run
                _require_same_simulation(connection, path, identity)


def _require_same_simulation(connection: "duckdb.DuckDBPyConnection", path: Path, identity: Mapping[str, Any]) -> None:
    found = _identity_of(connection, path)
    if found is None:
        raise InputError(f"{path.parent}: holds {path.name}, which is not from a simulation; give an empty folder")
    other = [name for name in {**identity, **found} if found.get(name) != identity.get(name)]
    if other:
        reason = f"{', '.join(other)} {'differs' if len(other) == 1 else 'differ'}"
        raise InputError(f"{path.parent}: holds another simulation ({reason}); give an empty folder")


def _identity_of(connection: "duckdb.DuckDBPyConnection", path: Path) -> dict[str, Any] | None:
    """Read the options that a file was simulated with; None if it is not a file of a simulated log."""
    import duckdb

    query = "SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = 'simulation'"
    try:
        rows = connection.execute(query, [str(path)]).fetchall()
    except duckdb.Error:
        return None
    return dict(json.loads(rows[0][0])) if rows else None


def open_writer(world: World) -> "duckdb.DuckDBPyConnection":
    """Open a database that holds the texts. It uses one thread per query, because days are written in parallel."""
    connection = connect(threads=1)
    names, places = log_region_names(world.coverage), world.places
    _create_list(connection, "regions", "region_names", [names[i] for i in places.region], enum=True)
    for number, level in enumerate(_level_columns(world)):
        _create_list(connection, f"level_{number}", f"names_{number}", level_codes(places, level), enum=True)
    _create_list(connection, "topics", "topic_ids", world.coverage.spec.topics, enum=True)
    if world.texts is not None:
        before, after = world.texts.split_at_place()
        _create_list(connection, "befores", "before", before)
        _create_list(connection, "afters", "after", after)
        _create_list(connection, "places", "place_names", [place.name.lower() for place in places.tree.regions])
    return connection


def _level_columns(world: World) -> tuple[str, ...]:
    """Return the levels that the log has a column of: all of the spec, if a region may extend into several others."""
    return world.coverage.spec.level_names if world.places.straddling else ()


def _create_list(
    connection: "duckdb.DuckDBPyConnection",
    table: str,
    column: str,
    values: Sequence[str | None],
    *,
    enum: bool = False,
) -> None:
    """Create a table with one row, a list of texts that events look up by number.

    As an enum, a column goes into Parquet's dictionary without hashing every text, which is five times as fast.
    """
    given: dict[str, Any] = {"i": np.arange(len(values)), "value": np.array(values, dtype=object)}
    connection.register("given", given)
    if enum:
        query = "SELECT DISTINCT value FROM given WHERE value IS NOT NULL ORDER BY value"
        connection.execute(f"CREATE TYPE {table}_enum AS ENUM ({query})")
    kind = f"{table}_enum" if enum else "VARCHAR"
    connection.execute(f"CREATE TABLE {table} AS SELECT list(value::{kind} ORDER BY i) AS {column} FROM given")
    connection.unregister("given")


def log_region_names(coverage: Coverage) -> list[str]:
    """Return how the log writes each region: its code, or its place_id at a level that shares codes with another."""
    regions = coverage.geography.regions
    levels: dict[str, set[str]] = {}
    for region in regions:
        levels.setdefault(region.code, set()).add(region.level)
    shared = {level for found in levels.values() if len(found) > 1 for level in found}
    return [region.place_id if region.level in shared else region.code for region in regions]


def write_day(
    connection: "duckdb.DuckDBPyConnection",
    world: World,
    week: Week,
    day: date,
    out: Path,
    identity: Mapping[str, Any],
    named: Path | None = None,
) -> int:
    """Draw a day, write its file and return the file's size. `named` gets a copy of the day with categories."""
    path = out / f"{day}.parquet"
    columns = day_columns(world, week, day)
    levels = _level_columns(world)
    with connection.cursor() as cursor:
        cursor.register("events", _arrays(columns))
        _copy(cursor, _select(levels, queries=world.texts is not None), path, {"simulation": json.dumps(identity)})
        if named is not None:
            _copy(cursor, _select(levels, queries=False), named / path.name, {"notice": PRIVATE})
    return path.stat().st_size


def _arrays(columns: Columns) -> dict[str, npt.NDArray[Any]]:
    arrays: dict[str, npt.NDArray[Any]] = {
        "person": columns.user,
        "instant": columns.time,
        "region": columns.region,
        "topic": columns.topic,
    }
    if columns.text is not None and columns.name is not None and columns.form is not None:
        arrays |= {"text": columns.text, "name": columns.name, "form": columns.form}
    return arrays


def _select(levels: Sequence[str], *, queries: bool) -> str:
    """Write the query that turns numbers into the columns of a log.

    A list gives NULL at 0: no topic, no place in the text.
    """
    columns = "".join(f"names_{i}[region + 1] AS {identifier(level)}, " for i, level in enumerate(levels))
    about, tables, events = "topic_ids[topic] AS category", "topics", "events"
    if queries:
        typed = "SELECT *, concat(before[text], place_names[name], after[text]) AS typed"
        about, tables, events = f"{form_query()} AS query", "", f"({typed} FROM events, befores, afters, places)"
    return f"""
        SELECT CAST(person AS BIGINT) AS user_id, make_timestamptz(instant) AS timestamp,
               region_names[region + 1] AS region, {columns}{about}
        FROM {", ".join(filter(None, [events, "regions", *(f"level_{i}" for i in range(len(levels))), tables]))}"""


def _copy(connection: "duckdb.DuckDBPyConnection", query: str, path: Path, metadata: dict[str, str]) -> None:
    """Write a query's rows as a Parquet file that appears complete or not at all."""
    import duckdb

    part = path.with_name(f".{path.name}{_PART}")
    pairs = ", ".join(f"{key}: {literal(value)}" for key, value in metadata.items())
    try:
        connection.execute(f"COPY ({query}) TO {literal(str(part))} ({_PARQUET}, KV_METADATA {{{pairs}}})")
        part.replace(path)
    except (duckdb.IOException, OSError):
        raise InputError(f"{path}: cannot be written; check the free space and that the folder is writable") from None
    finally:
        part.unlink(missing_ok=True)


def write_truth(
    connection: "duckdb.DuckDBPyConnection",
    world: World,
    weeks: Sequence[Week],
    path: Path,
    identity: Mapping[str, Any],
) -> None:
    """Write the expected share of each category in each reported region and week. The file is private."""
    coverage, regions = world.coverage, world.coverage.geography.regions
    reported = np.array([i for i, r in enumerate(regions) if coverage.standings[r.place_id].reported])
    _create_list(connection, "truth_places", "place_ids", [r.place_id for r in regions])
    _create_list(connection, "levels", "level_names", [r.level for r in regions])
    _create_list(connection, "categories", "ids", [category.id for category in coverage.spec.categories])
    shares = np.array([_all_categories(world.interest.expected(week.first_day))[:, reported] for week in weeks])
    week, category, place = (axis.ravel() for axis in np.indices(shares.shape, dtype=np.int32))
    table = {"week": week, "category": category, "region": reported[place], "ratio": shares.ravel()}
    connection.register("shares", table)
    query = f"""
        SELECT DATE '{weeks[0]}' + 7 * week AS week, level_names[region + 1] AS level,
               place_ids[region + 1] AS place_id, ids[category + 1] AS category,
               CASE WHEN NOT isnan(ratio) THEN ratio END AS expected_ratio
        FROM shares, truth_places, levels, categories ORDER BY shares.week, region, shares.category"""
    _copy(connection, query, path, {"notice": PRIVATE, IDENTITY: json.dumps(identity)})


def _all_categories(topics: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Put the category of any search before the topics: its share is 1 wherever anyone searches."""
    return np.vstack([np.where(np.isnan(topics[:1]), np.nan, 1.0), topics])
