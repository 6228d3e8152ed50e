"""Bundles that mean nothing are refused with place and reason, whatever the schema says."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.fakes.full_results import DIGEST, result_with, rows_of

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.results.fhir.bundle import bundle_of
from ai_psychiatrist.results.fhir.check import UnsoundBundle, faults_of, require_sound
from ai_psychiatrist.results.fhir.source import Wanted

Bundle = dict[str, Any]
FIRST, LAST_ITEM, TOTAL, DANGER, FORM, DOCUMENT, DEVICE, ORIGIN = 0, 7, 8, 9, 10, 11, 12, 13


def whole(**wanted: Any) -> Bundle:
    """Return a sound bundle: scores 0-3, the last item 3, with a form."""
    made = bundle_of(
        result_with([0, 1, 2, 3, 0, 1, 2, 3]),
        transcript_sha256=DIGEST,
        wanted=Wanted(questionnaire=True, **wanted),
    )
    return dict(json.loads(json.dumps(made)))


def at(bundle: Bundle, place: str) -> tuple[Any, Any]:
    """Return what holds a place and the last step to it: `8.valueInteger` counts entries."""
    number, *steps = [int(step) if step.isdecimal() else step for step in place.split(".")]
    holder = bundle["entry"][number]["resource"]
    for step in steps[:-1]:
        holder = holder[step]
    return holder, steps[-1]


def put(place: str, value: object) -> Callable[[Bundle], None]:
    """Return a change that puts a value in a place."""

    def change(bundle: Bundle) -> None:
        holder, last = at(bundle, place)
        holder[last] = value

    return change


def drop(place: str) -> Callable[[Bundle], None]:
    """Return a change that takes a place away."""

    def change(bundle: Bundle) -> None:
        holder, last = at(bundle, place)
        del holder[last]

    return change


def drop_entry(number: int) -> Callable[[Bundle], None]:
    """Return a change that takes a resource away."""
    return lambda bundle: bundle["entry"].pop(number)


def same_address(bundle: Bundle) -> None:
    bundle["entry"][FIRST]["fullUrl"] = bundle["entry"][LAST_ITEM]["fullUrl"]


def as_searchset(bundle: Bundle) -> None:
    bundle["type"] = "searchset"


def twice(bundle: Bundle) -> None:
    again = copy.deepcopy(bundle["entry"][FIRST])
    again["fullUrl"] = "urn:uuid:00000000-0000-4000-8000-000000000000"
    bundle["entry"].append(again)


def of_a_range(low: int, high: int) -> Callable[[Bundle], None]:
    def change(bundle: Bundle) -> None:
        total = bundle["entry"][TOTAL]["resource"]
        del total["valueInteger"]
        total["valueRange"] = {"low": {"value": low}, "high": {"value": high}}

    return change


ABSENT = {
    "coding": [
        {
            "system": "http://terminology.hl7.org/CodeSystem/data-absent-reason",
            "code": "unknown",
        },
        {"system": "urn:ai-psychiatrist:code:unknown-reason", "code": "no_mention"},
    ]
}
NOWHERE = {"reference": "urn:uuid:00000000-0000-4000-8000-000000000000"}
OWN_VALUE = "valueCodeableConcept.coding.0.code"
LOINC_VALUE = "valueCodeableConcept.coding.1"

WRONG: dict[str, tuple[Callable[[Bundle], None], str, str]] = {
    "another type of bundle": (as_searchset, "type", "collection"),
    "a status that is none": (put("0.status", "nonsense"), "0.resource.Observation.status", "'fin"),
    "a field that FHIR does not have": (put("0.severity", 3), "severity", "not permitted"),
    "no code": (drop("0.code"), "0.resource.Observation.code", "required"),
    "a code of nobody": (put("0.code.coding.0.code", "PHQ8_Joy"), "code", "known"),
    "the LOINC code of another item": (
        put("0.code.coding.1.code", "44259-0"),
        "code",
        "another item",
    ),
    "a value and a reason": (put("0.dataAbsentReason", ABSENT), "dataAbsentReason", "value, too"),
    "neither": (drop("0.valueCodeableConcept"), "value[x]", "neither"),
    "two values": (
        put("8.valueRange", {"low": {"value": 1}, "high": {"value": 2}}),
        "value",
        "one",
    ),
    "a score of 4": (put(f"0.{OWN_VALUE}", "4"), "valueCodeableConcept", "none of 0"),
    "an answer of another score": (put(f"0.{LOINC_VALUE}.code", "LA6571-9"), "value", "another"),
    "an ordinal of another score": (
        put(f"0.{LOINC_VALUE}.extension.0.valueDecimal", 3),
        "value",
        "ordinal",
    ),
    "a number where a code belongs": (put("7.valueInteger", 3), "value[x]", "more than one"),
    "a reason of nobody": (
        lambda bundle: bundle["entry"][FIRST]["resource"].update(
            dataAbsentReason={"coding": [{"system": "urn:x", "code": "because"}]}
        ),
        "dataAbsentReason",
        "none of",
    ),
    "a total above all": (put("8.valueInteger", 25), "valueInteger", "24"),
    "a total that is a text": (put("8.valueInteger", "12"), "valueInteger", "integer"),
    "a total that is no sum": (put("8.valueInteger", 11), "entry", "add up"),
    "a range that falls": (of_a_range(15, 12), "valueRange", "rise"),
    "a range that is no sum": (of_a_range(12, 15), "entry", "add up"),
    "a level of nobody": (
        put("9.valueCodeableConcept.coding.0.code", "extreme"),
        "valueCodeableConcept",
        "level",
    ),
    "software without its label": (drop("0.meta"), "meta.security", "AIAST"),
    "a label of nobody": (put("0.meta.security.0.code", "TRUSTME"), "security", "AIAST"),
    "a final word of software": (put("0.status", "final"), "status", "person"),
    "a device that is not there": (put("0.device", NOWHERE), "device", "leads to nothing"),
    "a document that is not there": (put("0.derivedFrom.0", NOWHERE), "derivedFrom", "nothing"),
    "a performer that is not there": (
        put("0.performer.0.extension.0.valueReference", NOWHERE),
        "performer.extension",
        "nothing",
    ),
    "a form by nobody": (put("10.author", NOWHERE), "author", "nothing"),
    "a target that is not there": (put("13.target.0", NOWHERE), "target", "nothing"),
    "an address twice": (same_address, "fullUrl", "another entry"),
    "an item twice": (twice, "entry", "one Observation"),
    "an item missing": (drop_entry(LAST_ITEM), "entry", "PHQ8_Moving"),
    "no total": (drop_entry(TOTAL), "entry", "phq8-total"),
    "no danger": (drop_entry(DANGER), "entry", "danger-signs"),
    "no program": (drop_entry(DEVICE), "entry", "one Device"),
    "no transcript": (drop_entry(DOCUMENT), "entry", "one DocumentReference"),
    "nobody tells the origin": (drop_entry(ORIGIN), "entry.0", "no Provenance"),
    "a digest that is none": (put("11.masterIdentifier.value", "5f5f"), "value", "pattern"),
    "the words of the interview": (
        put("11.content.0.attachment.data", "SSBhbSB0aXJlZA=="),
        "data",
        "not permitted",
    ),
    "a time that is none": (put("13.recorded", "yesterday"), "recorded", "pattern"),
    "a time, and a reason why there is none": (
        put("13.recorded", "2026-03-04T05:06:07Z"),
        "recorded",
        "or else",
    ),
    "a part of nobody": (put("13.agent.0.type.coding.0.code", "boss"), "agent", "assembler"),
    "a form that is complete": (put("10.status", "completed"), "status", "in-progress"),
    "a question of nobody": (put("10.item.0.linkId", "/1"), "item", "first eight"),
    "an answer of nobody": (
        put("10.item.0.answer.0.valueCoding.code", "LA0"),
        "item",
        "none of LOINC",
    ),
}


@pytest.mark.parametrize(("change", "place", "reason"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_bundle_is_refused_with_place_and_reason(
    change: Callable[[Bundle], None], place: str, reason: str
) -> None:
    bundle = whole()
    assert not faults_of(bundle)
    change(bundle)
    with pytest.raises(UnsoundBundle) as refused:
        require_sound(bundle)
    found = [str(fault) for fault in refused.value.faults]
    assert [one for one in found if place in one.split(": ")[0] and reason in one], found


def test_a_refusal_repeats_nothing_of_the_bundle() -> None:
    bundle = whole(with_words=True)
    bundle["entry"][FIRST]["resource"]["status"] = "quillaya-said"
    bundle["entry"][FIRST]["resource"]["note"] = "quillaya-said"
    with pytest.raises(UnsoundBundle) as refused:
        require_sound(bundle)
    assert "quillaya" not in str(refused.value)


def test_a_rater_vouches_for_no_signs_of_danger() -> None:
    bundle = bundle_of(
        result_with([0] * 8), transcript_sha256=DIGEST, ratings=rows_of("key-1", [1] * len(Item))
    )
    changed = json.loads(json.dumps(bundle))
    changed["entry"][DANGER]["resource"]["status"] = "final"
    reasons = [fault.reason for fault in faults_of(changed)]
    assert "no rater vouches for the signs of danger" in reasons
