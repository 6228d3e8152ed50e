"""A result in sentences: the total, who made what, and why a part is missing."""

from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.failures import (
    AttemptOutcome,
    FailureCategory,
    FailureRecord,
    FailureSeverity,
)
from ai_psychiatrist.domain.items import PHQ8Assessment
from ai_psychiatrist.domain.phq8 import NotExaminedCause, UnknownReason
from ai_psychiatrist.results.page.words import words
from ai_psychiatrist.results.wording import part_of_failure

_STAGES: Final = {
    "qualitative": ("qualitative",),
    "evaluation": ("judge", "qualitative"),
    "quantitative": ("quantitative", "evidence", "references", "ablation"),
    "meta_review": ("meta_review",),
    "danger": ("danger",),
}
"""A part of a result, and how the names begin of the stages that it is made in."""


def total_words(result: Assessment) -> str:
    """Return the total or its range."""
    scores = result.quantitative
    if scores is None or not scores.has_answers or _is_unread(scores):
        return "none"
    bounds = (scores.total_score_min, scores.total_score_max)
    return " to ".join(dict.fromkeys(map(str, bounds)))


def band_words(result: Assessment) -> str:
    """Return the severity, or from which to which it may be, and why there is none."""
    scores = result.quantitative
    if scores is None or not scores.has_answers:
        return "the items were not scored"
    if _is_unread(scores):
        return _why_unread(scores)
    bands = (scores.severity_lower_bound.label, scores.severity_upper_bound.label)
    return " to ".join(dict.fromkeys(bands))


def total_note(result: Assessment) -> str:
    """Return why a total is a range; empty where it is none."""
    scores = result.quantitative
    if scores is None or not scores.na_count or total_words(result) == "none":
        return ""
    many = "item is" if scores.na_count == 1 else "items are"
    return f"{scores.na_count} {many} unknown. An unknown item is not a 0: the total is a range."


def believed_total(result: Assessment) -> str:
    """Return where the total is believed to lie; empty where no calibration says so.

    What is not calibrated ranks nothing, so that nobody is shown it beside a total.
    """
    scores = result.quantitative
    if scores is None or scores.total_interval is None or total_words(result) == "none":
        return ""
    found = scores.total_interval
    beliefs = [one.belief for one in scores.items.values() if one.belief is not None]
    if not beliefs or not all(belief.calibrated for belief in beliefs):
        return ""
    sources = dict.fromkeys(source for belief in beliefs for source in belief.sources)
    return (
        f"Believed: {found.low} to {found.high} at {found.level:.0%}, mean {found.mean:.1f} "
        f"(calibrated; from {', '.join(map(words, sources))})."
    )


def _is_unread(scores: PHQ8Assessment) -> bool:
    reasons = {item.unknown_reason for item in scores.items.values()}
    return reasons == {UnknownReason.NOT_EXAMINED}


def _why_unread(scores: PHQ8Assessment) -> str:
    causes = {item.not_examined_cause for item in scores.items.values()}
    if causes == {NotExaminedCause.READER_FAILED}:
        return "the participant's words were not read: the reading failed"
    return "the participant's words are in a language that is not read"


def made_by(result: Assessment, agent: str) -> str:
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


def is_of_rules(result: Assessment) -> bool:
    """Whether any answer came from the rule baseline."""
    return any(one.rule_baseline for one in result.models.values())


def why_missing(result: Assessment, part: str) -> tuple[str, ...]:
    """Return what went wrong in the stages of a part, each once."""
    return tuple(dict.fromkeys(map(failure_words, _failures_of(result, part))))


def failure_words(failure: FailureRecord) -> str:
    """Return a failure as a sentence."""
    reason = "" if failure.code is None else f" ({words(failure.code)})"
    stage = f"{words(failure.stage)}{part_of_failure(failure)}"
    return f"{stage}: {failure.message.rstrip('.')}{reason}."


def _failures_of(result: Assessment, part: str) -> Iterator[FailureRecord]:
    errors = [one for one in result.failures if one.severity is FailureSeverity.ERROR]
    own = [one for one in errors if one.stage.startswith(_STAGES[part])]
    yield from own or errors
