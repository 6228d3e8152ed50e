"""The JSON of a request: looked at before anything is made of it, read beside the event loop."""

import json
import math
from collections import Counter
from typing import Final

from fastapi import Request

from ai_psychiatrist.api.body_limit import give_body_room_back
from ai_psychiatrist.api.problems import (
    Refusal,
    key_given_twice,
    malformed_json,
    overloaded,
    too_many_values,
)
from ai_psychiatrist.api.sent_file import is_file, sent_file
from ai_psychiatrist.infrastructure.json_structure import (
    MOST_VALUES,
    SMALL_BYTES,
    TooManyValues,
    refuse_costly,
)
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads, WorkTimedOut

_MOST_DIGITS: Final = 19
_SOMETHING: Final = b"-"
_READERS: Final = WorkerThreads(count=1, seconds=30.0)


class BoundedRequest(Request):
    """A request whose JSON is looked at before anything is made of it."""

    async def body(self) -> bytes:
        """Return a file that was sent as it is, else only a sign that there is a body.

        FastAPI would keep the body itself to the end.
        """
        content = await self.received()
        content_type = self.headers.get("content-type", "")
        if is_file(content_type, content):
            self._body = b""
            return sent_file(content, content_type)
        return _SOMETHING if content else b""

    async def received(self) -> bytes:
        """Return the body itself."""
        return await super().body()

    async def json(self) -> object:
        """Return what the body holds; FastAPI asks for it when the body is said to be JSON."""
        body = await self.received()
        self._body = b""
        try:
            if len(body) <= SMALL_BYTES:
                return read_json(body)
            return await _READERS.run(lambda: read_json(body))
        except WorkTimedOut:
            raise Refusal(overloaded({})) from None
        finally:
            await give_body_room_back(self.scope)


def read_json(body: bytes) -> object:
    """Return the value that a body holds.

    Integers of more than 19 digits become infinite, which no field takes. Raises `Refusal` for what
    is no JSON in UTF-8, nested too deeply, of too many values, or has a key twice in an object.
    """
    try:
        refuse_costly(body)
        return json.loads(
            body.decode("utf-8-sig"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_constant=_refuse_constant,
        )
    except TooManyValues:
        raise Refusal(too_many_values(MOST_VALUES)) from None
    except (ValueError, RecursionError):
        raise Refusal(malformed_json()) from None


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
