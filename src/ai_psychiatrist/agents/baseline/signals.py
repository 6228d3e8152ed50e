"""Signals: every place where a participant says something about an item."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ai_psychiatrist.agents.baseline.context import Question, answer_in, question_in
from ai_psychiatrist.agents.baseline.phrases import phrases
from ai_psychiatrist.agents.baseline.spoken import mentions_in
from ai_psychiatrist.domain.errors import TranscriptUnreadable
from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import (
    Speaker,
    SpeakerLabels,
    Transcript,
    Turn,
    parse_transcript,
)
from ai_psychiatrist.services.cues.clauses import Clause, clauses_of
from ai_psychiatrist.services.cues.frequency import frequency_of
from ai_psychiatrist.services.cues.lexicon import words_of
from ai_psychiatrist.services.cues.polarity import polarity_of
from ai_psychiatrist.services.cues.tense import timeframe_of
from ai_psychiatrist.services.cues.valence import read_clause

_MOST_PER_ITEM: Final = 100
"""After how many signals of one item no more are looked for, so that repetition stays cheap."""
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


def analyse(text: str, labels: SpeakerLabels) -> Analysis:
    """Find every signal of a transcript; one that cannot be read has none."""
    try:
        transcript = parse_transcript(text, labels)
    except TranscriptUnreadable:
        empty = Transcript(text=text, turns=(), speakers_assumed=True)
        return Analysis(transcript=empty, signals=())
    collected = _Collected(transcript=transcript)
    collected.collect()
    return Analysis(transcript=transcript, signals=tuple(collected.signals))


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


@dataclass(slots=True, kw_only=True)
class _Collected:
    """The signals found so far, and the items of which no more are looked for."""

    transcript: Transcript
    signals: list[Signal] = field(default_factory=list)
    counts: Counter[Item] = field(default_factory=Counter)

    def collect(self) -> None:
        question: Question | None = None
        for turn in self.transcript.turns:
            words = self.transcript.words(turn)
            if turn.speaker is Speaker.INTERVIEWER:
                question = question_in(words)
            elif turn.speaker is Speaker.PARTICIPANT:
                first = len(self.signals)
                self._keep(self._told(words, turn))
                if question is not None:
                    self._keep(_answered(words, turn, question, self.signals[first:]))
                question = None

    def _keep(self, signals: Iterable[Signal]) -> None:
        for signal in signals:
            self.counts[signal.item] += 1
            self.signals.append(signal)

    def _told(self, words: str, turn: Turn) -> Iterator[Signal]:
        clauses = clauses_of(words)
        for at, clause in enumerate(clauses):
            items = [item for item in Item if self.counts[item] < _MOST_PER_ITEM]
            for mention in mentions_in(words, clause, items):
                span = trimmed(words, _with_frequency(words, clauses, at))
                # "I'm not sad, just tired" denies one item and affirms another.
                if polarity_of(words, span.start, span.end) is not mention.polarity:
                    span = trimmed(words, mention.part)
                yield signal_at(
                    words, span, item=mention.item, turn=turn, polarity=mention.polarity
                )


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


def _answered(words: str, turn: Turn, question: Question, told: list[Signal]) -> Iterator[Signal]:
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
