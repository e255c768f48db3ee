"""Personal texts planted in a simulated log: what must never be shown, whatever else is.

A name, a telephone number and an address, each with what the topic is about, so that they are texts of a topic. One
person types each of them on every day of the week; and five people of one town type others, as neighbours might of a
person they know. Names, numbers and addresses are made up. A test shows that none of them is ever published.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from search_insights.simulation.population import Indices, People, generator

# What one person types, and what five people of one town type.
OF_ONE = ("marguerite applewhite", "212 555 0142", "4417 west sycamore lane apt 9")
OF_FIVE = ("tobias wexley", "call 415 555 0199", "82 harrow hill road")

_PEOPLE_OF_A_TOWN = 5
_SHARE = 0.05  # of a day's searches of a topic, at most: in a smaller log nothing is planted


@dataclass(frozen=True)
class Planted:
    """The personal searches of every day: who makes each, where, and which of the personal texts it has."""

    user: Indices
    place: Indices
    text: Indices


def personal_texts(about: str) -> tuple[str, ...]:
    """Return the personal texts, which are about a topic as well."""
    return tuple(f"{private} {about}" for private in (*OF_ONE, *OF_FIVE))


def plan(people: People, seed: int) -> Planted:
    """Choose the people who type the personal texts, and their places, the same on every day."""
    rng = generator(seed, "planted")
    copies = np.repeat([1, _PEOPLE_OF_A_TOWN], [len(OF_ONE), len(OF_FIVE)])
    users = len(people.places)
    chosen = rng.choice(users, int(copies.sum()), replace=users < copies.sum()).astype(np.int32)
    first = np.cumsum(copies) - copies
    homes = people.places[chosen[first], 0]
    return Planted(chosen, np.repeat(homes, copies), np.repeat(np.arange(copies.size), copies).astype(np.int32))


def replaced_events(topic: npt.NDArray[np.uint8], planted: Planted) -> npt.NDArray[np.intp]:
    """Return the events of a day that become personal searches: some of the first topic, at any time; or none."""
    found = np.flatnonzero(topic == 1)
    if planted.user.size > _SHARE * found.size:
        return found[:0]
    return found[:: found.size // planted.user.size][: planted.user.size]
