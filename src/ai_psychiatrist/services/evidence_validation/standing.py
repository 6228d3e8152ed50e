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
from ai_psychiatrist.services.language.concepts import is_instruction
from ai_psychiatrist.services.language.questions import NOTHING, Question, question_in
from ai_psychiatrist.services.language.reading import Saying, sayings_in

_SENTENCE_END: Final = re.compile(r"[.?!;](?=\s)|\n")
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
        if is_asked or all(one.polarity is Polarity.UNCLEAR for one in sayings):
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
        words = self.transcript.words(turn)
        first, last = segment.start - turn.words_start, segment.end - turn.words_start
        low, high = max(0, first - _AROUND), last + _AROUND
        before = _SENTENCE_END.split(words[low:first])[-1]
        # A quote that ends its sentence has nothing of it after it.
        after = _SENTENCE_END.split(words[last - 1 : high])[0][1:]
        return f"{before}{words[first:last]}{after}"

    def _sayings(self, segment: Segment) -> tuple[Saying, ...]:
        """Return what is said at a segment; places are characters of what was read there."""
        place = (segment.turn, segment.start, segment.end)
        known = self._read.get(place)
        if known is None:
            turn = self.transcript.turns[segment.turn]
            words = self.transcript.words(turn)
            first, last = segment.start - turn.words_start, segment.end - turn.words_start
            low = max(0, first - _AROUND)
            question = self._question(segment.turn) if low == 0 else NOTHING
            near = sayings_in(words[low : last + _AROUND], question)
            known = self._read[place] = tuple(
                one for one in near if low + one.start < last and first < low + one.end
            )
        return known

    def _question(self, turn: int) -> Question:
        before = self.transcript.turns[turn - 1] if turn else None
        if before is None or before.speaker is Speaker.PARTICIPANT:
            return NOTHING
        return question_in(self.transcript.words(before))


def _told(quote: Quote, own: Sequence[Saying]) -> Quote:
    """Return a quote with what its clauses say of an item."""
    if all(one.status is Status.OTHER for one in own):
        return _unread(quote, Relevance.OTHER_PERSON)
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
    )


def _unread(quote: Quote, relevance: Relevance) -> Quote:
    return replace(
        quote,
        relevance=relevance,
        polarity=Polarity.UNCLEAR,
        frequency=Frequency.UNSTATED,
        timeframe=quote.timeframe if relevance is Relevance.UNREAD else Timeframe.UNSTATED,
    )
