"""The titles, levels and definitions of a dataset in other languages, as `datapackage.json` has them."""

from collections.abc import Mapping
from typing import Any


def definitions(package: Mapping[str, Any]) -> dict[str, str]:
    """Return the definition of each topic that has one, by the topic's id."""
    return {topic["id"]: topic["definition"] for topic in _topics(package) if "definition" in topic}


def topic_titles(package: Mapping[str, Any]) -> dict[str, str]:
    """Return the name of each topic as it is shown to readers whose language has no other for it."""
    return {topic["id"]: str(topic["name"]).replace("_", " ").capitalize() for topic in _topics(package)}


def _topics(package: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = package.get("classification", {}).get("topics", [])
    return found


def translations(package: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the words of each language that the page may use: the title, and what things are called by their names."""
    return {
        each["language"]: {
            **({"title": each["title"]} if "title" in each else {}),
            "trends": {trend["trend"]: trend["title"] for trend in each["trends"]},
            "levels": {level["level"]: level["title"] for level in each["levels"]},
            "topics": {topic["id"]: topic["title"] for topic in each["topics"] if "title" in topic},
            "definitions": {topic["id"]: topic["definition"] for topic in each["topics"] if "definition" in topic},
        }
        for each in package.get("translations", [])
    }


def titles(package: Mapping[str, Any]) -> dict[str, str]:
    """Return the title of the dataset by language, where it has one."""
    return {each["language"]: each["title"] for each in package.get("translations", []) if "title" in each}
