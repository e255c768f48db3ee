"""What `classify` prints: the scores of a model, what cross-validation measured, and the texts to label next."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from search_insights.commands.console import note, out, table

if TYPE_CHECKING:
    from search_insights.classifier.evaluation import ClassifierReport, Estimate
    from search_insights.classifier.margins import TextMargin
    from search_insights.classifier.train.validation import OrdinaryMeasure, Validation

_SHOWN = 80  # characters of a text


def print_report(report: "ClassifierReport") -> None:
    """Print the scores of a model on labelled queries, and its worst mistakes."""
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
        mistakes = [(f"{m.margin:g}", m.labelled, m.named, m.query[:_SHOWN]) for m in report.mistakes]
        out(table(("margin", "labelled", "named", "query"), mistakes, right=(0,)))


def print_validation(measured: "Validation") -> None:
    """Print what cross-validation measured, and how to read it."""
    header = ("category", "labelled", "named", "precision", "", "recall", "", "threshold", "least precision")
    rows = [
        (
            c.category,
            f"{c.labelled:,}",
            f"{c.named:,}",
            *_words(c.precision),
            *_words(c.recall),
            f"{c.threshold:g}",
            "-" if c.min_precision is None else f"{c.min_precision:g}",
        )
        for c in measured.categories
    ]
    out(table(header, rows, right=(1, 2, 7, 8)))
    out(
        f"\nCross-validated: each of {measured.folds} parts of the labels was answered by a model that had not learnt "
        f"from it,\nwith near-duplicates in one part ({measured.groups:,} groups). Intervals are of 95 %. In a log "
        "texts of no topic\nare far more frequent than among labels, so its precision is lower."
    )
    out(_ordinary_words(measured.ordinary) if measured.ordinary else _WITHOUT_ORDINARY)


_WITHOUT_ORDINARY = (
    "\nNo ordinary queries: how many of those get a topic by mistake is not known. Give some with --ordinary FILE."
)


def _ordinary_words(measured: "OrdinaryMeasure") -> str:
    by_category = ", ".join(f"{n:,} {category}" for category, n in measured.by_category.items())
    return (
        f"\nOf {measured.queries:,} ordinary queries, {measured.named:,} get a topic ({by_category}): "
        f"{measured.per_100_000:,.1f} wrong answers in 100,000,\nat most {measured.upper:,.1f} (95 %); with "
        f"repetitions {measured.searches_per_100_000:,.1f} in 100,000 searches. This assumes that none of them is "
        "about a topic:\nif some are, fewer answers are wrong. 'classify suggest' lists the doubtful ones."
    )


def print_suggestions(found: "Sequence[TextMargin]") -> None:
    """Print texts to label next."""
    note("private: these are texts of the log, for you only; keep them out of anything that is published")
    rows = [
        (f"{f.searches:,}", f.category or "none", f"{f.margin:+.2f}", "" if f.has_cue else "no cue", f.text[:_SHOWN])
        for f in found
    ]
    out(table(("searches", "answer", "margin", "", "query"), rows, right=(0, 2)))


def _words(estimate: "Estimate") -> tuple[str, str]:
    value = "-" if estimate.value != estimate.value else f"{estimate.value:.3f}"
    return value, f"({estimate.low:.3f} to {estimate.high:.3f})"
