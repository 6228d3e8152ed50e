"""What the query of a list of stored assessments may say."""

from typing import Annotated, Final, Literal, TypeAlias

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.phq8 import Item, Severity
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.reviews.archive.pages import PageWanted, Rated, Sort
from ai_psychiatrist.reviews.blindness import hidden_phases

MOST_LINES: Final = 500
LONGEST_CURSOR: Final = 200

BandName: TypeAlias = Literal["minimal", "mild", "moderate", "moderately_severe", "severe"]


class ListInQuery(BaseModel):
    """Which part of the list is wanted; nothing unknown."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    limit: int = Field(default=50, ge=1, le=MOST_LINES, description="Most lines of a page.")
    cursor: str | None = Field(
        default=None, max_length=LONGEST_CURSOR, description="The `next` of the page before."
    )
    sort: Sort = Field(
        default=Sort.CREATED, description="What comes first: the newest, or the highest."
    )
    band: BandName | None = Field(
        default=None, description="Only totals that may lie in this band."
    )
    unknown: int | None = Field(
        default=None, ge=0, le=len(Item), description="Only with at least so many unknown items."
    )
    danger: RiskLevel | None = Field(
        default=None, description="Only with signs of danger of at least this level."
    )
    state: RecordState | None = Field(default=None, description="Only in this state.")
    rated: Rated | None = Field(
        default=None, description="Only rated by nobody, by anybody, by you, or not by you."
    )
    blind: bool = Field(
        default=False,
        description="Leave out scores of what you have not rated, so that you still can, blind.",
    )

    def wanted(self, principal: Principal) -> PageWanted:
        """Return the page as the archive takes it."""
        return PageWanted(
            rater=principal.id,
            limit=self.limit,
            cursor=self.cursor,
            sort=self.sort,
            band=None if self.band is None else Severity[self.band.upper()],
            unknown=self.unknown,
            danger=self.danger,
            state=self.state,
            rated=self.rated,
            hidden=hidden_phases(principal, stays_blind=self.blind),
        )


ListOfQuery: TypeAlias = Annotated[ListInQuery, Query()]
