"""Decide whether a quote is something the participant said, and where.

A quote counts when its words stand in the participant's turns in the same order with nothing
between them; case, spacing, punctuation and typography may differ, and fillers, cut-off words and
repeated starts may be left out. One quote may run over consecutive turns of the participant, never
over somebody else's turn. What a model copies at the head of a line (a label, a number, a time) is
no part of a quote; one with an ellipsis is looked for in parts, each in the participant's words. In
fuzzy mode contractions may be written out, too, as far as the
similarity to the whole span allows; no mode accepts another word.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate
from typing import Final, Literal, NamedTuple, TypeAlias

from ai_psychiatrist.domain.evidence import Match, Quote, QuoteRejection, Segment, UnverifiedQuote
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.evidence_validation.copied_lines import (
    CopiedLines,
    copied_lines,
    parts_of,
)
from ai_psychiatrist.services.evidence_validation.quote_search import (
    QuoteSearch,
    can_be_answer,
    has_content,
    is_bare_answer,
    is_similar_to_part,
    is_utterance,
    similarity,
    similarity_package,
)
from ai_psychiatrist.services.evidence_validation.tokens import (
    NEGATIONS,
    PERSONS,
    PROTECTED,
    Tokens,
    normalize_for_quote_match,
    times_of_day_in,
    tokenise,
    written_out,
)
from ai_psychiatrist.services.evidence_validation.word_stream import (
    SearchTooCostly,
    WordRange,
    WordStream,
    without_fillers,
    without_labels,
    word_stream,
)
from ai_psychiatrist.services.language.clauses import clauses_of
from ai_psychiatrist.services.transcripts.lines import seconds_of
from ai_psychiatrist.services.transcripts.speaker_labels import (
    DEFAULT_LABELS,
    known_speaker,
    label_key,
)

LONGEST_QUOTE: Final = 4_000
"""In characters; what is longer is no quote."""
_SENTENCE_ENDS: Final = (".", "!", "?", "…", "。", "！", "？")
_SENTENCE_END: Final = re.compile(r"(?<!\.\.)[.!?。！？](?=\s|\Z)")
_SAID_ELLIPSIS: Final = re.compile(r"[\s,;:-]{0,4}(?:…|\.{2,})")
_NOT_LEFT_OUT: Final = PROTECTED | NEGATIONS | (PERSONS - {"i"})
_FEWEST_PARTS: Final = 2
_FEWEST_WORDS: Final = 3
"""Of a part of a quote that is cut off within a clause."""
_MOST_PLACES: Final = 64
"""Among how many places the one is looked for that has the quote character for character."""

GroundingMode: TypeAlias = Literal["substring", "fuzzy"]
DEFAULT_FUZZY_THRESHOLD: Final = 0.85


class Lookup(NamedTuple):
    """A quote, and how it is looked for."""

    quote: str
    mode: GroundingMode = "substring"
    fuzzy_threshold: float = DEFAULT_FUZZY_THRESHOLD
    """The similarity, 0-1, that the quote has to reach in fuzzy mode."""
    after: int = 0
    """The character of the transcript before which it is not looked for."""


@dataclass(frozen=True)
class TranscriptIndex:
    """The words of a transcript by position; built once, then asked about any number of quotes."""

    transcript: Transcript
    _results: dict[Lookup, Quote | UnverifiedQuote] = field(
        default_factory=dict, init=False, repr=False
    )
    """Agents cite the same quotes again and again."""
    _clause_starts: dict[int, tuple[int, ...]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def _spoken(self) -> WordStream:
        return word_stream(tokenise(without_labels(self.transcript)), self.transcript)

    @cached_property
    def _smooth(self) -> WordStream:
        """The words without fillers and cut-off words."""
        fluent = without_fillers(without_labels(self.transcript))
        return word_stream(tokenise(fluent), self.transcript)

    @cached_property
    def _written_out(self) -> WordStream:
        """The same with their contractions written out."""
        return word_stream(written_out(self._smooth), self.transcript, self._smooth)

    @cached_property
    def _others_before(self) -> list[int]:
        """How many turns before each one, and before the end, are not the participant's."""
        theirs = (turn.speaker is not Speaker.PARTICIPANT for turn in self.transcript.turns)
        return list(accumulate(theirs, initial=0))

    @cached_property
    def _participant_text(self) -> str:
        turns = self.transcript.participant_turns()
        return normalize_for_quote_match("\n".join(map(self.transcript.words, turns)))

    def unknown(
        self, quotes: Iterable[str], *, mode: GroundingMode, fuzzy_threshold: float
    ) -> tuple[Lookup, ...]:
        """Return what would have to be looked up to ground quotes."""
        wanted = dict.fromkeys(Lookup(quote, mode, fuzzy_threshold) for quote in quotes)
        return tuple(lookup for lookup in wanted if lookup not in self._results)

    def look_up(self, wanted: Iterable[Lookup]) -> dict[Lookup, Quote | UnverifiedQuote]:
        """Return the outcome of each look-up."""
        return {lookup: self._result(lookup) for lookup in wanted}

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

        `fuzzy_threshold`: similarity 0-1 of the quote and the whole span that a match with
        written-out contractions has to reach in fuzzy mode. Raises `ConfigurationError` for that
        mode without rapidfuzz.
        """
        return self._result(Lookup(quote, mode, fuzzy_threshold))

    def _result(self, lookup: Lookup) -> Quote | UnverifiedQuote:
        result = self._results.get(lookup)
        if result is None:
            found = self._within_bounds(lookup)
            if isinstance(found, Quote):
                result = found
            else:
                result = UnverifiedQuote(text=lookup.quote, reason=found)
            self._results[lookup] = result
        return result

    def _within_bounds(self, lookup: Lookup) -> Quote | QuoteRejection:
        """Find a quote as given, without a copied label, and in the parts around an ellipsis."""
        if lookup.mode == "fuzzy":
            similarity_package()
        if len(lookup.quote) > LONGEST_QUOTE:
            return QuoteRejection.TOO_LONG
        lookup = lookup._replace(quote=lookup.quote.strip())
        try:
            found = self._as_given_or_copied(lookup)
            if isinstance(found, Quote):
                return found
            parts = parts_of(lookup.quote)
            return found if len(parts) < _FEWEST_PARTS else self._in_parts(parts, lookup)
        except SearchTooCostly:
            return QuoteRejection.TOO_COSTLY

    def _as_given_or_copied(self, lookup: Lookup) -> Quote | QuoteRejection:
        found = self._ground(lookup)
        if isinstance(found, Quote):
            return found
        copied = copied_lines(lookup.quote, self._speaker_of)
        if copied.words == lookup.quote:
            return found
        again = self._ground(lookup._replace(quote=copied.words))
        if not isinstance(again, Quote):
            return again if copied.speakers else found
        if not copied.speakers <= {Speaker.PARTICIPANT}:
            is_of_several = Speaker.PARTICIPANT in copied.speakers
            return (
                QuoteRejection.CROSSES_SPEAKERS
                if is_of_several
                else QuoteRejection.INTERVIEWER_WORDS
            )
        return again if self._has_marks(again, copied) else found

    def _speaker_of(self, label: str) -> Speaker | None:
        return self._labels.get(label_key(label)) or known_speaker(label, DEFAULT_LABELS)

    @cached_property
    def _labels(self) -> Mapping[str, Speaker]:
        return {
            label_key(turn.label): turn.speaker
            for turn in self.transcript.turns
            if turn.label is not None
        }

    def _has_marks(self, found: Quote, copied: CopiedLines) -> bool:
        """Return whether numbers and times without a label can be those of a line, not words."""
        first = found.segments[0]
        turn, text = self.transcript.turns[first.turn], self.transcript.text
        head = text[turn.start : turn.words_start]
        before = text[turn.words_start : first.start].strip(" \t\"'“”«»([")
        if copied.is_listed and before and not before.endswith((*_SENTENCE_ENDS, "\n", "\r")):
            return False
        seconds = None if turn.start_seconds is None else int(turn.start_seconds)
        return not copied.marks or (
            not before
            and all(
                mark in head or seconds_of(mark) == seconds is not None for mark in copied.marks
            )
        )

    def _in_parts(self, parts: Sequence[str], lookup: Lookup) -> Quote | QuoteRejection:
        """Look for the parts of a quote one after the other."""
        segments: list[Segment] = []
        for part in parts:
            after = segments[-1].end if segments else 0
            found = self._as_given_or_copied(lookup._replace(quote=part.strip(), after=after))
            if not isinstance(found, Quote):
                return found
            if segments and not self._may_be_left_out(segments[-1], found.segments[0]):
                return QuoteRejection.MEANING_CHANGED
            segments += found.segments
        return self._quote(tuple(segments), Match.TOLERANT)

    def _may_be_left_out(self, left: Segment, right: Segment) -> bool:
        """Return whether an ellipsis may stand for what lies between two parts.

        Within a sentence it hides no negation, number, frequency or other person, and is not the
        one that was spoken; and what is cut off within a clause has to say something by itself.
        """
        text = self.transcript.text
        if left.turn == right.turn:
            gap = text[left.end : right.start]
            is_one_sentence = _SENTENCE_END.search(text, left.end - 1, right.start) is None
            is_said = _SAID_ELLIPSIS.match(gap) or _SAID_ELLIPSIS.match(gap[::-1])
            hides = not _NOT_LEFT_OUT.isdisjoint(tokenise(gap).words)
            if is_one_sentence and (is_said or hides):
                return False
        starts = (*self._starts_of_clauses(left.turn), self.transcript.turns[left.turn].end)
        rest = text[left.end : starts[bisect_left(starts, left.end)]]
        starts = self._starts_of_clauses(right.turn)
        begun = text[starts[bisect_right(starts, right.start) - 1] : right.start]
        return (_is_wordless(rest) or self._says_something(left)) and (
            _is_wordless(begun) or self._says_something(right)
        )

    def _says_something(self, part: Segment) -> bool:
        words = tokenise(self.transcript.text[part.start : part.end]).words
        return len(words) >= _FEWEST_WORDS

    def _starts_of_clauses(self, turn: int) -> tuple[int, ...]:
        """Return where the clauses of a turn begin, in characters of the transcript, rising."""
        starts = self._clause_starts.get(turn)
        if starts is None:
            said = self.transcript.turns[turn]
            clauses = clauses_of(self.transcript.words(said))
            starts = tuple(said.words_start + clause.start for clause in clauses)
            self._clause_starts[turn] = starts
        return starts

    def _ground(self, lookup: Lookup) -> Quote | QuoteRejection:
        spoken = tokenise(lookup.quote)
        if not spoken.words:
            return QuoteRejection.TOO_SHORT
        searches = self._searches(lookup, spoken)
        if not has_content(spoken.words):
            return self._short(spoken.words, searches)
        reason = QuoteRejection.NOT_FOUND
        for search in () if self._adds_a_time(lookup.quote[spoken.starts[0] :]) else searches:
            places, reason = self._own(search, most=1)
            if places:
                return self._accepted(search, places[0], lookup.fuzzy_threshold)
            if reason is not QuoteRejection.NOT_FOUND:
                return reason
        if lookup.mode == "fuzzy":
            wanted = normalize_for_quote_match(lookup.quote)
            if is_similar_to_part(wanted, self._participant_text, least=lookup.fuzzy_threshold):
                return QuoteRejection.MEANING_CHANGED
        return reason

    def _searches(self, lookup: Lookup, spoken: Tokens) -> Iterator[QuoteSearch]:
        """Yield the ways to look for a quote, the strictest first."""
        quote = lookup.quote
        search = partial(QuoteSearch, quote=quote, transcript=self.transcript, after=lookup.after)
        yield search(tokens=spoken, stream=self._spoken, is_literal=True)
        fluent = without_fillers(quote)
        smooth = spoken if fluent == quote else tokenise(fluent)
        if smooth.words:
            yield search(tokens=smooth, stream=self._smooth)
            if lookup.mode == "fuzzy":
                yield search(tokens=written_out(smooth), stream=self._written_out)

    def _own(
        self, search: QuoteSearch, *, most: int, fits: Callable[[WordRange], bool] = lambda _: True
    ) -> tuple[list[WordRange], QuoteRejection]:
        """Return the first ranges that are the participant's alone, or why there are none."""
        reason = QuoteRejection.NOT_FOUND
        places: list[WordRange] = []
        for words in search.word_ranges():
            turns = search.stream.turns(words)
            if self._others_before[turns.start] != self._others_before[turns.stop]:
                is_one = len(turns) == 1
                reason = (
                    QuoteRejection.INTERVIEWER_WORDS if is_one else QuoteRejection.CROSSES_SPEAKERS
                )
            elif fits(words):
                places.append(words)
                if len(places) == most:
                    break
        return places, reason

    def _accepted(
        self, search: QuoteSearch, place: WordRange, threshold: float
    ) -> Quote | QuoteRejection:
        segments = search.stream.segments(place)
        if search.is_literal:
            exact = search.verbatim(place) or self._verbatim_elsewhere(search)
            if exact is not None:
                return self._quote((exact,), Match.EXACT)
            return self._quote(segments, Match.NORMALISED)
        found = self._quote(segments, Match.TOLERANT)
        is_near = search.stream.said is None or (
            similarity(tokenise(search.quote), tokenise(found.text)) >= threshold
        )
        return found if is_near else QuoteRejection.NOT_SIMILAR

    def _verbatim_elsewhere(self, search: QuoteSearch) -> Segment | None:
        if search.quote not in self.transcript.text:
            return None
        places, _ = self._own(search, most=_MOST_PLACES)
        return next(filter(None, map(search.verbatim, places)), None)

    def _adds_a_time(self, words: str) -> bool:
        """Return whether words hold a time that was never noted."""
        text = self.transcript.text
        return ":" in words and any(mark not in text for mark in times_of_day_in(words))

    def _short(
        self, words: Sequence[str], searches: Iterable[QuoteSearch]
    ) -> Quote | QuoteRejection:
        """Accept words without content only as a whole clause or answer.

        "No" after "any trouble sleeping?" says something; "yeah" shows nobody what for, and if it
        was said twice, not even which of the two is meant.
        """
        for search in searches if can_be_answer(words) else ():
            places, _ = self._own(search, most=2, fits=partial(self._is_utterance, search))
            if not places:
                continue
            if len(places) > 1 and is_bare_answer(search.quote, words):
                return QuoteRejection.AMBIGUOUS
            return self._accepted(search, places[0], 0.0)
        return QuoteRejection.TOO_SHORT

    def _is_utterance(self, search: QuoteSearch, words: WordRange) -> bool:
        first, *others = search.stream.turns(words)
        return not others and is_utterance(search, words, self._starts_of_clauses(first))

    def _quote(self, segments: tuple[Segment, ...], match: Match) -> Quote:
        return Quote(
            text=" ".join(self.transcript.text[part.start : part.end] for part in segments),
            segments=segments,
            match=match,
        )


def _is_wordless(text: str) -> bool:
    return not any(map(str.isalnum, text))


def ground_all(
    transcript: Transcript, lookups: Iterable[Lookup]
) -> dict[Lookup, Quote | UnverifiedQuote]:
    """Look quotes up in a transcript."""
    return TranscriptIndex(transcript).look_up(lookups)
