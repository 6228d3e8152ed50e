"""What is said of a concept: stated, denied, another's, supposed, or unclear."""

from dataclasses import dataclass
from enum import StrEnum

from ai_psychiatrist.services.language.matcher import MatchedText


class Status(StrEnum):
    """What is said of a concept."""

    AFFIRMED = "affirmed"
    DENIED = "denied"
    OTHER = "other"
    """It is somebody else's."""
    SUPPOSED = "supposed"
    """It is wished for, feared, or might be."""
    UNCLEAR = "unclear"


class Strength(StrEnum):
    """What a reading stands on, the surest first."""

    STATED = "stated"
    """Words that say it by themselves."""
    INFERRED = "inferred"
    """A doing or a subject, and what is said of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a clause says of a concept; `start` and `end` are characters of the clause."""

    concept: str
    status: Status
    strength: Strength
    start: int
    end: int
    is_past_tense: bool
    """Whether the verb that governs it is in the simple past."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseReading:
    """One clause as it was read."""

    matched: MatchedText
    findings: tuple[Finding, ...]
    is_supposed: bool
    """Whether it opens with a supposition, which may go on in the next clause."""
    experiencer: Status | None
    """The last person in it: `OTHER`, or `AFFIRMED` for the speaker; `None` where nobody is."""

    def spanned(self, found: Finding) -> int:
        """Return over how many words a finding goes."""
        return sum(found.start <= start < found.end for start, _ in self.matched.words.spans)
