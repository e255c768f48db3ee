"""Promises about the public vocabulary: what a text that is shown is made of."""

import pickle
import re
import unicodedata
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from search_insights.classifier.features import MAX_CHARACTERS
from search_insights.classifier.files import read_labels
from search_insights.classifier.lexicon import Lexicon, WordClass, load_lexicon, words_of
from search_insights.classifier.model import Classifier
from search_insights.classifier.train.vocabulary import MIN_LABELS_OF_PAIR, make_vocabulary
from search_insights.classifier.vocabulary import MAX_DIGITS, Vocabulary, normalised, normalised_texts
from search_insights.classifier.vocabulary_file import packaged_vocabulary, read_vocabulary, write_vocabulary
from search_insights.errors import InputError
from search_insights.simulation.planted import OF_FIVE, OF_ONE, personal_texts
from search_insights.simulation.queries import query_texts
from search_insights.simulation.words import PLACE
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from tests.support.command_line import Run, assert_one_line
from tests.support.people import OTHER_PEOPLE, PEOPLE

PACKAGED = Path(__file__).resolve().parents[2] / "src/search_insights/classifier/packaged"
SMALL = Vocabulary(
    frozenset(["covid", "vaccine", "for", "ages", "12", "15", "19", "2021", "near", "me"]),
    frozenset(["rite aid", "aid station"]),
    frozenset(["york", "new york", "new york city", "paris"]),
)


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    """The packaged vocabulary."""
    return packaged_vocabulary()


def allows(vocabulary: Vocabulary, text: str) -> bool:
    """Whether one text may be shown."""
    return bool(vocabulary.allows([text])[0])


# Normalising


@given(st.text(max_size=40) | st.text("aA\u2019'-_ .\n19ßİΣﬁ\u0301\u0345ǅ㎏", max_size=30))
@example("\u1e9e\u0345\u0301")
@example("ﷺ" * 40)
def test_normalising_twice_is_normalising_once(text: str) -> None:
    """A normalised text is one word or more between single spaces, and normalising leaves it as it is."""
    once = normalised(text)
    assert normalised(once) == once
    assert once == " ".join(once.split())
    assert len(once) <= MAX_CHARACTERS


@given(st.text(max_size=30) | st.text('=+-@<>&"|,;\t\r\n\x00\x1b\u202e\u200b\uff1d\ufeffa1', max_size=30))
def test_a_normalised_text_has_letters_digits_and_spaces_only(text: str) -> None:
    """So what is shown is no formula of a spreadsheet, no markup, no command to a terminal, and never two columns."""
    assert {unicodedata.category(letter)[0] for letter in normalised(text).replace(" ", "")} <= set("LMN")


@given(st.lists(st.text(max_size=12), max_size=6))
def test_a_text_is_normalised_by_itself(texts: list[str]) -> None:
    """Whatever texts stand beside it: nobody's text changes what becomes of another's."""
    assert normalised_texts(texts) == [normalised(text) for text in texts]


@given(st.text(st.characters(max_codepoint=127), max_size=MAX_CHARACTERS))
def test_a_normalised_text_has_the_words_that_the_classifier_reads(text: str) -> None:
    """So a text of ASCII and its normalised form have one category."""
    assert words_of([normalised(text)]) == words_of([text])


@given(
    st.lists(st.sampled_from(["COVID", "covid's", "19", "Vaccine", "safe", "va", "-", "  ", "_", "\n", "'", "\x00"]))
)
def test_a_text_of_ascii_has_the_topic_of_its_normalised_form(packaged: Classifier, pieces: list[str]) -> None:
    """So its counted form need not be classified again: same words, and cues have spaces only where words end."""
    texts = ["".join(pieces), " ".join(pieces)]
    assert packaged.classify(normalised_texts(texts)).tolist() == packaged.classify(texts).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  COVID-19   Vaccine?", "covid 19 vaccine"),
        ("Moderna's vaccine\n(2nd dose)", "modernas vaccine 2nd dose"),
        ("ｃｏｖｉｄ　vaccine", "covid vaccine"),  # noqa: RUF001 - full-width letters
        ("vacuna Doña Ana", "vacuna doña ana"),
        ("?!", ""),
    ],
)
def test_case_punctuation_and_spaces_do_not_matter(text: str, expected: str) -> None:
    """Letters, marks and digits stay; apostrophes go, and everything else separates words."""
    assert normalised(text) == expected


