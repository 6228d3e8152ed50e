"""A transcript with some stretches of its turns written otherwise, and where its quotes went."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice, takewhile
from typing import Final

from ai_psychiatrist.domain.evidence import Match, Quote, Segment
from ai_psychiatrist.domain.transcript import Transcript

_WORD_CHARACTER: Final = re.compile(r"[^\W_]")
STRUCK: Final = "_"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters of a transcript's text within one turn's words."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """What is to stand in place of a span."""

    span: Span
    text: str = field(repr=False)
    is_struck: bool = False
    """Whether nothing is left of what was said."""


def struck_out(text: str) -> str:
    """Return a text with a blank for each letter and digit.

    Its length, its words and its lines stay, so that a score that hangs on them does not move.
    """
    return _WORD_CHARACTER.sub(STRUCK, text)


def strike(transcript: Transcript, span: Span) -> Edit:
    """Return the edit that strikes out a span."""
    return Edit(span, struck_out(transcript.text[span.start : span.end]), is_struck=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedTranscript:
    """A transcript after its edits, which lie apart and in order."""

    transcript: Transcript
    edits: tuple[Edit, ...]
    _ends: tuple[int, ...]
    """Of the edits, in the text before."""
    _shifts: tuple[int, ...]
    """By how much the text after each edit has moved."""

    def words_of(self, quote: Quote) -> str | None:
        """Return the words that stand where a quote was, `None` where one was struck out.

        A quote that touches what was written anew goes with the whole of it.
        """
        edits = (edit for segment in quote.segments for edit in self._touched(segment))
        return None if any(edit.is_struck for edit in edits) else self.place_of(quote).text

    def place_of(self, quote: Quote) -> Quote:
        """Return what stands where a quote was as a quote, not read yet."""
        segments = tuple(map(self._moved, quote.segments))
        texts = (self.transcript.text[one.start : one.end] for one in segments)
        return Quote(text=" ".join(texts), match=Match.EXACT, segments=segments)

    def _moved(self, segment: Segment) -> Segment:
        spans = [edit.span for edit in self._touched(segment)]
        start = min([segment.start, *(span.start for span in spans)])
        end = max([segment.end, *(span.end for span in spans)])
        return Segment(
            turn=segment.turn,
            start=_moved(start, self._ends, self._shifts),
            end=_moved(end, self._ends, self._shifts),
        )

    def _touched(self, segment: Segment) -> Sequence[Edit]:
        first = bisect_right(self._ends, segment.start)
        after = islice(self.edits, first, None)
        return [*takewhile(lambda edit: edit.span.start < segment.end, after)]


def edited(transcript: Transcript, edits: Iterable[Edit]) -> EditedTranscript:
    """Return a transcript after edits, none of which touches another; its turns stay the same."""
    ordered = tuple(sorted(edits))
    shifts = tuple(accumulate(len(one.text) - (one.span.end - one.span.start) for one in ordered))
    ends = tuple(one.span.end for one in ordered)
    changed = replace(
        transcript,
        text=_written(transcript.text, ordered),
        turns=tuple(
            replace(
                turn,
                start=_moved(turn.start, ends, shifts),
                words_start=_moved(turn.words_start, ends, shifts),
                end=_moved(turn.end, ends, shifts),
            )
            for turn in transcript.turns
        ),
    )
    return EditedTranscript(transcript=changed, edits=ordered, _ends=ends, _shifts=shifts)


def _moved(offset: int, ends: Sequence[int], shifts: Sequence[int]) -> int:
    at = bisect_right(ends, offset)
    return offset + (shifts[at - 1] if at else 0)


def _written(text: str, edits: Sequence[Edit]) -> str:
    parts, at = [], 0
    for edit in edits:
        parts += [text[at : edit.span.start], edit.text]
        at = edit.span.end
    return "".join([*parts, text[at:]])
