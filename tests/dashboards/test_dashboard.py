"""The dashboard's files: made whole from a published dataset, small, and holding nothing but what is published."""

import gzip
import hashlib
import json
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import search_insights
from search_insights.dashboards.data_files import BLOCK_WEEKS
from search_insights.dashboards.published import MISSING
from search_insights.dashboards.server import file_of, make_server
from search_insights.dashboards.shapes import load_topology, project_shapes
from search_insights.dashboards.site import dashboard
from search_insights.errors import InputError
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Geography, load_geography
from tests.support.dashboards import QAZARIA, US
from tests.support.logs import Run
from tests.support.other_country import other_geography, other_spec_file

# A commune that has no value in any week, and is known only from the rows of its parishes.
MADE_UP = 'region/Qazaria/North, "Upper" Province/नमस्ते नगर/a\\b'
SITE = Path(search_insights.__file__).parent / "dashboards" / "page"
TRENDS = 3
PARTS = 3


def unpacked(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


def numbers(path: Path) -> "np.ndarray[Any, np.dtype[np.int32]]":
    """Read a file of numbers as the page does: all lowest bytes, then the next."""
    planes = np.frombuffer(gzip.decompress(path.read_bytes()), dtype=np.uint8)
    return np.ascontiguousarray(planes.reshape(4, -1).T).view("<i4").ravel()


def data_of(site: Path, key: str) -> Path:
    datasets = json.loads((site / "site.json").read_text(encoding="utf-8"))["datasets"]
    [folder] = [str(entry["data"]) for entry in datasets if entry["key"] == key]
    return site / folder


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def region_ids(data: Path) -> list[str]:
    return [*unpacked(data / "regions.json.gz")["id"], *unpacked(data / "finer.json.gz")["id"]]


def published(dataset: Path, column: str) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Read one trend of the dataset as anybody would."""
    [parquet] = dataset.glob("*.parquet")
    rows = duckdb.connect().execute(
        f"SELECT place_id, strftime(date, '%Y-%m-%d'), {column}, {column}_low, {column}_high FROM '{parquet}' "
        f"WHERE {column} IS NOT NULL"
    )
    return {(place, week): (value, low, high) for place, week, value, low, high in rows.fetchall()}


# What the files hold


def test_the_series_are_the_published_values_and_no_others(us_data: Path, us_site: Path) -> None:
    """Every published value with its interval is in a series file, to the last digit; missing is missing, never 0."""
    data = data_of(us_site, US)
    index, ids = unpacked(data / "index.json.gz"), region_ids(data)
    for t, trend in enumerate(index["trends"]):
        found = {}
        for number in index["withSeries"]:
            found.update(series_values(data / "series" / f"{number}.bin.gz", t, index, ids))
        expected = published(us_data, trend["column"])
        assert found.keys() == expected.keys()
        np.testing.assert_allclose([found[k] for k in expected], list(expected.values()), atol=5e-4)


def series_values(path: Path, trend: int, index: dict[str, Any], ids: list[str]) -> dict[tuple[str, str], Any]:
    given = numbers(path)
    rows = given[1 : given[0] + 1]
    cells = given[given[0] + 1 :].reshape(len(rows), TRENDS, PARTS, len(index["weeks"]))[:, trend] / 1000.0
    return {
        (ids[region], index["weeks"][w]): (
            cells[i, 0, w],
            cells[i, 0, w] - cells[i, 1, w],
            cells[i, 0, w] + cells[i, 2, w],
        )
        for i, region in enumerate(rows)
        for w in np.flatnonzero(cells[i, 0] != MISSING / 1000.0)
    }


def test_the_map_holds_the_published_values_of_the_levels_with_outlines(us_data: Path, us_site: Path) -> None:
    """States and counties of every week, in blocks of weeks; the last block may be shorter."""
    data = data_of(us_site, US)
    index, ids = unpacked(data / "index.json.gz"), region_ids(data)[: 1 + 51 + 3142]
    assert index["core"] == len(ids)
    number = {place: n for n, place in enumerate(ids)}
    expected = np.full((len(index["weeks"]), len(ids)), MISSING)
    for (place, week), (value, _, _) in published(us_data, index["trends"][1]["column"]).items():
        if place in number:
            expected[index["weeks"].index(week), number[place]] = round(value * 1000)
    blocks = [numbers(data / "map" / f"1-{block}.bin.gz").reshape(-1, PARTS, len(ids)) for block in range(2)]
    assert [len(block) for block in blocks] == [BLOCK_WEEKS, len(index["weeks"]) - BLOCK_WEEKS]
    np.testing.assert_array_equal(np.concatenate(blocks)[:, 0], expected)


def test_a_value_of_zero_is_kept_and_is_not_missing(zero_site: Path) -> None:
    """A published 0 is a value: in the files it differs from a week without one."""
    data = data_of(zero_site, QAZARIA)
    index, ids = unpacked(data / "index.json.gz"), region_ids(data)
    given = numbers(data / "series" / f"{ids.index('qz/p/01')}.bin.gz")
    rows = list(given[1 : given[0] + 1])
    cells = given[given[0] + 1 :].reshape(len(rows), 2, PARTS, len(index["weeks"]))
    assert cells[rows.index(ids.index("qz/c/012")), 0, 0, 1] == 0
    assert cells[rows.index(ids.index("qz/c/011")), 0, 0, 2] == MISSING


def test_the_scale_of_a_trend_is_one_for_all_weeks(us_data: Path, us_site: Path) -> None:
    """A trend has one step, round, with most values of all weeks below the open last class."""
    index = unpacked(data_of(us_site, US) / "index.json.gz")
    for trend in index["trends"]:
        values = [v[0] for v in published(us_data, trend["column"]).values()]
        assert 0.9 < np.mean(np.array(values) < trend["step"] * (index["classes"] - 1)) <= 1


def test_regions_say_why_they_are_not_reported(us_site: Path, us_coverage: Coverage) -> None:
    """Exactly the regions that the spec leaves out are marked, each with its reason in plain words."""
    data = data_of(us_site, US)
    index = unpacked(data / "index.json.gz")
    marked: dict[str, str] = {}
    for name in ("regions", "finer"):
        columns = unpacked(data / f"{name}.json.gz")
        marked |= {i: index["reasons"][why - 1] for i, why in zip(columns["id"], columns["why"], strict=True) if why}
    assert set(marked) == {place for place, standing in us_coverage.standings.items() if not standing.reported}
    assert len(index["reasons"]) == 2
    assert any("100,000 people" in reason for reason in index["reasons"])
    assert any("3 km²" in reason for reason in index["reasons"])


def test_the_page_explains_itself_from_the_datasets_own_statements(us_site: Path) -> None:
    """What a value means, why some are missing, what is promised and when it was updated come from the metadata."""
    index = unpacked(data_of(us_site, US) / "index.json.gz")
    text = " ".join(line for part in index["about"] for line in part["text"])
    for words in ("100 is the highest weekly share of “COVID-19 vaccination”", "80%", "within 15%", "(2.19, 1e-05)"):
        assert words in text


def test_the_whole_dataset_can_be_downloaded(us_data: Path, us_site: Path) -> None:
    """The site carries the published files, byte for byte."""
    assert contents(us_site / "dataset" / US) == contents(us_data)


def test_the_data_folder_is_named_after_its_content(other_data: Path, zero_site: Path, other_site: Path) -> None:
    """Another release has other addresses, so that no browser mixes old files with new."""
    names = {data_of(site, QAZARIA).name for site in (zero_site, other_site)}
    assert len(names) == 2
    assert all(name.startswith(QAZARIA) for name in names)


# Other countries


def test_a_geography_is_read_off_the_rows_where_none_is_given(other_site: Path) -> None:
    """Levels, names and parents of a dataset that the program knows nothing of come from its own columns."""
    data = data_of(other_site, QAZARIA)
    index, columns = unpacked(data / "index.json.gz"), unpacked(data / "regions.json.gz")
    assert [level["label"] for level in index["levels"]] == ["nation", "province", "canton", "commune", "parish"]
    assert (index["hasMap"], index["tells"]) == (False, False)
    parents = {i: columns["id"][p] if p >= 0 else None for i, p in zip(columns["id"], columns["parent"], strict=True)}
    geography = load_geography(other_geography(other_site.parent))
    true = {place: region.parent for place, region in geography.by_place_id.items() if place in parents}
    assert parents == true | {"qz/s/p03": MADE_UP, "qz/s/p04": MADE_UP, MADE_UP: "qz/c/011"}
    names = dict(zip(columns["id"], columns["name"], strict=True))
    assert names["qz/p/02"] == "<b>Midland</b>"
    assert names[MADE_UP] == "a\\b"


def test_a_given_geography_and_spec_tell_of_regions_without_any_value(
    other_data: Path, tmp_path: Path, run: Run
) -> None:
    """With them the page knows every region, and why one is not reported."""
    options = ("--geography", other_geography(tmp_path), "--spec", other_spec_file(tmp_path))
    code, _, err = run("dashboard", other_data, "--out", tmp_path / "site", *options)
    assert (code, err) == (0, "")
    data = data_of(tmp_path / "site", QAZARIA)
    index, columns = unpacked(data / "index.json.gz"), unpacked(data / "regions.json.gz")
    why = {i: index["reasons"][w - 1] for i, w in zip(columns["id"], columns["why"], strict=True) if w}
    assert why["qz/s/p07"] == "its land area is under 0.5 km²"
    assert "10,000 people" in why["qz/s/p05"]
    assert "qz/m/0112" in columns["id"]
    assert "qz/m/0112" not in why


def test_a_geography_that_does_not_fit_is_refused(other_data: Path, tmp_path: Path) -> None:
    """A table that lacks a region of the dataset is not the dataset's."""
    rows = other_geography(tmp_path).read_text(encoding="utf-8").splitlines()
    (tmp_path / "part.csv").write_text("\n".join(row for row in rows if "/s/" not in row), encoding="utf-8")
    with pytest.raises(InputError, match="has no region 'qz/s/031'"):
        dashboard([other_data], tmp_path / "site", geographies=[load_geography(tmp_path / "part.csv")])


def test_outlines_of_another_country_make_a_map(other_data: Path, tmp_path: Path) -> None:
    """A TopoJSON file whose ids are place_ids is enough."""
    square = {"type": "Polygon", "id": "qz/p/01", "arcs": [[0]]}
    topology = {"type": "Topology", "objects": {"p": {"geometries": [square]}}}
    arcs = [[[80, 27], [85, 27], [85, 30], [80, 30], [80, 27]]]
    (tmp_path / "shapes.json").write_text(json.dumps(topology | {"arcs": arcs}), encoding="utf-8")
    dashboard([other_data], tmp_path / "site", shapes=[tmp_path / "shapes.json"])
    outlines = unpacked(data_of(tmp_path / "site", QAZARIA) / "outlines.json.gz")
    assert outlines["rings"][1] == [[0]]
    assert outlines["arcs"][0][:2] == [0, outlines["height"]]  # the south-west corner is at the lower left


@pytest.mark.parametrize(
    ("geometry", "arcs"),
    [
        ({"type": "Polygon", "arcs": [[0]]}, [[[0, 0], [1, 1]]]),  # whose is it?
        ({"type": "Polygon", "id": "qz/p/01", "arcs": [[5]]}, [[[0, 0], [1, 1]]]),  # no such line
        ({"type": "Polygon", "id": "qz/p/01", "arcs": [[0]]}, [[["a", "b"]]]),  # no numbers
        ({"type": "Point", "id": "qz/p/01", "coordinates": [0, 0]}, []),  # no outline
    ],
)
def test_a_file_without_sound_outlines_is_refused(
    other_data: Path, tmp_path: Path, run: Run, geometry: dict[str, Any], arcs: list[Any]
) -> None:
    """One line, and no site: shapes that cannot be drawn or coloured are no shapes."""
    topology = {"type": "Topology", "objects": {"p": {"geometries": [geometry]}}, "arcs": arcs}
    (tmp_path / "shapes.json").write_text(json.dumps(topology), encoding="utf-8")
    for name in ("shapes.json", "nothing.json", "."):
        code, _, err = run("dashboard", other_data, "--out", tmp_path / "site", "--shapes", tmp_path / name)
        assert (code, err.count("\n"), "TopoJSON" in err) == (2, 1, True)
    assert not (tmp_path / "site").exists()


# The shapes


def test_every_state_and_county_has_an_outline_within_the_picture(us: Geography) -> None:
    """All of them are drawn, on the grid, and Alaska and Hawaii lie beneath the south-west."""
    shapes = project_shapes(load_topology(), {region.place_id: region.parent for region in us.regions})
    assert shapes is not None
    assert set(shapes.outlines) == {r.place_id for r in us.regions if r.level in ("state", "county")}
    lines = [np.cumsum(np.array(arc).reshape(-1, 2), axis=0) for arc in shapes.arcs]
    every = np.vstack(lines)
    assert every.min() >= 0
    assert (every.max(axis=0) <= (shapes.width, shapes.height)).all()
    for place, left, top in (("geoId/02", 0.0, 0.7), ("geoId/15", 0.2, 0.8)):
        points = np.vstack([lines[a if a >= 0 else ~a] for ring in shapes.outlines[place] for a in ring])
        middle = points.mean(axis=0) / (shapes.width, shapes.height)
        assert left < middle[0] < 0.45
        assert top < middle[1] < 1


def test_the_projection_keeps_areas(us: Geography) -> None:
    """Colorado is 2.7 times as large as West Virginia's 62,755 km2 to 269,601: equal areas look equal."""
    shapes = project_shapes(load_topology(), {region.place_id: region.parent for region in us.regions})
    assert shapes is not None
    ratio = area(shapes.outlines["geoId/08"], shapes.arcs) / area(shapes.outlines["geoId/54"], shapes.arcs)
    assert ratio == pytest.approx(269_601 / 62_755, rel=0.02)


def area(rings: list[list[int]], arcs: list[list[int]]) -> float:
    total = 0.0
    for ring in rings:
        lines = [
            np.cumsum(np.array(arcs[a if a >= 0 else ~a]).reshape(-1, 2), axis=0)[:: 1 if a >= 0 else -1] for a in ring
        ]
        x, y = np.vstack(lines).T
        total += float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2
    return abs(total)


def test_postal_codes_lie_in_or_near_their_county(us_site: Path) -> None:
    """The centre of a postal code is drawn with the projection of its state: 94103 in San Francisco's box."""
    data = data_of(us_site, US)
    finer, core = unpacked(data / "finer.json.gz"), unpacked(data / "regions.json.gz")
    outlines = unpacked(data / "outlines.json.gz")
    for zip_id, county in (("zip/94103", "geoId/06075"), ("zip/99501", "geoId/02020"), ("zip/96813", "geoId/15003")):
        rings = outlines["rings"][core["id"].index(county)]
        points = np.vstack(
            [
                np.cumsum(np.array(outlines["arcs"][a if a >= 0 else ~a]).reshape(-1, 2), axis=0)
                for r in rings
                for a in r
            ]
        )
        point = np.array(finer["point"][finer["id"].index(zip_id)])
        assert (points.min(axis=0) <= point).all()
        assert (point <= points.max(axis=0)).all()


# The page's own code


@pytest.mark.parametrize("script", sorted(SITE.glob("*.js")), ids=lambda path: path.name)
def test_every_script_is_small_and_says_what_it_is_for(script: Path) -> None:
    """As with the modules of the package: one idea, named in the first line, and small enough to read."""
    lines = script.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("// ")
    assert len(lines) <= 400


@pytest.mark.parametrize("word", ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http://"])
def test_no_script_can_turn_a_name_into_markup(word: str) -> None:
    """Text is set as text; the one address is the name of SVG."""
    for script in SITE.glob("*.js"):
        assert word not in script.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")


def test_the_page_has_nothing_inline_and_names_no_other_host() -> None:
    """So that the policy can forbid both."""
    page = (SITE / "index.html").read_text(encoding="utf-8")
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in page
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)
    assert not re.search(r"(src|href)=\"(https?:)?//", page)


def test_the_page_asks_for_all_its_scripts_at_once() -> None:
    """Scripts that ask for scripts one after the other make a slow network slower."""
    page = (SITE / "index.html").read_text(encoding="utf-8")
    assert sorted(re.findall(r'(?:modulepreload" href|module" src)="([^"]+)"', page)) == sorted(
        path.name for path in SITE.glob("*.js")
    )


# Building


def test_the_command_builds_a_site_and_says_how_to_look_at_it(other_data: Path, tmp_path: Path, run: Run) -> None:
    """One line says what was made, the next what to type."""
    code, out, _ = run("dashboard", other_data, "--out", tmp_path / "my site")
    assert code == 0
    assert f"{QAZARIA};" in out
    assert f"search-insights serve '{tmp_path / 'my site'}'" in out


def test_the_function_is_part_of_the_package() -> None:
    """`search_insights.dashboard` is the function, whatever was imported before."""
    assert search_insights.dashboard is dashboard


def test_building_again_replaces_the_site(other_data: Path, tmp_path: Path) -> None:
    """The same dataset gives the same bytes, and nothing is left of an older site."""
    first = contents(dashboard([other_data], tmp_path / "site").folder)
    (tmp_path / "site" / "data" / "old.gz").write_bytes(b"old")
    assert contents(dashboard([other_data], tmp_path / "site").folder) == first
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_site_that_cannot_be_built_leaves_the_old_one(other_data: Path, tmp_path: Path, run: Run) -> None:
    """A damaged table stops the build before anything is replaced."""
    site = dashboard([other_data], tmp_path / "site").folder
    before = contents(site)
    damaged = shutil.copytree(other_data, tmp_path / "damaged")
    (damaged / f"{QAZARIA}.parquet").write_bytes(b"PAR1 no")
    code, _, err = run("dashboard", damaged, "--out", site)
    assert (code, err.count("\n")) == (2, 1)
    assert contents(site) == before


def test_a_folder_that_is_no_dataset_is_refused_in_one_line(tmp_path: Path, run: Run) -> None:
    """Nothing is written, and the line names the folder."""
    (tmp_path / "empty").mkdir()
    code, out, err = run("dashboard", tmp_path / "empty", "--out", tmp_path / "site")
    assert (code, out) == (2, "")
    assert err == f"search-insights: {tmp_path / 'empty'}: not a dataset folder of 'search-insights publish'\n"
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("missing", [f"{QAZARIA}.parquet", f"{QAZARIA}.csv", "privacy.json"])
def test_a_dataset_that_lacks_a_file_is_refused(other_data: Path, tmp_path: Path, run: Run, missing: str) -> None:
    """Half a dataset is none."""
    half = shutil.copytree(other_data, tmp_path / "half")
    (half / missing).unlink()
    code, _, err = run("dashboard", half, "--out", tmp_path / "site")
    assert (code, err.count("\n")) == (2, 1)


def test_files_of_others_are_not_lost(other_data: Path, tmp_path: Path, run: Run) -> None:
    """A folder that holds anything but a site is refused, a dataset's own folder too."""
    for folder in (tmp_path, shutil.copytree(other_data, tmp_path / "dataset")):
        (folder / "thesis.txt").write_text("mine", encoding="utf-8")
        code, _, err = run("dashboard", other_data, "--out", folder)
        assert (code, "would be lost" in err) == (2, True)
        assert (folder / "thesis.txt").read_text(encoding="utf-8") == "mine"


def test_one_dataset_is_not_shown_twice(other_data: Path, tmp_path: Path, run: Run) -> None:
    """Two datasets of one name could not be told apart in an address."""
    code, _, err = run("dashboard", other_data, other_data, "--out", tmp_path / "site")
    assert (code, "only once" in err) == (2, True)


def test_an_older_dataset_without_the_newer_statements_still_works(other_data: Path, tmp_path: Path) -> None:
    """The scale's maximum and the reliability rule may be absent from datapackage.json."""
    old = shutil.copytree(other_data, tmp_path / "old")
    package = json.loads((old / "datapackage.json").read_text(encoding="utf-8"))
    del package["scaling"], package["reliability"]
    (old / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    dashboard([old], tmp_path / "site")
    index = unpacked(data_of(tmp_path / "site", QAZARIA) / "index.json.gz")
    assert (index["peak"], index["confidence"]) == ("", None)


# Serving


@pytest.fixture(scope="module")
def address(us_site: Path) -> Iterator[tuple[str, int]]:
    """Serve the site on any free port."""
    with make_server(us_site, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[0], server.server_address[1]  # type: ignore[misc]
        server.shutdown()
        thread.join()


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
    """The root is the page; files come as they are, packed only where the browser asks and it helps."""
    status, headers, body = get(address, "/?region=geoId/06")
    assert (status, body) == (200, (us_site / "index.html").read_bytes())
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    _, headers, packed = get(address, "/app.js", Accept_Encoding="gzip, br")
    assert headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed) == (us_site / "app.js").read_bytes()
    regions = next(us_site.glob("data/US*/regions.json.gz"))
    _, headers, body = get(address, f"/{regions.relative_to(us_site).as_posix()}", Accept_Encoding="gzip")
    assert "Content-Encoding" not in headers
    assert body == regions.read_bytes()
    assert get(address, "/app.js", "HEAD")[2] == b""


def test_serve_listens_on_this_machine_only(address: tuple[str, int]) -> None:
    """Nobody else on the network sees a preview."""
    assert address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "target",
    [
        "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "//etc/passwd", "/data/../../secret.txt", "/a%00b",
        "/..\\secret.txt", "/outside/secret.txt", "/link.txt", "/data", "/data/", "/nothing.html", "/%ff%fe", "*",
    ],
)  # fmt: skip
def test_serve_gives_nothing_outside_the_folder(us_site: Path, address: tuple[str, int], target: str) -> None:
    """No dots, no encoded dots, no link leads out, and no folder is listed."""
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
    """There is nothing to change."""
    assert get(address, "/", "POST")[0] == 501


def test_serve_refuses_a_folder_that_is_no_site(tmp_path: Path, run: Run) -> None:
    """A whole home folder is not served by a slip."""
    code, _, err = run("serve", tmp_path)
    assert (code, "not a site" in err, err.count("\n")) == (2, True, 1)


def test_serve_says_when_a_port_is_taken(us_site: Path, run: Run) -> None:
    """One line that says which and what to do."""
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
    """The usual way to end a preview is no error."""

    def interrupted(self: object, poll_interval: float = 0.5) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("socketserver.BaseServer.serve_forever", interrupted)
    code, out, err = run("serve", us_site, "--port", "0")
    assert (code, err) == (0, "")
    assert "http://127.0.0.1:" in out
