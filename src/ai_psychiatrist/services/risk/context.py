"""The sentence that a statement stands in, and the question that it answers."""

import re
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.risk import RiskSignal
from ai_psychiatrist.domain.transcript import Speaker, Transcript

_MOST_CHARACTERS: Final = 600
"""On either side of a statement, and of a question."""
_SENTENCE_END: Final = re.compile(r"[.?!…]+[\"'”’)\]]*(?=\s)|\n\s*\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementContext:
    """What a reader needs to understand a statement without the transcript."""

    sentence: str = field(repr=False)
    """The whole sentences that the statement touches."""
    question: str | None = field(repr=False)
    """The last sentence of the interviewer's turn before, a question if it holds one."""
    question_turn: int | None
    """Position of that turn, counted from 0."""


def context_of(transcript: Transcript, signal: RiskSignal) -> StatementContext:
    """Return the sentence of a statement and the question before it."""
    turn = transcript.turns[signal.turn]
    words = transcript.words(turn)
    start, end = signal.start - turn.words_start, signal.end - turn.words_start
    question = _question_before(transcript, signal.turn)
    return StatementContext(
        sentence=_sentence(words, start, end),
        question=question,
        question_turn=None if question is None else signal.turn - 1,
    )


def _sentence(words: str, start: int, end: int) -> str:
    before = words[max(0, start - _MOST_CHARACTERS) : start]
    ends = [found.end() for found in _SENTENCE_END.finditer(before)]
    opening = before[ends[-1] :] if ends else before
    # A statement may itself end with the mark that ends its sentence.
    after = words[max(start, end - 1) : end + _MOST_CHARACTERS]
    closing = _SENTENCE_END.search(after)
    rest = after if closing is None else after[: closing.end()]
    return f"{opening}{words[start : max(start, end - 1)]}{rest}".strip()


def _question_before(transcript: Transcript, turn: int) -> str | None:
    before = transcript.turns[turn - 1] if turn else None
    if before is None or before.speaker is not Speaker.INTERVIEWER:
        return None
    words = transcript.words(before)[-_MOST_CHARACTERS:].strip()
    asked = words.rfind("?")
    words = words if asked < 0 else words[: asked + 1]
    return _sentence(words, len(words), len(words)) or None
