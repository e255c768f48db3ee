"""Classify queries: train a classifier, apply it to a file, evaluate it on labelled queries, or find the queries whose
label would help most; make the vocabulary of texts that may be shown. `anonymize` applies the classifier by itself to a
log that has queries and no categories."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.commands.classifier_report import print_report, print_suggestions, print_validation
from search_insights.commands.console import Steps, note, out, out_json
from search_insights.commands.options import add_coverage, add_jobs, add_json, add_spec, coverage_of
from search_insights.errors import UsageError
from search_insights.spec.geography import PACKAGED_GEOGRAPHY
from search_insights.spec.spec_file import DEFAULT_SPEC

if TYPE_CHECKING:
    from search_insights.classifier.train.thresholds import MinPrecision
    from search_insights.spec.spec import Spec

EXAMPLE = (
    "search-insights classify apply queries.csv --out named.csv\n"
    "search-insights classify evaluate --labels labels.csv --model my.model\n"
    "search-insights classify pool --labels labels.csv --lexicon lexicon.toml --out pool.parquet\n"
    "search-insights classify suggest log.parquet --model my.model --out to_label.csv\n"
    "search-insights classify train --labels labels.csv --pool pool.parquet --ordinary ordinary.txt --out my.model\n"
    "search-insights classify vocabulary --labels labels.csv --lexicon lexicon.toml --out vocabulary.txt"
)

# Files that published folders have: no private file is written there.
_PUBLISHED = ("datapackage.json", "privacy.json", "site.json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of each job."""
    apply, evaluate, pool, suggest, train, vocabulary = add_jobs(
        parser,
        {
            "apply": "add a column 'category' to a file of queries",
            "evaluate": "score a model on labelled queries",
            "pool": "make a pool of unlabelled queries",
            "suggest": "find the queries whose label would help most; for the operator only",
            "train": "train a model from labels and a pool, and measure it",
            "vocabulary": "make the public list of words that shown queries are made of",
        },
        EXAMPLE,
    )
    _describe_apply(apply)
    _describe_evaluate(evaluate)
    _describe_pool(pool)
    _describe_suggest(suggest)
    _describe_train(train)
    _describe_vocabulary(vocabulary)


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
    parser.add_argument("--name", metavar="NAME", help="its name, which is published (default: that of the file)")
    _add_ordinary(parser, "to measure wrong answers, and to tell which words are evidence of no topic")
    parser.add_argument(
        "--min-precision",
        metavar="P",
        action="append",
        default=[],
        help="the least share of right answers, as 0.95 or CATEGORY=0.95; may be repeated",
    )
    parser.add_argument(
        "--base-rate",
        metavar="SHARE",
        type=float,
        default=0.01,
        help="of all queries, those about any topic; for --min-precision with --ordinary (default: 0.01)",
    )
    _add_lexicon(parser)
    add_coverage(parser)
    add_json(parser)


def _describe_vocabulary(parser: argparse.ArgumentParser) -> None:
    _add_labels(parser)
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the vocabulary to write, a text file")
    _add_lexicon(parser)
    add_coverage(parser)
    add_json(parser)


def _describe_suggest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "logs",
        metavar="FILE",
        type=Path,
        nargs="+",
        help="a log or queries: CSV, Parquet or JSON lines, or .txt with one a line",
    )
    parser.add_argument("--column", metavar="NAME", default="query", help="the column of texts (default: query)")
    parser.add_argument("--labels", metavar="FILE", type=Path, help="labels: texts that have one are not suggested")
    parser.add_argument("--n", metavar="N", type=int, default=50, help="how many (default: 50)")
    parser.add_argument("--out", metavar="OUT", type=Path, help="a private file to write, CSV or Parquet, to fill in")
    _add_model(parser)
    add_spec(parser)
    add_json(parser)


def _describe_pool(parser: argparse.ArgumentParser) -> None:
    _add_labels(parser)
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the pool to write, CSV or Parquet")
    parser.add_argument("--texts", metavar="N", type=int, default=20_000, help="how many (default: 20000)")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="any whole number (default: 1)")
    _add_ordinary(parser, "in place of the simulated English ones")
    _add_lexicon(parser)
    add_coverage(parser)


