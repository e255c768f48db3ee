"""What a release is called in other languages, as `datapackage.json` has it."""

from typing import Any

from search_insights.spec.spec import Spec
from search_insights.spec.translations import Translation

_OF_A_TOPIC = (("title", "category"), ("definition", "definition"))


def translations(spec: Spec) -> list[dict[str, Any]]:
    """Return the words of each language: the title, those of trends and levels, and the definitions of topics."""
    return [_words(spec, each) for each in spec.translations]


def _topics(words: Translation) -> list[dict[str, str]]:
    """Return the names and the definitions of topics, each of which may be missing."""
    names, definitions = ({topic: {key: text} for topic, text in words.of(of).items()} for key, of in _OF_A_TOPIC)
    return [{"id": topic} | names.get(topic, {}) | definitions.get(topic, {}) for topic in {**names, **definitions}]


def _words(spec: Spec, words: Translation) -> dict[str, Any]:
    names = {trend.id: trend.name for trend in spec.trends}
    return {
        "language": words.language,
        **({"title": words.title} if words.title else {}),
        "trends": [{"trend": names[trend], "title": text} for trend, text in words.of("trend").items()],
        "levels": [{"level": level, "title": text} for level, text in words.of("level").items()],
        "topics": _topics(words),
    }
