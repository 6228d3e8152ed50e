"""The JSON of a request: looked at before anything is made of it, read beside the event loop."""

import json
import math
from collections import Counter
from typing import Final

from fastapi import Request

from ai_psychiatrist.api.problems import (
    Refusal,
    key_given_twice,
    malformed_json,
    overloaded,
    too_many_values,
)
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads, WorkTimedOut

MOST_VALUES: Final = 50_000
"""Members and elements of one body; a result of this service has a few thousand."""
MOST_LEVELS: Final = 64
_MOST_DIGITS: Final = 19
_SMALL_BYTES: Final = 65_536
"""So much is read within a millisecond or two."""
_STRUCTURE: Final = b'"[]{},'
_ONE_KIND_OF_BRACKET: Final = bytes.maketrans(b"{}", b"[]")
_ALL_ELSE: Final = bytes(set(range(256)) - set(_STRUCTURE))
_READERS: Final = WorkerThreads(count=2, seconds=30.0)


class BoundedRequest(Request):
    """A request whose JSON is looked at before anything is made of it."""

    async def json(self) -> object:
        """Return what the body holds; FastAPI asks for it when the body is said to be JSON."""
        body = await self.body()
        if len(body) <= _SMALL_BYTES:
            return read_json(body)
        try:
            return await _READERS.run(lambda: read_json(body))
        except WorkTimedOut:
            raise Refusal(overloaded({})) from None


def read_json(body: bytes) -> object:
    """Return the value that a body holds.

    Integers of more than 19 digits become infinite, which no field takes. Raises `Refusal` for what
    is no JSON in UTF-8, nested too deeply, of too many values, or has a key twice in an object.
    """
    _refuse_costly(body)
    try:
        return json.loads(
            body.decode("utf-8-sig"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_constant=_refuse_constant,
        )
    except (ValueError, RecursionError):
        raise Refusal(malformed_json()) from None


def _refuse_costly(body: bytes) -> None:
    """Raise `Refusal` for too many values or levels, found without an object for any of them.

    What escapes a quotation mark goes first, then all but structure, then what is in strings: each
    a single pass. Then every round takes away the innermost brackets.
    """
    escaped = body.replace(rb"\\", b"").replace(rb"\"", b"")
    structure = escaped.translate(_ONE_KIND_OF_BRACKET, _ALL_ELSE)
    # A member is at most two strings, its key and its value.
    if structure.count(b'"') > 4 * MOST_VALUES:
        raise Refusal(too_many_values(MOST_VALUES))
    outside = b"".join(structure.split(b'"')[::2])
    if outside.count(b",") + outside.count(b"[") > MOST_VALUES:
        raise Refusal(too_many_values(MOST_VALUES))
    brackets = outside.translate(None, b",")
    for _ in range(MOST_LEVELS):
        brackets = brackets.replace(b"[]", b"")
    if brackets:
        raise Refusal(malformed_json())


def _object(members: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(members)
    if len(found) < len(members):
        counted = Counter(key for key, _ in members)
        raise Refusal(key_given_twice(counted.most_common(1)[0][0]))
    return found


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _MOST_DIGITS else math.inf


def _refuse_constant(_name: str) -> object:
    raise Refusal(malformed_json())
