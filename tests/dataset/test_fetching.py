"""A dataset at an address: only its own files are asked for, and only what was published is accepted."""

import io
import json
import shutil
import threading
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from http.client import HTTPMessage
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from search_insights.dataset.fetching import _SameOrSafer, fetch
from search_insights.dataset.loading import load
from search_insights.errors import InputError
from tests.support.datasets import STEM, dataset_of
from tests.support.quick_accounting import patch_accounting
from tests.support.stores import add_weeks, short_window_coverage


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder, remembers what was asked for, and redirects what it is told to."""

    asked: ClassVar[list[str]] = []
    redirects: ClassVar[dict[str, str]] = {}

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if target := self.redirects.get(self.path):
            self.send_response(302)
            self.send_header("Location", target)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Print nothing."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published folder."""
    folder = tmp_path_factory.mktemp("published")
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        return dataset_of(add_weeks(folder / "store.db", short_window_coverage(folder), {}))


@pytest.fixture
def dataset(original: Path, tmp_path: Path) -> Path:
    """A copy of it in a folder that is served."""
    return shutil.copytree(original, tmp_path / "served" / "dataset")


@pytest.fixture
def address(dataset: Path) -> Iterator[str]:
    """The address at which it is served."""
    (dataset.parent / "secret.json").write_text("{}", encoding="utf-8")
    Handler.asked, Handler.redirects = [], {}
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(dataset.parent))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/{dataset.name}/"
        server.shutdown()
        thread.join()


def refusal(ask: Callable[[], object]) -> str:
    """Return the one line with which an address is refused."""
    with pytest.raises(InputError) as refused:
        ask()
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_dataset_is_loaded_from_its_address_as_from_its_folder(dataset: Path, address: str) -> None:
    """The frames are equal; nothing is asked for but the files of a published folder."""
    for given in (address, address.rstrip("/"), f"{address}datapackage.json"):
        assert load(given, "county", "vaccination_intent").equals(load(dataset, "county", "vaccination_intent"))
    names = {path.rsplit("/", 1)[1] for path in Handler.asked}
    assert names <= {path.name for path in dataset.iterdir()} | {"straddling.json", "registry.yaml"}


def test_a_fetched_folder_is_the_published_one(dataset: Path, address: str, tmp_path: Path) -> None:
    """File by file; and a folder that exists is not touched."""
    copy = fetch(address, tmp_path / "copy")
    assert {p.name: p.read_bytes() for p in copy.iterdir()} == {p.name: p.read_bytes() for p in dataset.iterdir()}
    assert "exists already" in refusal(lambda: fetch(address, copy))


@pytest.mark.parametrize("name", [f"{STEM}.parquet", f"{STEM}.csv", "regions.csv"])
@pytest.mark.parametrize("change", [lambda b: b[:-1], lambda b: b + b"x", lambda b: b[:-1] + b"\x00"])
def test_a_table_that_is_not_the_published_one_is_refused(
    dataset: Path, address: str, tmp_path: Path, name: str, change: Callable[[bytes], bytes]
) -> None:
    """Shorter, longer or changed: nothing of the dataset stays."""
    (dataset / name).write_bytes(change((dataset / name).read_bytes()))
    told = refusal(lambda: fetch(address, tmp_path / "copy"))
    assert told.startswith(f"{address}{name}: is not the file that datapackage.json describes")
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize(
    ("path", "told"),
    [("../secret.parquet", "path"), ("https://example.org/x.parquet", "path"), ("a/b.parquet", "path")],
)
def test_a_description_leads_nowhere_else(dataset: Path, address: str, path: str, told: str) -> None:
    """A path out of the folder, or of another host, is refused before anything is asked for there."""
    package = json.loads((dataset / "datapackage.json").read_text(encoding="utf-8"))
    package["resources"][1]["path"] = path
    (dataset / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    message = refusal(lambda: load(address, "county", "vaccination_intent"))
    assert told in message
    assert message.startswith(address)  # not the copy's folder
    assert not any("secret" in asked for asked in Handler.asked)


def test_a_table_may_not_be_endless(dataset: Path, address: str, tmp_path: Path) -> None:
    """A size beyond any dataset's is refused before the table is read."""
    package = json.loads((dataset / "datapackage.json").read_text(encoding="utf-8"))
    package["resources"][0]["bytes"] = 1 << 50
    (dataset / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    assert "at most 4,294,967,296" in refusal(lambda: fetch(address, tmp_path / "copy"))


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://example.org/x", "gopher://x/"])
def test_an_answer_leads_nowhere_but_to_the_web(address: str, tmp_path: Path, target: str) -> None:
    """A redirect to a file of this machine or to another protocol is refused."""
    Handler.redirects = {"/dataset/datapackage.json": target}
    told = refusal(lambda: fetch(address, tmp_path / "copy"))
    assert "not safe" in told or "status 302" in told
    assert not (tmp_path / "copy").exists()


def test_an_answer_does_not_lead_from_https_to_http() -> None:
    """Who asks for a safe connection does not get another one."""
    asked = urllib.request.Request("https://example.org/d/privacy.json")
    follow = partial(_SameOrSafer().redirect_request, asked, io.BytesIO(), 302, "", HTTPMessage())
    assert "not safe" in refusal(lambda: follow("http://example.org/d/privacy.json"))
    assert follow("https://example.net/d/privacy.json") is not None


def test_a_moved_dataset_is_followed(address: str, tmp_path: Path, dataset: Path) -> None:
    """A redirect within the web is followed."""
    Handler.redirects = {"/dataset/privacy.json": "/dataset/privacy.json?v=2"}
    assert (fetch(address, tmp_path / "copy") / "privacy.json").read_bytes() == (dataset / "privacy.json").read_bytes()


@pytest.mark.parametrize(
    "given",
    [
        "file:///etc/",
        "ftp://example.org/d/",
        "https://",
        "http://user:secret@example.org/d/",
        "http://[/",
        "https://x/?a=b",
    ],
)
def test_what_is_not_an_address_of_a_folder_is_refused(given: str, tmp_path: Path) -> None:
    """Only http and https; a password in an address is not repeated in the message."""
    told = refusal(lambda: load(given, "county", "vaccination_intent"))
    assert "address" in told
    assert "secret" not in told


def test_a_missing_dataset_is_told_by_its_address(address: str, tmp_path: Path) -> None:
    """No such folder, and no such host."""
    told = refusal(lambda: load(f"{address}no/", "county", "vaccination_intent"))
    assert (
        told
        == f"{address}no/datapackage.json: the host answers with status 404; is it the address of a dataset's folder?"
    )
    assert "cannot be fetched" in refusal(lambda: fetch("http://127.0.0.1:9/d", tmp_path / "copy"))
