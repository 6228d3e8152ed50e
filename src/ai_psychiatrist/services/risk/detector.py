"""Finds suicidal thoughts, self-harm, harm to others and abuse in a participant's words.

No model is asked: the same words always give the same report, and what cannot be told is taken
as said.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, takewhile
from typing import Final

from ai_psychiatrist.domain.evidence import Timeframe
from ai_psychiatrist.domain.risk import (
    RiskCategory,
    RiskKind,
    RiskLevel,
    RiskPolarity,
    RiskReport,
    RiskSignal,
    risk_report,
)
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn
from ai_psychiatrist.services.language.clauses import Clause
from ai_psychiatrist.services.language.identification import examined_in
from ai_psychiatrist.services.language.timeline import Timeline, timeline_of
from ai_psychiatrist.services.risk.polarity import Surroundings, polarity_of_danger
from ai_psychiatrist.services.risk.questions import (
    DangerQuestion,
    answer_to,
    meant_by,
    questions_in,
)
from ai_psychiatrist.services.risk.statement import (
    DangerPhrase,
    Statement,
    level_of,
    read_statement,
)
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

_OPENING_CHARACTERS: Final = 100
_OF_DEATH: Final = frozenset({RiskKind.WISH_TO_BE_DEAD, RiskKind.NONSPECIFIC_THOUGHTS})
_TOPIC_TURNS: Final = 4
"""For how many turns a danger stays the topic, so that "I have it all ready" speaks of it."""


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


def detect_risk(transcript: Transcript) -> RiskReport:
    """Mark every sign of danger in the participant's turns, and tell which could not be read."""
    signals: list[RiskSignal] = []
    asked: tuple[DangerQuestion, ...] = ()
    for turn in transcript.turns:
        # Words of others and of nobody known are no evidence, but they alarm.
        if turn.speaker is not Speaker.INTERVIEWER:
            is_topic = _is_topic(signals, turn)
            meant = tuple(one for one in asked if is_topic or not one.is_open)
            signals += _signals_of_turn(transcript, turn, meant, is_topic=is_topic)
        is_participant = turn.speaker is Speaker.PARTICIPANT
        asked = () if is_participant else questions_in(transcript.words(turn))
    return risk_report(signals, examined_in(transcript))


def _is_topic(signals: list[RiskSignal], turn: Turn) -> bool:
    """Whether a danger to the speaker was told of a few turns before, and not denied since."""
    # From the end, so that the work does not grow with the transcript.
    near = list(takewhile(lambda one: turn.index - one.turn <= _TOPIC_TURNS, reversed(signals)))
    last = max((one.turn for one in near if _opens_topic(one)), default=None)
    return last is not None and not any(one.turn > last and _closes_topic(one) for one in near)


def _opens_topic(signal: RiskSignal) -> bool:
    is_told = signal.polarity in {RiskPolarity.AFFIRMED, RiskPolarity.HYPOTHETICAL}
    return is_told and _is_of_suicide(signal) and _names_death(signal)


def _closes_topic(signal: RiskSignal) -> bool:
    is_over = signal.polarity in {RiskPolarity.DENIED, RiskPolarity.PAST}
    return is_over and _is_of_suicide(signal)


def _is_of_suicide(signal: RiskSignal) -> bool:
    return signal.category is RiskCategory.SUICIDAL_IDEATION


def _names_death(signal: RiskSignal) -> bool:
    """Whether what follows speaks of suicide; "there is no point in it" says nothing of it."""
    is_alarm = signal.level.rank >= RiskLevel.MODERATE.rank
    return is_alarm and (signal.level is RiskLevel.HIGH or signal.kind in _OF_DEATH)


def _signals_of_turn(
    transcript: Transcript, turn: Turn, asked: tuple[DangerQuestion, ...], *, is_topic: bool
) -> list[RiskSignal]:
    words = transcript.words(turn)
    times = timeline_of(words)
    clauses = times.clauses
    stated = list(_stated(turn, times, is_implied=False))
    answered = list(_answered(turn, words, clauses, asked, stated))
    is_asked = any(one.kind.category is RiskCategory.SUICIDAL_IDEATION for one in asked)
    is_denied = any(map(_closes_topic, answered))
    if any(map(_opens_topic, stated)) or ((is_topic or is_asked) and not is_denied):
        stated += _stated(turn, times, is_implied=True)
    return [*answered, *sorted(stated, key=lambda signal: signal.start)]


def _stated(turn: Turn, times: Timeline, *, is_implied: bool) -> Iterator[RiskSignal]:
    words, clauses = times.words, times.clauses
    for at, clause in enumerate(clauses):
        statement = read_statement(words[clause.start : clause.end])
        dangers = [one for one in statement.dangers if one.is_implied is is_implied]
        if not dangers:
            continue
        before, after = (_statement_at(words, clauses, other) for other in (at - 1, at + 1))
        yield from _merged(
            _signal(
                turn,
                clause,
                danger,
                polarity_of_danger(
                    danger,
                    statement,
                    Surroundings(
                        before=before,
                        after=after,
                        is_past=_is_past(times, clause.start + danger.start, danger),
                    ),
                ),
            )
            for danger in dangers
        )


def _is_past(times: Timeline, start: int, danger: DangerPhrase) -> bool:
    end = start + danger.end - danger.start
    return times.timeframe_of(start, end) is Timeframe.PAST


def _merged(signals: Iterator[RiskSignal]) -> Iterator[RiskSignal]:
    """Join neighbours within one clause that say the same."""
    for _, same in groupby(signals, key=lambda s: (s.kind, s.polarity, s.level)):
        first, *others = same
        yield replace(first, end=others[-1].end) if others else first


def _answered(
    turn: Turn,
    words: str,
    clauses: tuple[Clause, ...],
    asked: tuple[DangerQuestion, ...],
    stated: list[RiskSignal],
) -> Iterator[RiskSignal]:
    """Read what stands before the first stated danger as the answer to what was asked."""
    until = stated[0].start - turn.words_start if stated else len(words)
    opening = tuple(clause for clause in clauses if clause.end <= until) if asked else ()
    said = words[opening[0].start : opening[-1].end][:_OPENING_CHARACTERS] if opening else ""
    for question in meant_by(asked, said):
        own = [signal for signal in stated if signal.category is question.kind.category]
        if any(signal.polarity is not RiskPolarity.DENIED for signal in own):
            continue
        answer = answer_to(question, words, opening)
        if answer is None or (stated and answer.polarity is not RiskPolarity.AFFIRMED):
            continue
        yield RiskSignal(
            kind=question.kind,
            polarity=answer.polarity,
            level=level_of(answer.polarity, question.level),
            turn=turn.index,
            start=turn.words_start + answer.start,
            end=turn.words_start + answer.end,
        )


def _statement_at(words: str, clauses: tuple[Clause, ...], at: int) -> Statement | None:
    if not 0 <= at < len(clauses):
        return None
    return read_statement(words[clauses[at].start : clauses[at].end])


def _signal(turn: Turn, clause: Clause, danger: DangerPhrase, polarity: RiskPolarity) -> RiskSignal:
    start = turn.words_start + clause.start
    return RiskSignal(
        kind=danger.kind,
        polarity=polarity,
        level=level_of(polarity, danger.level),
        turn=turn.index,
        start=start + danger.start,
        end=start + danger.end,
    )
