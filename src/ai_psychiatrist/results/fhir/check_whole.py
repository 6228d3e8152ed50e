"""What the resources of a bundle have to be together."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.domain.phq8 import Item, total_of
from ai_psychiatrist.domain.phq8 import UnknownReason as Reason
from ai_psychiatrist.results.fhir import codes
from ai_psychiatrist.results.fhir.check_values import score_of
from ai_psychiatrist.results.fhir.shapes import (
    BundleShape,
    Device,
    DocumentReference,
    Observation,
    Practitioner,
    Provenance,
    QuestionnaireResponse,
)

_WANTED: Final = (*(item.value for item in Item), codes.TOTAL, codes.DANGER)
_PARTS: Final = frozenset({"assembler", "verifier"})
_LINKS: Final = [f"/{code}" for code in codes.LOINC_OF_ITEM.values()]


def whole_faults(bundle: BundleShape) -> Iterator[tuple[str, str]]:
    """Yield place and reason of what is there too often, missing, or contradicts itself."""
    resources = [entry.resource for entry in bundle.entry]
    observed = [one for one in resources if isinstance(one, Observation)]
    yield from _each_once(observed)
    yield from _sum(observed)
    for kind in (Device, DocumentReference):
        if sum(isinstance(one, kind) for one in resources) != 1:
            yield "entry", f"there has to be one {kind.__name__}"
    if sum(isinstance(one, Practitioner) for one in resources) > 1:
        yield "entry", "each rater has a bundle of their own"
    yield from _told(bundle)
    for number, one in enumerate(resources):
        if isinstance(one, Provenance):
            yield from _record(one, f"entry.{number}.resource")
        if isinstance(one, QuestionnaireResponse):
            yield from _form(one, f"entry.{number}.resource.item")


def _each_once(observed: list[Observation]) -> Iterator[tuple[str, str]]:
    times = Counter(one.own_code for one in observed)
    for code in _WANTED:
        if times[code] != 1:
            yield "entry", f"there has to be one Observation of {code}"


def _sum(observed: list[Observation]) -> Iterator[tuple[str, str]]:
    found = {one.own_code: one for one in observed}
    total = found.get(codes.TOTAL)
    if total is None or not set(_WANTED) <= set(found):
        return
    if total.absent is not None:
        if any(not _has_failed(found[item.value]) for item in Item):
            yield "entry", "the total is absent, and items are not"
        return
    expected = total_of(score_of(found[item.value].value_concept) for item in Item)
    if total.value_range is not None:
        said = (total.value_range.low.value, total.value_range.high.value)
    else:
        said = (total.value_integer or 0, total.value_integer or 0)
    if said != (expected.minimum, expected.maximum):
        yield "entry", "the total is not what the items add up to"


def _has_failed(one: Observation) -> bool:
    return one.absent is not None and (
        one.absent.code_of(codes.OWN_REASON) == Reason.SCORING_FAILED
    )


def _told(bundle: BundleShape) -> Iterator[tuple[str, str]]:
    """Yield each observation, and each form, whose origin nobody tells."""
    targets = {
        target.reference
        for entry in bundle.entry
        if isinstance(entry.resource, Provenance)
        for target in entry.resource.target
    }
    for number, entry in enumerate(bundle.entry):
        is_made = isinstance(entry.resource, Observation | QuestionnaireResponse)
        if is_made and entry.full_url not in targets:
            yield f"entry.{number}", "no Provenance tells where it comes from"


def _record(one: Provenance, place: str) -> Iterator[tuple[str, str]]:
    if (one.recorded is None) == (one.recorded_absent is None):
        yield f"{place}.recorded", "there is a time, or else a reason why there is none"
    if any(agent.type.code_of(codes.AGENT_TYPE) not in _PARTS for agent in one.agent):
        yield f"{place}.agent", "its part is none of assembler and verifier"


def _form(one: QuestionnaireResponse, place: str) -> Iterator[tuple[str, str]]:
    if [question.link_id for question in one.item] != _LINKS:
        yield place, "its questions are not the first eight of the PHQ-9"
    answers = [answer.value_coding for question in one.item for answer in question.answer]
    if any(answer.code not in codes.LOINC_OF_SCORE for answer in answers):
        yield place, "an answer is none of LOINC's for these questions"
