"""A publisher in a packaged country goes from nothing to a site with a map, by commands alone."""

import json
from pathlib import Path

import pytest

from search_insights.dp.accounting import require_promise
from search_insights.spec.geography import load_country, load_geography
from search_insights.spec.spec_file import load_spec
from tests.support.command_line import Run, assert_one_line
from tests.support.dashboards import data_folder, read_json, read_outlines

NEW = ("--time-zone", "Europe/Dublin", "--topic", "pollen", "--first-week", "2021-01-04")


def test_a_country_gets_a_release_a_dataset_and_a_map(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From `init --country` to the site: every region has an outline, and the source is named in dataset and site."""
    home = tmp_path / "irish"
    assert run("init", "--country", "ie", "--out", home, *NEW)[0] == 0
    spec, geography = load_spec(home / "spec.toml"), load_geography(home / "regions.csv")
    assert geography.fingerprint == load_country("IE").fingerprint
    assert (spec.size_classes, spec.level_names) == ((), ("region",))
    assert require_promise(spec).epsilon > 2.18
    monkeypatch.chdir(home)
    log = ("--out", "logs", "--from", "2021-01-04", "--events-per-week", "200000", "--seed", "7")
    assert run("simulate", *log, "--spec", "spec.toml", "--geography", "regions.csv")[0] == 0
    for words in (("anonymize", "--week", "2021-01-04"), ("publish",), ("dashboard",)):
        code, _, err = run(*words)
        assert code == 0, err
    package = json.loads((home / "dataset" / "datapackage.json").read_text(encoding="utf-8"))
    assert [source["title"].split(",")[0] for source in package["sources"]] == ["Natural Earth"]
    data = data_folder(home / "site", "IE_search_trends")
    rings, about = read_outlines(data / "outlines.bin.gz")["rings"], read_json(data / "index.json.gz")["about"]
    assert sum(bool(found) for found in rings) == 26
    assert any("Public domain" in text for section in about for text in section["text"])


def test_regions_lists_a_country_or_looks_in_it(run: Run) -> None:
    """Without a text, all regions; with one, its card, and whether a new release would report it."""
    code, out, _ = run("regions", "--country", "IE")
    assert (code, len(out.splitlines())) == (0, 1 + 1 + 26)
    code, out, _ = run("regions", "kilkenny", "--country", "IE")
    assert (code, "iso/IE-KK" in out, "yes, with noise of its own" in out) == (0, True, True)
    code, out, _ = run("regions", "LI-08", "--country", "LI")
    assert (code, "land area   2.6 km2" in out, "reported    no" in out) == (0, True, True)


def test_the_united_states_keep_their_own_table(run: Run) -> None:
    """`--country US` is the packaged table with counties and postal codes."""
    code, out, _ = run("regions", "94103", "--country", "US")
    assert (code, "zip/94103" in out) == (0, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("regions", "--country", "FR"), "--country FR: France is not packaged: "),
        (("regions", "--country", "Ireland"), "--country Ireland: is not the ISO 3166 code"),
        (("regions",), "TEXT: "),
        (("init", "--country", "XK", "--out", "new", *NEW), "--country XK: is not the ISO 3166 code"),
        (("simulate", "--geography", "FR", "--out", "new", "--from", "2021-01-04", "--seed", "1"), "FR: France is not"),
    ],
)
def test_a_country_that_is_not_packaged_is_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], says: str
) -> None:
    """With the reason and what to do; nothing is written."""
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*words)
    assert (code, out, says in err) == (2, "", True), err
    assert_one_line(err)
    assert list(tmp_path.iterdir()) == []
