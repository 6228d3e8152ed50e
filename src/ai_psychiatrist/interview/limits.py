"""How much an interview may cost."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewLimits:
    """Bounds of one interview."""

    max_calls: int = 200
    """Model calls of one interview, its report included."""
    turn_timeout_seconds: float = 60.0
    max_answer_characters: int = 4_000
    speculates: bool = True
    """Whether the next question is asked for while an offered answer is worked in."""
    join_seconds: float = 0.0
    """How long after a message that may go on further ones are waited for, to join them."""
