"""Publishing: the whole dataset made from the store alone, put in place at once, never contradicting itself."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from search_insights.accounting import account
from search_insights.datapackage import datapackage
from search_insights.dataset import file_stem, value_columns, write_tables
from search_insights.errors import CheckFailed
from search_insights.ledger import CorrectionRecord
from search_insights.log import identifier, literal
from search_insights.release import Release, make_release
from search_insights.replace_folder import replacing
from search_insights.statement import privacy_json, privacy_page
from search_insights.store import open_store
from search_insights.summary import save_summary_chart, summarize


@dataclass(frozen=True, slots=True)
class Published:
    """What was published and where."""

    release: Release
    csv: Path
    rows: int
    summary: list[dict[str, Any]]


def publish(
    store_path: Path, out: Path, *, correction: str | None = None, progress: Callable[[str], None] = lambda text: None
) -> Published:
    """Derive the dataset from a store and put it in place, all at once or not at all.

    A value that is already published in `out` must not change, unless the publisher gives the reason of a correction,
    which is recorded in the store and published with the dataset.
    """
    progress("deriving the trends")
    release = make_release(store_path)
    with replacing(out) as draft:
        progress("writing the tables")
        write_tables(release, draft)
        changed = _changed_values(release, draft, out)
        if changed and correction is None:
            raise CheckFailed(
                f"{out}: {changed:,} published values would change or vanish; nothing was written. Is this the store "
                "that it was made from? A correction is made with --correction REASON, which is published"
            )
        if changed and correction is not None:
            release = _corrected(store_path, changed, correction)
        progress("writing the statements")
        summary = _write_statements(release, draft)
    rows = int(release.published.any(axis=2).sum())
    return Published(release, out / f"{file_stem(release)}.csv", rows, summary)


def _write_statements(release: Release, draft: Path) -> list[dict[str, Any]]:
    statement = privacy_json(release, account(release.coverage.spec))
    summary = summarize(release)
    for name, content in (
        ("datapackage.json", datapackage(release, draft)),
        ("privacy.json", statement),
        ("summary.json", summary),
    ):
        (draft / name).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (draft / "PRIVACY.md").write_text(privacy_page(statement), encoding="utf-8")
    save_summary_chart(release, summary, draft / "summary.svg")
    return summary


def _changed_values(release: Release, draft: Path, out: Path) -> int:
    """Count the published values that the draft would change; those of regions now removed for sparsity may go."""
    import duckdb

    old, new = (folder / f"{file_stem(release)}.csv" for folder in (out, draft))
    if not old.exists():
        return 0
    gone = release.sparsity.removed if release.sparsity else []
    columns = [identifier(column) for column in value_columns(release.coverage.spec)]
    differs = " + ".join(f"CAST(o.{c} IS NOT NULL AND o.{c} IS DISTINCT FROM n.{c} AS INTEGER)" for c in columns)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE gone AS SELECT unnest(?::TEXT[]) AS place_id", [gone])
        (row,) = connection.execute(f"""
            SELECT coalesce(sum({differs}), 0)
            FROM read_csv({literal(str(old))}, all_varchar = true) AS o
            LEFT JOIN read_csv({literal(str(new))}, all_varchar = true) AS n USING (date, place_id)
            WHERE o.place_id NOT IN (SELECT place_id FROM gone)""").fetchall()
    return int(row[0])


def _corrected(store_path: Path, changed: int, reason: str) -> Release:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with open_store(store_path, writable=True) as store:
        store.fix(CorrectionRecord(now, changed, reason))
    return make_release(store_path)
