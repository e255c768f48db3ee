"""A heavy user, a crowd, a traveller and a hot spot are counted right, in bounded memory.

The long version, with 100 million events each, is `python -m evidence.durability load`.
"""

import pytest

from tests.lab.large_days import HEAVY, Heavy, measure

EVENTS, MEMORY, PROGRAM = 1_000_000, 300, 600  # the program itself, with the whole country, has so many MB at most


@pytest.mark.parametrize("heavy", HEAVY, ids=lambda heavy: heavy.name)
def test_a_heavy_day_is_counted_right_in_bounded_memory(heavy: Heavy) -> None:
    """Each user-day counts once at each level (X1, X2) however many events it has, and memory is what --memory says."""
    day = measure(heavy, EVENTS, f"{MEMORY}MB")
    users = day.expected(heavy)
    assert day.any_search["state"] == users
    assert day.topic["state"] == (EVENTS // 10 if heavy.counted else 1)
    if heavy.region == "'94103'":
        assert day.any_search["county"] == day.any_search["postal_code"] == users
    else:
        assert day.any_search["county"] <= 1
        assert day.any_search["postal_code"] <= 1
    assert day.megabytes <= MEMORY + PROGRAM
