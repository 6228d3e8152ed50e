"""Signals: every place where a participant says something about an item."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.evidence import (
    Frequency,
    Match,
    Polarity,
    Quote,
    Segment,
    Timeframe,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import Examined
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn
from ai_psychiatrist.services.evidence_validation.transcript_index import TranscriptIndex
from ai_psychiatrist.services.language.conversation import Conversation
from ai_psychiatrist.services.language.identification import examined_in
from ai_psychiatrist.services.language.mentions import Mention, TopicAnchor
from ai_psychiatrist.services.language.questions import question_in
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

_MOST_QUOTES: Final = 6
HOW_OFTEN: Final = {
    Frequency.SEVERAL_DAYS: "several days",
    Frequency.MORE_THAN_HALF: "more than half the days",
    Frequency.NEARLY_EVERY_DAY: "nearly every day",
}
"""The stated frequencies of a symptom, rising as the scores 1 to 3 do."""
_LONGEST_ANSWER: Final = 120
"""In characters: of an answer that is quoted whole."""
_LEAST_TURNS: Final = 2
"""How many answers make a talk; a single statement stands for itself."""
_LEAST_NAMED: Final = 3
_LEAST_ASKED: Final = 4
"""For how many items, by their names or at all, an interviewer asks whose matter they are."""
_MOST_PER_ITEM: Final = 100
"""After how many signals of one item no more are looked for, so that repetition stays cheap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One statement about an item."""

    item: Item
    quote: Quote
    is_stated: bool
    """Whether words say it by themselves, and it is not inferred from a doing."""
    is_answer: bool
    """Whether only the interviewer's question tells which item it is about."""

    anchor: TopicAnchor
    """By what it is known to be about the item."""
    is_shared: bool = True
    """False where the learned reader does not take it for the item, in that sense."""

    @property
    def start(self) -> int:
        """Where it begins in the transcript's text."""
        return self.quote.segments[0].start


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """A transcript and its signals in the order of the text."""

    transcript: Transcript
    signals: tuple[Signal, ...]
    examined: Examined
    """What of the transcript is in a language that is read."""
    is_read: bool = True
    """Whether it could be told whose words are whose; without that nothing is read."""

    @cached_property
    def index(self) -> TranscriptIndex:
        """The words of the transcript, in which quotes are looked for."""
        return TranscriptIndex(self.transcript)

    @cached_property
    def unread_items(self) -> frozenset[Item]:
        """Items without a signal that unread words are about, or may be about."""
        unread = self.examined.wholly_unread
        turns = self.transcript.turns
        asked = {
            concept
            for before, turn in pairwise(turns)
            if turn.index in unread and before.speaker is not Speaker.PARTICIPANT
            for concept in question_in(self.transcript.words(before)).asked
        }
        told = {signal.item for signal in self.signals}
        may_tell = Item if self.examined.is_mostly_unread else map(Item, asked)
        return frozenset(may_tell) - told

    def grounded(self, quotes: Iterable[str]) -> Iterator[str]:
        """Yield the quotes that the evidence check accepts."""
        return (quote for quote in quotes if isinstance(self.index.ground(quote), Quote))

    def of_item(self, item: Item) -> tuple[Signal, ...]:
        """Return the signals of one item."""
        return tuple(signal for signal in self.signals if signal.item is item)

    def quotes(self, item: Item) -> list[str]:
        """Return the quotes that tell most about an item, in the order of the transcript."""
        first_of: dict[str, Signal] = {}
        for signal in sorted(filter(_is_telling, self.of_item(item)), key=_rank):
            first_of.setdefault(signal.quote.text, signal)
        found = ((self._with_its_place(text, one), one.start) for text, one in first_of.items())
        chosen = islice(((text, start) for text, start in found if text), _MOST_QUOTES)
        starts = dict(chosen)
        return sorted(starts, key=starts.__getitem__)

    def _with_its_place(self, text: str, signal: Signal) -> str:
        """Return words that are found where a signal stands, empty where they are found nowhere.

        A "No." that is said to several questions is quoted with the rest of its answer.
        """
        own = signal.quote.segments[0]
        found = self.index.ground(text)
        is_found = isinstance(found, Quote)
        is_sure = signal.is_answer and signal.anchor.is_tied
        if is_sure and not (isinstance(found, Quote) and own in found.segments):
            answer = self.transcript.words(self.transcript.turns[own.turn]).strip(_EDGES)
            wider = self.index.ground(answer) if len(answer) <= _LONGEST_ANSWER else found
            if isinstance(wider, Quote) and wider.segments[0].turn == own.turn:
                return answer
        return text if is_found else ""


