"""Decide whether a quote is something the participant said, and where.

A quote counts when its words stand in the participant's turns in the same order with nothing
between them; case, spacing, punctuation and typography may differ, and fillers, cut-off words and
repeated starts may be left out. One quote may run over consecutive turns of the participant, never
over somebody else's turn. The fuzzy mode also accepts contractions written out; no mode accepts
another word.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Final, Literal, TypeAlias

from ai_psychiatrist.domain.evidence import (
    Match,
    Polarity,
    Quote,
    QuoteRejection,
    Segment,
    UnverifiedQuote,
)
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.evidence_validation.disfluency import SearchTooCostly
from ai_psychiatrist.services.evidence_validation.quote_facts import FactReader
from ai_psychiatrist.services.evidence_validation.tokens import (
    is_ideographic,
    normalize_for_quote_match,
    tokenise,
)
from ai_psychiatrist.services.evidence_validation.word_stream import (
    Stretch,
    WordStream,
    smooth,
    smooth_words,
    spoken_words,
    written_out,
    written_out_words,
)
from ai_psychiatrist.services.evidence_validation.words import (
    ANSWER_WORDS,
    NUMBER_WORDS,
    STOP_WORDS,
)

LONGEST_QUOTE: Final = 4_000
"""In characters; what is longer is no quote."""
_MOST_COMPARED: Final = 10**10
"""Characters of a quote, squared, times those of the transcript that it is compared with."""

GroundingMode: TypeAlias = Literal["substring", "fuzzy"]
Lookup: TypeAlias = tuple[str, GroundingMode, float]
"""A quote, how it is looked for, and the similarity 0-1 that it has to reach."""
DEFAULT_FUZZY_THRESHOLD: Final = 0.85


@dataclass(frozen=True)
class TranscriptIndex:
    """The words of a transcript by position; built once, then asked about any number of quotes."""

    transcript: Transcript
    _results: dict[Lookup, Quote | UnverifiedQuote] = field(
        default_factory=dict, init=False, repr=False
    )
    """Agents cite the same quotes again and again."""

    @cached_property
    def _facts(self) -> FactReader:
        return FactReader(self.transcript)

    @cached_property
    def _spoken(self) -> WordStream:
        return spoken_words(self.transcript)

    @cached_property
    def _smooth(self) -> WordStream:
        return smooth_words(self.transcript)

    @cached_property
    def _written_out(self) -> WordStream:
        return written_out_words(self._smooth, self.transcript)

    @cached_property
    def _others_before(self) -> list[int]:
        """How many turns before each one, and before the end, are not the participant's."""
        theirs = (turn.speaker is not Speaker.PARTICIPANT for turn in self.transcript.turns)
        return list(accumulate(theirs, initial=0))

    @cached_property
    def _participant_text(self) -> str:
        turns = self.transcript.participant_turns()
        return normalize_for_quote_match("\n".join(map(self.transcript.words, turns)))

    def prepare(self) -> None:
        """Build the index now, before the first quote is looked for."""
        _ = self._spoken.positions

    def unknown(
        self, quotes: Iterable[str], *, mode: GroundingMode, fuzzy_threshold: float
    ) -> tuple[Lookup, ...]:
        """Return what would have to be looked up to ground quotes."""
        wanted = dict.fromkeys((quote, mode, fuzzy_threshold) for quote in quotes)
        return tuple(lookup for lookup in wanted if lookup not in self._results)

    def remember(self, results: Mapping[Lookup, Quote | UnverifiedQuote]) -> None:
        """Take in what was looked up elsewhere, by `ground_all` in the same transcript."""
        self._results.update(results)

    def ground(
        self,
        quote: str,
        *,
        mode: GroundingMode = "substring",
        fuzzy_threshold: float = DEFAULT_FUZZY_THRESHOLD,
    ) -> Quote | UnverifiedQuote:
        """Find a quote in the participant's words, or say why it is not there.

        `fuzzy_threshold`: similarity 0-1 that a written-out match has to reach in fuzzy mode.
        """
        key = (quote, mode, fuzzy_threshold)
        result = self._results.get(key)
        if result is None:
            result = self._results[key] = self._within_bounds(quote, mode, fuzzy_threshold)
        return result

    def _within_bounds(
        self, quote: str, mode: GroundingMode, fuzzy_threshold: float
    ) -> Quote | UnverifiedQuote:
        if len(quote) > LONGEST_QUOTE:
            return UnverifiedQuote(text=quote, reason=QuoteRejection.TOO_LONG)
        try:
            return self._ground(quote, mode, fuzzy_threshold)
        except SearchTooCostly:
            return UnverifiedQuote(text=quote, reason=QuoteRejection.TOO_COSTLY)

    def _ground(
        self, quote: str, mode: GroundingMode, fuzzy_threshold: float
    ) -> Quote | UnverifiedQuote:
        words = tokenise(quote).words
        if not words:
            return UnverifiedQuote(text=quote, reason=QuoteRejection.TOO_SHORT)
        if not _has_content(words):
            return self._bare_answer(quote, words)
        found = self._own(self._spoken, self._spoken.occurrences(words))
        if isinstance(found, Stretch):
            return self._found(quote, found)
        words = smooth(quote)
        if found is QuoteRejection.NOT_FOUND and words:
            found = self._own(self._smooth, self._smooth.fluent_occurrences(words))
            if isinstance(found, Stretch):
                return self._quote(self._smooth.segments(found), Match.TOLERANT)
            if mode == "fuzzy" and found is QuoteRejection.NOT_FOUND:
                return self._ground_fuzzily(quote, words, fuzzy_threshold)
        return UnverifiedQuote(text=quote, reason=found)

    def _found(self, quote: str, stretch: Stretch) -> Quote:
        segments = self._spoken.segments(stretch)
        if len(segments) == 1:
            verbatim = self._verbatim(quote.strip(), segments[0])
            if verbatim is not None:
                return self._quote((verbatim,), Match.EXACT)
        return self._quote(segments, Match.NORMALISED)

    def _ground_fuzzily(
        self, quote: str, words: list[str], threshold: float
    ) -> Quote | UnverifiedQuote:
        # An optional dependency: only the fuzzy mode asks for a similarity.
        from rapidfuzz import fuzz  # noqa: PLC0415

        wanted = normalize_for_quote_match(quote)
        stream, expected = self._written_out, written_out(words)
        found = self._own(stream, stream.fluent_occurrences(expected))
        if isinstance(found, Stretch):
            candidate = self._quote(stream.segments(found), Match.TOLERANT)
            spoken = normalize_for_quote_match(candidate.text)
            if fuzz.ratio(wanted, spoken) / 100 >= threshold:
                return candidate
            return UnverifiedQuote(text=quote, reason=QuoteRejection.NOT_FOUND)
        text, least = self._participant_text, 100 * threshold
        if (
            found is QuoteRejection.NOT_FOUND
            and len(wanted) ** 2 * len(text) <= _MOST_COMPARED
            and fuzz.partial_ratio(wanted, text, score_cutoff=least) >= least
        ):
            found = QuoteRejection.MEANING_CHANGED
        return UnverifiedQuote(text=quote, reason=found)

    def _own(self, stream: WordStream, stretches: Iterator[Stretch]) -> Stretch | QuoteRejection:
        """Return the first stretch that is the participant's alone, or why there is none."""
        reason = QuoteRejection.NOT_FOUND
        for stretch in stretches:
            turns = stream.turns(stretch)
            if self._others_before[turns.start] == self._others_before[turns.stop]:
                return stretch
            is_one = len(turns) == 1
            reason = QuoteRejection.INTERVIEWER_WORDS if is_one else QuoteRejection.CROSSES_SPEAKERS
        return reason

    def _is_participants(self, turn: int) -> bool:
        return self.transcript.turns[turn].speaker is Speaker.PARTICIPANT

    def _bare_answer(self, quote: str, words: list[str]) -> Quote | UnverifiedQuote:
        """Accept words without content only as a whole answer that denies, and was given once.

        "No" after "any trouble sleeping?" says something; "yeah" shows nobody what for.
        """
        stream = self._spoken
        answers = [
            stretch
            for stretch in stream.occurrences(words)
            if self._is_participants(stream.turns(stretch)[0])
            and stream.turn_stretch(stream.turns(stretch)[0]) == stretch
        ]
        if not answers or ANSWER_WORDS.isdisjoint(words):
            return UnverifiedQuote(text=quote, reason=QuoteRejection.TOO_SHORT)
        if len(answers) > 1:
            return UnverifiedQuote(text=quote, reason=QuoteRejection.AMBIGUOUS)
        segment = stream.segments(answers[0])[0]
        if self._facts.answer_polarity(segment) is not Polarity.DENIED:
            return UnverifiedQuote(text=quote, reason=QuoteRejection.TOO_SHORT)
        match = Match.NORMALISED
        verbatim = self._verbatim(quote.strip(), segment)
        if verbatim is not None:
            segment, match = verbatim, Match.EXACT
        return replace(self._quote((segment,), match), polarity=Polarity.DENIED)

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

    def _quote(self, segments: tuple[Segment, ...], match: Match) -> Quote:
        facts = self._facts.facts(segments)
        return Quote(
            text=" ".join(self.transcript.text[part.start : part.end] for part in segments),
            segments=segments,
            match=match,
            polarity=facts.polarity,
            frequency=facts.frequency,
            timeframe=facts.timeframe,
        )


def ground_all(
    transcript: Transcript, lookups: Iterable[Lookup]
) -> dict[Lookup, Quote | UnverifiedQuote]:
    """Look quotes up in a transcript."""
    index = TranscriptIndex(transcript)
    return {
        (quote, mode, threshold): index.ground(quote, mode=mode, fuzzy_threshold=threshold)
        for quote, mode, threshold in lookups
    }


def _has_content(words: list[str]) -> bool:
    """Return whether a quote says anything beyond stop words, single letters and bare numbers."""
    meaningful = [word for word in words if word not in STOP_WORDS and word not in NUMBER_WORDS]
    ideographs = sum(map(is_ideographic, meaningful))
    return ideographs > 1 or any(
        len(word) > 1 and any(map(str.isalpha, word)) for word in meaningful
    )
