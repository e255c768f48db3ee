"""A wrong spec is refused with the key, what was expected and what was found."""

import pytest

from search_insights.errors import SpecError
from search_insights.spec.spec_file import parse_spec
from tests.support.packaged_spec import PACKAGED, edited

WITHOUT_SIGMAS = PACKAGED[: PACKAGED.index("[sigma.state]")] + PACKAGED[PACKAGED.index("[reporting]") :]
SIGMA_SMALL = "[sigma.county.small]\nA0 = 28.0\nA1 = 3.21\nA2 = 3.21\nA3 = 3.21\n"

WRONG: dict[str, tuple[str, str, str, str, str]] = {
    "unknown key": (
        'name = "vaccination-v1"', 'name = "v1"\ncolour = 1', "colour", "name, title, dataset", "an unknown key",
    ),
    "unknown nested key": (
        "delta = 1e-5",
        "delta = 1e-5\ngamma = 1",
        "promise.gamma",
        "one of epsilon, delta",
        "an unknown key",
    ),
    "unknown table": ("[reporting]", "[extra]\n[reporting]", "extra", "name, title, dataset", "an unknown key"),
    "unknown key in a list": (
        'id = "A1"',
        'id = "A1"\nweight = 2',
        "category[1].weight",
        "one of id, name",
        "an unknown key",
    ),
    "unknown key of a class": (
        "max_population = 99_999",
        "max_population = 99_999\nmean = 1",
        "size_classes.class[0].mean",
        "one of name, min_population, max_population",
        "an unknown key",
    ),
    "unknown key of reporting": (
        "min_area_km2 = 3.0",
        "min_area_km2 = 3.0\nmin_area = 3",
        "reporting.min_area",
        "one of min_area_km2",
        "an unknown key",
    ),
    "missing key": ('time_zone = "America/Los_Angeles"', "", "time_zone", "a value", "nothing"),
    "missing nested key": ("confidence = 0.80", "", "reliability.confidence", "a value", "nothing"),
    "missing table": ('[scaling]                                 # Section 4.4\ntrend = "C3"\nmaximum = 100.0',
                      "", "scaling", "a value", "nothing"),
    "number for text": ('name = "vaccination-v1"', "name = 1", "name", "text", "1"),
    "text for number": ("epsilon = 2.19", 'epsilon = "2.19"', "promise.epsilon", "a number", "'2.19'"),
    "bool for number": ("epsilon = 2.19", "epsilon = true", "promise.epsilon", "a number", "True"),
    "bool for whole number": ("max_points = 3", "max_points = true", "sparsity.max_points", "a whole number", "True"),
    "fraction for whole number": ("max_points = 3", "max_points = 3.0", "sparsity.max_points", "a whole number", "3.0"),
    "value for table": ("[promise]", "promise = 1\n[unused]", "promise", "a table", "1"),
    "table for list": (PACKAGED[PACKAGED.index("[[category]]"):PACKAGED.rindex("[[category]]") + len("[[category]]")],
                       "[category]", "category", "a list of tables, [[category]]", "a table"),
    "text for list": ('sum_of = ["A2"]', 'sum_of = "A2"', "trend[2].sum_of", "a list of texts", "'A2'"),
    "numbers in list": ('sum_of = ["A2"]', "sum_of = [2]", "trend[2].sum_of", "a list of texts", "a list"),
    "nan epsilon": ("epsilon = 2.19", "epsilon = nan", "promise.epsilon", "a number from 0.001 to 100", "nan"),
    "infinite epsilon": ("epsilon = 2.19", "epsilon = inf", "promise.epsilon", "a number from 0.001 to 100", "inf"),
    "endless epsilon": ("epsilon = 2.19", "epsilon = 1" + "0" * 400, "promise.epsilon", "a number from", "inf"),
    "zero epsilon": ("epsilon = 2.19", "epsilon = 0", "promise.epsilon", "a number from 0.001 to 100", "0.0"),
    "delta of one": ("delta = 1e-5", "delta = 1", "promise.delta", "a number from 1e-10 to 0.1", "1.0"),
    "nan sigma": ("A0 = 450.0", "A0 = nan", "sigma.state.A0", "a number from 0.1 to 100,000", "nan"),
    "zero sigma": ("A0 = 450.0", "A0 = 0", "sigma.state.A0", "a number from 0.1 to 100,000", "0.0"),
    "negative sigma": ("A0 = 180.0", "A0 = -180.0", "sigma.county.large.A0", "a number from 0.1 to 100,000", "-180.0"),
    "sigma that is no noise": ("A0 = 450.0", "A0 = 1e-200", "sigma.state.A0", "a number from 0.1", "1e-200"),
    "sigma just below the limit": ("A0 = 450.0", "A0 = 0.0999", "sigma.state.A0", "a number from 0.1", "0.0999"),
    "sigma without end": ("A0 = 450.0", "A0 = 1e300", "sigma.state.A0", "to 100,000", "1e+300"),
    "epsilon of nothing": ("epsilon = 2.19", "epsilon = 1e-300", "promise.epsilon", "from 0.001", "1e-300"),
    "epsilon of a million": ("epsilon = 2.19", "epsilon = 1e6", "promise.epsilon", "to 100", "1000000.0"),
    "delta of nothing": ("delta = 1e-5", "delta = 1e-300", "promise.delta", "from 1e-10", "1e-300"),
    "delta of nearly one": ("delta = 1e-5", "delta = 0.999999", "promise.delta", "to 0.1", "0.999999"),
    "sigma as text": ("A0 = 180.0", 'A0 = "180"', "sigma.county.large.A0", "a number", "'180'"),
    "missing sigma": ("A0 = 180.0", "", "sigma.county.large.A0", "a standard deviation", "nothing"),
    "missing sigmas of a class": (SIGMA_SMALL, "", "sigma.county.small.A0", "a standard deviation", "nothing"),
    "sigma of an unreported group": (
        "[sigma.postal_code.medium]",
        "[sigma.postal_code.small]\nA0 = 1.0\n[sigma.postal_code.medium]",
        "sigma.postal_code.small.A0",
        "no such key",
        "a value",
    ),
    "sigma of an unknown category": (
        "A0 = 450.0", "A0 = 450.0\nA9 = 1.0", "sigma.state.A9", "no such key", "a value",
    ),
    "sigma of an unknown level": (
        "[sigma.state]", "[sigma.city]\nA0 = 1.0\n[sigma.state]", "sigma.city.A0", "no such key", "a value",
    ),
    "sigma of a class of an open level": (
        "[sigma.state]", "[sigma.state.small]\nA0 = 1.0\n[sigma.state]",
        "sigma.state.small.A0", "no such key", "a value",
    ),
    "sigma without class": (
        SIGMA_SMALL, "[sigma.county]\nA0 = 28.0\n", "sigma.county.small.A0", "a standard deviation", "nothing",
    ),
    "unknown time zone": ("America/Los_Angeles", "Mars/Olympus", "time_zone", "an IANA time zone", "'Mars/Olympus'"),
    "time zone outside": ("America/Los_Angeles", "../../etc/passwd", "time_zone", "an IANA time", "'../../etc/passwd'"),
    "empty time zone": ("America/Los_Angeles", "", "time_zone", "an IANA time zone", "''"),
    "time zone folder": ("America/Los_Angeles", "America", "time_zone", "an IANA time zone", "'America'"),
    "unknown weekday": ('"monday"', '"Monday"', "first_day_of_week", "one of monday, tuesday", "'Monday'"),
    "overlap": (
        "min_population = 100_000", "min_population = 99_999",
        "size_classes.class 'medium'.min_population", "100000", "99999, which leaves overlap",
    ),
    "gap": (
        "min_population = 100_000", "min_population = 100_001",
        "size_classes.class 'medium'.min_population", "100000", "100001, which leaves a gap",
    ),
    "gap before the first": (
        "max_population = 99_999", "min_population = 1\nmax_population = 99_999",
        "size_classes.class 'small'.min_population", "0", "1, which leaves a gap",
    ),
    "limited last class": (
        "min_population = 500_001", "min_population = 500_001\nmax_population = 9_000_000",
        "size_classes.class 'large'.max_population", "no upper limit", "9000000",
    ),
    "unlimited class in the middle": (
        "max_population = 99_999", "",
        "size_classes.class 'small'.max_population", "an upper limit", "none",
    ),
    "class upside down": (
        "max_population = 500_000\n", "max_population = 5\n",
        "size_classes.class 'medium'", "max_population of at least min_population", "5",
    ),
    "no classes": (
        PACKAGED[PACKAGED.index("[[size_classes.class]]") : PACKAGED.index("# Section 3.2")], "class = []\n",
        "size_classes.class", "at least one", "0",
    ),
    "class twice": ('name = "large"', 'name = "small"', "size_classes.class", "each only once", "'small' twice"),
    "classes of an unknown level": (
        '[size_classes]\nlevel = "county"', '[size_classes]\nlevel = "cuonty"',
        "size_classes.level", "one of state, county, postal_code", "'cuonty'",
    ),
    "unknown unreported class": (
        'unreported_classes = ["small"]', 'unreported_classes = ["tiny"]',
        "level 'postal_code'.unreported_classes", "one of small, medium, large", "'tiny'",
    ),
    "unreported class twice": (
        'unreported_classes = ["small"]', 'unreported_classes = ["small", "small"]',
        "level 'postal_code'.unreported_classes", "each only once", "'small' twice",
    ),
    "unreported class of an open level": (
        'name = "state"', 'name = "state"\nunreported_classes = ["small"]',
        "level 'state'.unreported_classes", "none: this level has no size classes", "some",
    ),
    "trend of an unknown category": (
        'sum_of = ["A2"]', 'sum_of = ["A9"]', "trend 'C2'.sum_of", "one of A1, A2, A3", "'A9'",
    ),
    "trend of any search": ('sum_of = ["A2"]', 'sum_of = ["A0"]', "trend 'C2'.sum_of", "one of A1, A2, A3", "'A0'"),
    "trend of a category twice": (
        'sum_of = ["A2"]', 'sum_of = ["A2", "A2"]', "trend 'C2'.sum_of", "each only once", "'A2' twice",
    ),
    "trend of nothing": ('sum_of = ["A2"]', "sum_of = []", "trend 'C2'.sum_of", "at least one category", "none"),
    "category ids that differ in case": ('id = "A2"', 'id = "a1"', "category", "each only once", "'a1' twice"),
    "columns that differ in case": (
        'column = "sni_safety_side_effects"', 'column = "SNI_vaccination_intent"',
        "trend.column", "each only once", "'SNI_vaccination_intent' twice",
    ),
    "category id twice": ('id = "A2"', 'id = "A1"', "category", "each only once", "'A1' twice"),
    "category name that is an id": ('name = "any"', 'name = "A3"', "category", "each only once", "'A3' twice"),
    "trend id twice": ('id = "C2"', 'id = "C1"', "trend.id", "each only once", "'C1' twice"),
    "trend column twice": (
        'column = "sni_safety_side_effects"', 'column = "sni_vaccination_intent"',
        "trend.column", "each only once", "'sni_vaccination_intent' twice",
    ),
    "level twice": ('name = "county"', 'name = "state"', "level", "each only once", "'state' twice"),
    "total is a counted level": ('level = "country"', 'level = "county"', "level", "each only once", "'county' twice"),
    "total of a finer level": (
        'sum_of = "state"', 'sum_of = "county"', "total.sum_of", "the coarsest level, 'state'", "'county'",
    ),
    "scaling by an unknown trend": ('trend = "C3"', 'trend = "A3"', "scaling.trend", "one of C3, C1, C2", "'A3'"),
    "a factor of nobody": ("maximum = 100.0", "maximum = 100.0\nfactor = 5.0", "scaling.set_by",
                           "the dataset whose factor is used", "nothing"),
    "a factor below zero": ("maximum = 100.0", 'maximum = 100.0\nfactor = -5.0\nset_by = "US"', "scaling.factor",
                            "a number above 0", "-5.0"),
    "the name of no factor": ("maximum = 100.0", 'maximum = 100.0\nset_by = "US"', "scaling.set_by",
                              "nothing: it says whose factor is used, and there is none", "'US'"),
    "scaling to zero": ("maximum = 100.0", "maximum = 0", "scaling.maximum", "a number above 0", "0.0"),
    "negative area": ("min_area_km2 = 3.0", "min_area_km2 = -3", "reporting.min_area_km2", "0 or more", "-3.0"),
    "certain confidence": (
        "confidence = 0.80", "confidence = 80", "reliability.confidence", "a number between 0 and 1", "80.0",
    ),
    "no error allowed": (
        "max_relative_error = 0.15", "max_relative_error = 0", "reliability.max_relative_error", "above 0", "0.0",
    ),
    "negative points": ("max_points = 3", "max_points = -1", "sparsity.max_points", "0 or more", "-1"),
    "window off the week": (
        "first_week = 2021-01-04", "first_week = 2021-01-01",
        "sparsity.first_week", "a monday", "2021-01-01 (Friday)",
    ),
    "window that ends off the week": (
        "last_week = 2021-05-31", "last_week = 2021-05-30",
        "sparsity.last_week", "a monday", "2021-05-30 (Sunday)",
    ),
    "window reversed": (
        "last_week = 2021-05-31", "last_week = 2020-12-28",
        "sparsity.last_week", "a week not before first_week (2021-01-04)", "2020-12-28",
    ),
    "datetime for date": (
        "first_week = 2021-01-04", "first_week = 2021-01-04T00:00:00",
        "sparsity.first_week", "a date such as 2021-01-04", "2021-01-04 00:00:00",
    ),
    "text for date": (
        "first_week = 2021-01-04", 'first_week = "2021-01-04"',
        "sparsity.first_week", "a date such as 2021-01-04", "'2021-01-04'",
    ),
    "title of two lines": (
        'title = "COVID-19 Vaccination Search Insights"', 'title = "a\\nb"', "title", "text on one line", r"'a\nb'",
    ),
    "empty title": (
        'title = "COVID-19 Vaccination Search Insights"', 'title = " "', "title", "text on one line", "' '",
    ),
    "trend title with a control": (
        'title = "Vaccination intent"', 'title = "a\\u001bb"', "trend 'C1'.title", "text on one line", r"'a\x1bb'",
    ),
    "name that leaves the folder": ('name = "vaccination-v1"', 'name = "../x"', "name", "a word of letters", "'../x'"),
    "name with a space": ('name = "vaccination-v1"', 'name = "a b"', "name", "a word of letters", "'a b'"),
    "empty name": ('name = "vaccination-v1"', 'name = ""', "name", "a word of letters", "''"),
    "dataset with a slash": (
        'dataset = "vaccination_search_insights"', 'dataset = "a/b"', "dataset", "a word of letters", "'a/b'",
    ),
    "column of two lines": (
        'column = "sni_vaccination_intent"', 'column = "a\\nb"', "trend 'C1'.column", "a word", r"'a\nb'",
    ),
    "category with a quote": ('id = "A3"', "id = \"A'3\"", "category.id", "a word of letters", "\"A'3\""),
    "category name with markup": (
        'name = "other_vaccination"', 'name = "<b>"', "category.name", "a word of letters", "'<b>'",
    ),
    "level with a dot": ('name = "state"', 'name = "st.ate"', "level.name", "a word of letters", "'st.ate'"),
    "total with a blank": ('level = "country"', 'level = " country"', "total.level", "a word of letters", "' country'"),
    "class that is too long": (
        'name = "medium"', f'name = "{"m" * 65}"', "size_classes.class.name", "a word of letters", "m" * 65,
    ),
}  # fmt: skip


