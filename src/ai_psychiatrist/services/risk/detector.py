"""Finds suicidal thoughts, self-harm, harm to others and abuse in a participant's words.

No model is asked: the same words always give the same report, and what cannot be told is taken
as said.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from typing import Final

from ai_psychiatrist.domain.evidence import Timeframe
from ai_psychiatrist.domain.risk import (
    RiskCategory,
    RiskGroup,
    RiskKind,
    RiskLevel,
    RiskPolarity,
    RiskReport,
    RiskSignal,
    risk_report,
)
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn
from ai_psychiatrist.services.language.experiencer import is_of_others
from ai_psychiatrist.services.language.identification import examined_in
from ai_psychiatrist.services.language.timeline import Timeline, timeline_of
from ai_psychiatrist.services.risk.answers import (
    OPENING_CHARACTERS,
    Answer,
    answer_to,
    denies_faintly,
)
from ai_psychiatrist.services.risk.polarity import polarity_of_danger
from ai_psychiatrist.services.risk.questions import (
    DangerQuestion,
    denies_one,
    explains,
    follow_up,
    leaves_open,
    meant_by,
    questions_in,
)
from ai_psychiatrist.services.risk.statement import (
    DangerPhrase,
    Statement,
    is_of_speaker,
    level_of,
    read_statement,
)
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

_OF_DEATH: Final = frozenset({RiskKind.WISH_TO_BE_DEAD, RiskKind.NONSPECIFIC_THOUGHTS})
_PURPOSE_CLAUSES: Final = 3
"""How many clauses before or after it what gives a danger its meaning stands at most."""
_DOERS: Final = frozenset({"he", "she", "they", "hes", "shes", "theyre", "we", "you"})
_TOPIC_TURNS: Final = 4
"""For how many turns a danger stays the topic, so that "I have it all ready" speaks of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _TurnReading:
    """What one turn says of dangers."""

    signals: list[RiskSignal]
    unanswered: frozenset[RiskSignal]
    """Those of the signals that are questions without an answer."""


def read_with_risk(
    content: bytes | str,
    labels: SpeakerLabels,
    *,
    name: str = "",
    field: str = "transcript_text",
    most_characters: float = math.inf,
) -> tuple[Transcript, RiskReport]:
    """Read an interview and report on its signs of danger. Raises as `read_transcript` does."""
    transcript = read_transcript(
        content, labels, name=name, field=field, most_characters=most_characters
    )
    return transcript, detect_risk(transcript)


def detect_risk(transcript: Transcript, *, goes_on: bool = False) -> RiskReport:
    """Mark every sign of danger in the participant's turns, and tell which could not be read.

    A question about a danger that is evaded, met with silence or asked back is a sign until it is
    answered. `goes_on`: whether the interview does, so that what is left open may be asked again.
    """
    signals: list[RiskSignal] = []
    unanswered: frozenset[RiskSignal] = frozenset()
    answered: set[RiskSignal] = set()
    asked: tuple[DangerQuestion, ...] = ()
    topic: DangerQuestion | None = None
    for turn in transcript.turns:
        words = transcript.words(turn)
        is_topic = _is_topic(signals, turn)
        # Words of others and of nobody known are no evidence, but they alarm.
        if turn.speaker is not Speaker.INTERVIEWER:
            # A heading before an interview answers no other.
            is_person = turn.speaker is Speaker.PARTICIPANT
            meant = tuple(one for one in asked if is_person and (is_topic or not one.is_open))
            read = _read_turn(transcript, turn, meant, is_topic=is_topic, goes_on=goes_on)
            signals += read.signals
            settled = _answered_by(read, meant, unanswered)
            answered |= settled
            unanswered = (unanswered - settled) | read.unanswered
            topic = _topic_after(meant, read.signals) or (topic if is_topic else None)
            asked = asked if read.unanswered.issuperset(read.signals) else ()
        if turn.speaker is not Speaker.PARTICIPANT:
            asked = _asked_by(words, asked, topic if is_topic else None)
    standing = [one for one in signals if one not in answered]
    return risk_report(standing, examined_in(transcript))


