"""Small parts that resources are made of, as plain dictionaries."""

import unicodedata
from typing import TypeAlias

from ai_psychiatrist.results.fhir import codes

Element: TypeAlias = dict[str, object]


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


def about(subject: str | None) -> Element:
    """Return whom a resource is about, where that is said."""
    return {} if subject is None else {"subject": reference(subject)}


def note(text: str) -> Element:
    """Return a text as a note, with only those characters that FHIR has room for.

    It allows no control characters, and readers differ on blanks other than the plain one.
    """
    return {"text": "".join(map(_allowed, text))}


def _allowed(character: str) -> str:
    if character in " \t\r\n":
        return character
    if character.isspace():
        return " "
    return "\ufffd" if unicodedata.category(character) == "Cc" else character


def answer_of(score: int) -> Element:
    """Return the LOINC answer of a score, 0-3, with the number that it counts as."""
    counts = {"url": codes.ORDINAL_VALUE, "valueDecimal": score}
    return {"extension": [counts], **coding(codes.LOINC, codes.LOINC_OF_SCORE[score])}


def absent_element(code: str) -> Element:
    """Return what stands beside a primitive value that is not there."""
    return {"extension": [{"url": codes.DATA_ABSENT, "valueCode": code}]}


def asserted_by_software() -> Element:
    """Return the label of what software asserts, for `meta`."""
    return {"security": [coding(codes.ASSERTED_BY, codes.BY_SOFTWARE)]}
