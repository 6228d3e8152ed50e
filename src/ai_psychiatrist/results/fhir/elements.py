"""Codes of a bundle, those of others and our own, and the small parts of its resources."""

import unicodedata
from typing import Final, TypeAlias

from ai_psychiatrist.domain.phq8 import Item, NotExaminedCause, UnknownReason

Element: TypeAlias = dict[str, object]

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
SUBJECT: Final = "urn:ai-psychiatrist:subject"

TOTAL: Final = "phq8-total"
TOTAL_WITH_INTERVIEW: Final = "phq8-total-with-interview"
DANGER: Final = "danger-signs"
DANGER_IN_INTERVIEW: Final = "danger-signs-in-interview"
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


def coding(system: str, code: str, display: str | None = None) -> Element:
    """Return a code of a system."""
    shown: Element = {} if display is None else {"display": display}
    return {"system": system, "code": code, **shown}


def concept(*codings: Element, text: str | None = None) -> Element:
    """Return what several codes stand for together."""
    words: Element = {} if text is None else {"text": text}
    return {"coding": list(codings), **words}


def reference(url: str) -> Element:
    """Return a reference to a resource of the same bundle."""
    return {"reference": url}


def about(subject: str | None, study_id: str | None = None) -> Element:
    """Return whom a resource is about, where that is said: a reference, an identifier, or both."""
    named: Element = {} if subject is None else reference(subject)
    if study_id is not None:
        named |= {"identifier": {"system": SUBJECT, "value": allowed(study_id)}}
    return {"subject": named} if named else {}


def note(text: str) -> Element:
    """Return a text as a note."""
    return {"text": allowed(text)}


def allowed(text: str) -> str:
    """Return a text with only those characters that FHIR has room for.

    It allows no control characters, and readers differ on blanks other than the plain one.
    """
    return "".join(map(_allowed, text))


def _allowed(character: str) -> str:
    if character in " \t\r\n":
        return character
    if character.isspace():
        return " "
    return "\ufffd" if unicodedata.category(character) == "Cc" else character


def answer_of(score: int) -> Element:
    """Return the LOINC answer of a score, 0-3, with the number that it counts as."""
    counts = {"url": ORDINAL_VALUE, "valueDecimal": score}
    return {"extension": [counts], **coding(LOINC, LOINC_OF_SCORE[score])}


def absent_element(code: str) -> Element:
    """Return what stands beside a primitive value that is not there."""
    return {"extension": [{"url": DATA_ABSENT, "valueCode": code}]}


def asserted_by_software() -> Element:
    """Return the label of what software asserts, for `meta`."""
    return {"security": [coding(ASSERTED_BY, BY_SOFTWARE)]}
