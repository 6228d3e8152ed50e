"""The assessment that an interview starts from: of a result's JSON, only what is needed is read."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    model_validator,
)

from ai_psychiatrist.domain.assessment import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.domain.evidence import Quote
from ai_psychiatrist.domain.interview_items import AssessedItem, AssessmentInput
from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item, UnknownReason

_LONGEST_QUOTE: Final = 20_000
_MOST_QUOTES: Final = 1_000
_MOST_QUOTED: Final = 400_000
"""Characters of all quotes together."""


class _Given(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", hide_input_in_errors=True, use_attribute_docstrings=True
    )


class GivenQuote(_Given):
    """Words of the transcript that carry a score."""

    text: Annotated[StrictStr, Field(max_length=_LONGEST_QUOTE)]
    """The words of the quote."""


class GivenItem(_Given):
    """One item as the assessment left it."""

    score: Annotated[StrictInt, Field(ge=0, le=MAX_ITEM_SCORE)] | None
    """0-3, or null for unknown."""
    unknown_reason: UnknownReason | None = None
    """Why there is no score."""
    evidence: Annotated[tuple[GivenQuote, ...], Field(fail_fast=True, max_length=_MOST_QUOTES)] = ()
    """The quotes that carry the score."""


class GivenScores(_Given):
    """The item scores; null when their part of the assessment did not finish."""

    items: Annotated[dict[Item, GivenItem], Field(fail_fast=True, max_length=len(Item))] | None = (
        None
    )
    """Key of the item → what the assessment says of it."""


class GivenAssessment(GivenScores):
    """The result of `/full_pipeline`, `/assess/quantitative` or `assess --json`."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["items"]}, {"required": ["quantitative"]}]}
    )

    quantitative: GivenScores | None = None
    """The scores of a whole assessment."""

    @model_validator(mode="after")
    def _is_an_assessment(self) -> Self:
        if not {"items", "quantitative"} & self.model_fields_set:
            msg = "there are no item scores"
            raise ValueError(msg)
        quotes = (quote for item in self._scored().values() for quote in item.evidence)
        if sum(len(quote.text) for quote in quotes) > _MOST_QUOTED:
            msg = "the quotes are longer than a transcript"
            raise ValueError(msg)
        return self

    def as_input(self) -> AssessmentInput:
        """Return the items; one that is not listed counts as unknown."""
        items = self._scored().items()
        return AssessmentInput(items={item: _assessed(one, one.evidence) for item, one in items})

    def _scored(self) -> Mapping[Item, GivenItem]:
        if self.items is None and self.quantitative is not None:
            return self.quantitative.items or {}
        return self.items or {}


def assessment_input(scores: PHQ8Assessment) -> AssessmentInput:
    """Return what an interview needs of an assessment made just now."""
    return AssessmentInput(items={item.item: _assessed(item, item.quotes) for item in scores.items})


def _assessed(
    item: GivenItem | ItemAssessment, quotes: Iterable[GivenQuote | Quote]
) -> AssessedItem:
    return AssessedItem(
        score=item.score,
        unknown_reason=item.unknown_reason,
        evidence=tuple(quote.text for quote in quotes),
    )
