"""What a turn says of each concept, read with the question that it answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.services.cues.occurrence import occurrences_in
from ai_psychiatrist.services.cues.period import told_in
from ai_psychiatrist.services.cues.reading import TurnReading
from ai_psychiatrist.services.cues.reading import read_turn as read_times
from ai_psychiatrist.services.language.assertion import (
    ClauseReading,
    Finding,
    Status,
    Strength,
    read_clause,
)
from ai_psychiatrist.services.language.clauses import Clause, clauses_of
from ai_psychiatrist.services.language.questions import NOTHING, Question, answered, reply_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """What a stretch of a turn says of a concept; characters of the turn's words."""

    concept: str
    status: Status
    is_stated: bool
    """Whether words say it by themselves, and it is not inferred from a doing."""
    start: int
    end: int
    frequency: Frequency
    timeframe: Timeframe
    is_answer: bool = False
    """Whether only the question tells what it is about."""


def sayings_in(words: str, question: Question = NOTHING) -> tuple[Saying, ...]:
    """Read a turn."""
    clauses = [c for c in clauses_of(words) if words[c.start : c.end].strip()]
    read: list[ClauseReading] = []
    is_others = is_supposed = False
    for clause in clauses:
        text = words[clause.start : clause.end]
        one = read_clause(text, is_others=is_others, is_supposed=is_supposed)
        is_supposed = one.is_supposed and text.rstrip()[-1:] not in _SENTENCE_ENDS
        if one.experiencer is not None:
            is_others = one.experiencer is Status.OTHER
        read.append(one)
    times = read_times(words)
    is_of_now = _speaks_of_now(words, clauses, question)
    stated = [
        Saying(
            concept=found.concept,
            status=found.status,
            is_stated=found.strength is Strength.STATED,
            start=clause.start,
            end=_with_frequency(words, clauses, at),
            frequency=_frequency(words, clauses, at, found.status, found.start),
            timeframe=_time(times, clause.start + found.start, clause.start + found.end)
            if not found.is_past_tense or is_of_now
            else _past(times, clause.start + found.start, clause.start + found.end),
        )
        for at, (clause, one) in enumerate(zip(clauses, read, strict=True))
        for found in one.findings
        if not _is_of_what_was_asked(one, found, question)
    ]
    return (*stated, *_answers(words, clauses, read, question, stated))


def _answers(
    words: str,
    clauses: list[Clause],
    read: list[ClauseReading],
    question: Question,
    stated: list[Saying],
) -> Iterator[Saying]:
    if not read or not question.asked:
        return
    reply = reply_in(read[0])
    last = 0
    if (
        reply.says is None
        and reply.quality is None
        and len(read) > 1
        and len(read[0].words.texts) < 4
    ):
        reply, last = reply_in(read[1]), 1
    for concept, asking in question.asked.items():
        own = {one.status for one in stated if one.concept == concept}
        if own - {Status.UNCLEAR, Status.SUPPOSED}:
            continue
        status = answered(asking, reply)
        if status is None or (status is Status.AFFIRMED and len(question.asked) > 1):
            continue
        start, end = clauses[0].start, clauses[last].end
        yield Saying(
            concept=concept,
            status=status,
            is_stated=reply.is_short,
            start=start,
            end=_with_frequency(words, clauses, last),
            frequency=_frequency(words, clauses, last, status, 0),
            timeframe=read_times(words).timeframe_of(start, end),
            is_answer=True,
        )


def _is_of_what_was_asked(one: ClauseReading, found: Finding, question: Question) -> bool:
    """Whether a bare word of another concept answers the question: "your energy?" "Low"."""
    if not question.asked or found.concept in question.asked or len(one.words.texts) > _BARE_WORDS:
        return False
    return one.spanned(found) == 1


def _time(times: TurnReading, start: int, end: int) -> Timeframe:
    # "Nothing I used to enjoy" tells of now.
    if "used to" in times.words[start:end].casefold():
        return Timeframe.UNSTATED
    return times.timeframe_of(start, end)


def _past(times: TurnReading, start: int, end: int) -> Timeframe:
    """Return the time of what is told in the simple past, among nothing of these weeks."""
    told = _time(times, start, end)
    return Timeframe.PAST if told is Timeframe.UNSTATED else told


def _speaks_of_now(words: str, clauses: list[Clause], question: Question) -> bool:
    """Whether a turn or its question names a time of these weeks."""
    told = [told_in(words[clause.start : clause.end]) for clause in clauses]
    told += [
        told_in(question.words[clause.start : clause.end]) for clause in clauses_of(question.words)
    ]
    return any(
        period.timeframe is Timeframe.RECENT and not period.is_weak
        for one in told
        for period in one.periods
    )


_BARE_WORDS: Final = 4
_SENTENCE_ENDS: Final = frozenset(".?!;…")
_LONGEST_ADDITION: Final = 40
_POLARITIES: Final = {Status.AFFIRMED: Polarity.AFFIRMED, Status.DENIED: Polarity.DENIED}


def _with_frequency(words: str, clauses: list[Clause], at: int) -> int:
    """Return where a clause ends, with the next one if that only says how often it is."""
    return clauses[at + 1].end if _is_addition(words, clauses, at) else clauses[at].end


def _is_addition(words: str, clauses: list[Clause], at: int) -> bool:
    if at + 1 >= len(clauses):
        return False
    following = words[clauses[at + 1].start : clauses[at + 1].end]
    if len(following) > _LONGEST_ADDITION or not occurrences_in(following):
        return False
    read = read_clause(following)
    is_telling = any(found.status in _POLARITIES for found in read.findings)
    return not is_telling and "i" not in read.words.texts


def _frequency(words: str, clauses: list[Clause], at: int, status: Status, place: int) -> Frequency:
    """Return how often the symptom is there, by the nearest words of its clause that say so."""
    polarity = _POLARITIES.get(status)
    if polarity is None:
        return Frequency.UNSTATED
    places = [at, at + 1] if _is_addition(words, clauses, at) else [at]
    for where in places:
        told = occurrences_in(words[clauses[where].start : clauses[where].end])
        if told:
            return min(told, key=lambda one: abs(one.start - place)).frequency(polarity)
    return Frequency.UNSTATED
