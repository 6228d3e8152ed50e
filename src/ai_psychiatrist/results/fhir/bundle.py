"""A result as a FHIR R4 bundle: plain dictionaries, the same bytes for the same input."""

from collections.abc import Iterator, Sequence
from typing import Final

import orjson

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import ReviewRow
from ai_psychiatrist.results.fhir import elements as codes
from ai_psychiatrist.results.fhir.elements import (
    Element,
    answer_of,
    asserted_by_software,
    reference,
)
from ai_psychiatrist.results.fhir.observations import observations
from ai_psychiatrist.results.fhir.origins import origins, provenances
from ai_psychiatrist.results.fhir.source import AS_USUAL, BundleOptions, Source, instant, rated_of

MEDIA_TYPE: Final = "application/fhir+json"


def bundle_of(
    result: Assessment,
    *,
    transcript_sha256: str | None,
    ratings: Sequence[ReviewRow] = (),
    wanted: BundleOptions = AS_USUAL,
) -> Element:
    """Return what the program says or, with the rows of a rater who has committed, that rater.

    Raises `ValueError` for rows of several raters, each of whom has a bundle of their own.
    """
    rated = rated_of(ratings)
    if len(rated) > 1:
        msg = "these are rows of several raters; each has a bundle of their own"
        raise ValueError(msg)
    source = Source(
        result=result,
        transcript_sha256=transcript_sha256,
        wanted=wanted,
        rated=rated[0] if rated else None,
    )
    observed = tuple(observations(source))
    asked = (_questionnaire_response(source),) if source.wanted.questionnaire else ()
    parts = (*observed, *asked, *origins(source), *provenances(source, (*observed, *asked)))
    made_at = source.wanted.made_at if source.rated is None else source.rated.at
    return {
        "resourceType": "Bundle",
        "identifier": {"system": codes.ASSESSMENT, "value": source.result.assessment_id},
        "type": "transaction" if wanted.is_transaction else "collection",
        **({} if made_at is None else {"timestamp": instant(made_at)}),
        "entry": [_entry(url, resource, wanted) for url, resource in parts],
    }


def _entry(url: str, resource: Element, wanted: BundleOptions) -> Element:
    entry: Element = {"fullUrl": url, "resource": resource}
    if wanted.is_transaction:
        entry["request"] = {"method": "POST", "url": resource["resourceType"]}
    return entry


def _questionnaire_response(source: Source) -> tuple[str, Element]:
    """Return address and resource of the form, for those who ask for one.

    It is never complete: its ninth question, which the form requires, is not one of the PHQ-8. The
    questions are named by their link alone: their wording is the questionnaire's.
    """
    label: Element = {"meta": asserted_by_software()} if source.rated is None else {}
    return source.own_url("questionnaire-response"), {
        "resourceType": "QuestionnaireResponse",
        **label,
        "questionnaire": codes.QUESTIONNAIRE,
        "status": "in-progress",
        **source.about,
        "author": reference(source.device if source.rated is None else source.rated.url),
        "item": list(_questions(source)),
    }


def _questions(source: Source) -> Iterator[Element]:
    for item in Item:
        score = source.score(item)
        answer: Element = {} if score is None else {"answer": [{"valueCoding": answer_of(score)}]}
        yield {"linkId": f"/{codes.LOINC_OF_ITEM[item]}", **answer}


def bytes_of(bundle: Element, *, is_indented: bool = False) -> bytes:
    """Return a bundle as JSON that ends with a line break; on one line unless indented."""
    indent = orjson.OPT_INDENT_2 if is_indented else 0
    return orjson.dumps(bundle, option=orjson.OPT_APPEND_NEWLINE | indent)
