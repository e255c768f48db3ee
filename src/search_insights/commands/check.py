"""Read weeks of a search log as `anonymize` would, and report what they hold and what is wrong with them. Nothing is
spent and nothing is stored. The report is private: it holds exact counts and, of a log with queries, texts."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.commands.check_report import report_text
from search_insights.commands.console import Steps, out, out_json, shown
from search_insights.commands.log_options import add_log_options, engine_of, log_source_of, tolerance_of, weeks_of
from search_insights.commands.options import add_json, coverage_of, with_options
from search_insights.errors import UsageError
from search_insights.support.files import private_files, replacing_file

if TYPE_CHECKING:
    from search_insights.checking import Check

EXAMPLE = (
    "search-insights check log/*.parquet --store releases.db --week 2021-03-08\n"
    "search-insights check log.csv --week 2021-03-08 --naive-zone Europe/Zurich --json --out ~/private/check.json"
)

# The files by which published folders are known: those of a dataset, and that of a dashboard's data.
_PUBLISHED = ("datapackage.json", "privacy.json", "site.json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    add_log_options(parser, store_required=False)
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        help="write the report to a file for your eyes only; not in or beside a store, a dataset or a site",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Check the weeks; return 1 if a warning stands."""
    from search_insights.checking import check

    if args.out:
        _require_private_place(args.out, args.store)
    coverage = coverage_of(args)
    weeks = weeks_of(args, coverage.spec)
    with Steps() as steps:
        found = check(
            log_source_of(args, coverage.spec, weeks),
            weeks,
            coverage,
            store_path=args.store,
            tolerance=tolerance_of(args),
            open_engine=engine_of(args),
            model_changed=args.model_changed,
            times_changed=args.times_changed,
            progress=steps.show,
        )
    _show(found, args)
    return 1 if found.warnings else 0


def _show(found: "Check", args: argparse.Namespace) -> None:
    """Print the report, or write it to a file and say only which kinds of warnings stand."""
    if not args.out:
        out_json(_json(found)) if args.json else out(report_text(found))
        return
    text = json.dumps(_json(found), indent=2) if args.json else shown(report_text(found), also="\n")
    with private_files(), replacing_file(args.out.resolve()) as draft:
        draft.write_text(text + "\n", encoding="utf-8")
    kinds = ", ".join(dict.fromkeys(warning.kind for warning in found.warnings))
    out(f"{args.out}: the report, which is private; {f'warnings stand: {kinds}' if kinds else 'no warning stands'}")


def _json(found: "Check") -> dict[str, object]:
    """Return the report with the options in the places of parameters."""
    result: dict[str, object] = found.to_json()
    for key in ("warnings", "accepted"):
        result[key] = [{"kind": w.kind, "text": with_options(w.text)} for w in getattr(found, key)]
    return result


def _require_private_place(path: Path, store: Path | None) -> None:
    """Refuse a place from which a private report might be published, copied or backed up with what is public."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise UsageError(f"--out {path}: there is no folder {path.parent}; make it first")
    if path.is_dir():
        raise UsageError(f"--out {path}: is a folder; give a file")
    if path.exists() and not _is_report(path):
        raise UsageError(f"--out {path}: exists and is no report of 'check'; give another file")
    for place in (folder, *folder.parents):
        if _is_published(place):
            raise UsageError(f"--out {path}: is inside the published folder {place}; the report is private")
    beside_store = any(folder.glob("*.journal")) or (store is not None and folder in _places_of(store))
    if beside_store or any(_is_published(place) for place in folder.iterdir() if place.is_dir()):
        raise UsageError(
            f"--out {path}: is beside a store, a backup or a published folder; the report is private: give a folder of "
            "its own"
        )


def _places_of(store: Path) -> set[Path]:
    """Return the folder of a store, and those into which it was backed up."""
    from search_insights.store.journal import read_journal

    return {store.resolve().parent, *(folder.resolve() for folder in read_journal(store).places["backed-up"])}


def _is_report(path: Path) -> bool:
    """Return whether a file is the report of an earlier check, in either form: a log or a store is not replaced."""
    from search_insights.checking import PRIVATE

    with path.open("rb") as file:
        return PRIVATE.encode() in file.read(len(PRIVATE) + 100)


def _is_published(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _PUBLISHED)
