"""Whether the clause that a quote is cut from affirms or denies a symptom."""

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.services.cues.reading import TurnReading, read_around, read_turn
from ai_psychiatrist.services.cues.statement import answer_of

__all__ = ["TurnReading", "answer_of", "polarity_of", "read_turn"]


def polarity_of(words: str, start: int, end: int) -> Polarity:
    """Read the polarity of `words[start:end]` from the whole clauses it lies in.

    Phrases inside the span decide; where it holds none, those of its clauses do. So
    "feel hopeless", cut from "I don't feel hopeless", is denied.
    """
    return read_around(words, start, end).polarity_of(start, end)
