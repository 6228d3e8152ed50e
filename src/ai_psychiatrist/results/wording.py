"""What a result says of danger and of unknown items, in the same words wherever it is shown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from html import escape
from typing import Final

from ai_psychiatrist.agents.baseline import BASELINE, COUNTED
from ai_psychiatrist.agents.pydantic_agents import EVIDENCE
from ai_psychiatrist.domain.assessment import Account, Assessment
from ai_psychiatrist.domain.failures import AttemptOutcome, FailureRecord
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.domain.phq8 import NotExaminedCause, UnknownReason
from ai_psychiatrist.domain.risk import (
    ReaderState,
    ReaderStatus,
    RiskCategory,
    RiskGroup,
    RiskLevel,
    RiskReport,
    RiskSignal,
)
from ai_psychiatrist.domain.transcript import TranscriptAccount
from ai_psychiatrist.services.risk.questions import questions_in

UNKNOWN_REASONS: Final[Mapping[Enum, str]] = {
    UnknownReason.NO_MENTION: "nothing was found",
    UnknownReason.UNCLEAR: "two readings stand",
    UnknownReason.SCORE_NA_WITH_EVIDENCE: "there are quotes, but no score was given on them",
    UnknownReason.NO_GROUNDED_EVIDENCE: "no quote for it is in the transcript",
    UnknownReason.ONLY_DENIED_OR_PAST: "the quotes deny it, or are about the past",
    UnknownReason.ZERO_WITHOUT_DENIAL: "scored 0, without words that deny it",
    UnknownReason.NOT_ABOUT_ITEM: "the quotes are about something or someone else",
    UnknownReason.NOT_EXAMINED: "what is said was not read",
    UnknownReason.SCORING_FAILED: "the scoring failed",
}
NOT_EXAMINED_CAUSES: Final[Mapping[Enum, str]] = {
    NotExaminedCause.LANGUAGE: "the words are in a language that is not read",
    NotExaminedCause.READER_FAILED: "the reading failed",
}
RISK_LEVELS: Final[Mapping[Enum, str]] = {
    RiskLevel.NONE: "nothing found",
    RiskLevel.LOW: "low",
    RiskLevel.NOT_EXAMINED: "not examined",
    RiskLevel.MODERATE: "moderate",
    RiskLevel.HIGH: "high",
}
RISK_GROUPS: Final[Mapping[Enum, str]] = {
    RiskGroup.READ_NOW: "Read now: affirmed, hypothetical or unclear",
    RiskGroup.FOUND_BY_WORDS_ALONE: "Found by words alone: the learned reader does not agree",
    RiskGroup.PAST_OR_OF_OTHERS: "Past, quoted, or about someone else",
    RiskGroup.DENIED: "Asked and denied",
}
READER_STATES: Final[Mapping[Enum, str]] = {
    ReaderStatus.OFF: "The learned reader is switched off: only the fixed phrases were used",
    ReaderStatus.MISSING: (
        "The learned reader is not installed (pip install 'ai-psychiatrist[reader]'): the fixed "
        "phrases stand alone"
    ),
    ReaderStatus.ANSWERED: "The learned reader is in use beside the fixed phrases",
    ReaderStatus.FAILED: "The learned reader failed: only the fixed phrases were used",
}
UNANSWERED: Final = "asked and not answered: ask again"
"""Said in place of the polarity of a statement that answers nothing."""
_MOST_PLACES: Final = 5
"""Turns that a headline names; the statements themselves are all listed below it."""
_TOPICS: Final = {
    RiskCategory.SUICIDAL_IDEATION: "suicide",
    RiskCategory.SELF_HARM: "self-harm",
    RiskCategory.HARM_TO_OTHERS: "harm to others",
    RiskCategory.ABUSE: "abuse",
    RiskCategory.UNSPECIFIED: "danger",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceParts:
    """The sentence of a statement, cut around the words that were found in it."""

    before: str = field(repr=False)
    said: str = field(repr=False)
    after: str = field(repr=False)


def sentence_parts(signal: RiskSignal) -> SentenceParts:
    """Cut the sentence of a statement; all of it is `said` where the words stand there twice."""
    if signal.sentence.count(signal.text) != 1 or not signal.text:
        return SentenceParts(before="", said=signal.sentence or signal.text, after="")
    before, _, after = signal.sentence.partition(signal.text)
    return SentenceParts(before=before, said=signal.text, after=after)


def signal_groups(signals: Iterable[RiskSignal]) -> dict[RiskGroup, list[RiskSignal]]:
    """Return the groups that there are, in their order; the most urgent of each first."""
    by_level = sorted(signals, key=lambda one: (-one.level.rank, one.start))
    groups = {group: [one for one in by_level if one.group is group] for group in RiskGroup}
    return {group: found for group, found in groups.items() if found}


def danger_headline(risk: RiskReport, *, where: str = "") -> str:
    """Return what stands above the statements: a level, or what was asked about and denied.

    `where`: such as ` in the transcript`.
    """
    found = f"Signs of danger{where}: {RISK_LEVELS[risk.level]}"
    if not has_denials_alone(risk):
        return found
    denied = _denied(risk.signals, where)
    return denied if risk.level is RiskLevel.NONE else f"{found}. {denied}"


def read_first_words(reader: ReaderState) -> str:
    """Return what stands above the passages that the learned reader ranks highest."""
    count = len(reader.read_first)
    return f"Passages to read first, as the learned reader ranks them; no level ({count})"


def has_denials_alone(risk: RiskReport) -> bool:
    """Whether all that was found was denied."""
    return {signal.group for signal in risk.signals} == {RiskGroup.DENIED}


def _denied(signals: Sequence[RiskSignal], where: str) -> str:
    asked, unasked = _split(signals)
    parts = [f"about {topic}{where}: denied ({place})" for topic, place in _by_topic(asked)]
    spoken = [f"{topic}{where}: denied ({place})" for topic, place in _by_topic(unasked)]
    if not parts:
        return f"Not asked about: {'; '.join(spoken)}"
    more = f"; not asked about: {'; '.join(spoken)}" if spoken else ""
    return f"Asked {'; '.join(parts)}{more}"


def _split(
    signals: Sequence[RiskSignal],
) -> tuple[Sequence[RiskSignal], Sequence[RiskSignal]]:
    """Return the denials of what was asked, and those of what was not."""
    asked = [one for one in signals if one.question and questions_in(one.question)]
    return asked, [one for one in signals if one not in asked]


def _by_topic(signals: Sequence[RiskSignal]) -> Iterator[tuple[str, str]]:
    for category in RiskCategory:
        turns = sorted({one.turn + 1 for one in signals if one.category is category})
        if turns:
            yield _TOPICS[category], _turns(turns)


def _turns(turns: Sequence[int]) -> str:
    if len(turns) == 1:
        return f"turn {turns[0]}"
    if len(turns) > _MOST_PLACES:
        named = ", ".join(map(str, turns[:_MOST_PLACES]))
        return f"turns {named} and {len(turns) - _MOST_PLACES} more"
    return f"turns {', '.join(map(str, turns[:-1]))} and {turns[-1]}"


def unknown_words(item: ItemAssessment, result: Account) -> str:
    """Return why an item of a result has no score."""
    match item.unknown_reason:
        case None:
            return "no reason given"
        case UnknownReason.NO_MENTION:
            return _nothing_found(result)
        case UnknownReason.UNCLEAR if item.unread_answer is not None:
            return unread_words(item.unread_answer.question_turn)
        case UnknownReason.NOT_EXAMINED if item.not_examined_cause is not None:
            return f"not examined: {NOT_EXAMINED_CAUSES[item.not_examined_cause]}"
        case reason:
            return UNKNOWN_REASONS[reason]


def unread_words(question_turn: int) -> str:
    """Return what is said of an answer from which nothing was read."""
    return f"asked in turn {question_turn + 1}, no score could be taken from the answer"


def counted_words(explanation: str) -> str:
    """Return what rules counted for a score of the narrative, empty where a model judged it."""
    return explanation.removeprefix(COUNTED).strip() if explanation.startswith(COUNTED) else ""


def _nothing_found(result: Account) -> str:
    """Return who found nothing: whatever was accepted last of those that looked for evidence."""
    models = [
        one.model
        for one in result.attempts
        if one.agent == EVIDENCE.name and one.outcome is AttemptOutcome.ACCEPTED
    ]
    scored = result.models.get("quantitative")
    models = models or ([] if scored is None else [*scored.answered_by])
    return nothing_found_by(models[-1] if models else None)


def nothing_found_by(model: str | None) -> str:
    """Return that a model, the rules among them, found nothing; `None` where none is known."""
    if model is None:
        return UNKNOWN_REASONS[UnknownReason.NO_MENTION]
    return "nothing found by the rules" if model == BASELINE else "the model named no evidence"


def parts_words(read: TranscriptAccount) -> str:
    """Return that an interview was read in parts and what follows; empty for one read whole."""
    if read.parts == 1:
        return ""
    return (
        f"The interview is long: models read it in {read.parts} overlapping parts. Narrative, "
        "judgement, scores and meta-review rest on notes on the parts and on the quotes that were "
        "found in them."
    )


def part_of_failure(failure: FailureRecord) -> str:
    """Return which part of a long interview a failure concerns; empty where it concerns none."""
    part = failure.context.get("part")
    return "" if part is None else f", part {part} of the interview"


def html_of(result: Assessment) -> str:
    """Return a result as HTML, all of its texts escaped.

    What was said is not in it: the outputs of a notebook are saved with it, and passed on.
    """
    return "".join(_parts(result, result.quantitative))


def _parts(result: Assessment, scores: PHQ8Assessment | None) -> Iterator[str]:
    yield f"<p><strong>PHQ-8 assessment: {escape(result.status.value)}</strong></p>"
    yield f"<p><strong>{escape(danger_headline(result.risk))}</strong>. {_counts(result)}"
    yield f"{escape(result.risk.statement)}</p>"
    if scores is not None and scores.has_answers:
        yield from _scores(result, scores)
    for failure in result.failures:
        code = "" if failure.code is None else f" ({failure.code.value})"
        stage = f"{failure.stage}{part_of_failure(failure)}"
        yield f"<p>{escape(f'{stage}: {failure.message}{code}')}</p>"
    yield f"<p><small>{escape(result.notice)}</small></p>"


def _counts(result: Assessment) -> str:
    """Return how many statements there are of each group, as a sentence."""
    groups = signal_groups(result.risk.signals)
    counts = [f"{RISK_GROUPS[group]}: {len(found)}" for group, found in groups.items()]
    return f"{escape('. '.join(counts))}. " if counts else ""


def _scores(result: Assessment, scores: PHQ8Assessment) -> Iterator[str]:
    yield f"<p>Total: {escape(_total(scores))}</p>"
    yield "<table><thead><tr><th>Item</th><th>Score</th><th>Quotes</th></tr></thead><tbody>"
    for item in scores.items.values():
        yield f"<tr><td>{escape(item.label)}</td><td>{escape(_score(result, item))}</td>"
        yield f"<td>{len(item.evidence)}</td></tr>"
    yield "</tbody></table>"


def _total(scores: PHQ8Assessment) -> str:
    if scores.total_score is not None:
        return f"{scores.total_score} of 24, {scores.severity_label}"
    between = f"between {scores.total_score_min} and {scores.total_score_max} of 24"
    return f"{between}, {unknown_items_words(scores.na_count)}"


def unknown_items_words(count: int) -> str:
    """Return how many items are unknown."""
    return f"{count} item{'' if count == 1 else 's'} unknown"


def _score(result: Assessment, item: ItemAssessment) -> str:
    if item.score is not None:
        return str(item.score)
    return f"unknown: {unknown_words(item, result)}"
