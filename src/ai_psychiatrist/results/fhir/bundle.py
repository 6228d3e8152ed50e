"""A result as a FHIR R4 bundle: plain dictionaries, the same bytes for the same input."""

from collections.abc import Sequence
from typing import Final

import orjson

from ai_psychiatrist.domain.review import ReviewRow
from ai_psychiatrist.results.fhir import codes
from ai_psychiatrist.results.fhir.check import require_sound
from ai_psychiatrist.results.fhir.elements import Element
from ai_psychiatrist.results.fhir.observations import observations
from ai_psychiatrist.results.fhir.origins import origins, provenances
from ai_psychiatrist.results.fhir.questionnaire import questionnaire_response
from ai_psychiatrist.results.fhir.source import AS_USUAL, Source, Wanted, instant, rated_of
from ai_psychiatrist.results.full_result import FullResult

MEDIA_TYPE: Final = "application/fhir+json"


def bundle_of(
    result: FullResult,
    *,
    transcript_sha256: str | None,
    ratings: Sequence[ReviewRow] = (),
    wanted: Wanted = AS_USUAL,
) -> Element:
    """Return what the program says or, with the rows of a rater who has committed, that rater.

    Raises `ValueError` for rows of several raters, each of whom has a bundle of their own, and
    `UnsoundBundle` when the bundle is not as it has to be.
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
    asked = (questionnaire_response(source),) if source.wanted.questionnaire else ()
    parts = (*observed, *asked, *origins(source), *provenances(source, (*observed, *asked)))
    made_at = source.wanted.made_at if source.rated is None else source.rated.at
    bundle: Element = {
        "resourceType": "Bundle",
        "identifier": {"system": codes.ASSESSMENT, "value": source.result.assessment_id},
        "type": "collection",
        **({} if made_at is None else {"timestamp": instant(made_at)}),
        "entry": [{"fullUrl": url, "resource": resource} for url, resource in parts],
    }
    require_sound(bundle)
    return bundle


def bytes_of(bundle: Element, *, is_indented: bool = False) -> bytes:
    """Return a bundle as JSON that ends with a line break; on one line unless indented."""
    indent = orjson.OPT_INDENT_2 if is_indented else 0
    return orjson.dumps(bundle, option=orjson.OPT_APPEND_NEWLINE | indent)
