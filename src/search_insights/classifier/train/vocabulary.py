"""Make a public vocabulary from labelled queries, a lexicon and the names of a geography's regions.

Only texts with a topic are ever shown, so only labels with a topic count. A word must be in two of them: what one
person typed is not public by being a label. A name of a place is a word only if the lexicon says so.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from search_insights.classifier.lexicon import Lexicon
from search_insights.classifier.vocabulary import MAX_DIGITS, Vocabulary, normalised, normalised_texts
from search_insights.spec.geography import Geography

MIN_LABELS = 2  # that have a word
# Labels that have a pair of words, one of which is no word of its own: "how long", although Long is a town. With fewer,
# pairs such as "vaccine florida" pass, and a text has two places.
MIN_LABELS_OF_PAIR = 5

# Words of English addresses. By themselves they are neither words nor places, so that no address is made of a number, a
# town and a street; "drive thru" and "court street station" are a phrase and a place.
_ADDRESS_WORDS = """
    alley apartment apt ave avenue blvd boulevard box cir circle court ct dr drive floor highway house hwy lane ln lot
    parkway pkwy pl place plaza rd road route rte sq square st ste street suite ter terrace trail trl unit way
"""
ADDRESS_WORDS = frozenset(_ADDRESS_WORDS.split())

_MAX_ABBREVIATION = 3  # letters: the lexicon's tx, nyc and uk stand beside the name of a town, and are no names
_ENDINGS = (" county", " parish")  # people leave them out


def make_vocabulary(texts: Sequence[str], lexicon: Lexicon, geography: Geography) -> Vocabulary:
    """Return the vocabulary of the labelled `texts` that have a topic, a lexicon and a geography."""
    distinct = [text.split(" ") for text in dict.fromkeys(normalised_texts(texts))]
    entries = {text for c in lexicon.classes if not c.geography for text in normalised_texts(c.words)}
    named = {text for c in lexicon.classes if c.geography for text in normalised_texts(c.words)}
    short = {name for name in named - ADDRESS_WORDS if len(name) <= _MAX_ABBREVIATION}
    places = _names(geography) | (named - short)
    own = {entry for entry in entries if " " not in entry} | short
    words = _publishable((own | (_seen(distinct, MIN_LABELS) - places)) - ADDRESS_WORDS)
    pairs = [[" ".join(pair) for pair in pairwise(text)] for text in distinct]
    frequent = {pair for pair in _seen(pairs, MIN_LABELS_OF_PAIR) if not words.issuperset(pair.split(" "))}
    phrases = {entry for entry in entries if entry.count(" ") == 1} | frequent
    return Vocabulary(words, _publishable(phrases), _publishable(places - words - ADDRESS_WORDS))


def _seen(texts: Iterable[Sequence[str]], least: int) -> set[str]:
    """Return what is in so many texts; within one text it counts once."""
    found = Counter(part for text in texts for part in set(text))
    return {part for part, count in found.items() if count >= least}


def _names(geography: Geography) -> set[str]:
    """Return the names of all regions, with and without the kind of region at the end."""
    names = {normalised(region.name) for region in geography.regions}
    return names | {name.removesuffix(ending) for name in names for ending in _ENDINGS}


def _publishable(entries: Iterable[str]) -> frozenset[str]:
    """Leave out nothing at all, and numbers as long as those that identify someone."""
    return frozenset(
        entry
        for entry in entries
        if entry and not any(word.isnumeric() and len(word) > MAX_DIGITS for word in entry.split(" "))
    )
