"""The attack on random specs finds nothing in the program, and would find a bound that is missing."""

import pytest
from tests.lab.mutants import MUTANTS

from evidence.random_specs import VARIANTS, attack


def test_random_specs_keep_what_the_accounting_allows() -> None:
    """A few random specs with random user-days: bounds and epsilons hold, and some counts changed at all."""
    found = attack(seed=5, seconds=600, most_specs=10)
    assert (found.specs, found.user_days, found.violations) == (10, 30, [])
    assert found.changed > 50
    assert 0.5 < found.reached <= 1


@pytest.mark.parametrize("name", VARIANTS)
def test_the_attack_notices_a_missing_bound(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without X1, X2 or X4 the same few specs show violations."""
    MUTANTS[name].put_in(monkeypatch)
    assert attack(seed=5, seconds=600, most_specs=6).violations


def test_a_seed_makes_the_same_attack_again() -> None:
    """What was found can be looked at again: the seed decides every spec, geography and user-day."""
    assert attack(seed=9, seconds=600, most_specs=2) == attack(seed=9, seconds=600, most_specs=2)