def _is_telling(signal: Signal) -> bool:
    quote = signal.quote
    return quote.polarity is not Polarity.UNCLEAR or quote.frequency is not Frequency.UNSTATED


def _rank(signal: Signal) -> tuple[bool, bool, bool, bool, int]:
    """Order: own words before bare answers, then the present, symptoms, and stated frequency."""
    return (
        signal.is_answer,
        signal.quote.timeframe is Timeframe.PAST,
        signal.quote.polarity is not Polarity.AFFIRMED,
        signal.quote.frequency is Frequency.UNSTATED,
        signal.start,
    )


def analyse(transcript: Transcript) -> Analysis:
    """Find every signal of a transcript."""
    examined = examined_in(transcript)
    conversation = Conversation()
    found = tuple(_signals(transcript, conversation, examined))
    is_long = sum(1 for _ in transcript.participant_turns()) >= _LEAST_TURNS
    named, asked = len(conversation.named), len(conversation.asked)
    is_about_items = named >= _LEAST_NAMED or asked >= _LEAST_ASKED
    anchored = tuple(_anchored(found, is_other_talk=is_long and not is_about_items))
    return Analysis(transcript=transcript, signals=anchored, examined=examined)


def analysis_of_text(text: str, transcript: Transcript | None) -> Analysis:
    """Return the analysis of a transcript as it was read, or else as its text alone is read."""
    try:
        return analyse(transcript or parse_transcript(text))
    except InputError:
        # Its speakers cannot be told apart.
        unread = Transcript(text=text, turns=(), speakers_assumed=True)
        return Analysis(transcript=unread, signals=(), examined=Examined(), is_read=False)


def _anchored(found: Sequence[Signal], *, is_other_talk: bool) -> Iterator[Signal]:
    """Leave out signals that nothing ties to their item.

    Where something else is talked about, an item has to be named or asked for, once for what is
    affirmed of it and once for what is denied. In an interview about the items a single one is left
    out whose words may mean something else after a question for another item.
    """
    groups: dict[tuple[Item, Polarity], list[Signal]] = {}
    for signal in found:
        groups.setdefault((signal.item, signal.quote.polarity), []).append(signal)
    for signal in found:
        group = groups[signal.item, signal.quote.polarity]
        if is_other_talk:
            is_tied = any(one.anchor.is_tied for one in group)
        else:
            is_tied = len(group) > 1 or signal.anchor is not TopicAnchor.ASIDE
        if is_tied:
            yield signal


def _signals(
    transcript: Transcript, conversation: Conversation, examined: Examined
) -> Iterator[Signal]:
    counts: Counter[Item] = Counter()
    unread = examined.wholly_unread
    for turn in transcript.turns:
        words = transcript.words(turn)
        if turn.speaker is not Speaker.PARTICIPANT:
            conversation.ask(words)
            continue
        for saying in conversation.answer("" if turn.index in unread else words):
            item = Item(saying.concept)
            counts[item] += 1
            if counts[item] <= _MOST_PER_ITEM:
                yield signal_of(saying, words, turn)


def signal_of(saying: Mention, words: str, turn: Turn) -> Signal:
    """Return a saying with its place in the transcript."""
    start, end = trimmed(words, saying.start, saying.end)
    place = turn.words_start
    return Signal(
        item=Item(saying.concept),
        quote=Quote(
            text=words[start:end],
            segments=(Segment(turn=turn.index, start=place + start, end=place + end),),
            match=Match.EXACT,
            polarity=saying.polarity,
            frequency=saying.frequency,
            timeframe=saying.timeframe,
        ),
        is_stated=saying.is_stated,
        is_answer=saying.is_answer,
        anchor=saying.anchor,
    )


def trimmed(words: str, start: int, end: int) -> tuple[int, int]:
    """Return start and end of a part of a turn's words without spaces and dashes at its edges."""
    text = words[start:end]
    first = start + len(text) - len(text.lstrip(_EDGES))
    return first, max(first, start + len(text.rstrip(_EDGES)))


_EDGES: Final = " \t\r\n\v\f,;-–—\u00a0\u200b\ufeff"
