"""A toy release to train a classifier on: a few hundred labelled queries of Qazaria, by the topics of its spec."""

from itertools import product

import numpy as np
import numpy.typing as npt

from search_insights.classifier.lexicon import Lexicon
from search_insights.classifier.train.training import Trained, train
from tests.support.other_country import other_spec

FIREWOOD = ("firewood", "logs for the stove", "dry birch wood", "kindling")
HEATING = ("boiler", "central heating", "radiator", "heat pump")
STOVE_REPAIR = ("stove repair", "boiler repair", "chimney sweep", "fix my heater")
NONE = ("weather", "bus times", "pancake recipe", "firefox download", "wooden chairs", "heat wave")
DETAILS = ("near me", "price", "delivery", "how to", "today", "cheap", "best", "reviews")


def toy_labels() -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return queries and their category numbers."""
    found: dict[str, int] = {}
    for number, topics in enumerate((NONE, HEATING, FIREWOOD, STOVE_REPAIR)):
        for topic, detail in product(topics, DETAILS):
            found |= {f"{topic} {detail}": number, f"{detail} {topic}": number}
    return list(found), np.array(list(found.values()))


def train_toy() -> Trained:
    """Train on the toy labels and a small pool, without a lexicon."""
    texts, labels = toy_labels()
    topics = (*FIREWOOD, *HEATING, *NONE)
    pool = [f"{topic} {detail}" for topic in topics for detail in ("kazbek", "in winter", "second hand")]
    return train(texts, labels, pool, other_spec(), Lexicon(), None)
