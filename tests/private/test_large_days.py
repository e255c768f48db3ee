"""A user with very many searches, a crowd, a traveller and a hot spot are counted right, in bounded memory.

The long version, with 100 million events each, is `python -m evidence.durability load`.
"""

import pytest

from tests.lab.large_days import LARGE_DAYS, LONG_TEXTS, LargeDay, measure

EVENTS, MEMORY, PROGRAM = 1_000_000, 300, 600  # the program itself, with the whole country, has so many MB at most


@pytest.mark.parametrize("large_day", LARGE_DAYS, ids=lambda large_day: large_day.name)
def test_a_large_day_is_counted_right_in_bounded_memory(large_day: LargeDay) -> None:
    """Each user-day counts once at each level (X1, X2) however many events it has, and memory is what --memory says."""
    day = measure(large_day, EVENTS, f"{MEMORY}MB")
    users = day.expected(large_day)
    assert day.any_search["state"] == users
    assert day.topic["state"] == (EVENTS // 10 if large_day.counted else 1)
    if large_day.region == "'94103'":
        assert day.any_search["county"] == day.any_search["postal_code"] == users
    else:
        assert day.any_search["county"] <= 1
        assert day.any_search["postal_code"] <= 1
    assert day.megabytes <= MEMORY + PROGRAM


def test_long_texts_are_classified_in_bounded_memory() -> None:
    """800 MB of texts, all different and all with a topic, take no more memory than any other day."""
    texts, memory = 40_000, 500
    day = measure(LONG_TEXTS, texts, f"{memory}MB")
    assert day.any_search["state"] == day.topic["state"] == texts
    assert day.megabytes <= memory + PROGRAM
