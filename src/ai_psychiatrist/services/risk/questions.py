"""A bare answer, which only the interviewer's question tells the meaning of."""

from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.evidence import Timeframe
from ai_psychiatrist.domain.risk import RiskCategory, RiskKind, RiskLevel, RiskPolarity
from ai_psychiatrist.services.language.clauses import Clause
from ai_psychiatrist.services.language.timeline import timeline_of
from ai_psychiatrist.services.risk.replies import DangerReply, reply_in
from ai_psychiatrist.services.risk.statement import Statement, read_statement
from ai_psychiatrist.services.risk.vocabulary import (
    ASKED,
    SPOKEN_KINDS,
    is_harmless,
    match_danger,
)

_QUESTION_CHARACTERS: Final = 600
_ANSWER_CLAUSES: Final = 4
"""How many clauses of a turn may answer the question."""
_LONGEST_ELUSIVE_ANSWER: Final = 40
"""In words; a longer turn that neither says yes nor no tells of something else."""
_SHORTEST_QUESTION: Final = 6
"""In words; a shorter one is read with what was said before it."""
_TOO: Final = "too"
_SAFETY: Final = "safety"
_OPEN: Final = "topic"
_LEVELS: Final = {"moderate": RiskLevel.MODERATE, _OPEN: RiskLevel.MODERATE}
_ASKED_KINDS: Final = tuple(f"{kind.value}{ASKED}" for kind in SPOKEN_KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class DangerQuestion:
    """What an interviewer asked about."""

    kind: RiskKind
    level: RiskLevel
    """How soon a person should look where it is affirmed."""
    is_about_safety: bool
    """Whether "no" tells of danger, as after "do you feel safe at home?"."""
    is_supposed: bool
    """Whether it asks what might be."""
    is_open: bool
    """Whether it asks about a danger only where one is the topic: "so you stopped yourself?"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a turn answers; offsets are characters of the turn's words."""

    polarity: RiskPolarity
    start: int
    end: int


def questions_in(words: str) -> tuple[DangerQuestion, ...]:
    """Return what the end of an interviewer's turn asks about, one question for each category.

    A question about suicide is not also one about self-harm.
    """
    matched = match_danger(_last_question(words[-_QUESTION_CHARACTERS:]))
    is_supposed = any(matched.among("moods"))
    found: dict[RiskCategory, DangerQuestion] = {}
    for hit in matched.among(*_ASKED_KINDS):
        if is_harmless(matched, hit) or (hit.kind == _TOO and not found):
            continue
        question = DangerQuestion(
            kind=RiskKind(hit.subject.removesuffix(ASKED)),
            level=_LEVELS.get(hit.kind, RiskLevel.HIGH),
            is_about_safety=hit.kind == _SAFETY,
            is_supposed=is_supposed,
            is_open=hit.kind == _OPEN,
        )
        known = found.setdefault(question.kind.category, question)
        if question.level.rank > known.level.rank:
            found[question.kind.category] = question
    if RiskCategory.SUICIDAL_IDEATION in found:
        found.pop(RiskCategory.SELF_HARM, None)
    return tuple(found.values())


def meant_by(asked: tuple[DangerQuestion, ...], opening: str) -> tuple[DangerQuestion, ...]:
    """Keep what "someone else" or "only myself" answers when several dangers were asked about."""
    named = {hit.kind for hit in match_danger(opening).among("whom")}
    if len(named) != 1:
        return asked
    is_of_others = named == {"others"}
    meant = tuple(one for one in asked if (one.kind is RiskKind.HARM_TO_OTHERS) is is_of_others)
    return meant or asked


def _last_question(words: str) -> str:
    """Leave out what was said before the last question, unless that is only "is that right?"."""
    end = words.rfind("?")
    if end < 0:
        return words
    start = max(words.rfind(mark, 0, end) for mark in ".?!") + 1
    is_whole = len(words[start:end].split()) > _SHORTEST_QUESTION
    return words[start:end] if is_whole else words


def answer_to(question: DangerQuestion, words: str, clauses: tuple[Clause, ...]) -> Answer | None:
    """Read the clauses that open a turn as the answer; `None` when they answer nothing."""
    opening = [clause for clause in clauses if words[clause.start : clause.end].strip()]
    opening = opening[:_ANSWER_CLAUSES]
    if not opening:
        return None
    statements = [read_statement(words[clause.start : clause.end]) for clause in opening]
    well = DangerReply.YES if question.is_about_safety else DangerReply.UNTOLD
    told = [reply_in(statement) for statement in statements]
    replies = [well if reply is DangerReply.WELL else reply for reply in told]
    at = next((n for n, reply in enumerate(replies) if reply is not DangerReply.UNTOLD), None)
    reply = DangerReply.UNTOLD if at is None else replies[at]
    rising = None if question.is_about_safety else _first_rising(statements)
    if reply is DangerReply.NO and rising is not None:
        at, reply = rising, DangerReply.YES
    if reply is DangerReply.NOT_UNDERSTOOD or (
        reply is DangerReply.UNTOLD
        and (statements[0].is_question or _is_about_something_else(clauses, words))
    ):
        return None
    last = opening[0 if at is None else at]
    later = statements[at or 0 :]
    return Answer(
        polarity=_polarity(question, reply, later),
        start=opening[0].start,
        end=opening[0].start + len(words[opening[0].start : last.end].rstrip()),
    )


def _first_rising(statements: list[Statement]) -> int | None:
    """Return which clause takes a "no" back, as "well, sometimes" does."""
    return next((n for n, one in enumerate(statements) if any(one.matched.among("rising"))), None)


def _is_about_something_else(clauses: tuple[Clause, ...], words: str) -> bool:
    first, last = clauses[0].start, clauses[min(len(clauses), 12) - 1].end
    return len(words[first:last].split()) > _LONGEST_ELUSIVE_ANSWER


def _polarity(question: DangerQuestion, reply: DangerReply, later: list[Statement]) -> RiskPolarity:
    if question.is_about_safety and reply is not DangerReply.OVER:
        return RiskPolarity.DENIED if reply is DangerReply.YES else RiskPolarity.AFFIRMED
    if _is_past(reply, later):
        return RiskPolarity.PAST
    if reply is DangerReply.NO:
        return RiskPolarity.DENIED
    if question.is_supposed or later[0].has("hypothetical"):
        return RiskPolarity.HYPOTHETICAL
    return RiskPolarity.AFFIRMED


def _is_past(reply: DangerReply, later: list[Statement]) -> bool:
    if reply is DangerReply.OVER:
        return True
    if reply is DangerReply.NO:
        return later[0].has("over")
    if any(statement.has("over") or statement.has("closed") for statement in later):
        return True
    return any(_tells_of_past(statement.text) for statement in later)


def _tells_of_past(text: str) -> bool:
    return timeline_of(text).timeframe_of(0, len(text)) is Timeframe.PAST
