"""Calls of the Python interface: what came of each, returned or raised."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import ai_psychiatrist
from tests.golden.answer import Json
from tests.golden.assessments_parts import told

AP: Final[Any] = ai_psychiatrist
"""Untyped, so that it can be called in wrong ways."""
Call = Callable[[], object]


def came_to(call: Call) -> dict[str, Json]:
    """Call, and return what came: a value, or an error with its public fields."""
    try:
        return {"returned": value_of(call())}
    except Exception as error:  # noqa: BLE001  whatever it is, callers meet it
        fields = {key: value_of(one) for key, one in vars(error).items() if key[0] != "_"}
        kind = type(error)
        is_of = [one.__name__ for one in kind.__mro__ if one.__name__ in AP.__all__]
        text = str(error)
        return {
            "raised": kind.__name__,
            "is": is_of,
            # A library names its version further down.
            "text": text if is_of else text.partition("\n")[0],
            **fields,
        }


def value_of(value: object) -> Json:
    """Return a value of the interface as JSON; of an assessment what it says of the interview."""
    match value:
        case AP.Assessment():
            return told(json.loads(value.model_dump_json()))
        case AP.VerifiedCertificate() | AP.GroundedQuotes():
            written: Json = json.loads(value.model_dump_json())
            return written
        case Mapping():
            return {str(key): value_of(one) for key, one in value.items()}
        case list() | tuple():
            return [value_of(one) for one in value]
        case None | bool() | int() | float() | str():
            return value
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text
