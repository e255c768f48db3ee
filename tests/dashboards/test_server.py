"""`serve` is a local preview: it serves the files of a site and nothing else."""

import gzip
import socket
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from search_insights.dashboards.server import file_of
from tests.support.browser import running_server
from tests.support.command_line import Run


@pytest.fixture(scope="module")
def address(us_site: Path) -> Iterator[tuple[str, int]]:
    """The host and port of the served site."""
    with running_server(us_site) as server:
        yield server.server_address[0], server.server_address[1]  # type: ignore[misc]


def get(
    address: tuple[str, int], target: str, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    with closing(HTTPConnection(*address, timeout=10)) as connection:
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()


def test_serve_gives_the_page_and_its_files(address: tuple[str, int], us_site: Path) -> None:
    """The root is the page. Files are sent as they are, or compressed if the browser accepts it and it saves bytes."""
    status, headers, body = get(address, "/?region=geoId/06")
    assert (status, body) == (200, (us_site / "index.html").read_bytes())
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    _, headers, compressed = get(address, "/app.js", Accept_Encoding="gzip, br")
    assert headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(compressed) == (us_site / "app.js").read_bytes()
    regions = next(us_site.glob("data/US*/regions.json.gz"))
    _, headers, body = get(address, f"/{regions.relative_to(us_site).as_posix()}", Accept_Encoding="gzip")
    assert "Content-Encoding" not in headers
    assert body == regions.read_bytes()
    assert get(address, "/app.js", "HEAD")[2] == b""


def test_serve_listens_on_this_machine_only(address: tuple[str, int]) -> None:
    """Nobody else on the network can see a preview."""
    assert address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "target",
    [
        "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "//etc/passwd", "/data/../../secret.txt", "/a%00b",
        "/..\\secret.txt", "/outside/secret.txt", "/link.txt", "/data", "/data/", "/nothing.html", "/%ff%fe", "*",
    ],
)  # fmt: skip
def test_serve_gives_nothing_outside_the_folder(us_site: Path, address: tuple[str, int], target: str) -> None:
    """Neither dots, encoded dots nor links lead out of the folder, and no folder is listed."""
    secret = us_site.parent / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    for name, to in (("link.txt", secret), ("outside", us_site.parent)):
        if not (us_site / name).is_symlink():
            (us_site / name).symlink_to(to)
    try:
        status, _, body = get(address, target)
        assert status in (400, 404)
        assert b"secret" not in body
        assert file_of(us_site.resolve(), target) is None
    finally:
        for name in ("link.txt", "outside"):
            (us_site / name).unlink()


def test_serve_answers_no_other_method(address: tuple[str, int]) -> None:
    """Only GET and HEAD: a preview changes nothing."""
    assert get(address, "/", "POST")[0] == 501


def test_serve_refuses_a_folder_that_is_not_a_site(tmp_path: Path, run: Run) -> None:
    """A home folder is not served by mistake."""
    code, _, err = run("serve", tmp_path)
    assert (code, "not a site" in err, err.count("\n")) == (2, True, 1)


def test_serve_says_when_a_port_is_in_use(us_site: Path, run: Run) -> None:
    """One line names the port and says what to do."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = run("serve", us_site, "--port", str(port))
    assert (code, err) == (
        2,
        f"search-insights: --port {port}: is in use; give another one, or 0 for any that is free\n",
    )
    assert run("serve", us_site, "--port", "70000")[0] == 2


def test_ctrl_c_ends_serve_quietly(us_site: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual way to end a preview is not an error."""

    def interrupted(self: object, poll_interval: float = 0.5) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("socketserver.BaseServer.serve_forever", interrupted)
    code, out, err = run("serve", us_site, "--port", "0")
    assert (code, err) == (0, "")
    assert "http://127.0.0.1:" in out
