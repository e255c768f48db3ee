"""The identity of a release: a random name by which its store, journal, backups and datasets know each other.

Specs and geographies change, files are renamed and machines replaced; the identity stays. It is made with the store, or
by `init`, from the operating system's entropy alone, so it tells nothing about the log. A store that an earlier version
made gets its identity from the checksum of its first week, which is as random, and the same in every copy of it.
"""

import json
import uuid
from dataclasses import asdict, dataclass

from search_insights.spec.coverage import Coverage


@dataclass(frozen=True, slots=True)
class Mark:
    """What a journal says of the release to which it belongs: its identity, the name of its spec, and the country."""

    identity: str
    name: str
    country: str

    def __str__(self) -> str:
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class Known:
    """By what a store, a backup or a dataset is known to be of a release.

    `specs` and `geographies` are the fingerprints of all that it had. What an earlier version made has no identity; a
    dataset does not name geographies.
    """

    identity: str
    specs: frozenset[str]
    geographies: frozenset[str] = frozenset()

    def is_same(self, other: "Known") -> bool:
        """Return whether both are of one release: by their identities or, if one has none, by their fingerprints."""
        if self.identity and other.identity:
            return self.identity == other.identity
        same_regions = not self.geographies or not other.geographies or self.geographies & other.geographies
        return bool(self.specs & other.specs and same_regions)


def new_identity() -> str:
    """Return a random identity."""
    return str(uuid.uuid4())


def identity_of_earlier(checksum: str) -> str:
    """Return the identity of a store that an earlier version made, given the checksum of its first week."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, checksum))


def is_identity(text: object) -> bool:
    """Return whether a text is an identity as this program writes it."""
    try:
        return isinstance(text, str) and str(uuid.UUID(text)) == text
    except ValueError:
        return False


def mark_of(identity: str, coverage: Coverage) -> Mark:
    """Return what the journal of a store says of its release."""
    return Mark(identity, coverage.spec.name, coverage.geography.country.place_id)


def read_mark(text: str) -> Mark:
    """Return the mark that a text is; a ValueError or TypeError says that it is none."""
    mark = Mark(**json.loads(text))
    if not is_identity(mark.identity) or not all(isinstance(word, str) for word in (mark.name, mark.country)):
        raise ValueError
    return mark
