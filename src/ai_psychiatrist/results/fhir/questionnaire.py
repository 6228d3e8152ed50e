"""A QuestionnaireResponse, for those who ask for one: it asserts that somebody answered."""

from collections.abc import Iterator

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.results.fhir import codes
from ai_psychiatrist.results.fhir.elements import (
    Element,
    about,
    answer_of,
    asserted_by_software,
    reference,
)
from ai_psychiatrist.results.fhir.observations import score_of
from ai_psychiatrist.results.fhir.source import Source

_PART = "questionnaire-response"


def questionnaire_response(source: Source) -> tuple[str, Element]:
    """Return address and resource.

    It is never complete: its ninth question, which the form requires, is not one of the PHQ-8.
    """
    label: Element = {"meta": asserted_by_software()} if source.rated is None else {}
    return source.own_url(_PART), {
        "resourceType": "QuestionnaireResponse",
        **label,
        "questionnaire": codes.QUESTIONNAIRE,
        "status": "in-progress",
        **about(source.wanted.subject),
        "author": reference(source.practitioner or source.device),
        "item": list(_items(source)),
    }


def _items(source: Source) -> Iterator[Element]:
    for item in Item:
        score = score_of(item, source)
        answer: Element = {} if score is None else {"answer": [{"valueCoding": answer_of(score)}]}
        yield {"linkId": f"/{codes.LOINC_OF_ITEM[item]}", "text": item.label, **answer}
