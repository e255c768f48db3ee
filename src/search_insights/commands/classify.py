"""Classify queries: train a classifier, apply it to a file, or evaluate it on labelled queries. `anonymize` applies it
by itself to a log that has queries and no categories."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.commands.console import Steps, out, out_json, table
from search_insights.commands.options import add_coverage, add_jobs, add_json, add_spec, coverage_of

if TYPE_CHECKING:
    from search_insights.classifier.evaluation import ClassifierReport, Estimate

HELP = "train, apply or evaluate the classifier of queries"
EXAMPLE = (
    "search-insights classify apply queries.csv --out named.csv\n"
    "search-insights classify evaluate --labels labels.csv --model my.model\n"
    "search-insights classify pool --labels labels.csv --lexicon lexicon.toml --out pool.parquet\n"
    "search-insights classify train --labels labels.csv --pool pool.parquet --out my.model"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of each job."""
    apply, evaluate, pool, train = add_jobs(
        parser,
        {
            "apply": "add a column 'category' to a file of queries",
            "evaluate": "score a model on labelled queries",
            "pool": "make a pool of unlabelled queries",
            "train": "train a model from labels and a pool",
        },
        EXAMPLE,
    )
    _describe_apply(apply)
    _describe_evaluate(evaluate)
    _describe_pool(pool)
    _describe_train(train)


def _describe_apply(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("queries", metavar="IN", type=Path, help="CSV or Parquet with a column 'query'")
    parser.add_argument("--out", metavar="OUT", type=Path, required=True, help="the file to write, CSV or Parquet")
    _add_model(parser)


def _describe_evaluate(parser: argparse.ArgumentParser) -> None:
    _add_labels(parser)
    _add_model(parser)
    add_spec(parser)
    parser.add_argument("--mistakes", metavar="N", type=int, default=10, help="how many to show (default: 10)")
    add_json(parser)


def _describe_train(parser: argparse.ArgumentParser) -> None:
    _add_labels(parser)
    parser.add_argument("--pool", metavar="FILE", type=Path, help="unlabelled queries: CSV or Parquet, column 'query'")
    parser.add_argument("--out", metavar="MODEL", type=Path, required=True, help="the model to write")
    _add_lexicon(parser)
    add_coverage(parser)


def _describe_pool(parser: argparse.ArgumentParser) -> None:
    _add_labels(parser)
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the pool to write, CSV or Parquet")
    parser.add_argument("--texts", metavar="N", type=int, default=20_000, help="how many (default: 20000)")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="any whole number (default: 1)")
    _add_lexicon(parser)
    add_coverage(parser)


def _add_labels(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--labels", metavar="FILE", type=Path, required=True, help="CSV or Parquet with columns 'query' and 'category'"
    )


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="FILE", help="a model of 'classify train' (default: the packaged one)")


def _add_lexicon(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--lexicon", metavar="FILE", help="classes of words, a TOML file; 'vaccination' is the packaged one"
    )


def run(args: argparse.Namespace) -> int:
    """Do the job that was asked for."""
    jobs = {"apply": _apply, "evaluate": _evaluate, "train": _train, "pool": _pool}
    return jobs[args.job](args)


def _apply(args: argparse.Namespace) -> int:
    from search_insights.classifier.files import apply
    from search_insights.classifier.model import PACKAGED_MODEL, load_classifier

    classifier = load_classifier(args.model or PACKAGED_MODEL)
    counts = apply(classifier, args.queries, args.out)
    named = ", ".join(f"{counts.get(i, 0):,} {i}" for i, _ in classifier.categories)
    out(f"{args.out}: {sum(counts.values()):,} queries: {named}, {counts.get('', 0):,} none")
    return 0


def _evaluate(args: argparse.Namespace) -> int:
    from search_insights.classifier.evaluation import evaluate_classifier
    from search_insights.classifier.files import read_labels
    from search_insights.classifier.model import PACKAGED_MODEL, load_classifier_for
    from search_insights.spec.spec_file import load_spec

    spec = load_spec(args.spec)
    classifier = load_classifier_for(spec, args.model or PACKAGED_MODEL)
    report = evaluate_classifier(classifier, *read_labels(args.labels, spec), args.mistakes)
    if args.json:
        out_json(asdict(report) | {"model": classifier.fingerprint})
    else:
        _print(report)
    return 0


def _print(report: "ClassifierReport") -> None:
    header = ("category", "labelled", "named", "precision", "", "recall", "", "F1", "")
    rows = [
        (s.category, f"{s.labelled:,}", f"{s.named:,}", *_words(s.precision), *_words(s.recall), *_words(s.f1))
        for s in report.categories
    ]
    out(table(header, rows, right=(1, 2)))
    value, interval = _words(report.macro_f1)
    out(f"\nMacro-F1 over {report.queries:,} queries: {value} {interval}. Intervals are of 95 %.\n")
    names = [s.category for s in report.categories]
    counts = [(name, *(f"{n:,}" for n in row)) for name, row in zip(names, report.confusion, strict=True)]
    out(table(("labelled as \\ named", *names), counts, right=range(1, len(names) + 1)))
    if report.mistakes:
        out("\nMost confident mistakes:\n")
        mistakes = [(f"{m.margin:g}", m.labelled, m.named, m.query[:80]) for m in report.mistakes]
        out(table(("margin", "labelled", "named", "query"), mistakes, right=(0,)))


def _words(estimate: "Estimate") -> tuple[str, str]:
    value = "-" if estimate.value != estimate.value else f"{estimate.value:.3f}"
    return value, f"({estimate.low:.3f} to {estimate.high:.3f})"


def _train(args: argparse.Namespace) -> int:
    from search_insights.classifier.files import read_labels, read_texts
    from search_insights.classifier.lexicon import Lexicon, load_lexicon
    from search_insights.classifier.train.training import save, train

    coverage = coverage_of(args)
    lexicon = load_lexicon(args.lexicon) if args.lexicon else Lexicon()
    texts, labels = read_labels(args.labels, coverage.spec)
    pool = read_texts(args.pool) if args.pool else []
    with Steps() as steps:
        trained = train(texts, labels, pool, coverage.spec, lexicon, coverage.geography, progress=steps.show)
    save(trained.classifier, args.out)
    out(
        f"{args.out}: trained on {len(texts):,} labels and {trained.kept:,} of {len(pool):,} texts of the pool; "
        f"fingerprint {trained.classifier.fingerprint[:12]}"
    )
    return 0


def _pool(args: argparse.Namespace) -> int:
    from search_insights.classifier.files import read_labels, write_texts
    from search_insights.classifier.lexicon import Lexicon, load_lexicon
    from search_insights.classifier.train.pool import make_pool

    coverage = coverage_of(args)
    lexicon = load_lexicon(args.lexicon) if args.lexicon else Lexicon()
    texts, _ = read_labels(args.labels, coverage.spec)
    write_texts(args.out, make_pool(texts, lexicon.classes, coverage.geography, args.texts, args.seed))
    out(f"{args.out}: {args.texts:,} unlabelled queries that nobody typed")
    return 0