def _asked_by(
    words: str, before: tuple[DangerQuestion, ...], topic: DangerQuestion | None
) -> tuple[DangerQuestion, ...]:
    """Return what is asked after a turn: the same as before it where it listens or explains."""
    asked = questions_in(words)
    if asked:
        return asked
    if leaves_open(words):
        return before or (() if topic is None else (topic,))
    if before and explains(words):
        return before
    return () if topic is None else follow_up(words, topic)


def _answered_by(
    read: _TurnReading, meant: tuple[DangerQuestion, ...], unanswered: frozenset[RiskSignal]
) -> frozenset[RiskSignal]:
    """Return what was not answered before, and is now that it was put again or left open."""
    told = {one.category for one in read.signals if one not in read.unanswered}
    # "And a plan?" is not what was evaded before it.
    kinds = {one.kind for one in meant if one.kind.category in told and not one.is_follow_up}
    return frozenset(one for one in unanswered if one.kind in kinds)


def _topic_after(
    asked: tuple[DangerQuestion, ...], found: list[RiskSignal]
) -> DangerQuestion | None:
    """Return the danger that is spoken of after a turn, as a question that may go on with it."""
    told = next((one for one in reversed(found) if _opens_topic(one)), None)
    if told is None:
        return None
    question = next((one for one in asked if one.kind.category is told.category), None)
    level = max(told.level, RiskLevel.MODERATE, key=lambda level: level.rank)
    return question or DangerQuestion(kind=told.kind, level=level)


def _is_topic(signals: list[RiskSignal], turn: Turn) -> bool:
    """Return whether a danger to the speaker came up a few turns ago and was not denied since."""
    # From the end, so that the work does not grow with the transcript.
    near = list(takewhile(lambda one: turn.index - one.turn <= _TOPIC_TURNS, reversed(signals)))
    last = max((one.turn for one in near if _opens_topic(one)), default=None)
    return last is not None and not any(one.turn > last and _closes_topic(one) for one in near)


def _opens_topic(signal: RiskSignal) -> bool:
    """Whether what follows speaks of suicide; "there is no point in it" says nothing of it."""
    is_of_death = signal.level is RiskLevel.HIGH or signal.kind in _OF_DEATH
    return (
        signal.category is RiskCategory.SUICIDAL_IDEATION
        and signal.group is RiskGroup.READ_NOW
        and signal.level.is_urgent
        and is_of_death
    )


def _closes_topic(signal: RiskSignal) -> bool:
    is_over = signal.polarity in {RiskPolarity.DENIED, RiskPolarity.PAST}
    return is_over and signal.category is RiskCategory.SUICIDAL_IDEATION


def _read_turn(
    transcript: Transcript,
    turn: Turn,
    asked: tuple[DangerQuestion, ...],
    *,
    is_topic: bool,
    goes_on: bool,
) -> _TurnReading:
    times = timeline_of(transcript.words(turn))
    answers = _answers(times, asked)
    stated = _stated(turn, times, answers, is_implied=False)
    is_asked = any(one.kind.category is RiskCategory.SUICIDAL_IDEATION for one in asked)
    if is_topic or is_asked or any(map(_opens_topic, stated)):
        implied = _stated(turn, times, answers, is_implied=True)
        stated += (one for one in implied if not _is_weaker_than_denial(one, answers))
    stated.sort(key=lambda signal: signal.start)
    told = [
        one
        for one in answers.values()
        if not (one.is_left_open and goes_on) and not any(_says_as_much(it, one) for it in stated)
    ]
    signals = [_signal_of(one, turn) for one in told]
    return _TurnReading(
        signals=[*signals, *stated],
        unanswered=frozenset(
            signal for signal, one in zip(signals, told, strict=True) if one.is_unanswered
        ),
    )


def _signal_of(answer: Answer, turn: Turn) -> RiskSignal:
    return RiskSignal(
        kind=answer.kind,
        polarity=answer.polarity,
        level=answer.level,
        turn=turn.index,
        start=turn.words_start + answer.start,
        end=turn.words_start + answer.end,
    )


def _is_weaker_than_denial(signal: RiskSignal, answers: Mapping[RiskCategory, Answer]) -> bool:
    """Whether only the topic makes a danger of it, and that was plainly denied."""
    answer = answers.get(signal.category)
    is_negated = answer is not None and answer.polarity is RiskPolarity.DENIED
    return is_negated and signal.level is not RiskLevel.HIGH


