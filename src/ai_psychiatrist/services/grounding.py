"""Decide whether a quote is something the participant said, and where.

A quote counts when its words stand in the participant's turns in the same order with nothing
between them; case, spacing, punctuation and typography may differ. One quote may run over
consecutive turns of the participant, never over somebody else's turn. The fuzzy mode also accepts
dropped fillers, repeated starts and contractions written out; never another word.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

from ai_psychiatrist.domain.evidence import (
    Match,
    Polarity,
    Quote,
    QuoteRejection,
    Segment,
    UnverifiedQuote,
)
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn
from ai_psychiatrist.services.cues.answers import polarity_of_answer
from ai_psychiatrist.services.cues.polarity import TurnReading, read_turn
from ai_psychiatrist.services.tokens import is_ideographic, normalize_for_quote_match, tokenise
from ai_psychiatrist.services.word_stream import (
    WordStream,
    spoken_words,
    tolerant,
    tolerant_words,
)
from ai_psychiatrist.services.words import ANSWER_WORDS, STOP_WORDS

GroundingMode: TypeAlias = Literal["substring", "fuzzy"]


@dataclass(frozen=True)
class TranscriptIndex:
    """The words of a transcript by position; built once, then asked about any number of quotes."""

    transcript: Transcript
    _readings: dict[int, TurnReading] = field(default_factory=dict, init=False, repr=False)
    """The clauses of the turns that were asked about so far."""

    @cached_property
    def _spoken(self) -> WordStream:
        return spoken_words(self.transcript)

    @cached_property
    def _tolerant(self) -> WordStream:
        return tolerant_words(self._spoken)

    @cached_property
    def _participant_text(self) -> str:
        turns = self.transcript.participant_turns()
        return normalize_for_quote_match("\n".join(map(self.transcript.words, turns)))

    def prepare(self) -> None:
        """Build the index now, so that a caller can choose the thread."""
        _ = self._spoken.positions

    def ground(
        self, quote: str, *, mode: GroundingMode = "substring", fuzzy_threshold: float = 0.85
    ) -> Quote | UnverifiedQuote:
        """Find a quote in the participant's words, or say why it is not there.

        `fuzzy_threshold`: similarity 0-1 that a tolerant match has to reach in fuzzy mode.
        """
        words = tokenise(quote).words
        found = self._place(self._spoken, words)
        if isinstance(found, int):
            return self._accept(quote, words, found)
        if mode == "fuzzy" and found is QuoteRejection.NOT_FOUND:
            return self._ground_tolerantly(quote, words, fuzzy_threshold)
        return UnverifiedQuote(text=quote, reason=found)

    def _accept(self, quote: str, words: list[str], first: int) -> Quote:
        segments = self._segments(self._spoken, first, len(words))
        match = Match.NORMALISED
        if len(segments) == 1:
            verbatim = self._verbatim(quote.strip(), segments[0])
            if verbatim is not None:
                segments, match = (verbatim,), Match.EXACT
        polarity = None if _has_content(words) else self._answer_polarity(segments[0])
        return self._quote(segments, match, polarity)

    def _ground_tolerantly(
        self, quote: str, words: list[str], threshold: float
    ) -> Quote | UnverifiedQuote:
        # An optional dependency: only the fuzzy mode asks for a similarity.
        from rapidfuzz import fuzz  # noqa: PLC0415

        wanted = normalize_for_quote_match(quote)
        expected = tolerant(words)
        found = self._place(self._tolerant, expected)
        if isinstance(found, int):
            segments = self._segments(self._tolerant, found, len(expected))
            candidate = self._quote(segments, Match.TOLERANT)
            spoken = normalize_for_quote_match(candidate.text)
            if fuzz.ratio(wanted, spoken) / 100 >= threshold:
                return candidate
            return UnverifiedQuote(text=quote, reason=QuoteRejection.NOT_FOUND)
        similar = fuzz.partial_ratio(wanted, self._participant_text) / 100 >= threshold
        reason = QuoteRejection.MEANING_CHANGED if similar else found
        return UnverifiedQuote(text=quote, reason=reason)

    def _place(self, stream: WordStream, words: list[str]) -> int | QuoteRejection:
        """Return the position of the participant's own words, or why there is none."""
        if not words:
            return QuoteRejection.TOO_SHORT
        spoken = stream.occurrences(words)
        own = (at for at in spoken if self._is_own(stream, at, len(words)))
        if not _has_content(words):
            return self._whole_answer(stream, words, list(own))
        first = next(own, None)
        return self._why_not_own(stream, words) if first is None else first

    def _is_own(self, stream: WordStream, first: int, length: int) -> bool:
        return all(
            turn.speaker is Speaker.PARTICIPANT for turn in self._turns(stream, first, length)
        )

    def _why_not_own(self, stream: WordStream, words: list[str]) -> QuoteRejection:
        first = next(stream.occurrences(words), None)
        if first is None:
            return QuoteRejection.NOT_FOUND
        if len(self._turns(stream, first, len(words))) > 1:
            return QuoteRejection.CROSSES_SPEAKERS
        return QuoteRejection.INTERVIEWER_WORDS

    def _whole_answer(
        self, stream: WordStream, words: list[str], own: list[int]
    ) -> int | QuoteRejection:
        """Accept words without content only as a whole answer that was given once."""
        if not own:
            return self._why_not_own(stream, words)
        answers = [at for at in own if self._is_whole_turn(stream, at, len(words))]
        if not answers or ANSWER_WORDS.isdisjoint(words):
            return QuoteRejection.TOO_SHORT
        return answers[0] if len(answers) == 1 else QuoteRejection.AMBIGUOUS

    def _is_whole_turn(self, stream: WordStream, first: int, length: int) -> bool:
        turn = self._turn_of(stream, first)
        return (first, first + length) == (
            stream.first_words[turn],
            self._after_turn(stream, turn),
        )

    def _after_turn(self, stream: WordStream, turn: int) -> int:
        """Return the position after the last word of a turn."""
        following = stream.first_words[turn + 1 : turn + 2]
        return following[0] if following else len(stream.words)

    def _turn_of(self, stream: WordStream, position: int) -> int:
        return bisect_right(stream.first_words, position) - 1

    def _turns(self, stream: WordStream, first: int, length: int) -> tuple[Turn, ...]:
        last = self._turn_of(stream, first + length - 1)
        return self.transcript.turns[self._turn_of(stream, first) : last + 1]

    def _segments(self, stream: WordStream, first: int, length: int) -> tuple[Segment, ...]:
        segments = []
        after = first + length
        while first < after:
            turn = self._turn_of(stream, first)
            stop = min(after, self._after_turn(stream, turn))
            segments.append(
                Segment(turn=turn, start=stream.starts[first], end=stream.ends[stop - 1])
            )
            first = stop
        return tuple(segments)

    def _verbatim(self, quote: str, segment: Segment) -> Segment | None:
        """Widen a segment to the punctuation that the quote carries, if all of it stands there."""
        lead = quote.lower().find(self.transcript.text[segment.start : segment.end].lower())
        start = segment.start - max(lead, 0)
        turn = self.transcript.turns[segment.turn]
        end = start + len(quote)
        inside = turn.words_start <= start and end <= turn.end
        if lead >= 0 and inside and self.transcript.text[start:end] == quote:
            return Segment(turn=segment.turn, start=start, end=end)
        return None

    def _quote(
        self, segments: tuple[Segment, ...], match: Match, polarity: Polarity | None = None
    ) -> Quote:
        text = " ".join(self.transcript.text[part.start : part.end] for part in segments)
        polarity = polarity or self._polarity(segments)
        return Quote(text=text, segments=segments, match=match, polarity=polarity)

    def _answer_polarity(self, segment: Segment) -> Polarity:
        """Read a bare answer by what was asked in the turn before it."""
        if segment.turn == 0:
            return Polarity.UNCLEAR
        question = self.transcript.words(self.transcript.turns[segment.turn - 1])
        answer = self.transcript.text[segment.start : segment.end]
        return polarity_of_answer(answer, question)

    def _polarity(self, segments: tuple[Segment, ...]) -> Polarity:
        polarities = {self._segment_polarity(segment) for segment in segments}
        return polarities.pop() if len(polarities) == 1 else Polarity.UNCLEAR

    def _segment_polarity(self, segment: Segment) -> Polarity:
        turn = self.transcript.turns[segment.turn]
        reading = self._readings.get(segment.turn)
        if reading is None:
            reading = self._readings[segment.turn] = read_turn(self.transcript.words(turn))
        return reading.polarity_of(segment.start - turn.words_start, segment.end - turn.words_start)


def _has_content(words: list[str]) -> bool:
    """Return whether a quote says anything beyond stop words, single letters and bare numbers."""
    meaningful = [word for word in words if word not in STOP_WORDS]
    ideographs = sum(map(is_ideographic, meaningful))
    return ideographs > 1 or any(
        len(word) > 1 and any(map(str.isalpha, word)) for word in meaningful
    )
