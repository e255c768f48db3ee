"""The keys of who publishes a release."""

from search_insights.spec.key import Key, Section
from search_insights.spec.publisher import KINDS, SECTORS

_ADDRESS = "begins with https:// or http://"

PUBLISHER = Section(
    "[publisher]",
    "optional: who publishes the release. Readers see it in citations, and the dataset gets a `registry.yaml` for the "
    "OpenDP registry of differential privacy deployments. Nothing here is part of the spec's fingerprint",
    (
        Key("name", "text", "the organisation that publishes the dataset", "one line"),
        Key("kind", "text", "what it is", " or ".join(KINDS)),
        Key("contact", "text", "where readers may ask", "a mail address, or an address of the web"),
        Key("intended_use", "text", "what the dataset is for, in a sentence", "one line"),
        Key("address", "text", "where the dataset or its dashboard is found", _ADDRESS, "none"),
        Key(
            "license",
            "text",
            "the licence of the published data, by its SPDX identifier",
            "letters, digits, dots and -",
            "none",
        ),
        Key("license_address", "text", "where the licence can be read", f"{_ADDRESS}; goes with license", "none"),
        Key("sector", "text", "the domain that the data is about", " or ".join(SECTORS), "none"),
        Key(
            "preparation",
            "text",
            "how the log was prepared, and sigmas and thresholds chosen, before noise; and what of it used the log",
            "one line",
            "none",
        ),
        Key("justification", "text", "why these choices were made, in a sentence", "one line", "none"),
        Key("authors", "a list of texts", "who made the registry's entry", "each one line; at least one", "the name"),
    ),
)
