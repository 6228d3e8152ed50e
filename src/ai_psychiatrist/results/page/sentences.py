"""A result in sentences: the total, who made what, and why a part is missing."""

from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.domain.failures import (
    AttemptOutcome,
    FailureCategory,
    FailureRecord,
    FailureSeverity,
)
from ai_psychiatrist.domain.phq8 import NotExaminedCause, Severity, UnknownReason
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.results.models import QuantitativePart
from ai_psychiatrist.results.page.words import words

_STAGES: Final = {
    "qualitative": ("qualitative",),
    "evaluation": ("judge", "qualitative"),
    "quantitative": ("quantitative", "evidence", "references", "ablation"),
    "meta_review": ("meta_review",),
    "danger": ("danger",),
}
"""A part of a result, and how the names begin of the stages that it is made in."""


def total_words(result: FullResult) -> str:
    """Return the total or its range."""
    scores = result.quantitative
    if scores is None or scores.total_score_min is None or not scores.has_answers:
        return "none"
    if _is_unread(scores):
        return "none"
    if scores.total_score is not None:
        return str(scores.total_score)
    return f"{scores.total_score_min} to {scores.total_score_max}"


def band_words(result: FullResult) -> str:
    """Return the severity, or from which to which it may be, and why there is none."""
    scores = result.quantitative
    if scores is None or scores.total_score_min is None or not scores.has_answers:
        return "the items were not scored"
    if _is_unread(scores):
        return _why_unread(scores)
    if scores.severity_label is not None:
        return scores.severity_label
    bands = [
        Severity(band).label
        for band in (scores.severity_lower_bound, scores.severity_upper_bound)
        if band is not None
    ]
    return " to ".join(dict.fromkeys(bands))


def total_note(result: FullResult) -> str:
    """Return why a total is a range; empty where it is none."""
    scores = result.quantitative
    if scores is None or not scores.na_count or total_words(result) == "none":
        return ""
    many = "item is" if scores.na_count == 1 else "items are"
    return f"{scores.na_count} {many} unknown. An unknown item is not a 0: the total is a range."


def believed_total(result: FullResult) -> str:
    """Return where the total is believed to lie; empty where nothing is believed."""
    scores = result.quantitative
    if scores is None or scores.total_interval is None or total_words(result) == "none":
        return ""
    found = scores.total_interval
    beliefs = [one.belief for one in (scores.items or {}).values() if one.belief is not None]
    sources = dict.fromkeys(source for belief in beliefs for source in belief.sources)
    is_calibrated = bool(beliefs) and all(belief.calibrated for belief in beliefs)
    kind = "recalibrated" if is_calibrated else "not calibrated"
    return (
        f"Believed: {found.low} to {found.high} at {found.level:.0%}, mean {found.mean:.1f} "
        f"({kind}; from {', '.join(map(words, sources))})."
    )


def _is_unread(scores: QuantitativePart) -> bool:
    reasons = {item.unknown_reason for item in (scores.items or {}).values()}
    return reasons == {UnknownReason.NOT_EXAMINED}


def _why_unread(scores: QuantitativePart) -> str:
    causes = {item.not_examined_cause for item in (scores.items or {}).values()}
    if causes == {NotExaminedCause.READER_FAILED}:
        return "the participant's words were not read: the reading failed"
    return "the participant's words are in a language that is not read"


def made_by(result: FullResult, agent: str) -> str:
    """Return whose answers of an agent were accepted, or else stand in part."""
    accepted = (
        one.model
        for one in result.attempts
        if one.outcome is AttemptOutcome.ACCEPTED and one.agent == agent
    )
    in_part = (
        str(one.context["model"])
        for one in result.failures
        if one.category is FailureCategory.PARTIAL_REPLY and one.stage == agent
        if "model" in one.context
    )
    names = dict.fromkeys((*accepted, *in_part))
    return " and ".join(map(model_words, names)) or "a call that is not listed"


def model_words(model: str) -> str:
    """Return what a model is called."""
    return "the rule baseline" if model == BASELINE else f"the model {model}"


def is_of_rules(result: FullResult) -> bool:
    """Whether any answer came from the rule baseline."""
    return any(one.rule_baseline for one in result.models.values())


def why_missing(result: FullResult, part: str) -> tuple[str, ...]:
    """Return what went wrong in the stages of a part, each once."""
    return tuple(dict.fromkeys(map(failure_words, _failures_of(result, part))))


def failure_words(failure: FailureRecord) -> str:
    """Return a failure as a sentence."""
    reason = "" if failure.code is None else f" ({words(failure.code)})"
    return f"{words(failure.stage)}: {failure.message.rstrip('.')}{reason}."


def _failures_of(result: FullResult, part: str) -> Iterator[FailureRecord]:
    errors = [one for one in result.failures if one.severity is FailureSeverity.ERROR]
    own = [one for one in errors if one.stage.startswith(_STAGES[part])]
    yield from own or errors