# The filter


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("covid vaccine near me", True),
        ("covid vaccine new york city", True),
        ("new york covid vaccine", True),
        ("covid vaccine paris york", False),  # two places
        ("new paris vaccine", False),  # half a place
        ("york york", False),
        ("rite aid vaccine", True),
        ("rite vaccine aid", False),  # not side by side
        ("rite aid vaccine paris", True),
        ("covid vaccine smith", False),
        ("covid 19 vaccine for ages 12 15", True),
        ("vaccine 12 15 19", False),  # six digits in a row
        ("vaccine 20 21", False),  # numbers that are not in the vocabulary
        ("", False),
        ("Covid vaccine", False),  # not normalised
        ("covid  vaccine", False),
        (" covid", False),
    ],
)
def test_a_text_is_made_of_words_phrases_and_one_place(text: str, shown: bool) -> None:
    """Anything else is not shown, and neither is a long number that spaces divide."""
    assert allows(SMALL, text) is shown


WORDS = ["covid", "12", "2021", "rite", "aid", "new", "york", "city", "paris", "station", "smith"]


def splits(words: list[str], places: int = 1) -> bool:
    """Whether words can be split into words, phrases and places of SMALL: the rule, by trying everything."""
    if not words:
        return True
    starts = [len(entry.split()) for entry in SMALL.places if words[: len(entry.split())] == entry.split()]
    return (
        (words[0] in SMALL.words and splits(words[1:], places))
        or (" ".join(words[:2]) in SMALL.phrases and splits(words[2:], places))
        or (places > 0 and any(splits(words[n:], 0) for n in starts))
    )


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7))
def test_what_can_be_split_is_allowed_and_every_other_word_is_accounted_for(words: list[str]) -> None:
    """All that splits into words, phrases and at most one place passes, but for long numbers; and nothing passes that
    has a word which is none of them, or words of two places that no phrase has.
    """
    runs = [len(run.replace(" ", "")) for run in re.findall(r"[\d ]+", " ".join(words))]
    passed = allows(SMALL, " ".join(words))
    if splits(words) and max(runs, default=0) <= MAX_DIGITS:
        assert passed
    if max(runs, default=0) > MAX_DIGITS or "smith" in words:
        assert not passed
    phrases = {" ".join(pair) for pair in pairwise(words)} & SMALL.phrases
    if not phrases and not splits(words):
        assert not passed


@given(st.lists(st.text("abc 1", max_size=8), max_size=5))
def test_a_text_is_judged_by_itself(texts: list[str]) -> None:
    """Whatever texts stand beside it."""
    assert SMALL.allows(texts).tolist() == [allows(SMALL, text) for text in texts]


def test_a_vocabulary_travels_to_other_processes(vocabulary: Vocabulary) -> None:
    """An engine may send it to its workers: the copy has the same fingerprint."""
    assert pickle.loads(pickle.dumps(vocabulary)).fingerprint == vocabulary.fingerprint


# The packaged vocabulary


def test_no_planted_personal_text_passes(vocabulary: Vocabulary, paper: Spec) -> None:
    """Not with any text of a topic before or after it, in no form, and not alone."""
    texts = query_texts(paper, 1)
    about = [text.replace(PLACE, "san francisco") for text in texts.texts[texts.first[1] : texts.personal : 200]]
    private = (*OF_ONE, *OF_FIVE)
    planted = [*private, *texts.texts[texts.personal :], *personal_texts("covid vaccine")]
    planted += [f"{text} {one}" for one in private for text in about] + [f"{one} {t}" for one in private for t in about]
    assert not vocabulary.allows(normalised_texts(planted)).any()
    assert not vocabulary.allows(normalised_texts([text.upper() + "?" for text in planted])).any()


