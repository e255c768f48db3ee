"""What the unlabelled pool adds to the labels: macro-F1 of models trained with and without it, by number of labels.

    python benchmarks/bench_pool.py [--texts 20000] [--subsets 3] [--labels FILE ...]

Every model is scored on the packaged held-out labels, which none of them saw, and on each FILE given. With fewer than
all labels, several random subsets are trained on; the mean is shown, and of all labels the 95 % interval.
"""

import argparse
import json
from importlib import resources
from pathlib import Path

import numpy as np

from search_insights.classify_evaluation import evaluate_classifier
from search_insights.classify_files import read_labels
from search_insights.classify_lexicon import load_lexicon
from search_insights.classify_training import train
from search_insights.geography import load_geography
from search_insights.query_pool import make_pool
from search_insights.spec_file import load_spec

SIZES = (250, 500, 1000, 2000)


def measure(texts_of_pool: int, subsets: int, tests: list[Path]) -> dict[str, object]:
    """Train with and without the pool, and score."""
    data = Path(str(resources.files("search_insights") / "data"))
    spec, lexicon, geography = load_spec(), load_lexicon(), load_geography()
    texts, labels = read_labels(data / "vaccination_labels.csv", spec)
    pool = make_pool(texts, lexicon.classes, geography, texts_of_pool, seed=1)
    sets = {path.stem: read_labels(path, spec) for path in (data / "vaccination_heldout.csv", *tests)}
    found: dict[str, object] = {"labels": len(texts), "pool": len(pool)}
    for size in (*SIZES, len(texts)):
        for name, unlabelled in (("labels only", []), ("labels and pool", pool)):
            scores: dict[str, list[float]] = {test: [] for test in sets}
            for subset in range(1 if size == len(texts) else subsets):
                some = np.random.default_rng(subset).permutation(len(texts))[:size]
                trained = train([texts[i] for i in some.tolist()], labels[some], unlabelled, spec, lexicon, geography)
                for test, (queries, given) in sets.items():
                    report = evaluate_classifier(trained.classifier, queries, given)
                    scores[test].append(report.macro_f1.value)
                    if size == len(texts):
                        scores[test] += [report.macro_f1.low, report.macro_f1.high]
            means = {
                t: round(float(np.mean(s)), 4) if size < len(texts) else np.round(s, 4).tolist()
                for t, s in scores.items()
            }
            found[f"{size}, {name}"] = means
            print(json.dumps({f"{size}, {name}": means}), flush=True)
    return found


def main() -> None:
    """Print the scores as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--subsets", type=int, default=3)
    parser.add_argument("--labels", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    measure(args.texts, args.subsets, args.labels)


if __name__ == "__main__":
    main()