def _answers(times: Timeline, asked: tuple[DangerQuestion, ...]) -> Mapping[RiskCategory, Answer]:
    """Read a turn as the answer to each danger that was asked about."""
    if not asked:
        return {}
    opening = times.words[:OPENING_CHARACTERS]
    meant = meant_by(asked, opening)
    left_open = (one for one in asked if one not in meant) if denies_one(opening) else ()
    answers: dict[RiskCategory, Answer] = {}
    for question in (*meant, *left_open):
        answer = answer_to(question, times.words, times.clauses)
        if answer is None:
            continue
        if question not in meant:
            answer = replace(answer, polarity=RiskPolarity.UNCLEAR, level=RiskLevel.MODERATE)
        answers[answer.kind.category] = answer
    return answers


def _says_as_much(stated: RiskSignal, answer: Answer) -> bool:
    """Whether a statement makes the answer around it needless."""
    if stated.category is not answer.kind.category or stated.polarity is RiskPolarity.QUOTED:
        return False
    if answer.polarity is RiskPolarity.DENIED or stated.polarity is RiskPolarity.DENIED:
        return answer.polarity is not RiskPolarity.AFFIRMED and not answer.is_taken_back
    if stated.polarity is RiskPolarity.PAST:
        return not answer.is_told
    return stated.level.rank >= answer.level.rank


def _stated(
    turn: Turn, times: Timeline, answers: Mapping[RiskCategory, Answer], *, is_implied: bool
) -> list[RiskSignal]:
    statements = [read_statement(times.words[one.start : one.end]) for one in times.clauses]
    found: list[RiskSignal] = []
    for at, (clause, statement) in enumerate(zip(times.clauses, statements, strict=True)):
        if turn.speaker is not Speaker.PARTICIPANT and not is_of_speaker(statement.texts):
            # A heading or a list before the interview: "topics: sleep, suicide risk".
            continue
        own: list[RiskSignal] = []
        for danger in statement.dangers:
            if danger.is_implied is not is_implied:
                continue
            if danger.is_joined and not _has_purpose(statements, at, danger):
                continue
            start, end = clause.start + danger.start, clause.start + danger.end
            polarity = polarity_of_danger(
                danger,
                statement,
                before=statements[at - 1] if at else None,
                after=statements[at + 1] if at + 1 < len(statements) else None,
                is_past=times.timeframe_of(start, end) is Timeframe.PAST,
            )
            answer = answers.get(danger.kind.category)
            if answer is not None:
                polarity = _as_answer(polarity, answer, statement, danger)
            signal = RiskSignal(
                kind=danger.kind,
                polarity=polarity,
                level=level_of(polarity, danger.level),
                turn=turn.index,
                start=turn.words_start + start,
                end=turn.words_start + end,
            )
            own.append(signal)
        # Neighbours within one clause that say the same are one.
        for _, same in groupby(own, key=lambda one: (one.kind, one.polarity, one.level)):
            first, *others = same
            found.append(replace(first, end=others[-1].end) if others else first)
    return found


def _as_answer(
    polarity: RiskPolarity, answer: Answer, statement: Statement, danger: DangerPhrase
) -> RiskPolarity:
    """Weigh a statement that belongs to the answer to a question about its danger."""
    match polarity:
        case RiskPolarity.PAST if not answer.is_long_over:
            return RiskPolarity.UNCLEAR
        case RiskPolarity.AFFIRMED if answer.is_long_over and statement.has_past_verb(danger):
            return RiskPolarity.PAST
        case RiskPolarity.DENIED if answer.polarity is not RiskPolarity.DENIED:
            return RiskPolarity.UNCLEAR if denies_faintly(statement.text) else polarity
        case _:
            return polarity


def _has_purpose(statements: Sequence[Statement], at: int, danger: DangerPhrase) -> bool:
    """Whether a purpose is said beside a danger: in its clause, or near enough to it."""
    own = statements[at]
    if not _DOERS.isdisjoint(own.texts[: danger.first]) or (
        not is_of_speaker(own.texts) and is_of_others(own.said.texts)
    ):
        return False
    first = max(0, at - _PURPOSE_CLAUSES)
    near = enumerate(statements[first : at + _PURPOSE_CLAUSES + 1], start=first)
    return any(
        hit.kind == "purpose"
        and (other != at or hit.first > danger.last or hit.last < danger.first)
        for other, one in near
        for hit in one.cues
    )
