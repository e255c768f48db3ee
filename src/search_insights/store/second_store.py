"""Refusing to begin a second store of a release: the weeks that the first one noised would be noised again.

An operator who loses sight of a store, or who may not change its spec, begins a new one beside it. Nothing in a new
store says that it is a second one, but the journals in its folder do.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from search_insights.errors import SearchInsightsError, StoreError
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import Week
from search_insights.store.file_errors import real_file
from search_insights.store.identity import Mark, mark_of
from search_insights.store.journal import Journal, journal_path, read_journal
from search_insights.store.ledger import FinalWeek
from search_insights.store.opening import open_store

_WAYS_OUT = (
    "Go on with that store; if topics, regions or sigmas change, begin an edition of it ('search-insights store "
    "edition'). If this is the log of another release, say so with `another_release`"
)


def refuse_second_store(
    path: Path, coverage: Coverage, weeks: Sequence[Week], identity: str = "", held: Sequence[FinalWeek] = ()
) -> None:
    """Refuse to noise weeks beside the journal of a store that is of the same release, and has any of them.

    It is the same release if its spec has the same name and country; a store of the same identity is refused whatever
    its weeks are. `held` are the weeks of this store: if it shares one with the other, the operator has said before
    that it is another release.
    """
    for other, journal in _others(path, is_new=not held):
        if identity and identity == journal.identity:
            raise StoreError(
                f"{path}: would be a second store of release {identity}: {journal_path(other)} is that of the first. A "
                "release has one store; go on with it, or restore a backup. If the journal is left from a store that "
                "was renamed, move it away"
            )
        shared = [week for week in weeks if any(final.overlaps(week) for final in journal.weeks.values())]
        vouched = any(final.week in journal.weeks for final in held)
        if shared and not vouched and _is_same(other, journal, mark_of(identity, coverage)):
            raise StoreError(
                f"{path}: {journal_path(other)} says that {other.name} has week {shared[0]} of {coverage.spec.name} "
                "already: noise drawn again would be a second release of the same searches. "
                f"{_WAYS_OUT}"
            )


def _others(path: Path, is_new: bool) -> Iterator[tuple[Path, Journal]]:
    """Yield the other stores of which a journal is in the same folder, whether or not their files are there.

    One that cannot be read is no matter of a store that has weeks of its own.
    """
    file = real_file(path)
    for found in sorted(file.parent.glob("*.journal")):
        other = found.with_name(found.name.removesuffix(".journal"))
        if other != file and found.is_file():
            try:
                yield other, read_journal(other)
            except StoreError as error:
                if not is_new:
                    continue
                raise StoreError(
                    f"{error}. It cannot be seen whether {path.name} would be a second store of the same release; if "
                    "it is not, say so with `another_release`"
                ) from None


def _is_same(other: Path, journal: Journal, mark: Mark) -> bool:
    """Return whether a store is of a release of the same name and country; also if that cannot be seen."""
    names = {(known.name, known.country) for known in journal.marks} or _names_in(other)
    return not names or (mark.name, mark.country) in names


def _names_in(store: Path) -> set[tuple[str, str]]:
    """Return the name and country of a store itself: the journal of an earlier version does not have them."""
    try:
        with open_store(store) as opened:
            coverages = [edition.coverage for edition in opened.editions]
    except SearchInsightsError:
        return set()
    return {(coverage.spec.name, coverage.geography.country.place_id) for coverage in coverages}
