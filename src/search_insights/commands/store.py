"""Back a store up, restore a backup, declare a week lost, tell readers about a week, and record a new edition. The
store is the only state: everything else can be made again."""

import argparse
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from search_insights.commands import store_edition
from search_insights.commands.console import note, out, span
from search_insights.commands.options import add_jobs, parse_day
from search_insights.errors import UsageError
from search_insights.support.files import private_files

EXAMPLE = (
    "search-insights store backup --store releases.db --out backups/2021-03-15.db\n"
    "search-insights store restore backups/2021-03-15.db --store releases.db --dataset dataset\n"
    "search-insights store lose --store releases.db --week 2021-03-08 --reason 'the log was deleted'\n"
    "search-insights store note --store releases.db --week 2021-03-08 --reason 'a server was down on March 9'\n"
    "search-insights store edition --store releases.db --spec new.toml --from 2021-06-07 --reason 'new topic' --dry-run"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the jobs and their options."""
    backup, restore, lose, noted, edition = add_jobs(
        parser,
        {
            "backup": "copy a store to a new file and verify the copy",
            "restore": "restore a backup in the place of a store",
            "lose": "declare a week lost: it is never noised, and sparsity no longer waits for it",
            "note": "tell readers what is wrong with a week that is in the store and cannot be noised again",
            "edition": "record a change of spec or geography, or list those that were recorded",
        },
        EXAMPLE,
    )
    backup.add_argument("--store", metavar="FILE", type=Path, required=True, help="the store")
    backup.add_argument(
        "--out", metavar="PATH", required=True, help="the backup, a new file; or a folder (backups/) for dated backups"
    )
    restore.add_argument("backup", metavar="BACKUP", type=Path, help="a file that 'store backup' made")
    restore.add_argument("--store", metavar="FILE", type=Path, required=True, help="where to; its journal is kept")
    known = restore.add_mutually_exclusive_group(required=True)
    known.add_argument(
        "--dataset", metavar="DIR", type=Path, help="the published dataset: its weeks will not be noised again"
    )
    known.add_argument("--never-published", action="store_true", help="nothing was ever published from this store")
    restore.add_argument(
        "--replace", action="store_true", help="even if the store is damaged or holds more than the backup"
    )
    lose.add_argument("--store", metavar="FILE", type=Path, required=True, help="the store")
    lose.add_argument("--week", metavar="DAY", required=True, help="the first day of a week that is not in the store")
    lose.add_argument("--reason", metavar="TEXT", required=True, help="why it will never come; the reason is published")
    noted.add_argument("--store", metavar="FILE", type=Path, required=True, help="the store")
    noted.add_argument("--week", metavar="DAY", required=True, help="the first day of a week that is in the store")
    noted.add_argument("--reason", metavar="TEXT", required=True, help="what readers should know; it is published")
    store_edition.add_arguments(edition)


def run(args: argparse.Namespace) -> int:
    """Do the job that was named."""
    jobs = {"backup": _backup, "restore": _restore, "lose": _lose, "note": _note, "edition": store_edition.run}
    return jobs[args.job](args)


def _backup(args: argparse.Namespace) -> int:
    from search_insights.store.backup import back_up
    from search_insights.trends.scaling import scale_problems

    to = _backup_path(args.store, args.out)
    weeks = back_up(args.store, to, scale_problems)
    out(f"{to}: {span(weeks)}, copied and verified")
    return 0


def _backup_path(store: Path, out: str) -> Path:
    """Return the file to write: the one named, or one named by the store and the day in a folder, which may be new."""
    if not out.endswith("/") and not Path(out).is_dir():
        return Path(out)
    with private_files(), suppress(OSError):  # `back_up` says if it cannot be written there
        Path(out).mkdir(exist_ok=True)
    return Path(out) / f"{store.stem}-{datetime.now(UTC):%Y-%m-%d}{store.suffix}"


def _restore(args: argparse.Namespace) -> int:
    from search_insights.dataset.folder import published_weeks
    from search_insights.store.backup import restore
    from search_insights.trends.scaling import scale_problems

    published = published_weeks(args.dataset).values() if args.dataset else ()
    if args.dataset:
        _require_one_release(args.backup, args.dataset)
    restored = restore(args.backup, args.store, scale_problems, published=published, replace=args.replace)
    out(f"{args.store}: {span(restored.weeks)}, restored and verified")
    if restored.lost:
        note(
            "committed after this backup, so they are not in the store and will not be noised again: "
            f"{', '.join(str(week) for week in restored.lost)}. A newer backup may hold them"
        )
    return 0


def _require_one_release(backup: Path, dataset: Path) -> None:
    """Refuse the dataset of another release: its weeks would be taken for lost ones of this store."""
    from search_insights.dataset.folder import published_as
    from search_insights.store.opening import read_weeks

    if backup.is_file():  # `restore` says so if it is not
        (known, _), shown = read_weeks(backup), published_as(dataset)
        if known.identity and shown.identity and not known.is_same(shown):
            raise UsageError(
                f"--dataset {dataset}: shows release {shown.identity}, and {backup} is a backup of release "
                f"{known.identity}; give the dataset that was published from this store, or --never-published"
            )


def _lose(args: argparse.Namespace) -> int:
    from search_insights.dataset.folder import published_weeks_of
    from search_insights.store.lost import lose

    lost = lose(args.store, parse_day(args.week, "--week"), args.reason, published_weeks_of)
    out(f"week {lost.week}: declared lost in {args.store}; it is never noised, and the next dataset says why")
    return 0


def _note(args: argparse.Namespace) -> int:
    from search_insights.store.notes import note_week

    noted = note_week(args.store, parse_day(args.week, "--week"), args.reason)
    out(f"week {noted.week}: noted in {args.store}; the next dataset tells its readers")
    return 0
