"""What a score may stand on: whether a quote can be about an item, and what it says of it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ai_psychiatrist.domain.evidence import (
    Frequency,
    Polarity,
    Quote,
    Relevance,
    Segment,
    Timeframe,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.language.assertion import Status
from ai_psychiatrist.services.language.clauses import clauses_of
from ai_psychiatrist.services.language.concepts import Heard, hear, is_instruction
from ai_psychiatrist.services.language.matcher import Hit
from ai_psychiatrist.services.language.questions import NOTHING, Question, question_in
from ai_psychiatrist.services.language.reading import Saying, sayings_in
from ai_psychiatrist.services.language.spoken import spoken, words_in
from ai_psychiatrist.services.language.vocabulary import words

_SENTENCE_END: Final = re.compile(r"[.?!;](?=\s)|\n")
_DENYING: Final = frozenset({"cue.negator", "cue.inability", "cue.loss"})
_TWICE: Final = 2
_LONGEST_BARE_ANSWER: Final = 24
"""In characters."""
_LONGEST_ASIDE: Final = 3
"""In words: up to that a clause may say nothing of its own."""
_AROUND: Final = 400
"""How many characters on either side of a quote are read with it."""


@dataclass(frozen=True)
class ItemReader:
    """Reads grounded quotes of a transcript for one item or another, each place once."""

    transcript: Transcript
    unread: frozenset[int] = frozenset()
    """Turns in a language that is not read."""
    _read: dict[tuple[int, int, int], tuple[Saying, ...]] = field(
        default_factory=dict, init=False, repr=False
    )
    _told_to_readers: dict[Segment, bool] = field(default_factory=dict, init=False, repr=False)

    def for_item(self, quotes: Iterable[Quote], item: Item) -> tuple[Quote, ...]:
        """Return the quotes with what they say of an item."""
        return tuple(self._for_item(quote, item) for quote in quotes)

    def _for_item(self, quote: Quote, item: Item) -> Quote:
        if any(map(self._is_told_to_a_reader, quote.segments)):
            return _unread(quote, Relevance.INSTRUCTION)
        if all(segment.turn in self.unread for segment in quote.segments):
            return _unread(quote, Relevance.UNREAD)
        sayings = [one for segment in quote.segments for one in self._sayings(segment)]
        own = [one for one in sayings if one.concept == item.value]
        if own:
            return _told(quote, own)
        is_asked = any(item.value in self._question(part.turn).asked for part in quote.segments)
        if is_asked or not _is_elsewhere(quote, sayings):
            return _unread(quote, Relevance.UNREAD)
        return _unread(quote, Relevance.ELSEWHERE)

    def _is_told_to_a_reader(self, segment: Segment) -> bool:
        """Whether the sentence that a segment lies in tells a reader what to do with it."""
        known = self._told_to_readers.get(segment)
        if known is None:
            sentence = self._sentence(segment)
            known = self._told_to_readers[segment] = is_instruction(sentence)
        return known

    def _sentence(self, segment: Segment) -> str:
        turn = self.transcript.turns[segment.turn]
        said = self.transcript.words(turn)
        first, last = segment.start - turn.words_start, segment.end - turn.words_start
        low, high = max(0, first - _AROUND), last + _AROUND
        before = _SENTENCE_END.split(said[low:first])[-1]
        # A quote that ends its sentence has nothing of it after it.
        after = _SENTENCE_END.split(said[last - 1 : high])[0][1:]
        return f"{before}{said[first:last]}{after}"

    def _sayings(self, segment: Segment) -> tuple[Saying, ...]:
        """Return what is said at a segment; places are characters of what was read there."""
        place = (segment.turn, segment.start, segment.end)
        known = self._read.get(place)
        if known is None:
            turn = self.transcript.turns[segment.turn]
            said = self.transcript.words(turn)
            first, last = segment.start - turn.words_start, segment.end - turn.words_start
            low = max(0, first - _AROUND)
            question = self._question(segment.turn) if low == 0 else NOTHING
            near = sayings_in(said[low : last + _AROUND], question)
            known = self._read[place] = tuple(
                one for one in near if low + one.start < last and first < low + one.end
            )
        return known

    def _question(self, turn: int) -> Question:
        before = self.transcript.turns[turn - 1] if turn else None
        if before is None or before.speaker is Speaker.PARTICIPANT:
            return NOTHING
        return question_in(self.transcript.words(before))


def _is_elsewhere(quote: Quote, sayings: Sequence[Saying]) -> bool:
    """Whether each clause of a quote plainly tells of something else."""
    if all(one.polarity is Polarity.UNCLEAR for one in sayings):
        return False
    clauses = (quote.text[one.start : one.end] for one in clauses_of(quote.text))
    return all(
        any(one.polarity is not Polarity.UNCLEAR for one in sayings_in(text))
        for text in clauses
        if len(spoken(text).texts) > _LONGEST_ASIDE
    )


def _told(quote: Quote, own: Sequence[Saying]) -> Quote:
    """Return a quote with what its clauses say of an item."""
    if all(one.status is Status.OTHER for one in own):
        is_own_too = not words("self_named").isdisjoint(spoken(quote.text).texts)
        return _unread(quote, Relevance.UNREAD if is_own_too else Relevance.OTHER_PERSON)
    told = [one for one in own if one.polarity is not Polarity.UNCLEAR] or own
    lasting = [one for one in told if one.timeframe is not Timeframe.PAST] or told
    polarities = {one.polarity for one in lasting}
    stated = {one.frequency for one in lasting} - {Frequency.UNSTATED}
    times = {one.timeframe for one in lasting}
    return replace(
        quote,
        relevance=Relevance.ABOUT,
        polarity=polarities.pop() if len(polarities) == 1 else Polarity.UNCLEAR,
        frequency=stated.pop() if len(stated) == 1 else Frequency.UNSTATED,
        timeframe=times.pop() if len(times) == 1 else Timeframe.UNSTATED,
        is_plain=not any(map(_is_doubtful, lasting)) and _denies_plainly(quote, own),
    )


def _is_doubtful(one: Saying) -> bool:
    """Whether a denial or a past is not told as such, but only inferred from how it is told."""
    is_counted = one.frequency not in {Frequency.UNSTATED, Frequency.NOT_AT_ALL}
    is_tale = one.is_answer and one.end - one.start > _LONGEST_BARE_ANSWER
    return one.is_past_by_tense or is_counted or is_tale


def _denies_plainly(quote: Quote, own: Sequence[Saying]) -> bool:
    """Whether a denial has one reading: not "I'm not sad, just slow", "no day I haven't cried"."""
    texts = spoken(quote.text).texts
    if not words("qualifying").isdisjoint(word for word, _ in words_in(quote.text)):
        return False
    if texts[:1] and texts[0] in words("opening_own"):
        alone = (one for one in sayings_in(quote.text) if one.concept == own[0].concept)
        if any(one.polarity is Polarity.AFFIRMED for one in alone):
            return False
    return all(
        sum(_denies(heard, hit) for hit in heard.hits) < _TWICE
        for heard in (hear(quote.text[one.start : one.end]) for one in clauses_of(quote.text))
    )


def _denies(heard: Heard, hit: Hit) -> bool:
    return hit.cue in _DENYING and heard.texts[hit.first] not in words("answering")


def _unread(quote: Quote, relevance: Relevance) -> Quote:
    return replace(
        quote,
        relevance=relevance,
        polarity=Polarity.UNCLEAR,
        frequency=Frequency.UNSTATED,
        timeframe=quote.timeframe if relevance is Relevance.UNREAD else Timeframe.UNSTATED,
    )
