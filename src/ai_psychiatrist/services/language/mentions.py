"""What a turn says of each concept, clause by clause, read with the question that it answers."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.services.language.assertion import ClauseReading, Finding
from ai_psychiatrist.services.language.concepts import (
    Status,
    habits_of,
    is_given_up,
    named_at,
)
from ai_psychiatrist.services.language.frequency import is_that_often
from ai_psychiatrist.services.language.questions import (
    NOTHING,
    AnswerOpening,
    Asking,
    ConceptQuestion,
    answer_opening,
    answered,
)
from ai_psychiatrist.services.language.spoken import spoken
from ai_psychiatrist.services.language.timeline import Timeline, timeline_of
from ai_psychiatrist.services.language.turn_clauses import (
    BARE_WORDS,
    POLARITIES,
    TurnClauses,
    turn_clauses,
)
from ai_psychiatrist.services.language.vocabulary import phrases

_COUNTED: Final = frozenset({Frequency.SEVERAL_DAYS, Frequency.MORE_THAN_HALF})
_OVER: Final = "modality.over"
_UNSETTLED: Final = frozenset({Status.UNCLEAR, Status.HYPOTHETICAL})
_LEAD_WORDS: Final = 4
"""Below how many words a clause may only lead in the answer, which comes after it."""


class TopicAnchor(StrEnum):
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
        return self in {TopicAnchor.ASKED, TopicAnchor.NAMED}


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
    anchor: TopicAnchor = TopicAnchor.ASKED
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
    said = turn_clauses(turn, question.span)
    times = timeline_of(turn)
    stated = (*_stated(said, times, question), *_lapses(said, question))
    return (*stated, *_answers(said, times, question, stated))


def _stated(said: TurnClauses, times: Timeline, question: ConceptQuestion) -> Iterator[Mention]:
    first_of_now = cache(partial(_first_of_now, said, times, question))
    for at, one in enumerate(said.readings):
        concepts = {found.concept for found in one.findings}
        named = {concept for concept in concepts if named_at(one.matched, concept)}
        for found in one.findings:
            if _is_of_what_was_asked(one, found, question):
                continue
            start = said.clauses[at].start
            is_denied = found.status is Status.DENIED and found.concept in question.asked
            corrected = said.correction(at, found.concept) if is_denied else None
            if corrected is not None:
                anchor = _anchor(found.concept, named, question)
                yield _corrected(said, times, at, corrected, anchor, found.concept)
                continue
            frequency = said.frequency(at, found.status, found.start)
            time = _time(times, start + found.start, start + found.end)
            # "I couldn't sleep four nights" counts days of these weeks.
            is_undated = frequency not in _COUNTED and time is Timeframe.UNSTATED
            is_past = found.is_past_tense or said.continues_past(at)
            is_told = is_past and found.status in POLARITIES
            is_by_tense = is_told and is_undated and at < first_of_now()
            if is_by_tense or (found.status is Status.AFFIRMED and _is_over(said, at, found)):
                time = Timeframe.PAST
            is_quoted = any(one.start <= start + found.start < one.end for one in said.quoted)
            yield Mention(
                concept=found.concept,
                status=Status.UNCLEAR if is_quoted else found.status,
                is_stated=found.is_stated,
                start=start,
                end=said.end(at, found.status),
                frequency=frequency,
                timeframe=time,
                anchor=_anchor(found.concept, named, question),
                is_past_by_tense=is_by_tense,
            )


def _lapses(said: TurnClauses, question: ConceptQuestion) -> Iterator[Mention]:
    """Yield what a habit that is no more tells of: "I used to paint, I haven't in months"."""
    for at, one in enumerate(said.readings):
        for concept, habit in habits_of(one.matched).items():
            after = at
            if not is_given_up(one.matched, concept, habit.last):
                after += 1
                if after == len(said.readings):
                    continue
                if not is_given_up(said.readings[after].matched, concept):
                    continue
            persons = {said.readings[of].experiencer for of in (at, after)}
            if Status.OTHER in persons or Status.AFFIRMED not in persons:
                continue
            yield Mention(
                concept=concept,
                status=Status.AFFIRMED,
                is_stated=True,
                start=said.clauses[at].start,
                end=said.end(after, Status.AFFIRMED),
                frequency=said.frequency(after, Status.AFFIRMED, 0),
                timeframe=Timeframe.UNSTATED,
                anchor=_anchor(concept, (), question),
            )


def _anchor(concept: str, named: Collection[str], question: ConceptQuestion) -> TopicAnchor:
    if concept in question.named:
        return TopicAnchor.ASKED
    if concept in named:
        return TopicAnchor.NAMED
    if concept in question.asked:
        return TopicAnchor.HINTED
    return TopicAnchor.ASIDE if question.asked else TopicAnchor.UNASKED


def _is_over(said: TurnClauses, at: int, found: Finding) -> bool:
    """Whether the words after a finding, in its clause or the next one, say that it is over."""
    own = said.readings[at].matched
    for hit in own.hits:
        # "Since she died two years ago" says when it began.
        is_since = "since" in own.texts[: hit.first]
        if hit.cue == _OVER and own.words.spans[hit.first][0] >= found.end and not is_since:
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
        if status is None and asking is Asking.SYMPTOM and is_that_often(said.text(at)):
            status = Status.AFFIRMED
        # "Yes" to several at once does not say which of them.
        is_of_several = question.is_list or len(question.asked) > 1
        if status is None or (status is Status.AFFIRMED and is_of_several):
            continue
        anchor = TopicAnchor.ASKED if concept in question.named else TopicAnchor.HINTED
        corrected = said.correction(at, concept) if status is Status.DENIED else None
        if corrected is not None:
            yield _corrected(said, times, at, corrected, anchor, concept)
            continue
        start = said.clauses[0].start
        yield Mention(
            concept=concept,
            status=status,
            is_stated=reply.is_short,
            start=start,
            end=said.end(at, status),
            frequency=said.frequency(at, status, 0),
            timeframe=times.timeframe_of(start, said.clauses[at].end),
            anchor=anchor,
            is_answer=True,
        )


def _corrected(
    said: TurnClauses, times: Timeline, at: int, told: int, anchor: TopicAnchor, concept: str
) -> Mention:
    """Return what stands in place of a denial."""
    start, end = said.clauses[at].start, said.end(told, Status.AFFIRMED)
    return Mention(
        concept=concept,
        status=Status.AFFIRMED,
        is_stated=True,
        start=start,
        end=end,
        frequency=said.frequency(told, Status.AFFIRMED, 0),
        timeframe=times.timeframe_of(start, end),
        anchor=anchor,
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
    if not (question.asked or question.is_of_thing) or found.concept in question.asked:
        return False
    length = len(one.matched.texts)
    return length <= BARE_WORDS and one.spanned(found) in {1, length}


def _time(times: Timeline, start: int, end: int) -> Timeframe:
    # "Nothing I used to enjoy" tells of now.
    matched = spoken(times.words[start:end]).texts
    lasting = phrases("lasting")
    if any(matched[at : at + len(one)] == one for one in lasting for at in range(len(matched))):
        return Timeframe.UNSTATED
    return times.timeframe_of(start, end)


def _first_of_now(said: TurnClauses, times: Timeline, question: ConceptQuestion) -> int:
    """Return the first clause for which turn or question names a time in these weeks.

    Without one: the number of clauses.
    """
    asked = timeline_of(question.words)
    is_of_past = asked.timeframe_of(0, len(asked.words)) is Timeframe.PAST
    if is_of_past or not (times.names_these_weeks or asked.names_these_weeks):
        return len(said.readings)
    # "I loved it. Now I feel nothing."
    begun = (at for at, one in enumerate(said.readings) if one.matched.texts[:1] == ("now",))
    return max(begun, default=0)
