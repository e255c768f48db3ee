"""A local preview of a dashboard: serves the files of the site, and nothing else, on this machine only.

A page of another site can make its own name point to this machine, and its script would then read the preview as if it
were its own. So only requests that name this machine are answered.
"""

import gzip
import mimetypes
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from search_insights.dashboards.site import is_site
from search_insights.errors import InputError

LOOPBACK = "127.0.0.1"
_DEFAULT_PORT = 80  # a browser does not name it

# Fixed here, so that the types do not depend on the machine's own table.
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".csv": "text/csv; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".gz": "application/octet-stream",  # decompressed by the page
}
_COMPRESSED = ("text/", "application/json", "image/svg+xml")


def make_server(site: Path, port: int) -> ThreadingHTTPServer:
    """Return a server for a site that listens on the loopback address; port 0 takes any free port."""
    if not is_site(site):
        raise InputError(f"{site}: not a site of 'search-insights dashboard'; make one with it")
    root = site.resolve()

    class Handler(_Handler):
        folder = root

    try:
        return _Server((LOOPBACK, port), Handler)
    except (OSError, OverflowError) as error:
        reason = "is in use" if isinstance(error, OSError) else "is not a port"
        raise InputError(f"`port` {port}: {reason}; give another one, or 0 for any that is free") from None


def is_own_host(host: str, bound: str, port: int) -> bool:
    """Return whether the Host of a request names this machine, or the address that is listened on, with the port."""
    names = {"localhost", LOOPBACK, "[::1]", bound.lower()}
    known = {f"{name}:{port}" for name in names} | (names if port == _DEFAULT_PORT else set())
    return host.lower() in known


def file_of(root: Path, target: str) -> Path | None:
    """Return the file that a request asks for; None if it is not inside the folder, with links resolved."""
    path = unquote(target.partition("?")[0].partition("#")[0])
    if "\0" in path or "\\" in path:
        return None
    try:
        found = (root / path.lstrip("/")).resolve()
        found = found / "index.html" if found == root else found
        return found if found.is_relative_to(root) and found.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


class _Server(ThreadingHTTPServer):
    """Says nothing about a browser that went away: a preview needs no log."""

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class _Handler(BaseHTTPRequestHandler):
    """Answer GET and HEAD requests with files."""

    folder: Path
    protocol_version = "HTTP/1.1"
    server_version = "search-insights"
    sys_version = ""

    # An answer goes out at once: written in two pieces, the second would wait 40 ms for the receipt of the first.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the base class's
        """Log nothing: a preview needs no log."""

    def _answer(self, with_body: bool) -> None:
        refused = self._refusal()
        path = None if refused else file_of(self.folder, self.path)
        content = None if path is None else _content(path)
        if path is None or content is None:
            self.send_error(refused or HTTPStatus.NOT_FOUND)
            return
        kind = _kind(path)
        compressed = kind.startswith(_COMPRESSED) and "gzip" in self.headers.get("Accept-Encoding", "")
        content = gzip.compress(content, compresslevel=6, mtime=0) if compressed else content
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if compressed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Vary", "Accept-Encoding")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        if with_body:
            self.wfile.write(content)

    def _refusal(self) -> HTTPStatus | None:
        """Return why a request is not one to this server; None if it is."""
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or not self.path.startswith("/"):  # a whole address is a request to pass on
            return HTTPStatus.BAD_REQUEST
        bound, port = self.request.getsockname()
        return None if is_own_host(hosts[0].strip(), bound, port) else HTTPStatus.MISDIRECTED_REQUEST


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _kind(path: Path) -> str:
    known = _TYPES.get(path.suffix.lower())
    return known or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