def _add_labels(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--labels", metavar="FILE", type=Path, required=True, help="CSV or Parquet with columns 'query' and 'category'"
    )


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="FILE", help="a model of 'classify train' (default: the packaged one)")


def _add_ordinary(parser: argparse.ArgumentParser, purpose: str) -> None:
    parser.add_argument(
        "--ordinary",
        metavar="FILE",
        type=Path,
        help=f"ordinary queries, mostly off topic, {purpose}: CSV, Parquet or JSON lines with 'query', "
        "or .txt with one a line",
    )


def _add_lexicon(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--lexicon", metavar="FILE", help="classes of words, a TOML file; 'vaccination' is the packaged one"
    )


def run(args: argparse.Namespace) -> int:
    """Do the job that was asked for."""
    jobs = {"apply": _apply, "evaluate": _evaluate, "train": _train, "pool": _pool, "suggest": _suggest}
    return (jobs | {"vocabulary": _vocabulary})[args.job](args)


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
        print_report(report)
    return 0


def _train(args: argparse.Namespace) -> int:
    from search_insights.classifier.files import read_counted, read_labels, read_texts
    from search_insights.classifier.lexicon import Lexicon, load_lexicon
    from search_insights.classifier.train.training import save
    from search_insights.classifier.train.validation import Material, train_validated

    coverage = coverage_of(args)
    wanted = _min_precision(args, coverage.spec)
    lexicon = load_lexicon(args.lexicon) if args.lexicon else Lexicon()
    texts, labels = read_labels(args.labels, coverage.spec)
    pool = read_texts(args.pool) if args.pool else []
    ordinary, counts = read_counted(args.ordinary) if args.ordinary else ([], [])
    material = Material(texts, labels, pool, coverage.spec, lexicon, coverage.geography, ordinary, counts)
    _note_places(args, "words of other places may count as evidence of a topic")
    with Steps() as steps:
        trained, measured = train_validated(material, wanted, name=_name(args), progress=steps.show)
    save(trained.classifier, args.out)
    if args.json:
        made = {"model": str(args.out), "fingerprint": trained.classifier.fingerprint, "pool_kept": trained.kept}
        out_json(made | asdict(measured))
        return 0
    out(
        f"{args.out}: trained on {len(texts):,} labels and {trained.kept:,} of {len(pool):,} texts of the pool; "
        f"fingerprint {trained.classifier.fingerprint[:12]}\n"
    )
    print_validation(measured)
    return 0


def _name(args: argparse.Namespace) -> str:
    """Return the model's public name: text on one line."""
    name: str = args.name if args.name is not None else args.out.stem
    if not name.strip() or not name.isprintable() or len(name) > 100:
        raise UsageError("--name: expected text on one line, of at most 100 characters")
    return name


def _min_precision(args: argparse.Namespace, spec: "Spec") -> "MinPrecision":
    """Read --min-precision: one number for all topics, or one for each named."""
    from search_insights.classifier.train.thresholds import MinPrecision

    wanted: dict[str, float] = {}
    for given in args.min_precision:
        category, _, number = given.rpartition("=")
        known = spec.category_numbers.get(category, 0)
        try:
            value = float(number)
        except ValueError:
            raise UsageError(f"--min-precision {given}: expected a number such as 0.95, or CATEGORY=0.95") from None
        if category and not known:
            raise UsageError(f"--min-precision {given}: the spec has no topic {category!r}: {', '.join(spec.topics)}")
        wanted |= {spec.categories[known].id: value} if category else dict.fromkeys(spec.topics, value)
    return MinPrecision(wanted, args.base_rate)


def _note_places(args: argparse.Namespace, consequence: str) -> None:
    """Tell the operator of another release that its places are not known."""
    if args.spec != DEFAULT_SPEC and args.geography == PACKAGED_GEOGRAPHY:
        note(f"places are those of the United States, as no --geography was given: {consequence}")


