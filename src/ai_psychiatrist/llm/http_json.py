"""Read the JSON that a model backend answers with; whatever does not fit is a typed failure."""

import json

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode


def json_object(body: bytes) -> dict[str, object]:
    """Return the object of a body; raises `ModelCallFailed` when it holds none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE) from None
    if not isinstance(value, dict):
        raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
    return value


def text_at(value: object, *path: str) -> str:
    """Return the text at a path of a response; raises `ModelCallFailed` when it is not there.

    A null text is an empty one: backends send it for replies without content.
    """
    for step in path:
        if not isinstance(value, dict):
            raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
        value = value.get(step)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
    return value


def count_at(value: object, *path: str) -> int | None:
    """Return the count at a path of a response, or `None` when there is none."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
