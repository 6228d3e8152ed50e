"""The clauses that quotes are taken from, and what one of them says in other words."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

from ai_psychiatrist.domain.evidence import Match, Quote, Segment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn, exchange
from ai_psychiatrist.services.counterfactuals.edited_transcript import Span
from ai_psychiatrist.services.evidence_validation.support import AssertionClassifier
from ai_psychiatrist.services.language.clauses import clauses_of

_BLANKS: Final = " \t\r\n\v\f"


def cited_clauses(transcript: Transcript, quotes: Iterable[Quote]) -> tuple[Span, ...]:
    """Return the clauses that quotes touch, each once, in the order of the text."""
    segments = {segment for quote in quotes for segment in quote.segments}
    return tuple(sorted({one for segment in segments for one in _touched(transcript, segment)}))


def turn_at(transcript: Transcript, span: Span) -> Turn:
    """Return the turn whose words a span lies in."""
    return transcript.turns[bisect_right(transcript.turns, span.start, key=_start) - 1]


def _start(turn: Turn) -> int:
    return turn.start


def _touched(transcript: Transcript, segment: Segment) -> Iterator[Span]:
    turn = transcript.turns[segment.turn]
    words = transcript.words(turn)
    for clause in clauses_of(words):
        start, end = clause.start + turn.words_start, clause.end + turn.words_start
        if start < segment.end and segment.start < end:
            text = transcript.text[start:end]
            start += len(text) - len(text.lstrip(_BLANKS))
            end -= len(text) - len(text.rstrip(_BLANKS))
            if start < end:
                yield Span(start, end)


class ClauseInPlace:
    """A clause with its turn and the question before it, which is read with other words."""

    def __init__(self, transcript: Transcript, span: Span) -> None:
        """`span`: the clause."""
        turn = turn_at(transcript, span)
        self.text = transcript.text[span.start : span.end]
        words = transcript.words(turn)
        self._before = words[: span.start - turn.words_start]
        self._after = words[span.end - turn.words_start :]
        asked = transcript.turns[turn.index - 1] if turn.index else None
        is_asked = asked is not None and asked.speaker is not Speaker.PARTICIPANT
        self.question = transcript.words(asked) if asked is not None and is_asked else ""

    def read(self, text: str, item: Item, *, question: str | None = None) -> Quote:
        """Return what a text says of an item where the clause stands."""
        asked = self.question if question is None else question
        words = f"{self._before}{text}{self._after}"
        start = len(asked) + len(self._before)
        place = Segment(turn=1, start=start, end=start + len(text))
        quote = Quote(text=text, match=Match.EXACT, segments=(place,))
        return AssertionClassifier(exchange(asked, words)).for_item((quote,), item)[0]