# Mistakes that are more than one problem; each other one must not be told as several.
MANY = {"value for table": 2, "missing sigmas of a class": 4, "sigma without class": 5}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_spec_is_refused_by_name(mistake: str) -> None:
    """The error names the file, the key, what was expected and what was found, and nothing that only follows."""
    old, new, key, expected, got = WRONG[mistake]
    with pytest.raises(SpecError) as refused:
        parse_spec(edited(old, new), "release.toml")
    first, *others = refused.value.problems
    assert len(others) + 1 == MANY.get(mistake, 1)
    if not others:
        assert str(refused.value) == f"release.toml: key {key!r}: expected {first.expected}, got {first.got}"
    assert first.key == key
    assert expected in first.expected
    assert got in str(first.got)
    assert "\n" not in str(first)


# All problems at once


def test_all_problems_of_a_spec_are_told_at_once() -> None:
    """Missing and unknown keys, wrong types and wrong values: a line with the file and their number, then one each."""
    text = PACKAGED
    for old, new in (
        ('title = "COVID-19 Vaccination Search Insights"', 'titel = "x"'),
        ("epsilon = 2.19", "epsilon = 0"),
        ("America/Los_Angeles", "Mars/Olympus"),
        ('sum_of = ["A2"]', 'sum_of = ["A9"]'),
        ("min_population = 100_000", "min_population = 100_001"),
        ("A0 = 450.0", 'A0 = "450"'),
        ("A0 = 180.0", "A0 = -1"),
        ("[sigma.postal_code.large]\nA0 = 35.0", "[sigma.postal_code.large]"),
        ("max_points = 3", "max_points = 3.5"),
        ("maximum = 100.0", "maximum = 0"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    with pytest.raises(SpecError) as refused:
        parse_spec(text, "release.toml")
    keys = [problem.key for problem in refused.value.problems]
    assert sorted(keys) == [
        "promise.epsilon",
        "scaling.maximum",
        "sigma.county.large.A0",
        "sigma.postal_code.large.A0",
        "sigma.state.A0",
        "size_classes.class 'medium'.min_population",
        "sparsity.max_points",
        "time_zone",
        "titel",
        "title",
        "trend 'C2'.sum_of",
    ]
    lines = refused.value.lines
    assert lines[0] == "release.toml: 11 problems"
    assert lines[1] == "  key 'title': expected a value, got nothing"
    assert str(refused.value) == "\n".join(lines)
    assert len(lines) == 12


def test_of_very_many_problems_twenty_are_shown() -> None:
    """A message stays readable: 20 lines, and how many more there are."""
    text = edited("delta = 1e-5", "delta = 1e-5\n" + "\n".join(f"extra{i} = 1" for i in range(1_030)))
    with pytest.raises(SpecError) as refused:
        parse_spec(text, "release.toml")
    lines = refused.value.lines
    assert (lines[0], lines[-1], len(lines)) == ("release.toml: 1,030 problems", "  and 1,010 more", 22)


def test_a_broken_list_is_told_with_the_other_keys_but_not_with_what_follows_from_it() -> None:
    """Without the categories nobody knows which sigmas and trends are right; wrong keys elsewhere are told."""
    text = edited('id = "A1"', "").replace("delta = 1e-5", "delta = 2")
    with pytest.raises(SpecError) as refused:
        parse_spec(text)
    assert {problem.key for problem in refused.value.problems} == {"category[1].id", "promise.delta"}


def test_a_spec_without_sigmas_is_refused_with_the_way_out() -> None:
    """Noise is never chosen silently: a spec without sigmas is a draft that `calibrate` completes."""
    with pytest.raises(SpecError, match=r"key 'sigma': expected standard deviations \('search-insights calibrate'"):
        parse_spec(WITHOUT_SIGMAS)


def test_a_draft_may_lack_sigmas_and_nothing_else() -> None:
    """Its stand-ins are the most noise that there may be, one for each reported level, class and category."""
    draft = parse_spec(WITHOUT_SIGMAS, draft=True)
    whole = parse_spec(PACKAGED)
    assert {s.key for s in draft.sigmas} == {s.key for s in whole.sigmas}
    assert {s.value for s in draft.sigmas} == {100_000}
    with pytest.raises(SpecError, match="key 'time_zone'"):
        parse_spec(WITHOUT_SIGMAS.replace("America/Los_Angeles", "Mars"), draft=True)
    with pytest.raises(SpecError, match=r"key 'sigma.state.A0': expected a standard deviation"):
        parse_spec(edited("A0 = 450.0", ""), draft=True)


def test_a_spec_needs_a_topic_besides_any() -> None:
    """A spec has at least one category besides any search."""
    begin, end = PACKAGED.index('[[category]]\nid = "A1"'), PACKAGED.index("# Section 4: what")
    with pytest.raises(SpecError, match="key 'category': expected any search and at least one topic, got 1"):
        parse_spec(PACKAGED[:begin] + PACKAGED[end:])


@pytest.mark.parametrize("name", ["level", "trend"])
def test_a_spec_needs_levels_and_trends(name: str) -> None:
    """A spec has at least one level and one trend."""
    begin = PACKAGED.index(f"[[{name}]]")
    end = PACKAGED.index('# Section 2, "Geo' if name == "trend" else "[total]")
    text = f"{name} = []\n" + PACKAGED[:begin] + PACKAGED[end:]
    if name == "level":
        text = text[: text.index("[sigma.state]")] + "[sigma]\n" + text[text.index("[reporting]") :]
    with pytest.raises(SpecError, match=f"key '{name}': expected at least one, got 0"):
        parse_spec(text)
