"""What a turn says of each concept, clause by clause, read with the question that it answers."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.services.language.assertion import (
    START,
    Before,
    ClauseReading,
    Finding,
    read_clause,
)
from ai_psychiatrist.services.language.clauses import Clause, clauses_of
from ai_psychiatrist.services.language.concepts import (
    Status,
    habits_of,
    is_given_up,
    named_at,
)
from ai_psychiatrist.services.language.experiencer import is_of_others
from ai_psychiatrist.services.language.frequency import (
    counted_days,
    is_that_often,
    occurrences_in,
    says_only_how_often,
    says_that_often,
)
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
from ai_psychiatrist.services.language.vocabulary import phrases, words

POLARITIES: Final = {Status.AFFIRMED: Polarity.AFFIRMED, Status.DENIED: Polarity.DENIED}
"""What is said of a concept, for the two that say whether it is there."""
_OPPOSITE: Final = {Status.DENIED: "quality.bad", Status.AFFIRMED: "quality.good"}
_STATE_WORDS: Final = 6
"""How many words may name a state alone: "low now and again"."""
_NO_STATE: Final = frozenset({"cue.negator", "cue.inability", "quality.good", "answer.no"})
_SENTENCE_ENDS: Final = frozenset(".?!;…")
_SPEECH_MARKS: Final = frozenset(",:")
_SPEECH_WORDS: Final = 3
"""Among how many last words of a clause the saying stands: "said to me"."""
_QUOTED: Final = re.compile(r"[\"“](?P<words>[^\"“”\n]{12,400})[\"”]")
_OWN_SAYING: Final = re.compile(
    r"\bI(?:['’]m|['’]ve)?\b[^.?!]{0,30}\b(?:sa(?:y|id|ying)|th(?:ink|ought)|like|tell|told|feel|felt|go)\b"
    r"[^.?!]{0,12}$",
    re.IGNORECASE,
)
_OF_ANOTHER: Final = re.compile(r",\s{1,8}(?:I|I['’]m|I['’]ve|im|ive)\b", re.IGNORECASE)
"""Parts what is said of somebody or something from what the speaker says of himself or herself."""
_FRAGMENTS: Final = 4
"""How many clauses before a fragment the verb that it goes on with stands at most."""
_MOST_OF_IT: Final = 0.7
"""What part of a turn a quotation takes that is the turn itself."""
_BEFORE_SAYING: Final = 60
"""In characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnClauses:
    """A turn cut into clauses, and what each of them says."""

    turn: str
    clauses: tuple[Clause, ...]
    readings: tuple[ClauseReading, ...]
    quoted: tuple[Clause, ...] = ()
    """Stretches between quotation marks that are not said to be the speaker's own words."""
    span: str = ""
    """Of which days its question asks."""

    def continues_past(self, at: int) -> bool:
        """Return whether a clause without a verb continues one in the past tense.

        "I was in bits then. Awake all night."
        """
        if not _has_no_tense(self.readings[at].matched.texts):
            return False
        for back in range(at - 1, max(-1, at - 1 - _FRAGMENTS), -1):
            before = self.readings[back].matched.texts
            if not _has_no_tense(before):
                is_told = not words("past").isdisjoint(before)
                return is_told and words("present").isdisjoint(before)
        return False

    def text(self, at: int) -> str:
        """Return the words of a clause."""
        return self.turn[self.clauses[at].start : self.clauses[at].end]

    def end(self, at: int, status: Status) -> int:
        """Return where a clause ends, with the next one if that only says how often it is."""
        return self.clauses[at + self._added(at, status)].end

    def frequency(self, at: int, status: Status, place: int) -> Frequency:
        """Return how often the symptom is there, by the words nearest to a place that say so."""
        polarity = POLARITIES.get(status)
        if polarity is None:
            return Frequency.UNSTATED
        own = [
            one
            for one in occurrences_in(self.text(at))
            if not _OF_ANOTHER.search(self.text(at), *sorted((one.start, place)))
        ]
        if own:
            return min(own, key=lambda one: abs(one.start - place)).frequency(polarity)
        added_count = self._added(at, status)
        if not added_count:
            return Frequency.UNSTATED
        added = self.text(at + added_count)
        told = occurrences_in(added)
        if told:
            return told[0].frequency(polarity)
        return counted_days(added, self.span) or Frequency.UNSTATED

    def _added(self, at: int, status: Status) -> int:
        """Return how many of the next clauses say nothing but how often this is.

        Of two, the second corrects the first: "not always, but most days".
        """
        if not self._is_added(at + 1, status):
            return 0
        is_corrected = self._is_added(at + 2, status)
        return 2 if is_corrected and self.readings[at + 2].matched.texts[:1] == ("but",) else 1

    def _is_added(self, at: int, status: Status) -> bool:
        if at >= len(self.clauses) or not says_only_how_often(self.text(at), self.span):
            return False
        # "Not too bad. A bit low now and again" says how often it is otherwise.
        opposite = _OPPOSITE.get(status)
        return all(hit.cue != opposite for hit in self.readings[at].matched.hits)

    def correction(self, at: int, concept: str) -> int | None:
        """Return the clause that says what is there in place of what a short one denies.

        "Not sad. Empty. Several days." Only a stated frequency shows that it is there.
        """
        if len(self.readings[at].matched.texts) > _BARE_WORDS:
            return None
        after = at + 1
        if self._is_state(after, concept) and says_that_often(self.text(after)):
            is_told = any(
                hit.cue == "quality.bad" for hit in self.readings[after].matched.hits
            ) or any(found.concept == concept for found in self.readings[after].findings)
            return after if is_told else None
        is_named = self._is_state(after, concept) and after + 1 < len(self.clauses)
        return after if is_named and is_that_often(self.text(after + 1)) else None

    def _is_state(self, at: int, concept: str) -> bool:
        """Whether a clause is a few words that affirm something, and nothing of another concept."""
        if at >= len(self.clauses):
            return False
        one = self.readings[at]
        is_fragment = len(one.matched.texts) <= _STATE_WORDS and _has_no_tense(one.matched.texts)
        is_other = any(
            found.concept != concept or found.status is not Status.AFFIRMED
            for found in one.findings
        )
        kinds = {hit.cue for hit in one.matched.hits}
        return is_fragment and not is_other and kinds.isdisjoint(_NO_STATE)


