"""What a cue phrase does in its clause, and what a clause's phrases come to."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity


class Cue(StrEnum):
    """What a phrase does to the polarity of its clause; the values are keys of the cue file."""

    NEGATOR = "negator"
    WEAK_NEGATOR = "weak_negator"
    INABILITY = "inability"
    DETERMINER = "determiner"
    ANSWER_NO = "answer_no"
    ANSWER_YES = "answer_yes"
    HEDGE = "hedge"
    NEUTRAL = "neutral"
    AFFIRMED = "affirmed"
    DENIED = "denied"
    MINIMISER = "minimiser"
    RETRACTION = "retraction"
    MIXED = "mixed"
    EXCEPTION = "exception"
    UNCERTAIN = "uncertain"
    LOSS = "loss"
    UNREAL = "unreal"
    HYPOTHETICAL = "hypothetical"
    NOT_HYPOTHETICAL = "not_hypothetical"
    ABILITY = "ability"
    OBSTACLE = "obstacle"
    EXCESS = "excess"
    SYMPTOM = "symptom"
    WELL = "well"
    FUNCTION = "function"
    OPENER = "opener"
    UNIVERSAL = "universal"
    SUBJECT = "subject"
    LINK = "link"
    CONTRAST = "contrast"


NEGATORS: Final = frozenset({Cue.NEGATOR, Cue.WEAK_NEGATOR, Cue.INABILITY, Cue.DETERMINER})
VALENCES: Final = frozenset({Cue.SYMPTOM, Cue.OBSTACLE, Cue.WELL, Cue.FUNCTION, Cue.EXCESS})

VERDICTS: Final = frozenset(
    {Cue.AFFIRMED, Cue.DENIED, Cue.RETRACTION, Cue.MIXED, Cue.EXCEPTION, Cue.MINIMISER}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What one phrase says about a symptom; offsets are characters into the clause."""

    start: int
    end: int
    polarity: Polarity
