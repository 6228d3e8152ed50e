"""Signals: every place where a participant says something about an item."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from ai_psychiatrist.agents.baseline.context import Question, answer_in, question_in
from ai_psychiatrist.agents.baseline.phrases import phrases
from ai_psychiatrist.agents.baseline.spoken import mentions_in
from ai_psychiatrist.domain.errors import TranscriptUnreadable
from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import (
    Speaker,
    SpeakerLabels,
    Transcript,
    Turn,
    parse_transcript,
)
from ai_psychiatrist.services.cues.clauses import Clause, clauses_of
from ai_psychiatrist.services.cues.frequency import Frequency, frequency_of
from ai_psychiatrist.services.cues.lexicon import words_of
from ai_psychiatrist.services.cues.tense import Timeframe, timeframe_of
from ai_psychiatrist.services.cues.valence import read_clause

_MOST_PER_ITEM: Final = 200
"""How many signals of one item are kept, so that text that repeats itself stays cheap."""
_EDGES: Final = " \t\r\n\v\f,;-–—\u00a0\u200b\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One statement about an item; `transcript.text[start:end]` is the quote."""

    item: Item
    turn: int
    start: int
    end: int
    polarity: Polarity
    frequency: Frequency
    timeframe: Timeframe
    is_intense: bool
    is_answer: bool
    """Whether only the interviewer's question tells which item it is about."""

    @property
    def is_current_symptom(self) -> bool:
        """Whether it says that the symptom is there, and not only in the past."""
        return self.polarity is Polarity.AFFIRMED and self.timeframe is not Timeframe.PAST

    @property
    def is_denial(self) -> bool:
        """Whether it says that the symptom is not there now."""
        return self.polarity is Polarity.DENIED and self.timeframe is not Timeframe.PAST


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A transcript and its signals in the order of the text."""

    transcript: Transcript
    signals: tuple[Signal, ...]

    def of_item(self, item: Item) -> tuple[Signal, ...]:
        """Return the signals of one item."""
        return tuple(signal for signal in self.signals if signal.item is item)

    def quote(self, signal: Signal) -> str:
        """Return the words of a signal, verbatim."""
        return self.transcript.text[signal.start : signal.end]


@lru_cache(maxsize=8)
def analysed(text: str, labels: SpeakerLabels) -> Analysis:
    """Analyse a transcript once for all tasks of its assessment."""
    try:
        transcript = parse_transcript(text, labels)
    except TranscriptUnreadable:
        empty = Transcript(text=text, turns=(), speakers_assumed=True)
        return Analysis(transcript=empty, signals=())
    counts: Counter[Item] = Counter()
    kept: list[Signal] = []
    for signal in _signals(transcript):
        counts[signal.item] += 1
        if counts[signal.item] <= _MOST_PER_ITEM:
            kept.append(signal)
    return Analysis(transcript=transcript, signals=tuple(kept))


def signal_at(words: str, span: Clause, *, item: Item, turn: Turn, polarity: Polarity) -> Signal:
    """Read frequency and time of a stretch of a turn's words, in characters of those words."""
    text = words[span.start : span.end]
    return Signal(
        item=item,
        turn=turn.index,
        start=turn.words_start + span.start,
        end=turn.words_start + span.end,
        polarity=polarity,
        frequency=frequency_of(words, span.start, span.end),
        timeframe=timeframe_of(words, span.start, span.end),
        is_intense=next(phrases().intense.find(words_of(text)), None) is not None,
        is_answer=False,
    )


def _signals(transcript: Transcript) -> Iterator[Signal]:
    question: Question | None = None
    for turn in transcript.turns:
        words = transcript.words(turn)
        if turn.speaker is Speaker.INTERVIEWER:
            question = question_in(words)
        elif turn.speaker is Speaker.PARTICIPANT:
            told = tuple(_told(words, turn))
            yield from told
            if question is not None:
                yield from _answered(words, turn, question, told)
            question = None


def _told(words: str, turn: Turn) -> Iterator[Signal]:
    clauses = clauses_of(words)
    for at, clause in enumerate(clauses):
        span: Clause | None = None
        for mention in mentions_in(words, clause):
            span = span or trimmed(words, _with_frequency(words, clauses, at))
            yield signal_at(words, span, item=mention.item, turn=turn, polarity=mention.polarity)


def _with_frequency(words: str, clauses: tuple[Clause, ...], at: int) -> Clause:
    """Add the sentence after a clause when it only says how often ("I lie awake. Most nights.")."""
    clause = clauses[at]
    if at + 1 == len(clauses):
        return clause
    following = clauses[at + 1]
    text = words[following.start : following.end]
    if len(text) > 40 or read_clause(text).votes or "i" in words_of(text).texts:
        return clause
    if frequency_of(text, 0, len(text)) is Frequency.UNSTATED:
        return clause
    return Clause(start=clause.start, end=following.end)


def _answered(
    words: str, turn: Turn, question: Question, told: tuple[Signal, ...]
) -> Iterator[Signal]:
    answer = answer_in(words, question.asking)
    if answer is None:
        return
    span = trimmed(words, answer.span)
    end = turn.words_start + span.end
    if span.start == span.end or any(signal.start < end for signal in told):
        return
    for item in question.items:
        signal = signal_at(words, span, item=item, turn=turn, polarity=answer.polarity)
        yield replace(signal, is_answer=True)


def trimmed(words: str, span: Clause) -> Clause:
    """Leave out spaces, commas and dashes at the edges of a span."""
    text = words[span.start : span.end]
    start = span.start + len(text) - len(text.lstrip(_EDGES))
    return Clause(start=start, end=max(start, span.start + len(text.rstrip(_EDGES))))