def turn_clauses(turn: str, span: str = "") -> TurnClauses:
    """Read the clauses of a turn. `span`: of which days its question asks."""
    clauses = tuple(one for one in clauses_of(turn) if turn[one.start : one.end].strip())
    texts = [turn[one.start : one.end] for one in clauses]
    readings = tuple(_readings(texts))
    return TurnClauses(
        turn=turn, clauses=clauses, readings=readings, quoted=_quotations(turn), span=span
    )


def _quotations(turn: str) -> tuple[Clause, ...]:
    return tuple(
        Clause(start=found.start("words"), end=found.end("words"))
        for found in _QUOTED.finditer(turn)
        if len(found["words"]) < _MOST_OF_IT * len(turn)
        and not _OWN_SAYING.search(turn[max(0, found.start() - _BEFORE_SAYING) : found.start()])
    )


def _has_no_tense(texts: tuple[str, ...]) -> bool:
    return all(words(key).isdisjoint(texts) for key in ("present", "past", "self_subjects"))


def _readings(texts: list[str]) -> Iterator[ClauseReading]:
    before = START
    for text in texts:
        one = read_clause(text, before)
        yield one
        is_others = is_of_others(one.matched.texts)
        is_end = text.rstrip()[-1:] in _SENTENCE_ENDS
        before = Before(
            is_others=before.is_others if is_others is None else is_others,
            is_hypothetical=one.is_hypothetical and not is_end,
            is_speech=_opens_speech(one, text),
        )


def _opens_speech(one: ClauseReading, text: str) -> bool:
    """Return whether a clause introduces another person's words: "my wife, she said to me,"."""
    matched = one.matched
    if text.rstrip()[-1:] not in _SPEECH_MARKS or not is_of_others(matched.texts):
        return False
    return any(
        hit.cue == "modality.reported" and hit.last >= len(matched.texts) - _SPEECH_WORDS
        for hit in matched.hits
    )


_COUNTED: Final = frozenset({Frequency.SEVERAL_DAYS, Frequency.MORE_THAN_HALF})
_OVER: Final = "modality.over"
_UNSETTLED: Final = frozenset({Status.UNCLEAR, Status.HYPOTHETICAL})
_BARE_WORDS: Final = 4
"""Up to how many words an answer may be a bare word and its like."""
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
    return length <= _BARE_WORDS and one.spanned(found) in {1, length}


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
