"""Codes of the bundle: those of others, and our own for what nobody else has a code for."""

from typing import Final

from ai_psychiatrist.domain.phq8 import Item, NotExaminedCause, UnknownReason

LOINC: Final = "http://loinc.org"
ASSERTED_BY: Final = "http://terminology.hl7.org/CodeSystem/v3-ObservationValue"
BY_SOFTWARE: Final = "AIAST"
ABSENT: Final = "http://terminology.hl7.org/CodeSystem/data-absent-reason"
CATEGORY: Final = "http://terminology.hl7.org/CodeSystem/observation-category"
AGENT_TYPE: Final = "http://terminology.hl7.org/CodeSystem/provenance-participant-type"
URI: Final = "urn:ietf:rfc:3986"

ORDINAL_VALUE: Final = "http://hl7.org/fhir/StructureDefinition/ordinalValue"
ALTERNATE_REFERENCE: Final = "http://hl7.org/fhir/StructureDefinition/alternate-reference"
DATA_ABSENT: Final = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"

OWN: Final = "urn:ai-psychiatrist:code:observation"
OWN_SCORE: Final = "urn:ai-psychiatrist:code:phq8-score"
OWN_REASON: Final = "urn:ai-psychiatrist:code:unknown-reason"
OWN_DANGER: Final = "urn:ai-psychiatrist:code:danger-level"
OWN_DEVICE: Final = "urn:ai-psychiatrist:code:device-property"
RATER: Final = "urn:ai-psychiatrist:rater"
ASSESSMENT: Final = "urn:ai-psychiatrist:assessment"

TOTAL: Final = "phq8-total"
DANGER: Final = "danger-signs"
CANNOT_TELL: Final = "rater_cannot_tell"

QUESTIONNAIRE: Final = "http://loinc.org/q/44249-1"
"""The PHQ-9, whose first eight items are those of the PHQ-8."""

LOINC_OF_ITEM: Final = {
    Item.NO_INTEREST: "44250-9",
    Item.DEPRESSED: "44255-8",
    Item.SLEEP: "44259-0",
    Item.TIRED: "44254-1",
    Item.APPETITE: "44251-7",
    Item.FAILURE: "44258-2",
    Item.CONCENTRATING: "44252-5",
    Item.MOVING: "44253-3",
}
LOINC_OF_SCORE: Final = ("LA6568-5", "LA6569-3", "LA6570-1", "LA6571-9")
"""The answers to each item, by their score."""
WORDS_OF_SCORE: Final = (
    "not at all",
    "several days",
    "more than half the days",
    "nearly every day",
)

_ABSENT_OF_REASON: Final = {
    UnknownReason.NOT_EXAMINED: "unsupported",
    UnknownReason.SCORING_FAILED: "error",
}


def absent_of(reason: UnknownReason, cause: NotExaminedCause | None = None) -> str:
    """Return the code of FHIR that comes closest to why an item has no score."""
    if cause is NotExaminedCause.READER_FAILED:
        return "error"
    return _ABSENT_OF_REASON.get(reason, "unknown")
