"""A result as a notebook shows it: scores, reasons and counts, and nobody's words."""

from collections.abc import Iterator
from html import escape

from ai_psychiatrist.results.models import Envelope, ItemResult, QuantitativePart
from ai_psychiatrist.results.wording import (
    RISK_GROUPS,
    danger_headline,
    signal_groups,
    unknown_words,
)


def html_of(result: Envelope, scores: QuantitativePart | None) -> str:
    """Return a result as HTML, all of its texts escaped.

    What was said is not in it: the outputs of a notebook are saved with it, and passed on.
    """
    return "".join(_parts(result, scores))


def _parts(result: Envelope, scores: QuantitativePart | None) -> Iterator[str]:
    yield f"<p><strong>PHQ-8 assessment: {escape(result.status.value)}</strong></p>"
    yield f"<p><strong>{escape(danger_headline(result.risk))}</strong>. {_counts(result)}"
    yield f"{escape(result.risk.statement)}</p>"
    if scores is not None and scores.has_answers:
        yield from _scores(result, scores)
    for failure in result.failures:
        code = "" if failure.code is None else f" ({failure.code.value})"
        yield f"<p>{escape(f'{failure.stage}: {failure.message}{code}')}</p>"
    yield f"<p><small>{escape(result.notice)}</small></p>"


def _counts(result: Envelope) -> str:
    """Return how many statements there are of each group, as a sentence."""
    groups = signal_groups(result.risk.signals)
    counts = [f"{RISK_GROUPS[one.group]}: {len(one.signals)}" for one in groups]
    return f"{escape('. '.join(counts))}. " if counts else ""


def _scores(result: Envelope, scores: QuantitativePart) -> Iterator[str]:
    yield f"<p>Total: {escape(_total(scores))}</p>"
    yield "<table><thead><tr><th>Item</th><th>Score</th><th>Quotes</th></tr></thead><tbody>"
    for item in (scores.items or {}).values():
        yield f"<tr><td>{escape(item.label)}</td><td>{escape(_score(result, item))}</td>"
        yield f"<td>{len(item.evidence)}</td></tr>"
    yield "</tbody></table>"


def _total(scores: QuantitativePart) -> str:
    if scores.total_score is not None:
        return f"{scores.total_score} of 24, {scores.severity_label}"
    between = f"between {scores.total_score_min} and {scores.total_score_max} of 24"
    return f"{between}, {scores.na_count} items unknown"


def _score(result: Envelope, item: ItemResult) -> str:
    if item.score is not None:
        return str(item.score)
    return f"unknown: {unknown_words(item, result)}"
