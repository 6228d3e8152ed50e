"""What a stretch of an answer says."""

from dataclasses import dataclass
from enum import StrEnum

from ai_psychiatrist.interview.phq8.day_counts import ANY, NO_ANSWER, Scores


class Kind(StrEnum):
    """What a stretch is good for."""

    CLAIM = "claim"
    """It says how often the difficulty was there."""
    BARE = "bare"
    """It is a frequency alone, which belongs to what stands beside it."""
    NO = "no"
    YES = "yes"
    TROUBLE = "trouble"
    """The difficulty is there, and nothing says how often."""
    WELL = "well"
    """The difficulty is not there."""
    PAST = "past"
    VAGUE = "vague"
    DOUBT = "doubt"
    """It takes any frequency beside it into doubt."""
    UNKNOWN = "unknown"
    OTHER = "other"
    """It is about somebody else or another item."""
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a stretch says; `scores` are those that it leaves open."""

    kind: Kind
    scores: Scores = ANY
    denied: Scores = NO_ANSWER
    """The scores that it takes away from those that were said before it."""
    is_correction: bool = False
    """Whether what it says takes the place of what was said before it."""
    is_weak: bool = False
    """Whether its correction may as well be an explanation, as "I mean" may."""
    is_withdrawal: bool = False
    """Whether nothing that was said before it stands any more."""
    is_return: bool = False
    """Whether the speaker comes to the point with it."""
    is_placed_elsewhere: bool = False
    """Whether, after a "no", it says that what was said before belongs elsewhere."""
    is_interjection: bool = False
    """Whether it is a "no" by itself."""
    is_full_no: bool = False
    """Whether it denies every single day, in more words than "no"."""
