"""What the reader reads at a time: an answer, or a stretch of a long one, and its question."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.transcripts.lines import on_one_line

_WORD: Final = re.compile(r"\S+")
MOST_WORDS: Final = 64
_STEP: Final = 48
"""Words from one stretch of a long answer to the next, so that neighbours share some."""
_MOST_QUESTION_WORDS: Final = 40
MOST_CHARACTERS: Final = 1_000
"""Of a stretch or a question; more is no speech, and costs nobody anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stretch of a turn; offsets are characters of the transcript."""

    turn: int
    start: int
    end: int
    question: str = field(repr=False)
    words: str = field(repr=False)

    def touches(self, start: int, end: int) -> bool:
        """Return whether it shares a character with a stretch of the transcript."""
        return self.start < end and start < self.end


def passages_of(transcript: Transcript) -> Iterator[Passage]:
    """Yield what the participant says, with the words of the turn before, in order."""
    question = ""
    for turn in transcript.turns:
        words = transcript.words(turn)
        if turn.speaker is Speaker.INTERVIEWER:
            question = words
            continue
        for start, end in stretches(words):
            yield Passage(
                turn=turn.index,
                start=turn.words_start + start,
                end=turn.words_start + end,
                question=end_of(question),
                words=plain(words[start:end]),
            )
        if turn.speaker is not Speaker.PARTICIPANT:
            question = ""


def stretches(words: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last offsets of what is read at a time of an answer."""
    places = [match.span() for match in _WORD.finditer(words)]
    for first in range(0, len(places), _STEP):
        last = min(first + MOST_WORDS, len(places))
        yield places[first][0], places[last - 1][1]
        if last == len(places):
            return


def end_of(question: str) -> str:
    """Return the last words of a question, where what is asked for stands."""
    return plain(" ".join(question.split()[-_MOST_QUESTION_WORDS:]))


def plain(words: str) -> str:
    """Return words with single spaces, and no more of them than are read."""
    return on_one_line(words)[:MOST_CHARACTERS]
