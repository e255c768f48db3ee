"""Every key of a spec file: its type, its default, what it means and what is checked.

The reference page (docs/spec.md) and the comments of a new spec are made from this table, and a test compares it with
what `spec_file` accepts.
"""

from search_insights.spec.key import REQUIRED, Key, Section
from search_insights.spec.publication_keys import PUBLICATION
from search_insights.spec.publisher_keys import PUBLISHER

__all__ = ["REQUIRED", "SECTIONS", "WHAT_A_WORD_IS", "Key", "Section", "section"]

_WORD = "a word"
WHAT_A_WORD_IS = "a letter from a to z, then at most 63 letters, digits, _ and -"

SECTIONS = (
    Section(
        "",
        "what the release is called, and its calendar",
        (
            Key("name", "text", "the name of the spec; the ledger records it with every week", _WORD),
            Key("title", "text", "the heading of the dataset and its dashboard", "one line"),
            Key("dataset", "text", "names the published file, after the country's code: CH_search_trends.csv", _WORD),
            Key(
                "time_zone",
                "text",
                "the zone in which a day is midnight to midnight, for all regions",
                "the canonical IANA name, such as Europe/Zurich",
            ),
            Key("first_day_of_week", "text", "the weekday on which weeks begin", "monday to sunday, in small letters"),
        ),
    ),
    Section(
        "[promise]",
        "what is promised for one user's searches of one day (Section 3)",
        (
            Key(
                "epsilon",
                "a number",
                "how much what is published may depend on one user-day; smaller is more private",
                "from 0.001 to 100; the sigmas must keep it",
            ),
            Key("delta", "a number", "the probability with which more than epsilon may be lost", "from 1e-10 to 0.1"),
        ),
    ),
    Section(
        "[[category]]",
        "what a search is about. The first category counts every search, and all others, the topics, are divided by "
        "it; a search has at most one topic (Section 2)",
        (
            Key("id", "text", "the category in a log or in labels, and the key of its sigmas", f"{_WORD}; each once"),
            Key("name", "text", "another word for it, which may be the same as the id", f"{_WORD}; each once"),
            Key(
                "definition",
                "text",
                "which searches it stands for, in a sentence for readers; not part of the spec's fingerprint",
                "one line",
                "none",
                '"Searches about symptoms, treatment and prevention of influenza."',
            ),
            Key(
                "examples",
                "a list of texts",
                "searches that belong to it, for readers; not part of the spec's fingerprint. Invent them: never take "
                "them from a log",
                "each one line",
                "none",
                '["flu symptoms", "how long does flu last"]',
            ),
        ),
    ),
    Section(
        "[counting]",
        "optional: where a user-day counts, and which unpublished cells are counted beside the published ones",
        (
            Key(
                "place",
                "text",
                "by_category: each category has a place of its own (the paper); one: all that a user-day counts is "
                "counted in one place, at every level that the place has",
                "by_category or one",
                '"by_category"',
            ),
            Key(
                "rest_cells",
                "true or false",
                "count what a region's reported children leave out in one more child, which is not published",
                'true only if place is "one"',
                "false",
            ),
            Key(
                "reconcile",
                "true or false",
                "make the noisy counts of regions and of their children agree, by least squares",
                "true only with rest_cells",
                "false",
            ),
        ),
    ),
    Section(
        "[[measure]]",
        "optional: what a user-day adds to a count. Without measures, each category is one. The first measure counts "
        "every search",
        (
            Key("id", "text", "the key of the measure's sigmas", f"{_WORD}; each once"),
            Key(
                "any_of",
                "a list of texts",
                "1 is added if the user-day has a search in one of these",
                "the first category in the first measure, otherwise ids of topics, each once",
            ),
            Key(
                "against",
                "a list of texts",
                "otherwise 1 is subtracted if it has a search in one of these",
                "ids of topics that are not in any_of",
                "[]",
            ),
        ),
    ),
    Section(
        "[[trend]]",
        "what is published, in the order of the dataset's columns (Section 4)",
        (
            Key("id", "text", "the key of the trend", f"{_WORD}; each once"),
            Key("name", "text", "the name of the trend in tables", f"{_WORD}; each once"),
            Key("title", "text", "the name that readers see", "one line"),
            Key(
                "sum_of",
                "a list of texts",
                "the topics or, if the spec has measures, the measures that are added up",
                "ids of topics or of measures other than the first, at least one, each once",
            ),
            Key(
                "column",
                "text",
                "the trend's column in the dataset",
                f"{_WORD}; each once, not the name of another column, not ending in _low or _high",
            ),
            Key(
                "weights",
                "a list of numbers",
                "by how much each of sum_of is multiplied before it is added",
                "one for each of sum_of; not 0, at most 1,000",
                "1 for each",
                "[1.0]",
            ),
        ),
    ),
    Section(
        "[[level]]",
        "the levels of the geography that are counted, coarsest first",
        (
            Key("name", "text", "the level as the table of regions calls it", f"{_WORD}; each once"),
            Key(
                "unreported_classes",
                "a list of texts",
                "size classes whose regions of this level are not reported (X3); they count at the levels above",
                "names of size classes, each once; only for the level of the size classes and those below it",
                "[]",
                '["small"]',
            ),
            Key(
                "published_name",
                "text",
                "shown for all regions of the level in the dataset, with the region's code beside it",
                _WORD,
                "the region's own name",
                '"postal_code"',
            ),
            Key(
                "hide_parent_code",
                "true or false",
                "leave the code of the region above empty in the dataset",
                "",
                "false",
                "true",
            ),
        ),
    ),
    Section(
        "[total]",
        "the level above all counted ones; its values are sums of noisy counts and cost no budget",
        (
            Key("level", "text", "the country's level in the table of regions", f"{_WORD}; not a counted level"),
            Key("sum_of", "text", "the level that is added up", "the coarsest counted level"),
        ),
    ),
    Section(
        "[size_classes]",
        "optional: classes of regions by population. All that one user-day counts at the level of the classes and "
        "below is of one class (X4), so that each class has sigmas of its own (Section 2)",
        (
            Key(
                "level",
                "text",
                "the level whose populations decide; finer regions take the class of the region above",
                "a counted level; every region of it needs a population",
            ),
        ),
    ),
    Section(
        "[[size_classes.class]]",
        "the classes, smallest first",
        (
            Key("name", "text", "the name of the class", f"{_WORD}; each once"),
            Key(
                "min_population",
                "a whole number",
                "the smallest population of the class",
                "0 or more; one more than the class before ends with",
                "0",
                "100_000",
            ),
            Key(
                "max_population",
                "a whole number",
                "the largest population of the class",
                "at least min_population; the last class, and only it, has none",
                "none",
                "99_999",
            ),
        ),
    ),
    Section(
        "[sigma]",
        "the standard deviation of the noise of each count (Section 3.2). `search-insights calibrate` finds sigmas "
        "that use the promise fully; without this table, a spec is a draft for it and nothing else takes it",
        (
            Key(
                "LEVEL.CATEGORY",
                "a number",
                "the sigma of a category at a level without size classes",
                "from 0.1 to 100,000; one for each counted level and category",
            ),
            Key(
                "LEVEL.CLASS.CATEGORY",
                "a number",
                "the sigma of a category in a size class of a level",
                "from 0.1 to 100,000; one for each reported level, class and category",
            ),
        ),
    ),
    *PUBLICATION,
    Section(
        "[translation]",
        "optional: what readers are shown in other languages, a table for each, such as [translation.fr]. Words only, "
        "not part of the spec's fingerprint; they may be reworded at any time",
        (
            Key("LANGUAGE.title", "text", "the heading in that language", "one line", "the title"),
            Key("LANGUAGE.trend.ID", "text", "the title of a trend", "one line", "the trend's title"),
            Key(
                "LANGUAGE.level.NAME",
                "text",
                "what a region of a level is called, in the singular",
                "one line",
                "its name",
            ),
            Key("LANGUAGE.category.ID", "text", "the name of a category", "one line", "its name"),
            Key("LANGUAGE.definition.ID", "text", "the definition of a category", "one line", "its definition"),
        ),
    ),
    PUBLISHER,
)


def section(name: str) -> Section:
    """Return the section of a table of the file; the keys outside all tables have an empty name."""
    return next(s for s in SECTIONS if s.name == name)
