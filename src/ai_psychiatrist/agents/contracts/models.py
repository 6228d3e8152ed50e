"""The forms of answers that are checked as a whole and that no agent replies with as they are."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ai_psychiatrist.agents.output_models import Scale3, Scale4, Scale5, Words
from ai_psychiatrist.domain.phq8 import MAX_TOTAL_SCORE, Item, UnknownReason

Total = Annotated[int, Field(strict=True, ge=0, le=MAX_TOTAL_SCORE)]
ItemStatus = Literal["scored", "na"]


class _Contract(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ItemAnswer(_Contract):
    """What a scoring reply says about one item."""

    item: Item
    status: ItemStatus
    score: Scale3 | None
    evidence: tuple[Words, ...]
    reason: str
    confidence: Scale5 | None


class ItemResult(_Contract):
    """One item of a whole assessment."""

    item: Item
    status: ItemStatus
    score: Scale3 | None
    unknown_reason: UnknownReason | None


class AssessmentResult(_Contract):
    """Eight items, the range of their total, and total and band where no item is unknown."""

    items: tuple[ItemResult, ...]
    total: Total | None
    total_min: Total
    total_max: Total
    severity: Scale4 | None
