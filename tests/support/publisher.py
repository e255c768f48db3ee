"""An organisation that publishes datasets in tests."""

from search_insights.spec.publisher import Publisher

OFFICE = Publisher(
    name='Office of \N{LATIN CAPITAL LETTER E WITH ACUTE}tudes & "Trends"',
    kind="Government",
    contact="trends@example.org",
    intended_use="To see early where people look for vaccination, and what worries them.",
    address="https://example.org/trends/",
    license="CC-BY-4.0",
    license_address="https://creativecommons.org/licenses/by/4.0/",
    sector="Healthcare",
    preparation="Queries were classified by a model that was trained on public labels, not on the log.",
    justification="The promise is that of the published process description, version 1.0.",
    authors=("Ada Example", "Bo Example"),
)
