"""Whether a quote supports a score: whether it can be about the item, and what it says of it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from ai_psychiatrist.domain.evidence import (
    Frequency,
    Polarity,
    Quote,
    Relevance,
    Segment,
    Timeframe,
    UnreadAnswer,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.language.clauses import clauses_of
from ai_psychiatrist.services.language.concepts import Status, is_instruction, match_concepts
from ai_psychiatrist.services.language.mentions import Mention, mentions_in
from ai_psychiatrist.services.language.questions import NOTHING, ConceptQuestion, question_in
from ai_psychiatrist.services.language.spoken import spoken, words_in
from ai_psychiatrist.services.language.timeline import timeline_of
from ai_psychiatrist.services.language.vocabulary import words

_SENTENCE_END: Final = re.compile(r"[.?!;](?=\s)|\n")
_DENYING: Final = frozenset({"cue.negator", "cue.inability", "cue.loss"})
_TWICE: Final = 2
_LONGEST_BARE_ANSWER: Final = 24
"""In characters."""
_LONGEST_PLAIN: Final = 2_000
"""In characters: what is longer has more than one reading, and reading it costs much."""
_LONGEST_ASIDE: Final = 3
"""In words: up to that a clause may say nothing of its own."""
_AROUND: Final = 400
"""How many characters on either side of a quote are read with it."""
_MOST_SHOWN: Final = 600
"""Characters of a question from its end, and of an answer from its beginning."""


@dataclass(frozen=True)
class AssertionClassifier:
    """Reads what grounded quotes of a transcript assert of one item or another, each once."""

    transcript: Transcript
    unread: frozenset[int] = frozenset()
    """Turns in a language that is not read."""
    _for_items: dict[tuple[Quote, Item], Quote] = field(
        default_factory=dict, init=False, repr=False
    )
    """Evidence and scores come with the same quotes."""

    def for_item(self, quotes: Iterable[Quote], item: Item) -> tuple[Quote, ...]:
        """Return the quotes with what they say of an item."""
        return tuple(self._for_item(quote, item) for quote in quotes)

    def for_narrative(self, quote: Quote) -> Quote:
        """Return a quote with what it says of whatever it names.

        A bare answer denies what was asked, and supports nothing.
        """
        if self._is_in_unread_turns(quote):
            return quote
        told = [
            one
            for one in self._mentions_of(quote)
            if not (one.is_answer and one.polarity is Polarity.AFFIRMED)
        ]
        return _with_mentions(quote, told) if told else self._untold(quote)

    def _for_item(self, quote: Quote, item: Item) -> Quote:
        known = self._for_items.get((quote, item))
        if known is None:
            known = self._for_items[quote, item] = self._read_for_item(quote, item)
        return known

    def _read_for_item(self, quote: Quote, item: Item) -> Quote:
        if any(map(self._is_instruction, quote.segments)):
            return replace(quote, relevance=Relevance.INSTRUCTION)
        if self._is_in_unread_turns(quote):
            return quote
        mentions = self._mentions_of(quote)
        own = [one for one in mentions if one.concept == item.value]
        if own and all(one.status is Status.OTHER for one in own):
            is_own_too = not words("self_named").isdisjoint(spoken(quote.text).texts)
            relevance = Relevance.UNREAD if is_own_too else Relevance.OTHER_PERSON
            return replace(quote, relevance=relevance)
        if own:
            return replace(_with_mentions(quote, own), relevance=Relevance.ABOUT)
        is_asked = any(item.value in self._question(part.turn).asked for part in quote.segments)
        if is_asked or not _is_elsewhere(quote, mentions):
            return self._untold(quote)
        return replace(quote, relevance=Relevance.ELSEWHERE)

    def _is_in_unread_turns(self, quote: Quote) -> bool:
        return all(segment.turn in self.unread for segment in quote.segments)

    def _mentions_of(self, quote: Quote) -> list[Mention]:
        return [one for segment in quote.segments for one in self._mentions(segment)]

    def _untold(self, quote: Quote) -> Quote:
        """Return a quote that says nothing of a concept with how often and when it is so."""
        near = [self._near(segment) for segment in quote.segments]
        timed = [(timeline_of(one.words), one.start, one.end) for one in near]
        return replace(
            quote,
            frequency=_stated(
                times.frequency_of(start, end, Polarity.UNCLEAR) for times, start, end in timed
            ),
            timeframe=_agreed(times.timeframe_of(start, end) for times, start, end in timed),
        )

    def _is_instruction(self, segment: Segment) -> bool:
        """Whether the sentence that a segment lies in tells a reader what to do with it."""
        near = self._near(segment)
        before = _SENTENCE_END.split(near.words[: near.start])[-1]
        # A quote that ends its sentence has nothing of it after it.
        after = _SENTENCE_END.split(near.words[near.end - 1 :])[0][1:]
        return is_instruction(f"{before}{near.words[near.start : near.end]}{after}")

    def _mentions(self, segment: Segment) -> Iterable[Mention]:
        """Return what is said at a segment; places are characters of what was read there."""
        near = self._near(segment)
        question = self._question(segment.turn) if near.is_from_the_start else NOTHING
        return (
            one
            for one in mentions_in(near.words, question)
            if one.start < near.end and near.start < one.end
        )

    def _near(self, segment: Segment) -> "_Passage":
        turn = self.transcript.turns[segment.turn]
        words = self.transcript.words(turn)
        first, last = segment.start - turn.words_start, segment.end - turn.words_start
        low = max(0, first - _AROUND)
        return _Passage(
            words=words[low : last + _AROUND],
            start=first - low,
            end=last - low,
            is_from_the_start=low == 0,
        )

    def _question(self, turn: int) -> ConceptQuestion:
        before = self.transcript.turns[turn - 1] if turn else None
        if before is None or before.speaker is Speaker.PARTICIPANT:
            return NOTHING
        return question_in(self.transcript.words(before))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    """A segment and what is said about it, in characters of `words`."""

    words: str
    start: int
    end: int
    is_from_the_start: bool
    """Whether the words begin with the turn."""


def asked_items(transcript: Transcript) -> Mapping[Item, UnreadAnswer]:
    """Return for each item that a question names the last such question and the turn after it."""
    found: dict[Item, UnreadAnswer] = {}
    for before, turn in pairwise(transcript.turns):
        if before.speaker is Speaker.PARTICIPANT or turn.speaker is not Speaker.PARTICIPANT:
            continue
        asked, said = transcript.words(before).strip(), transcript.words(turn).strip()
        for concept in question_in(asked).named:
            found[Item(concept)] = UnreadAnswer(
                question_turn=before.index,
                question=asked[-_MOST_SHOWN:],
                answer_turn=turn.index,
                answer=said[:_MOST_SHOWN],
            )
    return found


def _is_elsewhere(quote: Quote, mentions: Sequence[Mention]) -> bool:
    """Return whether each clause of a quote is plainly about another subject."""
    if all(one.polarity is Polarity.UNCLEAR for one in mentions):
        return False
    clauses = (quote.text[one.start : one.end] for one in clauses_of(quote.text))
    return all(
        any(one.polarity is not Polarity.UNCLEAR for one in mentions_in(text))
        for text in clauses
        if len(spoken(text).texts) > _LONGEST_ASIDE
    )


def _with_mentions(quote: Quote, mentions: Sequence[Mention]) -> Quote:
    """Return a quote with what its clauses say."""
    told = [one for one in mentions if one.polarity is not Polarity.UNCLEAR] or mentions
    lasting = [one for one in told if one.timeframe is not Timeframe.PAST] or told
    polarities = {one.polarity for one in lasting}
    return replace(
        quote,
        polarity=polarities.pop() if len(polarities) == 1 else Polarity.UNCLEAR,
        frequency=_stated(one.frequency for one in lasting),
        timeframe=_agreed(one.timeframe for one in lasting),
        is_plain=_is_plain(quote, mentions, lasting),
    )


def _agreed(times: Iterable[Timeframe]) -> Timeframe:
    """Return the time of all, unstated where they differ."""
    found = set(times)
    return found.pop() if len(found) == 1 else Timeframe.UNSTATED


def _stated(frequencies: Iterable[Frequency]) -> Frequency:
    """Return the one frequency that is stated, unstated where there are several."""
    found = set(frequencies) - {Frequency.UNSTATED}
    return found.pop() if len(found) == 1 else Frequency.UNSTATED


def _is_plain(quote: Quote, own: Sequence[Mention], lasting: Sequence[Mention]) -> bool:
    """Return whether a quote has one reading: a stated denial, or a time that is stated as past."""
    if len(quote.text) > _LONGEST_PLAIN:
        return False
    said = {word for word, _ in words_in(quote.text)}
    if not words("qualifying").isdisjoint(said):
        return False
    if all(one.polarity is Polarity.AFFIRMED and one.timeframe is Timeframe.PAST for one in own):
        # How often it was so, and "not any more", only confirm that it is over.
        is_dated = not any(one.is_past_by_tense for one in own)
        return is_dated and words("not_over").isdisjoint(said)
    return not any(map(_is_doubtful, lasting)) and _denies_plainly(quote, own)


def _is_doubtful(one: Mention) -> bool:
    """Return whether a denial or a past is inferred from the wording, and not stated."""
    is_counted = one.frequency not in {Frequency.UNSTATED, Frequency.NOT_AT_ALL}
    is_tale = one.is_answer and one.end - one.start > _LONGEST_BARE_ANSWER
    return one.is_past_by_tense or is_counted or is_tale


def _denies_plainly(quote: Quote, own: Sequence[Mention]) -> bool:
    """Whether a denial has one reading: not "I'm not sad, just slow", "no day I haven't cried"."""
    texts = spoken(quote.text).texts
    if texts[:1] and texts[0] in words("opening_own"):
        alone = (one for one in mentions_in(quote.text) if one.concept == own[0].concept)
        if any(one.polarity is Polarity.AFFIRMED for one in alone):
            return False
    return all(
        sum(
            hit.cue in _DENYING and matched.texts[hit.first] not in words("answering")
            for hit in matched.hits
        )
        < _TWICE
        for matched in (
            match_concepts(quote.text[one.start : one.end]) for one in clauses_of(quote.text)
        )
    )
