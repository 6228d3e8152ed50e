"""Refuse a bundle that is not as it has to be, with the place and the reason.

The official schema lets much through that means nothing: a total that is no sum, a reference that
leads nowhere. So every bundle is looked at before it leaves.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.results.fhir.check_values import observation_faults
from ai_psychiatrist.results.fhir.check_whole import whole_faults
from ai_psychiatrist.results.fhir.shapes import BundleShape, Extension, Reference, Shape


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong in one place; neither holds a value of the bundle."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


class UnsoundBundle(AssessmentServiceError):
    """A bundle that must not leave."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__(f"the bundle is not sound: {'; '.join(map(str, faults[:5]))}")
        self.faults = faults


def require_sound(bundle: Mapping[str, object]) -> None:
    """Raise `UnsoundBundle` for a bundle with faults."""
    faults = faults_of(bundle)
    if faults:
        raise UnsoundBundle(faults)


def faults_of(bundle: Mapping[str, object]) -> tuple[Fault, ...]:
    """Return what is wrong with a bundle; nothing for one that is sound."""
    try:
        shape = BundleShape.model_validate(bundle)
    except ValidationError as error:
        listed = error.errors(include_url=False, include_input=False)
        return tuple(Fault(".".join(map(str, one["loc"])), one["msg"]) for one in listed)
    found = (*_addresses(shape), *_references(shape), *observation_faults(shape))
    return tuple(Fault(place, reason) for place, reason in (*found, *whole_faults(shape)))


def _addresses(bundle: BundleShape) -> Iterator[tuple[str, str]]:
    times = Counter(entry.full_url for entry in bundle.entry)
    for number, entry in enumerate(bundle.entry):
        if times[entry.full_url] > 1:
            yield f"entry.{number}.fullUrl", "another entry has it, too"


def _references(bundle: BundleShape) -> Iterator[tuple[str, str]]:
    known = {entry.full_url for entry in bundle.entry}
    for number, entry in enumerate(bundle.entry):
        for place, target in _led_to(entry.resource, f"entry.{number}.resource"):
            if target not in known:
                yield place, "it leads to nothing in the bundle"


def _led_to(part: Shape, place: str) -> Iterator[tuple[str, str]]:
    for name, field in type(part).model_fields.items():
        # Whom the bundle is about is somewhere else.
        if name == "subject":
            continue
        value: object = getattr(part, name)
        here = f"{place}.{field.alias or name}"
        for one in value if isinstance(value, tuple) else (value,):
            match one:
                case Reference(reference=target):
                    yield here, target
                case Extension(value_reference=Reference(reference=target)):
                    yield here, target
                case Shape():
                    yield from _led_to(one, here)
