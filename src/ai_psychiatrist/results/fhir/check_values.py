"""What each observation has to say: one value or a reason why there is none, in known codes."""

from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.domain.phq8 import MAX_TOTAL_SCORE, Item, UnknownReason
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.results.fhir import codes
from ai_psychiatrist.results.fhir.shapes import BundleShape, Concept, Extended, Observation

_ITEMS: Final = {item.value: item for item in Item}
_ABSENT: Final = frozenset({"unknown", "unsupported", "error"})
_REASONS: Final = {*UnknownReason, codes.CANNOT_TELL, RiskLevel.NOT_EXAMINED}
_LEVELS: Final = frozenset(RiskLevel) - {RiskLevel.NOT_EXAMINED}


def observation_faults(bundle: BundleShape) -> Iterator[tuple[str, str]]:
    """Yield place and reason of what is wrong in an observation alone."""
    for number, entry in enumerate(bundle.entry):
        if isinstance(entry.resource, Observation):
            place = f"entry.{number}.resource"
            for field, reason in _faults(entry.resource):
                yield f"{place}.{field}", reason


def score_of(concept: Concept | None) -> int | None:
    """Return the score that an answer stands for, `None` where it is none."""
    code = None if concept is None else concept.code_of(codes.OWN_SCORE)
    return int(code) if code in {"0", "1", "2", "3"} else None


def _faults(one: Observation) -> Iterator[tuple[str, str]]:
    yield from _one_value(one)
    yield from _asserted(one)
    if one.absent is not None:
        yield from _reason(one.absent)
    match one.own_code:
        case codes.TOTAL:
            yield from _total(one)
        case codes.DANGER:
            yield from _danger(one)
        case code if code in _ITEMS:
            yield from _item(one, _ITEMS[code])
        case _:
            yield "code", f"it has no code of {codes.OWN} that is known"


def _one_value(one: Observation) -> Iterator[tuple[str, str]]:
    values = (one.value_concept, one.value_integer, one.value_range)
    count = sum(value is not None for value in values)
    if count > 1:
        yield "value[x]", "there is more than one value"
    if count and one.absent is not None:
        yield "dataAbsentReason", "there is a value, too"
    if not count and one.absent is None:
        yield "value[x]", "there is neither a value nor a dataAbsentReason"


def _asserted(one: Observation) -> Iterator[tuple[str, str]]:
    by_program = [isinstance(performer, Extended) for performer in one.performer]
    if one.status == "preliminary" and one.meta is None:
        yield "meta.security", "what software asserts is labelled AIAST"
    if one.status == "preliminary" and not all(by_program):
        yield "status", "what a person vouches for is final"
    if one.status == "final" and any(by_program):
        yield "status", "only what a person vouches for is final"


def _reason(absent: Concept) -> Iterator[tuple[str, str]]:
    if absent.code_of(codes.ABSENT) not in _ABSENT:
        yield "dataAbsentReason", "its code is none of FHIR's that are used"
    if absent.code_of(codes.OWN_REASON) not in _REASONS:
        yield "dataAbsentReason", f"its code is none of {codes.OWN_REASON}"


def _item(one: Observation, item: Item) -> Iterator[tuple[str, str]]:
    if one.code.code_of(codes.LOINC) != codes.LOINC_OF_ITEM[item]:
        yield "code", "its LOINC code is another item's"
    if one.value_integer is not None or one.value_range is not None:
        yield "value[x]", "an item's value is a CodeableConcept"
    if one.value_concept is None:
        return
    score = score_of(one.value_concept)
    if score is None:
        yield "valueCodeableConcept", "its score is none of 0, 1, 2 and 3"
        return
    answers = [given for given in one.value_concept.coding if given.system == codes.LOINC]
    if [given.code for given in answers] != [codes.LOINC_OF_SCORE[score]]:
        yield "valueCodeableConcept", "its LOINC answer is another score's"
    if any(part.value_decimal != score for given in answers for part in given.extension):
        yield "valueCodeableConcept", "its ordinal value is another score's"


def _total(one: Observation) -> Iterator[tuple[str, str]]:
    if one.value_concept is not None:
        yield "value[x]", "a total is an integer or a range"
    if one.value_range is not None:
        low, high = one.value_range.low.value, one.value_range.high.value
        if not 0 <= low <= high <= MAX_TOTAL_SCORE:
            yield "valueRange", "it has to rise, within 0 to 24"


def _danger(one: Observation) -> Iterator[tuple[str, str]]:
    if one.status != "preliminary":
        yield "status", "no rater vouches for the signs of danger"
    if one.value_integer is not None or one.value_range is not None:
        yield "value[x]", "a level is a CodeableConcept"
    if one.value_concept is not None and (
        one.value_concept.code_of(codes.OWN_DANGER) not in _LEVELS
    ):
        yield "valueCodeableConcept", f"its level is none of {codes.OWN_DANGER}"
