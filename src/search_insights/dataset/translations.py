"""What a release is called in other languages, as `datapackage.json` has it."""

from typing import Any

from search_insights.spec.spec import Spec
from search_insights.spec.translations import Translation


def translations(spec: Spec) -> list[dict[str, Any]]:
    """Return the words of each language: the title, those of trends and levels, and the definitions of topics."""
    return [_words(spec, each) for each in spec.translations]


def _words(spec: Spec, words: Translation) -> dict[str, Any]:
    names = {trend.id: trend.name for trend in spec.trends}
    return {
        "language": words.language,
        **({"title": words.title} if words.title else {}),
        "trends": [{"trend": names[trend], "title": text} for trend, text in words.of("trend").items()],
        "levels": [{"level": level, "title": text} for level, text in words.of("level").items()],
        "topics": [{"id": topic, "definition": text} for topic, text in words.of("category").items()],
    }
