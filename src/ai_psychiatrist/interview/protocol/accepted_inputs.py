"""Check what an interview is created with against its protocol."""

import re
from collections.abc import Mapping
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.interview.protocol.records import (
    Input,
    IntegerInput,
    InterviewProtocol,
    TextInput,
)
from ai_psychiatrist.validation.config.nearest import did_you_mean
from ai_psychiatrist.validation.expressions import Scope

_DIGITS: Final = re.compile(r"[0-9]{1,7}\Z")


def accepted_inputs(
    protocol: InterviewProtocol, given: Mapping[str, str | int]
) -> dict[str, str | int]:
    """Return the inputs of an interview, with defaults for those that are not given.

    Whole numbers may come as digits. Raises `InputError` that names the input at fault, without
    its words.
    """
    known = [one.name for one in protocol.inputs]
    for name in given:
        if name not in known:
            listed = did_you_mean(name, known) or f"; it takes {', '.join(known) or 'none'}"
            msg = f"the protocol {protocol.id!r} takes no such input{listed}"
            raise InputError(msg, field=_field(name, known))
    accepted = {one.name: _accepted(one, given.get(one.name)) for one in protocol.inputs}
    _check_rules(protocol, accepted)
    return accepted


def _field(name: str, known: list[str]) -> str:
    """Return where the fault lies; a name that may be anything is not passed on."""
    return f"inputs.{name}" if name in known else "inputs"


def _accepted(expected: Input, value: object) -> str | int:
    field = f"inputs.{expected.name}"
    match expected:
        case TextInput():
            return _text(expected, value, field)
        case IntegerInput():
            return _integer(expected, value, field)


def _text(expected: TextInput, value: object, field: str) -> str:
    text = "" if value is None else value
    if not isinstance(text, str):
        msg = f"{expected.name!r} has to be a text"
        raise InputError(msg, field=field)
    if not text.strip() and expected.is_required:
        msg = f"{expected.name!r} is needed"
        raise InputError(msg, field=field)
    if len(text) > expected.max_length:
        msg = f"{expected.name!r} is longer than {expected.max_length} characters"
        raise InputError(msg, field=field)
    return text.strip()


def _integer(expected: IntegerInput, value: object, field: str) -> int:
    if value is None and expected.default is not None:
        return expected.default
    number = int(value) if isinstance(value, str) and _DIGITS.match(value) else value
    if (
        not isinstance(number, int)
        or isinstance(number, bool)
        or not expected.low <= number <= expected.high
    ):
        bounds = f"{expected.low} to {expected.high}"
        msg = f"{expected.name!r} has to be a whole number from {bounds}"
        raise InputError(msg, field=field)
    return number


def _check_rules(protocol: InterviewProtocol, inputs: Mapping[str, str | int]) -> None:
    outcome = protocol.rules.apply(Scope(out=inputs, inp={}, meta={}))
    if outcome.errors:
        raise InputError(outcome.errors[0].message, field="inputs")
    if outcome.is_over_budget:
        msg = "the inputs are too long for the protocol's rules"
        raise InputError(msg, field="inputs")
