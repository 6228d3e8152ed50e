"""Check what an interview is created with against its protocol."""

import re
from collections.abc import Mapping
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.interview.protocol.records import IntegerInput, InterviewProtocol, TextInput
from ai_psychiatrist.validation.checks.rules import RuleSet, RuleSpec
from ai_psychiatrist.validation.expressions import Scope
from ai_psychiatrist.validation.nearest import did_you_mean

_DIGITS: Final = re.compile(r"[0-9]{1,7}\Z")


def accepted_inputs(
    protocol: InterviewProtocol, given: Mapping[str, str | int]
) -> dict[str, str | int]:
    """Return the inputs of an interview, with defaults for those that are not given.

    Whole numbers may come as digits. Raises `InputError` that names the input at fault, without
    its words.
    """
    for name in given:
        if name not in protocol.inputs:
            listed = did_you_mean(name, protocol.inputs)
            listed = listed or f"; it takes {', '.join(protocol.inputs) or 'none'}"
            # A name that may be anything is not passed on.
            msg = f"the protocol {protocol.id!r} takes no such input{listed}"
            raise InputError(msg, field="inputs")
    accepted: dict[str, str | int] = {}
    for name, expected in protocol.inputs.items():
        if isinstance(expected, TextInput):
            accepted[name] = _text(name, expected, given.get(name))
        else:
            accepted[name] = _integer(name, expected, given.get(name))
    rules = RuleSet([RuleSpec(**dict(rule)) for rule in protocol.rules])
    outcome = rules.apply(Scope(out=accepted, inp={}, meta={}))
    if outcome.errors:
        raise InputError(outcome.errors[0].message, field="inputs")
    if outcome.is_over_budget:
        raise InputError("the inputs are too long for the protocol's rules", field="inputs")
    return accepted


def _text(name: str, expected: TextInput, value: object) -> str:
    text = "" if value is None else value
    if not isinstance(text, str):
        raise _refused(name, "has to be a text")
    if not text.strip() and expected.required:
        raise _refused(name, "is needed")
    if len(text) > expected.max_length:
        raise _refused(name, f"is longer than {expected.max_length} characters")
    return text.strip()


def _integer(name: str, expected: IntegerInput, value: object) -> int:
    if value is None and expected.default is not None:
        return expected.default
    number = int(value) if isinstance(value, str) and _DIGITS.match(value) else value
    if type(number) is int and expected.low <= number <= expected.high:
        return number
    raise _refused(name, f"has to be a whole number from {expected.low} to {expected.high}")


def _refused(name: str, reason: str) -> InputError:
    return InputError(f"{name!r} {reason}", field=f"inputs.{name}")
