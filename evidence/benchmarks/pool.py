"""How much the unlabelled pool adds to the labels: models trained with and without it, compared in pairs.

    python -m evidence.benchmarks.pool [--texts 20000] [--subsets 8] [--sizes N ...] [--labels FILE ...]
        [--ordinary FILE]

Every pair is scored on the packaged held-out labels, which neither model has seen, on each FILE of labels given, and on
misspelt versions of both. The misspelling is not the one used in training: neighbouring keys, and words spelt as they
sound. Of ordinary queries, a CSV file with a column `query`, those that get a category are counted. The subset of the
labels, the pool and the typing errors of training are drawn anew for each pair. Gains come with 95 % intervals,
bootstrapped over pairs and queries together.
"""

import csv
import random
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evidence.measuring import Result, parser_of, print_result
from evidence.pages import markdown_table
from search_insights.classifier.files import read_labels
from search_insights.classifier.lexicon import load_lexicon
from search_insights.classifier.model import Classifier
from search_insights.classifier.train.pool import make_pool
from search_insights.classifier.train.training import train
from search_insights.commands.console import note
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec

SIZES = (250, 500, 1000, 2000)
DRAWS = 1000
ORDINARY = "ordinary queries"

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SOUNDS = (("cc", "c"), ("ss", "s"), ("ph", "f"), ("ie", "ei"), ("ci", "si"), ("y", "ie"), ("a", "e"), ("o", "u"))

Numbers = npt.NDArray[np.int64]


def misspelt(text: str, rng: random.Random) -> str:
    """Misspell about a third of the longer words."""
    return " ".join(_misspelt_word(word, rng) if rng.random() < 0.35 else word for word in text.split())


def _misspelt_word(word: str, rng: random.Random) -> str:
    if len(word) < 4:
        return word
    sounds = [(a, b) for a, b in _SOUNDS if a in word[1:]]
    if sounds and rng.random() < 0.5:
        return word[0] + word[1:].replace(*rng.choice(sounds), 1)
    i = rng.randrange(1, len(word))
    row = next((row for row in _ROWS if word[i] in row), word[i])
    at = row.index(word[i])
    return word[:i] + rng.choice(row[max(at - 1, 0) : at] + row[at + 1 : at + 2] or word[i]) + word[i + 1 :]


def macro_f1(labels: Numbers, named: Numbers, weights: Numbers) -> float:
    """Return the macro F1 score of queries, each counted as often as its weight says."""
    classes = int(labels.max()) + 1
    cells = np.bincount(labels * classes + named, weights, minlength=classes**2).reshape(classes, classes)
    return float(np.mean(2 * np.diag(cells) / np.maximum(cells.sum(0) + cells.sum(1), 1)))


def gain(labels: Numbers, pairs: list[tuple[Numbers, Numbers]]) -> dict[str, float]:
    """Return the mean scores without and with the pool, and the interval of their difference."""
    rng, n, once = np.random.default_rng(0), len(labels), np.ones(len(labels), dtype=np.int64)
    drawn = []
    for _ in range(DRAWS):
        weights = np.bincount(rng.integers(0, n, n), minlength=n)
        some = [pairs[i] for i in rng.integers(0, len(pairs), len(pairs))]
        drawn.append(float(np.mean([macro_f1(labels, b, weights) - macro_f1(labels, a, weights) for a, b in some])))
    return _summary([[macro_f1(labels, named, once) for named in pair] for pair in pairs], drawn)


def positives(pairs: list[tuple[Numbers, Numbers]]) -> dict[str, float]:
    """Return the mean numbers of ordinary queries with a category, and the interval of their difference."""
    rng = np.random.default_rng(0)
    more = np.array([(b > 0).astype(int) - (a > 0) for a, b in pairs])
    more = more[:, more.any(axis=0)]  # the other queries add nothing to a difference
    drawn = [
        float((more[rng.integers(0, len(pairs), len(pairs))].mean(axis=0) * rng.poisson(1, more.shape[1])).sum())
        for _ in range(DRAWS)
    ]
    return _summary([[float((named > 0).sum()) for named in pair] for pair in pairs], drawn)


