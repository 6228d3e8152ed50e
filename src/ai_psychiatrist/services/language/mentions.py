"""What a turn says of each concept, read with the question that it answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.services.language.assertion import ClauseReading, Finding, Status, Strength
from ai_psychiatrist.services.language.concepts import named_at
from ai_psychiatrist.services.language.questions import (
    NOTHING,
    AnswerOpening,
    ConceptQuestion,
    answer_opening,
    answered,
)
from ai_psychiatrist.services.language.spoken import spoken
from ai_psychiatrist.services.language.timeline import Timeline, timeline_of
from ai_psychiatrist.services.language.turn_clauses import POLARITIES, TurnClauses, turn_clauses
from ai_psychiatrist.services.language.vocabulary import phrases

_COUNTED: Final = frozenset({Frequency.SEVERAL_DAYS, Frequency.MORE_THAN_HALF})
_OVER: Final = "modality.over"
_UNSETTLED: Final = frozenset({Status.UNCLEAR, Status.SUPPOSED})
_BARE_WORDS: Final = 4
"""Up to how many words an answer may be a bare word and its like."""
_LEAD_WORDS: Final = 4
"""Below how many words a clause may only lead in the answer, which comes after it."""


class Footing(StrEnum):
    """By what a saying is known to be about its concept."""

    ASKED = "asked"
    """The question asks for it by its name."""
    NAMED = "named"
    """Its clause names it."""
    HINTED = "hinted"
    """The question may be about it, and names it no more than the clause does."""
    UNASKED = "unasked"
    """Only by what its words mean mostly; the question asks for no concept."""
    ASIDE = "aside"
    """Only by what its words mean mostly; the question asks for another concept."""

    @property
    def is_tied(self) -> bool:
        """Whether question or clause names the concept, so that nothing else can be meant."""
        return self in {Footing.ASKED, Footing.NAMED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """What a stretch of a turn says of a concept; characters of the turn's words."""

    concept: str
    status: Status
    is_stated: bool
    """Whether words say it by themselves, and it is not inferred from a doing."""
    start: int
    end: int
    frequency: Frequency
    timeframe: Timeframe
    footing: Footing = Footing.ASKED
    is_answer: bool = False
    """Whether only the question tells what it is about."""
    is_past_by_tense: bool = False
    """Whether it is past only because it is told in the past tense."""

    @property
    def polarity(self) -> Polarity:
        """Whether it says that the symptom is there."""
        return POLARITIES.get(self.status, Polarity.UNCLEAR)


def mentions_in(turn: str, question: ConceptQuestion = NOTHING) -> tuple[Mention, ...]:
    """Read a turn."""
    said = turn_clauses(turn)
    times = timeline_of(turn)
    stated = tuple(_stated(said, times, question))
    return (*stated, *_answers(said, times, question, stated))


def _stated(said: TurnClauses, times: Timeline, question: ConceptQuestion) -> Iterator[Mention]:
    for at, one in enumerate(said.readings):
        for found in one.findings:
            if _is_of_what_was_asked(one, found, question):
                continue
            start = said.clauses[at].start
            frequency = said.frequency(at, found.status, found.start)
            time = _time(times, start + found.start, start + found.end)
            # "I couldn't sleep four nights" counts days of these weeks.
            is_undated = frequency not in _COUNTED and time is Timeframe.UNSTATED
            is_past = found.is_past_tense or said.continues_past(at)
            is_told = is_past and found.status in POLARITIES
            is_by_tense = is_told and is_undated and not _is_of_now(said, at, times, question)
            if is_by_tense or (found.status is Status.AFFIRMED and _is_over(said, at, found)):
                time = Timeframe.PAST
            is_quoted = said.is_quoted(start + found.start)
            yield Mention(
                concept=found.concept,
                status=Status.UNCLEAR if is_quoted else found.status,
                is_stated=found.strength is Strength.STATED,
                start=start,
                end=said.end(at),
                frequency=frequency,
                timeframe=time,
                footing=_footing(one, found, question),
                is_past_by_tense=is_by_tense,
            )


def _footing(one: ClauseReading, found: Finding, question: ConceptQuestion) -> Footing:
    if found.concept in question.named:
        return Footing.ASKED
    if named_at(one.matched, found.concept):
        return Footing.NAMED
    if found.concept in question.asked:
        return Footing.HINTED
    return Footing.ASIDE if question.asked else Footing.UNASKED


def _is_over(said: TurnClauses, at: int, found: Finding) -> bool:
    """Whether the words after a finding, in its clause or the next one, say that it is over."""
    own = said.readings[at].matched
    if any(hit.cue == _OVER and own.words.spans[hit.first][0] >= found.end for hit in own.hits):
        return True
    after = said.readings[at + 1].matched.hits if at + 1 < len(said.readings) else ()
    return any(hit.cue == _OVER and hit.first < _LEAD_WORDS for hit in after)


def _answers(
    said: TurnClauses, times: Timeline, question: ConceptQuestion, stated: tuple[Mention, ...]
) -> Iterator[Mention]:
    """Yield what only the question tells the concept of."""
    if not said.readings or not question.asked:
        return
    at, reply = _reply(said)
    if said.text(at).rstrip().endswith("?"):
        return
    settled = {one.concept for one in stated if one.status not in _UNSETTLED}
    for concept, asking in question.asked.items():
        if concept in settled:
            continue
        status = answered(asking, reply, is_marked=question.is_marked)
        # "Yes" to several at once does not say which of them.
        is_of_several = question.is_list or len(question.asked) > 1
        if status is None or (status is Status.AFFIRMED and is_of_several):
            continue
        start = said.clauses[0].start
        yield Mention(
            concept=concept,
            status=status,
            is_stated=reply.is_short,
            start=start,
            end=said.end(at),
            frequency=said.frequency(at, status, 0),
            timeframe=times.timeframe_of(start, said.clauses[at].end),
            footing=Footing.ASKED if concept in question.named else Footing.HINTED,
            is_answer=True,
        )


def _reply(said: TurnClauses) -> tuple[int, AnswerOpening]:
    """Return which clause answers, and how; the second where the first only leads in."""
    first = said.readings[0]
    reply = answer_opening(first)
    is_answer = reply.says is not None or reply.quality is not None
    if is_answer or len(said.readings) == 1 or len(first.matched.texts) >= _LEAD_WORDS:
        return 0, reply
    return 1, answer_opening(said.readings[1])


def _is_of_what_was_asked(one: ClauseReading, found: Finding, question: ConceptQuestion) -> bool:
    """Whether bare words of another concept answer the question: "your energy?" "Low"."""
    if not question.asked or found.concept in question.asked:
        return False
    length = len(one.matched.texts)
    return length <= _BARE_WORDS and one.spanned(found) in {1, length}


def _time(times: Timeline, start: int, end: int) -> Timeframe:
    # "Nothing I used to enjoy" tells of now.
    matched = spoken(times.words[start:end]).texts
    lasting = phrases("lasting")
    if any(matched[at : at + len(one)] == one for one in lasting for at in range(len(matched))):
        return Timeframe.UNSTATED
    return times.timeframe_of(start, end)


def _is_of_now(said: TurnClauses, at: int, times: Timeline, question: ConceptQuestion) -> bool:
    """Whether the turn or the question names a time of these weeks for what a clause tells."""
    asked = timeline_of(question.words)
    if asked.timeframe_of(0, len(asked.words)) is Timeframe.PAST:
        return False
    # "I loved it. Now I feel nothing."
    if any(one.matched.texts[:1] == ("now",) for one in said.readings[at + 1 :]):
        return False
    return times.names_these_weeks or asked.names_these_weeks
