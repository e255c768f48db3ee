"""A dataset at an address: copied to a folder first, file by file, and only if every table is what was published.

The host may be anyone's. Only files that a published folder has are asked for, by their names; each has a largest size;
tables must have the size and checksum that `datapackage.json` states. Nothing but http and https is spoken, and no
answer may lead from https to http.
"""

import hashlib
import http.client
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO
from urllib.parse import quote, urlsplit

from search_insights.dataset.folder import STATEMENTS, TableFile, read_description
from search_insights.errors import InputError
from search_insights.support.files import MOST_OF_A_STATEMENT

_MOST_OF_A_TABLE = 1 << 32  # bytes
_SECONDS = 60  # without an answer
_CHUNK = 1 << 20
_MISSING = (403, 404, 410)  # how hosts say that there is no such file
_PACKAGE = "datapackage.json"
_REQUIRED = (_PACKAGE, "privacy.json")


def fetch(address: str, folder: str | Path) -> Path:
    """Copy the dataset at an http(s) address to a new folder, and return the folder. Its tables are verified."""
    base, folder = _base(address), Path(folder)
    if folder.exists():
        raise InputError(f"{folder}: exists already; give a new folder")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror})") from None
    try:
        _copy(base, folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)  # nothing half
        raise
    return folder


@contextmanager
def local_folder(path: str | Path) -> Iterator[Path]:
    """Yield the folder of a dataset: the path itself, or for an address a copy that exists until the end."""
    if not is_address(path):
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="search-insights-") as temporary:
        copy = Path(temporary) / "dataset"
        try:
            yield fetch(str(path), copy)
        except InputError as error:  # the reader knows the address, not the copy
            raise InputError(str(error).replace(str(copy), _base(str(path)).rstrip("/"))) from None


def is_address(path: str | Path) -> bool:
    """Return whether this is an address, not a path."""
    return isinstance(path, str) and "://" in path


def _base(address: str) -> str:
    """Return the address of the folder; refuse one that is not of the web, or that has a password in it."""
    try:
        parts = urlsplit(address.removesuffix(_PACKAGE))
    except ValueError:
        raise InputError("the address is not well formed; expected one such as https://example.org/dataset/") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise InputError(
            "the address of a dataset must begin with http:// or https:// and name a folder, without user, query or "
            "fragment, such as https://example.org/dataset/"
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}/"


def _copy(base: str, folder: Path) -> None:
    for name in STATEMENTS:
        _copy_statement(base, name, folder)
    described = read_description(folder)
    tables = (described.csv, described.parquet, described.regions, described.counts, *(described.top_searches or ()))
    for table in {table.path: table for table in tables if table}.values():
        _copy_table(base, table)


def _copy_statement(base: str, name: str, folder: Path) -> None:
    with _asked(base, name, required=name in _REQUIRED) as answer:
        if answer is not None:
            content = answer.read(MOST_OF_A_STATEMENT + 1)
            if len(content) > MOST_OF_A_STATEMENT:
                raise InputError(f"{base}{name}: more than {MOST_OF_A_STATEMENT // 1024:,} kB; expected much less")
            (folder / name).write_bytes(content)


def _copy_table(base: str, table: TableFile) -> None:
    """Copy a table, and no more bytes than it should have."""
    name = table.path.name
    if not 0 <= table.bytes <= _MOST_OF_A_TABLE:
        raise InputError(f"{base}{_PACKAGE}: {name} would have {table.bytes:,} bytes; at most {_MOST_OF_A_TABLE:,}")
    digest, left = hashlib.sha256(), table.bytes + 1
    with _asked(base, name) as answer, table.path.open("wb") as target:
        while answer is not None and left > 0 and (part := answer.read(min(left, _CHUNK))):
            digest.update(part)
            left -= target.write(part)
    if left != 1 or f"sha256:{digest.hexdigest()}" != table.hash:
        raise InputError(
            f"{base}{name}: is not the file that datapackage.json describes: its size or checksum differs; try again, "
            "or tell the publisher"
        )


@contextmanager
def _asked(base: str, name: str, *, required: bool = True) -> Iterator[BinaryIO | None]:
    """Ask for a file of the dataset, and yield the answer; None if there is none and it may be missing."""
    address = base + quote(name)
    try:
        with _opener().open(address, timeout=_SECONDS) as answer:
            yield answer
    except urllib.error.HTTPError as error:
        error.close()
        if required or error.code not in _MISSING:
            hint = "; is it the address of a dataset's folder?" if name == _PACKAGE else ""
            raise InputError(f"{address}: the host answers with status {error.code}{hint}") from None
        yield None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__
        raise InputError(f"{address}: cannot be fetched ({' '.join(str(reason).split())[:200]})") from None


class _SameOrSafer(urllib.request.HTTPRedirectHandler):
    """Follows an answer to another address on the web, but not from https to http."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Return the next request, or refuse it."""
        scheme = urlsplit(newurl).scheme
        if scheme != "https" and (scheme != "http" or req.type == "https"):
            fp.close()
            raise InputError(f"{req.full_url}: the host leads to an address that is not safe; nothing was read from it")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    """Return what speaks http and https and nothing else: no files of this machine, no ftp."""
    opener = urllib.request.OpenerDirector()
    handlers = (
        *(urllib.request.ProxyHandler, urllib.request.HTTPHandler, urllib.request.HTTPSHandler, _SameOrSafer),
        *(urllib.request.HTTPErrorProcessor, urllib.request.HTTPDefaultErrorHandler),
    )
    for handler in handlers:
        opener.add_handler(handler())
    return opener