def _summary(scores: list[list[float]], drawn: list[float]) -> dict[str, float]:
    without, together = np.mean(scores, axis=0)
    low, high = np.quantile(drawn, [0.025, 0.975])
    numbers = {"labels only": without, "with pool": together, "gain": together - without, "low": low, "high": high}
    return {name: round(float(value), 4) for name, value in numbers.items()}


def measure(
    texts_of_pool: int, subsets: int, sizes: list[int], tests: list[Path], ordinary: Path | None
) -> list[dict[str, Any]]:
    """Train in pairs and score; return a row for each number of labels and each test."""
    data = Path(str(resources.files("search_insights.classifier") / "packaged"))
    spec, lexicon, geography = load_spec(), load_lexicon(), load_geography()
    texts, labels = read_labels(data / "vaccination_labels.csv", spec)
    sets = {path.stem: read_labels(path, spec) for path in (data / "vaccination_heldout.csv", *tests)}
    rng = random.Random(7)
    sets |= {
        f"{name}, misspelt": ([misspelt(t, rng) for t in queries], given) for name, (queries, given) in sets.items()
    }
    others = _queries(ordinary) if ordinary else []
    rows: list[dict[str, Any]] = []

    def model(some: Numbers, pool: list[str], seed: int) -> Classifier:
        chosen = [texts[i] for i in some.tolist()]
        return train(chosen, labels[some], pool, spec, lexicon, geography, seed=seed).classifier

    for size in sizes or [*SIZES, len(texts)]:
        pairs = []
        for seed in range(subsets):
            note(f"{size} labels, pair {seed + 1} of {subsets}")
            some = np.random.default_rng(seed).permutation(len(texts))[:size]
            pool = make_pool(texts, lexicon.classes, geography, texts_of_pool, seed=seed + 1)
            pairs.append((model(some, [], seed), model(some, pool, seed)))
        for test, (queries, given) in sets.items():
            named = [(_names(a, queries), _names(b, queries)) for a, b in pairs]
            rows.append({"labels": size, "test": test} | gain(given, named))
        if others:
            named = [(_names(a, others), _names(b, others)) for a, b in pairs]
            rows.append({"labels": size, "test": f"{len(others)} {ORDINARY}"} | positives(named))
    return rows


def _names(model: Classifier, queries: list[str]) -> Numbers:
    return model.classify(queries).astype(np.int64)


def _queries(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [row["query"] for row in csv.DictReader(lines)]


def gains_table(rows: list[dict[str, Any]]) -> list[str]:
    """Lay out the scores and gains."""
    header = ("labels", "scored on", "labels only", "with pool", "gain", "95 % interval")
    cells = [
        [
            f"{row['labels']:,}",
            row["test"],
            f"{row['labels only']:.3f}",
            f"{row['with pool']:.3f}",
            f"{row['gain']:+.3f}",
            f"{row['low']:+.3f} to {row['high']:+.3f}",
        ]
        for row in rows
    ]
    return markdown_table(header, cells, text_columns=(1,))


def main() -> int:
    """Measure each number of labels."""
    parser = parser_of(__doc__)
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--subsets", type=int, default=8)
    parser.add_argument("--sizes", type=int, nargs="*", default=[])
    parser.add_argument("--labels", type=Path, nargs="*", default=[])
    parser.add_argument("--ordinary", type=Path)
    args = parser.parse_args()
    rows = measure(args.texts, args.subsets, args.sizes, args.labels, args.ordinary)
    scores = [row for row in rows if not row["test"].endswith(ORDINARY)]
    best = max(scores, key=lambda row: float(row["gain"]))
    showed = (
        f"in {args.subsets} pairs, the pool changed macro F1 by {min(row['gain'] for row in scores):+.3f} to "
        f"{best['gain']:+.3f}; most with {best['labels']:,} labels on {best['test']} "
        f"({best['low']:+.3f} to {best['high']:+.3f})"
    )
    return print_result(Result(showed, rows, gains_table(rows)))


if __name__ == "__main__":
    sys.exit(main())
