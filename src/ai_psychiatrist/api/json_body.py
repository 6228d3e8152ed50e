"""The JSON of a request: checked before it is parsed, outside the event loop."""

import json
import logging
import math
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.formparsers import MultiPartException, MultiPartParser

from ai_psychiatrist.api.field_hints import FIELD_HINTS, UNKNOWN_FIELD
from ai_psychiatrist.api.media_types import media_type
from ai_psychiatrist.api.problems import Problem
from ai_psychiatrist.api.requests import MULTIPART, is_file, sent_file
from ai_psychiatrist.infrastructure.json_structure import (
    MOST_VALUES,
    SMALL_BYTES,
    TooManyValues,
    refuse_costly,
)
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut

# Its lines quote characters of bodies.
logging.getLogger("python_multipart").setLevel(logging.CRITICAL)

_MOST_DIGITS: Final = 19
_SOMETHING: Final = b"-"
_PART: Final = "transcript"
_ONE_PART: Final = "A form has one part, transcript: the file. All else is said in the query."
_READERS: Final = WorkerThreads(count=1, seconds=30.0)


class BoundedRequest(Request):
    """A request whose JSON is looked at before anything is made of it."""

    async def body(self) -> bytes:
        """Return a file that was sent as it is, else only a sign that there is a body.

        FastAPI would keep the body itself to the end.
        """
        content = await self.received()
        content_type = self.headers.get("content-type", "")
        if media_type(content_type) == MULTIPART:
            return await self._file_of_form(content)
        if is_file(content_type, content):
            self._body = b""
            return sent_file(content, content_type)
        return _SOMETHING if content else b""

    async def _file_of_form(self, content: bytes) -> bytes:
        """Return the one part of a form, `transcript`; raises `Problem` for any other form."""
        chunks = self.stream()
        parser = MultiPartParser(
            self.headers, chunks, max_files=1, max_fields=1, max_part_size=len(content)
        )
        # Beyond this size a part would be written to a file of the system.
        parser.spool_max_size = len(content) + 1
        try:
            form = await parser.parse()
        except (MultiPartException, ValueError, KeyError):
            raise Problem("invalid_request", _ONE_PART) from None
        try:
            if [name for name, _ in form.multi_items()] != [_PART]:
                raise Problem("invalid_request", _ONE_PART)
            part = form[_PART]
            self._body = b""
            if isinstance(part, str):
                return sent_file(part.encode("utf-8", "replace"), "text/plain")
            return sent_file(await part.read(), part.content_type or "")
        finally:
            await form.close()

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
            raise Problem("overloaded") from None


class BoundedRoute(APIRoute):
    """A route that asks no model, so that its requests need no slot."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what handles a request."""
        handle = super().get_route_handler()

        async def bounded(request: Request) -> Response:
            return await handle(BoundedRequest(request.scope, request.receive))

        return bounded


def read_json(body: bytes) -> object:
    """Return the value that a body holds.

    Integers of more than 19 digits become infinite, which no field takes. Raises `Problem` for what
    is no JSON in UTF-8, nested too deeply, of too many values, or has a key twice in an object.
    """
    try:
        refuse_costly(body)
        return json.loads(
            body.decode("utf-8-sig"),
            object_pairs_hook=_object,
            parse_int=_integer,
            # NaN and infinities are no whole numbers either.
            parse_constant=int,
        )
    except TooManyValues:
        detail = f"The body holds more than {MOST_VALUES} values, the most it may."
        raise Problem("too_large", detail) from None
    except (ValueError, RecursionError):
        raise Problem("malformed_json", _where(body)) from None


def _where(body: bytes) -> str:
    """Say where JSON that cannot be read goes wrong; nothing of a large body or a deep one."""
    try:
        if len(body) <= SMALL_BYTES:
            json.loads(body.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        return (
            f"The body is no valid JSON: line {error.lineno}, column {error.colno}. "
            "Send a JSON object in UTF-8."
        )
    except (ValueError, RecursionError):
        pass
    return ""


def _object(members: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(members)
    if len(found) < len(members):
        counted = Counter(key for key, _ in members)
        key = counted.most_common(1)[0][0]
        field = key if key in FIELD_HINTS else UNKNOWN_FIELD
        raise Problem("duplicate_key", more={"field": field})
    return found


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _MOST_DIGITS else math.inf