@pytest.mark.parametrize(
    "text",
    [
        "5 5 5 0 1 4 2 covid vaccine",
        "555 0142 covid vaccine",
        "covid vaccine 12 11 2021",
        "12 main street covid vaccine",
        "100 oak ct covid vaccine",
        "covid vaccine 15 lake drive",
        "4 young st hartford vaccine",
        "vaccine card jane.doe@example.com",
        "vaccine record 123-45-6789",
    ],
)
def test_numbers_and_addresses_do_not_pass(vocabulary: Vocabulary, text: str) -> None:
    """However they are written, beside a text that would pass."""
    assert not allows(vocabulary, normalised(text))


@pytest.mark.parametrize("form", ["{}", "{} covid vaccine", "covid vaccine {}", "covid vaccine for {} near me"])
def test_few_made_up_names_pass(vocabulary: Vocabulary, form: str) -> None:
    """Fewer than 1.8 %: those whose words are a pharmacy and a town, and the like; of other names no more."""
    for people in (PEOPLE, OTHER_PEOPLE):
        assert vocabulary.allows([form.format(name) for name in people]).mean() < 0.018


def test_names_of_places_as_loose_words_would_let_names_of_people_pass(vocabulary: Vocabulary) -> None:
    """That is why a place counts once and whole."""
    loose = vocabulary.words | {word for name in vocabulary.places for word in name.split(" ")}
    assert Vocabulary(loose, vocabulary.phrases, frozenset()).allows(PEOPLE).mean() > 0.25


def test_most_searches_of_topics_pass(vocabulary: Vocabulary, paper: Spec, us_coverage: Coverage) -> None:
    """At least 93 % of simulated ones, which name towns and counties and have typos."""
    texts, rng = query_texts(paper, 1), np.random.default_rng(1)
    bits = rng.integers(0, 2**32, 20_000, dtype=np.uint32)
    topic = rng.integers(1, 4, bits.size).astype(np.uint8)
    number, _ = texts.draw(bits, topic, np.arange(texts.personal, dtype=np.int32))
    names = [region.name for region in us_coverage.geography.regions]
    where = rng.integers(1, len(names), bits.size)
    typed = [texts.texts[n - 1].replace(PLACE, names[w]) for n, w in zip(number, where, strict=True)]
    assert vocabulary.allows(normalised_texts(typed)).mean() >= 0.93


def test_the_packaged_vocabulary_is_made_from_what_the_package_holds(
    vocabulary: Vocabulary, paper: Spec, us_coverage: Coverage
) -> None:
    """The packaged labels, lexicon and geography give the same vocabulary again."""
    texts, labels = read_labels(PACKAGED / "vaccination_labels.csv", paper)
    with_topic = [text for text, label in zip(texts, labels, strict=True) if label]
    made = make_vocabulary(with_topic, load_lexicon(), us_coverage.geography)
    assert made == vocabulary
    assert made.fingerprint == vocabulary.fingerprint


def test_every_word_that_passes_is_classified_as_it_was(packaged: Classifier, vocabulary: Vocabulary) -> None:
    """Texts are classified after normalising: for the packaged labels, that gives the same category."""
    texts = ["COVID-19 vaccine near me?", "Is the Moderna shot safe", "Johnson & Johnson vaccine", "flu shot"]
    assert packaged.classify(normalised_texts(texts)).tolist() == packaged.classify(texts).tolist()
    assert vocabulary.allows(normalised_texts(texts)).all()


# Made from labels of one's own


def test_a_word_must_be_in_two_labels(us_coverage: Coverage) -> None:
    """What one label has is not public yet; a word that one label repeats is in one label."""
    made = make_vocabulary(
        ["heat pump grant", "heat pump zebra zebra", "Heat pump, grant!"], Lexicon(), us_coverage.geography
    )
    assert made.words == {"heat", "pump"}  # the third label is the first


def test_places_of_labels_are_no_words_unless_the_lexicon_says_so(us_coverage: Coverage) -> None:
    """Boston in two labels stays a place; a lexicon may make a word of it; two words of a lexicon are a phrase."""
    lexicon = Lexicon((WordClass("firm", ("carrier", "hope", "rite aid"), misspelt=False, geography=False),))
    made = make_vocabulary(["pump boston", "grant boston hope"], lexicon, us_coverage.geography)
    assert made.words == {"carrier", "hope"}
    assert made.phrases == {"rite aid"}
    assert {"boston", "los angeles", "los angeles county"} <= made.places
    assert not made.words & made.places


