"""The keys of what follows the noise: which values are published, on which scale, and which texts (Section 4)."""

from search_insights.spec.key import Key, Section

PUBLICATION = (
    Section(
        "[reporting]",
        "which regions are reported",
        (
            Key(
                "min_area_km2",
                "a number",
                "regions with less land are not reported, nor those whose land area is not known; 0 reports all",
                "0 or more",
            ),
        ),
    ),
    Section(
        "[reliability]",
        "when a noisy value is good enough to be published (Section 4.2)",
        (
            Key(
                "confidence",
                "a number",
                "the probability with which a value's interval contains the value without noise",
                "between 0 and 1",
            ),
            Key(
                "max_relative_error",
                "a number",
                "a value is published if its interval is within this share of it",
                "above 0",
            ),
        ),
    ),
    Section(
        "[sparsity]",
        "which regions are removed because they have too few data points, judged once on a fixed window (Section 4.3)",
        (
            Key("max_points", "a whole number", "a region with at most this many data points is removed", "0 or more"),
            Key(
                "first_week",
                "a date such as 2021-01-04",
                "the first day of the window's first week",
                "a first day of a week",
            ),
            Key(
                "last_week",
                "a date such as 2021-01-04",
                "the first day of the window's last week",
                "a first day of a week, not before first_week",
            ),
        ),
    ),
    Section(
        "[scaling]",
        "the scale of all values (Section 4.4), fixed for good by the first release",
        (
            Key("maximum", "a number", "what the highest value becomes", "above 0"),
            Key(
                "trend",
                "text",
                "the trend whose highest value of the country sets the scale of all trends",
                'the id of a trend; required, but not with scope "each"',
                "none",
            ),
            Key(
                "scope",
                "text",
                "one factor for all trends, so that they can be compared with each other; or for each trend its own, "
                "so that a rare topic fills the scale too",
                '"one" or "each"',
                '"one"',
                '"one"',
            ),
            Key(
                "first_week",
                "a date such as 2021-01-04",
                "the first day of the first of the weeks whose highest value sets the scale. Nothing is published "
                "before all of them are in the store or declared lost. Without it, the weeks of the first release set "
                "the scale",
                "a first day of a week; goes with last_week",
                "none",
                "2021-01-04",
            ),
            Key(
                "last_week",
                "a date such as 2021-01-04",
                "the first day of the last of those weeks",
                "a first day of a week, not before first_week",
                "none",
                "2021-05-31",
            ),
            Key(
                "factor",
                "a number",
                "the factor of another release, from its privacy.json, in place of one that the weeks of this release "
                "set: values of both can then be compared",
                'above 0; not with scope "each", and not with first_week',
                "none",
                "2500.0",
            ),
            Key(
                "set_by",
                "text",
                "the dataset whose factor that is, for readers",
                "one line; goes with factor",
                "none",
                '"US_vaccination_search_insights"',
            ),
        ),
    ),
    Section(
        "[top_searches]",
        "optional: the texts that people search for most, of the topics' searches. A text is shown once its noisy "
        "count reaches a threshold; from then on it is counted every week, in the total and in every region of the "
        "coarsest level, with noise",
        (
            Key("texts_per_user_day", "a whole number", "how many texts of a user-day count", "1"),
            Key("unit", "text", "what is counted: users, each once a week for each text", '"users"'),
            Key(
                "min_users",
                "a whole number",
                "a new text that fewer users searched for in the week is never shown",
                "1 or more",
            ),
            Key("total_sigma", "a number", "the sigma of a text's count in the total", "from 0.1 to 100,000"),
            Key(
                "total_threshold",
                "a whole number",
                "a new text is shown if its noisy count in the total is at least this",
                "at least min_users; the promise must hold",
            ),
            Key(
                "region_sigma",
                "a number",
                "the sigma of a text's count in each region of the coarsest level",
                "from 0.1 to 100,000",
            ),
            Key(
                "region_shown_from",
                "a whole number",
                "a region lists a text if its noisy count there is at least this",
                "0 or more",
            ),
            Key(
                "vocabulary",
                "text",
                "the public words of which a text must be made: a packaged vocabulary, or the path of a file",
                "one line",
            ),
            Key(
                "vocabulary_fingerprint",
                "text",
                "the SHA-256 of that vocabulary, if no other may be used",
                "64 digits from 0 to f",
                "any",
                f'"{"0123456789abcdef" * 4}"',
            ),
        ),
    ),
)
