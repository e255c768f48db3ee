"""`serve` is a local preview: it serves the files of a site and nothing else."""

import gzip
import socket
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest

from search_insights.dashboards.server import file_of, is_own_host
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


def ask(address: tuple[str, int], *lines: str) -> tuple[int, dict[str, str], bytes]:
    """Send the lines of a request as they are."""
    with socket.create_connection(address, timeout=10) as connection:
        connection.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        answer = HTTPResponse(connection)
        answer.begin()
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


@pytest.mark.parametrize(
    "target", ["http://[", "http://[::1", "//[", "http://example.org/", "example.org:80", "*", "?", "#"]
)
def test_serve_answers_a_request_for_no_file_of_its_own(
    address: tuple[str, int], capfd: pytest.CaptureFixture[str], target: str
) -> None:
    """A target that is not a path of this site gets an answer, and nothing is printed."""
    status = ask(address, f"GET {target} HTTP/1.1", f"Host: 127.0.0.1:{address[1]}")[0]
    assert status == (404 if target.startswith("/") else 400)
    assert file_of(Path("/nowhere"), target) is None
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "localhost.evil.example:{port}", "127.0.0.1", "localhost:1", "", "[::1",
     "a b", "127.0.0.1:{port}@evil.example", "127.0.0.1:{port}:{port}", "0.0.0.0:{port}", "127.0.0.1.nip.io:{port}"],
)  # fmt: skip
def test_serve_answers_only_those_who_name_this_machine(address: tuple[str, int], host: str) -> None:
    """A page whose name was made to point to this machine (DNS rebinding) reads nothing of the preview."""
    status, _, body = ask(address, "GET / HTTP/1.1", f"Host: {host.format(port=address[1])}")
    assert status == 421
    assert b"<title>Search insights" not in body


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LocalHost", "[::1]"])
def test_serve_knows_the_names_of_this_machine(address: tuple[str, int], host: str) -> None:
    """The loopback address may be written in each usual way, with the port."""
    assert ask(address, "GET / HTTP/1.1", f"Host: {host}:{address[1]}")[0] == 200


def test_serve_needs_one_host(address: tuple[str, int]) -> None:
    """A request without a Host, or with two, is not answered: which of them was meant is not known."""
    own = f"Host: 127.0.0.1:{address[1]}"
    assert ask(address, "GET / HTTP/1.1")[0] == 400
    assert ask(address, "GET / HTTP/1.1", own, "Host: evil.example")[0] == 400
    assert ask(address, "GET http://evil.example/ HTTP/1.1", own)[0] == 400


def test_the_default_port_need_not_be_named() -> None:
    """A browser leaves port 80 out."""
    assert is_own_host("127.0.0.1", "127.0.0.1", 80)
    assert is_own_host("localhost:80", "127.0.0.1", 80)
    assert is_own_host("192.0.2.7:8000", "192.0.2.7", 8000)
    assert not is_own_host("127.0.0.1", "127.0.0.1", 8000)


def test_serve_says_nothing_about_a_file_that_cannot_be_read(
    us_site: Path, address: tuple[str, int], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that disappears in the middle of a request is not found; there is no traceback."""

    def gone(self: Path) -> bytes:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_bytes", gone)
    assert get(address, "/app.js")[0] == 404
    assert capfd.readouterr() == ("", "")


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
