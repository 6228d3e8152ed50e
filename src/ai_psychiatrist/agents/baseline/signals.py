"""Signals: every place where a participant says something about an item."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from ai_psychiatrist.agents.baseline.context import Question, answer_in, question_in
from ai_psychiatrist.agents.baseline.phrases import intense
from ai_psychiatrist.agents.baseline.spoken import mentions_in
from ai_psychiatrist.agents.baseline.stretch import Stretch, clauses_in, whole
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
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn
from ai_psychiatrist.services.evidence_validation.transcript_index import TranscriptIndex
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

_MOST_QUOTES: Final = 6
HOW_OFTEN: Final = {
    Frequency.SEVERAL_DAYS: "several days",
    Frequency.MORE_THAN_HALF: "more than half the days",
    Frequency.NEARLY_EVERY_DAY: "nearly every day",
}
"""The stated frequencies of a symptom, rising as the scores 1 to 3 do."""
_MOST_PER_ITEM: Final = 100
"""After how many signals of one item no more are looked for, so that repetition stays cheap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One statement about an item."""

    item: Item
    quote: Quote
    is_intense: bool
    is_answer: bool
    """Whether only the interviewer's question tells which item it is about."""

    @property
    def start(self) -> int:
        """Where it begins in the transcript's text."""
        return self.quote.segments[0].start


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """A transcript and its signals in the order of the text."""

    transcript: Transcript
    signals: tuple[Signal, ...]

    @cached_property
    def index(self) -> TranscriptIndex:
        """The words of the transcript, in which quotes are looked for."""
        return TranscriptIndex(self.transcript)

    def grounded(self, quotes: Iterable[str]) -> Iterator[str]:
        """Yield the quotes that the evidence check accepts."""
        return (quote for quote in quotes if self.index.ground(quote).is_verified)

    def of_item(self, item: Item) -> tuple[Signal, ...]:
        """Return the signals of one item."""
        return tuple(signal for signal in self.signals if signal.item is item)

    def quotes(self, item: Item) -> list[str]:
        """Return the quotes that tell most about an item, in the order of the transcript."""
        first_of: dict[str, Signal] = {}
        for signal in sorted(filter(_is_telling, self.of_item(item)), key=_rank):
            first_of.setdefault(signal.quote.text, signal)
        chosen = islice(self.grounded(first_of), _MOST_QUOTES)
        return sorted(chosen, key=lambda text: first_of[text].start)


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


def analyse(text: str) -> Analysis:
    """Find every signal of a transcript; one that cannot be read has none."""
    transcript = _readable(text)
    return Analysis(transcript=transcript, signals=tuple(_signals(transcript)))


def signals_in(text: str) -> tuple[Signal, ...]:
    """Return the signals of a transcript alone, which are few, whatever its length."""
    return analyse(text).signals


def analysis_of(text: str, signals: tuple[Signal, ...]) -> Analysis:
    """Return the analysis of a transcript whose signals are known."""
    return Analysis(transcript=_readable(text), signals=signals)


def _readable(text: str) -> Transcript:
    try:
        return parse_transcript(text)
    except InputError:
        return Transcript(text=text, turns=(), speakers_assumed=True)


def _signals(transcript: Transcript) -> Iterator[Signal]:
    counts: Counter[Item] = Counter()
    question: Question | None = None
    for turn in transcript.turns:
        words = transcript.words(turn)
        if turn.speaker is not Speaker.PARTICIPANT:
            question = question_in(words)
        else:
            told = list(_told(words, turn, counts))
            yield from told
            for signal in _answered(words, turn, question, told):
                counts[signal.item] += 1
                yield signal
            question = None


def _told(words: str, turn: Turn, counts: Counter[Item]) -> Iterator[Signal]:
    clauses = clauses_in(words)
    for at, clause in enumerate(clauses):
        items = [item for item in Item if counts[item] < _MOST_PER_ITEM]
        for mention in mentions_in(clause, items):
            counts[mention.item] += 1
            span = _with_frequency(clauses, at).trimmed()
            # "I'm not sad, just tired" denies one item and affirms another.
            if span.polarity is not mention.polarity:
                span = mention.part.trimmed()
            yield signal_at(span, turn, mention.item, mention.polarity)


def _with_frequency(clauses: tuple[Stretch, ...], at: int) -> Stretch:
    """Add the sentence after a clause when it only says how often ("I lie awake. Most nights.")."""
    clause, following = clauses[at], clauses[min(at + 1, len(clauses) - 1)]
    if following is clause or len(following.text) > 40:
        return clause
    if following.reading.votes or "i" in following.words.texts:
        return clause
    if whole(following.text).frequency is Frequency.UNSTATED:
        return clause
    return Stretch(clause.turn, clause.start, following.end)


def _answered(
    words: str, turn: Turn, question: Question | None, told: list[Signal]
) -> Iterator[Signal]:
    answer = None if question is None else answer_in(words, question.asking)
    if question is None or answer is None:
        return
    span, polarity = answer.trimmed(), answer.polarity
    if not span.text or any(signal.start < turn.words_start + span.end for signal in told):
        return
    for item in question.items:
        yield signal_at(span, turn, item, polarity, is_answer=True)


def signal_at(
    span: Stretch, turn: Turn, item: Item, polarity: Polarity, *, is_answer: bool = False
) -> Signal:
    """Read frequency and time of a stretch of a turn's words."""
    start = turn.words_start + span.start
    return Signal(
        item=item,
        quote=Quote(
            text=span.text,
            segments=(Segment(turn=turn.index, start=start, end=start + len(span.text)),),
            match=Match.EXACT,
            polarity=polarity,
            frequency=span.frequency,
            timeframe=span.timeframe,
        ),
        is_intense=any(intense().find(span.words)),
        is_answer=is_answer,
    )
