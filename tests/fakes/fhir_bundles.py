"""What the official schema of FHIR does not see in a bundle of ours, checked from the outside."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ai_psychiatrist.domain.phq8 import Item, total_of

OWN = "urn:ai-psychiatrist:code:"
_LISTED = {*(item.value for item in Item), "phq8-total", "danger-signs"}
_OF_INTERVIEW = ("-answered", "-with-interview", "-in-interview")


def faults_of(bundle: Mapping[str, Any]) -> list[str]:
    """Return what contradicts itself, leads nowhere or is missing; nothing for a sound bundle."""
    return list(_faults(bundle))


def _faults(bundle: Mapping[str, Any]) -> Iterator[str]:
    resources = [entry["resource"] for entry in bundle["entry"]]
    addresses = [entry["fullUrl"] for entry in bundle["entry"]]
    observed = {_code(one["code"], "observation"): one for one in _all(resources, "Observation")}
    if len(set(addresses)) < len(addresses):
        yield "two entries have the same address"
    if not set(_references(resources)) <= set(addresses):
        yield "a reference leads to nothing in the bundle"
    kinds = Counter(one["resourceType"] for one in resources)
    of_interview = {code for code in observed if code.endswith(_OF_INTERVIEW)}
    if kinds["Observation"] != len(observed) or set(observed) - of_interview != _LISTED:
        yield "there has to be one observation of each item, the total and danger"
        return
    documents = 2 if of_interview else 1
    if (kinds["Device"], kinds["DocumentReference"]) != (1, documents) or kinds["Practitioner"] > 1:
        yield "there has to be one device, a document for each interview and no second rater"
    yield from _origins(bundle["entry"])
    for one in observed.values():
        if len([key for key in one if key.startswith("value")]) + ("dataAbsentReason" in one) != 1:
            yield "an observation has one value or the reason why there is none"
    yield from _sum(observed)


def _origins(entries: list[Any]) -> Iterator[str]:
    resources = [entry["resource"] for entry in entries]
    targets = {one["reference"] for made in _all(resources, "Provenance") for one in made["target"]}
    for entry in entries:
        one = entry["resource"]
        if one["resourceType"] not in {"Observation", "QuestionnaireResponse"}:
            continue
        if entry["fullUrl"] not in targets:
            yield "an observation has no provenance"
        if one["status"] == "preliminary" and "meta" not in one:
            yield "what software asserts is not labelled"


def _sum(observed: Mapping[str, Any]) -> Iterator[str]:
    scores = [_score(observed[item.value]) for item in Item]
    total, said = total_of(scores), observed["phq8-total"]
    low = said.get("valueRange", {}).get("low", {}).get("value", said.get("valueInteger"))
    high = said.get("valueRange", {}).get("high", {}).get("value", said.get("valueInteger"))
    if "dataAbsentReason" in said:
        if scores != [None] * len(Item):
            yield "the total is absent, and items are not"
    elif (low, high) != (total.total_score_min, total.total_score_max):
        yield "the total is not what the items add up to"


def _score(observation: Mapping[str, Any]) -> int | None:
    value = observation.get("valueCodeableConcept")
    return None if value is None else int(_code(value, "phq8-score"))


def _code(concept: Mapping[str, Any], system: str) -> str:
    (code,) = (one["code"] for one in concept["coding"] if one["system"] == OWN + system)
    return str(code)


def _all(resources: list[Any], kind: str) -> list[Any]:
    return [one for one in resources if one["resourceType"] == kind]


def _references(part: object) -> Iterator[str]:
    match part:
        case {"reference": str(target)}:
            yield target
        case Mapping():
            # Whom the bundle is about is somewhere else.
            for key, one in part.items():
                if key != "subject":
                    yield from _references(one)
        case list():
            for one in part:
                yield from _references(one)
