"""An assessment of which one part was wanted: its account and that part on one level."""

from dataclasses import dataclass, fields
from typing import Any

from ai_psychiatrist.domain.assessment import Account, Assessment
from ai_psychiatrist.domain.belief import TotalInterval
from ai_psychiatrist.domain.items import ItemTable, ItemTotals
from ai_psychiatrist.domain.narrative import NarrativeQuote, QualitativeAssessment


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QuantitativeResult(ItemTotals, Account):
    """Result of a quantitative assessment."""

    accepted: bool
    """Whether a reply answers each item; items without an answer keep the evidence."""
    total_interval: TotalInterval | None
    """Where the beliefs of the items let the total lie; the items are taken as independent."""
    items: ItemTable
    """Key of the item → its result."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QualitativeResult(Account):
    """Result of a qualitative assessment."""

    overall: str
    """The narrative of the whole."""
    phq8_symptoms: str
    """What was said of the symptoms of the PHQ-8."""
    social_factors: str
    """What was said of people, work and living."""
    biological_factors: str
    """What was said of body, illness and medicine."""
    risk_factors: str
    """What was said of risk."""
    supporting_quotes: tuple[NarrativeQuote, ...]
    """Quotes that the narrative gives, each checked."""
    dropped_quotes: int
    """How many unverified quotes were removed, when that is switched on."""


def quantitative_result(assessment: Assessment) -> QuantitativeResult:
    """Return the item scores of an assessment that has them, with its account."""
    part = assessment.quantitative
    if part is None:
        msg = "the assessment has no item scores"
        raise ValueError(msg)
    return QuantitativeResult(
        **_values(Account, assessment),
        accepted=part.accepted,
        total_interval=part.total_interval,
        items=part.items,
    )


def qualitative_result(assessment: Assessment) -> QualitativeResult:
    """Return the narrative of an assessment that has one, with its account."""
    if assessment.qualitative is None:
        msg = "the assessment has no narrative"
        raise ValueError(msg)
    narrative = _values(QualitativeAssessment, assessment.qualitative)
    return QualitativeResult(**_values(Account, assessment), **narrative)


def _values(shape: type[Account | QualitativeAssessment], of: object) -> dict[str, Any]:
    return {one.name: getattr(of, one.name) for one in fields(shape)}
