"""The steps after the weeks: publish, dashboard, backup. Each knows from what is there whether it is due."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from search_insights.errors import InputError, ScaleIncomplete
from search_insights.routine.due import Held, read_held, store_of
from search_insights.routine.settings import Settings
from search_insights.spec.coverage import Coverage
from search_insights.support.files import remove_drafts
from search_insights.support.replace_folder import remove_leftovers
from search_insights.support.working_folder import remove_abandoned_temporary_folders

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Step:
    """A step: the place that it writes, what a dry run says of it, whether it is due, and how to do it.

    `do` returns what was done, for the operator.
    """

    place: Path
    planned: str
    is_due: Callable[[], bool]
    do: Callable[[], str]


def steps_of(settings: Settings, coverage: Coverage, progress: Progress) -> Iterator[Step]:
    """Yield the steps that the settings ask for, in order."""
    dataset, site, backups = settings.dataset, settings.site, settings.backups.folder
    if dataset:
        yield Step(
            dataset,
            "would be published",
            lambda: (
                not dataset_is_current(dataset, read_held(settings))
                or not blocklist_is_current(dataset, settings.blocklist)
            ),
            partial(_publish, settings, dataset, progress),
        )
    if dataset and site:
        yield Step(
            site,
            "would be built",
            lambda: dataset.is_dir() and not site_is_current(site, dataset),
            partial(_build, settings, dataset, site, coverage, progress),
        )
    if backups:
        yield Step(
            backups,
            "would get a backup",
            partial(_backup_is_due, settings, backups),
            partial(_back_up, settings, backups),
        )


def remove_all_leftovers(settings: Settings) -> None:
    """Remove what a killed run left: its work may have been in place already, so that nothing is due again."""
    from search_insights.store.backup import remove_unfinished_backups

    remove_abandoned_temporary_folders()  # first: they may hold parts of the log
    for folder in (settings.dataset, settings.site):
        if folder:
            remove_leftovers(folder)
    if settings.backups.folder:
        remove_unfinished_backups(settings.backups.folder)
    remove_drafts(settings.file.parent)


def dataset_is_current(folder: Path, held: Held) -> bool:
    """Return whether a folder shows the noise of every week of the store, every lost week, every note and every change.

    A damaged one does not.
    """
    from search_insights.dataset.folder import published_changes, published_weeks, read_dataset

    try:
        privacy = read_dataset(folder).privacy
        lost, notes = privacy.get("lost_weeks", ()), privacy.get("notes", ())
        shown = {week.week: week.checksum for week in published_weeks(folder).values()}
    except InputError:
        return False  # publishing says what is wrong, or makes the folder
    return (
        shown == {entry.week: entry.checksum for entry in held.entries}
        and {row["week"] for row in lost} == {week.isoformat() for week in held.declared}
        and [(row["week"], row["reason"]) for row in notes] == [(n.week.isoformat(), n.reason) for n in held.notes]
        and published_changes(folder) == held.changes
    )


def blocklist_is_current(folder: Path, blocklist: Path | None) -> bool:
    """Return whether a folder was published with the blocklist as it is now, or has no top searches."""
    from search_insights.dataset.folder import published_top_searches
    from search_insights.trends.blocklist import Blocklist, read_blocklist

    used = published_top_searches(folder).get("blocklist", {}).get("fingerprint")
    now = read_blocklist(blocklist) if blocklist else Blocklist()
    return used in (None, now.fingerprint)


def _publish(settings: Settings, dataset: Path, progress: Progress) -> str:
    from search_insights.dataset.publication import publish
    from search_insights.store.ledger import ScalingRecord
    from search_insights.trends.scaling import few_weeks

    try:
        release = publish(store_of(settings), dataset, blocklist=settings.blocklist, progress=progress).release
    except ScaleIncomplete as error:  # the spec says so, and it is no reason to alarm anybody every week
        return f"not published yet: {error}"
    weeks, new = release.trends.weeks, [r for r in release.decisions if isinstance(r, ScalingRecord)]
    warning = few_weeks(release.trends, new)
    return f"published, {len(weeks)} weeks, the last {weeks[-1]}{f'. Note: {warning}' if warning else ''}"


def site_is_current(site: Path, dataset: Path) -> bool:
    """Return whether a site shows the dataset as it is."""
    from search_insights.dashboards.site import shows

    try:
        return shows(site, dataset)
    except InputError:
        return False  # building says what is wrong with the dataset


def _build(settings: Settings, dataset: Path, site: Path, coverage: Coverage, progress: Progress) -> str:
    from search_insights.dashboards.site import dashboard

    dashboard(
        [dataset],
        site,
        geographies=[coverage.geography],
        specs=[coverage.spec],
        shapes=settings.shapes,
        shape_id=settings.shape_id,
        progress=progress,
    )
    return "built"


def _backup_is_due(settings: Settings, folder: Path) -> bool:
    from search_insights.routine.backups import backup_is_due, dated_backups

    store = store_of(settings)
    return backup_is_due(store, folder) or len(dated_backups(store, folder)) > settings.backups.keep


def _back_up(settings: Settings, folder: Path) -> str:
    from search_insights.routine.backups import backup_is_due, delete_surplus, make_backup

    store, said = store_of(settings), []
    if backup_is_due(store, folder):
        said.append(f"{make_backup(store, folder).name} copied and verified")
    if deleted := delete_surplus(store, folder, settings.backups.keep):
        said.append(f"{len(deleted)} older deleted")
    return ", ".join(said)
