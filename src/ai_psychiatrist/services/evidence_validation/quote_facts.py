"""What the clauses of a quote say: whether a symptom is there, how often, and when."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Segment, Timeframe
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.cues.answers import polarity_of_answer
from ai_psychiatrist.services.cues.reading import TurnReading, read_turn


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteFacts:
    """What is read from the whole clauses that a quote is cut from."""

    polarity: Polarity
    frequency: Frequency
    timeframe: Timeframe


@dataclass(frozen=True)
class FactReader:
    """Reads the turns of a transcript, each once, when they are first asked about."""

    transcript: Transcript
    _readings: dict[int, TurnReading] = field(default_factory=dict, init=False, repr=False)
    _clause_starts: dict[int, Sequence[int]] = field(default_factory=dict, init=False, repr=False)

    def facts(self, segments: tuple[Segment, ...]) -> QuoteFacts:
        """Return the facts of a quote; segments that say different things make it unclear."""
        if len(segments) == 1:
            return self._segment_facts(segments[0])
        parts = [self._segment_facts(segment) for segment in segments]
        polarities = {part.polarity for part in parts}
        stated = {part.frequency for part in parts} - {Frequency.UNSTATED}
        times = {part.timeframe for part in parts}
        return QuoteFacts(
            polarity=polarities.pop() if len(polarities) == 1 else Polarity.UNCLEAR,
            frequency=stated.pop() if len(stated) == 1 else Frequency.UNSTATED,
            timeframe=times.pop() if len(times) == 1 else Timeframe.UNSTATED,
        )

    def answer_polarity(self, segment: Segment) -> Polarity:
        """Read a bare answer by what was asked in the turn before it."""
        if segment.turn == 0:
            return Polarity.UNCLEAR
        question = self.transcript.words(self.transcript.turns[segment.turn - 1])
        answer = self.transcript.text[segment.start : segment.end]
        return polarity_of_answer(answer, question)

    def clause_starts(self, turn: int) -> Sequence[int]:
        """Return where the clauses of a turn begin, in characters of the transcript, rising."""
        starts = self._clause_starts.get(turn)
        if starts is None:
            shift = self.transcript.turns[turn].words_start
            starts = [shift + clause.start for clause in self._reading(turn).clauses]
            self._clause_starts[turn] = starts
        return starts

    def _reading(self, turn: int) -> TurnReading:
        reading = self._readings.get(turn)
        if reading is None:
            words = self.transcript.words(self.transcript.turns[turn])
            reading = self._readings[turn] = read_turn(words)
        return reading

    def _segment_facts(self, segment: Segment) -> QuoteFacts:
        turn = self.transcript.turns[segment.turn]
        reading = self._reading(segment.turn)
        span = (segment.start - turn.words_start, segment.end - turn.words_start)
        return QuoteFacts(
            polarity=reading.polarity_of(*span),
            frequency=reading.frequency_of(*span),
            timeframe=reading.timeframe_of(*span),
        )