def test_a_pair_of_many_labels_is_a_phrase(us_coverage: Coverage) -> None:
    """How long is not a town, although Long is one."""
    labels = [f"how long {word}" for word in ("until", "since", "before", "after", "with")]
    assert "how long" in make_vocabulary(labels, Lexicon(), us_coverage.geography).phrases
    fewer = make_vocabulary(labels[: MIN_LABELS_OF_PAIR - 1], Lexicon(), us_coverage.geography)
    assert fewer.phrases == frozenset()


# The file


def test_a_vocabulary_is_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    """And its file is text that anyone can read."""
    write_vocabulary(SMALL, tmp_path / "small.txt")
    assert read_vocabulary(tmp_path / "small.txt") == SMALL
    assert "rite aid\n" in (tmp_path / "small.txt").read_text(encoding="utf-8")


HEAD = "search-insights vocabulary 1\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a vocabulary"),
        ("[words]\ncovid\n", "not a vocabulary"),
        (HEAD + "covid\n[words]\n[phrases]\n[places]\n", r"line 2: an entry before \[words\]"),
        (HEAD + "[words]\ncovid\n", r"no line \[places\]; is the file complete"),
        (HEAD, r"no line \[words\]"),
        (HEAD + "[words]\n[places]\n[phrases]\n", r"line 3: \[places\] in the wrong place"),
        (HEAD + "[words]\nCovid\n[phrases]\n[places]\n", "line 3: not normalised"),
        (HEAD + "[words]\ncovid \n[phrases]\n[places]\n", "line 3: not normalised"),
        (HEAD + "[words]\nnew york\n[phrases]\n[places]\n", "line 3: expected one word"),
        (HEAD + "[words]\n[phrases]\naid\n[places]\n", "line 4: expected two words"),
        (HEAD + "[words]\nb\na\n[phrases]\n[places]\n", "line 4: not in sorted order, or repeated"),
        (HEAD + "[words]\na\na\n[phrases]\n[places]\n", "line 4: not in sorted order, or repeated"),
        (HEAD + "[words]\n94103\n[phrases]\n[places]\n", "line 3: a number of more than 4 digits"),
        (HEAD + "[words]\nparis\n[phrases]\n[places]\nparis\n", "'paris' is among the words and the places"),
    ],
)
def test_a_file_that_is_not_a_vocabulary_is_refused(tmp_path: Path, text: str, words: str) -> None:
    """The line and what is wrong with it; nothing is guessed."""
    path = tmp_path / "given.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words) as error:
        read_vocabulary(path)
    assert str(path) in str(error.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """One that is missing, a folder, or not UTF-8."""
    (tmp_path / "latin.txt").write_bytes(b"search-insights vocabulary 1\n\xe9\n")
    for path in (tmp_path / "none.txt", tmp_path, tmp_path / "latin.txt"):
        with pytest.raises(InputError, match="cannot be read; expected a vocabulary"):
            read_vocabulary(path)


# The command


def test_the_command_makes_a_vocabulary_from_own_labels(run: Run, tmp_path: Path) -> None:
    """It says what it wrote and the fingerprint; labels without a topic give no words."""
    labels = tmp_path / "labels.csv"
    labels.write_text("query,category\ncovid jab,A1\nmy covid jab,A1\nguitar,\nmy guitar,\n", encoding="utf-8")
    path = tmp_path / "own.txt"
    code, out, _ = run("classify", "vocabulary", "--labels", labels, "--out", path)
    made = read_vocabulary(path)
    assert code == 0
    assert made.words == {"covid", "jab"}
    assert made.fingerprint[:12] in out


def test_the_command_refuses_labels_that_it_cannot_read(run: Run, tmp_path: Path) -> None:
    """One line, exit code 2, and no file."""
    code, _, err = run("classify", "vocabulary", "--labels", tmp_path / "none.csv", "--out", tmp_path / "own.txt")
    assert code == 2
    assert_one_line(err)
    assert "none.csv: no such file" in err
    assert list(tmp_path.iterdir()) == []
