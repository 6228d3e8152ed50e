"""The parts of an assessment."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, TypeAlias


class Part(StrEnum):
    """What an assessment is made of."""

    FINDINGS = "findings"
    JUDGEMENT = "judgement"
    SCORES = "scores"
    META_REVIEW = "meta_review"


FULL: Final = frozenset(Part)

OnFinished: TypeAlias = Callable[[Part], None]
"""Is told of each part as it is done."""