def _pool(args: argparse.Namespace) -> int:
    from search_insights.classifier.files import read_labels, read_texts, write_texts
    from search_insights.classifier.lexicon import Lexicon, load_lexicon
    from search_insights.classifier.train.pool import make_pool

    coverage = coverage_of(args)
    lexicon = load_lexicon(args.lexicon) if args.lexicon else Lexicon()
    texts, _ = read_labels(args.labels, coverage.spec)
    ordinary = read_texts(args.ordinary) if args.ordinary else []
    _note_places(args, "texts of the pool name American places")
    if args.spec != DEFAULT_SPEC and not ordinary:
        note("the ordinary texts of this pool are English; for another language give --ordinary, or train without pool")
    pool = make_pool(texts, lexicon.classes, coverage.geography, args.texts, args.seed, ordinary)
    if len(pool) < args.texts:
        note(f"only {len(pool):,} different texts can be made; a lexicon, --geography or --ordinary gives more")
    write_texts(args.out, pool)
    made = "some of them given with --ordinary, so keep it private" if ordinary else "that nobody typed"
    out(f"{args.out}: {len(pool):,} unlabelled queries{', ' if ordinary else ' '}{made}")
    return 0


def _vocabulary(args: argparse.Namespace) -> int:
    from search_insights.classifier.files import read_labels
    from search_insights.classifier.lexicon import Lexicon, load_lexicon
    from search_insights.classifier.train.vocabulary import make_vocabulary
    from search_insights.classifier.vocabulary_file import write_vocabulary

    coverage = coverage_of(args)
    lexicon = load_lexicon(args.lexicon) if args.lexicon else Lexicon()
    texts, labels = read_labels(args.labels, coverage.spec)
    with_topic = [text for text, label in zip(texts, labels, strict=True) if label]
    _note_places(args, "names of other places are not known")
    made = make_vocabulary(with_topic, lexicon, coverage.geography)
    write_vocabulary(made, args.out)
    facts = {"words": len(made.words), "phrases": len(made.phrases), "places": len(made.places)}
    if args.json:
        out_json({"vocabulary": str(args.out), "fingerprint": made.fingerprint} | facts)
        return 0
    held = ", ".join(f"{count:,} {name}" for name, count in facts.items())
    out(f"{args.out}: {held}, fingerprint {made.fingerprint[:12]}; it is public: read the words before you use it")
    return 0


def _suggest(args: argparse.Namespace) -> int:
    from search_insights.classifier.files import counted_texts, read_labels, write_suggestions
    from search_insights.classifier.model import PACKAGED_MODEL, load_classifier_for
    from search_insights.classifier.train.suggestion import suggest
    from search_insights.spec.spec_file import load_spec

    if args.n < 1:
        raise UsageError("--n: expected 1 or more")
    if args.out:
        _require_private_place(args.out)
    spec = load_spec(args.spec)
    classifier = load_classifier_for(spec, args.model or PACKAGED_MODEL)
    known = frozenset(read_labels(args.labels, spec)[0]) if args.labels else frozenset()
    with counted_texts(args.logs, args.column) as batches:
        found = suggest(classifier, batches, args.n, known)
    if args.out:
        write_suggestions(args.out, [(f.text, "?", f.category, f.margin, f.searches) for f in found])
        out(f"{args.out}: {len(found):,} texts, private: put the category, or nothing for none, in place of each ?")
    elif args.json:
        out_json([asdict(f) for f in found])
    else:
        print_suggestions(found)
    return 0


def _require_private_place(path: Path) -> None:
    """Refuse a place from which private texts might be published or copied with what is public."""
    folder = path.resolve().parent
    for place in (folder, *folder.parents):
        if _is_published(place):
            raise UsageError(f"--out {path}: is inside the published folder {place}; these texts are private")
    beside = [place for place in folder.iterdir() if place.is_dir()] if folder.is_dir() else []
    if any(folder.glob("*.journal")) or any(_is_published(place) for place in beside):
        raise UsageError(
            f"--out {path}: is beside a store or a published folder; these texts are private: give a folder of its own"
        )


def _is_published(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _PUBLISHED)
