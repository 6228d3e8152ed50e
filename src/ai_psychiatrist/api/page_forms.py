"""What a plain form of ours sends, for browsers without scripts."""

from typing import Final
from urllib.parse import parse_qsl

from fastapi import Request

from ai_psychiatrist.api.body_limit import give_body_room_back
from ai_psychiatrist.api.content_type import FORM_TYPE, content_type
from ai_psychiatrist.api.json_body import BoundedRequest
from ai_psychiatrist.api.problems import Refusal, problem

_MOST_FIELDS: Final = 100


class Form:
    """The fields of a form; each has a value, or several in their order."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def get(self, name: str) -> str:
        """Return the first value of a field, empty where there is none."""
        return next(iter(self.all(name)), "")

    def all(self, name: str) -> list[str]:
        """Return all values of a field."""
        return [value for key, value in self._pairs if key == name]


async def read_form(request: Request) -> Form:
    """Return the fields; raises `Refusal` for what no form of ours sends."""
    if content_type(request.scope) != FORM_TYPE:
        raise Refusal(problem(422, "invalid_request", f"This address takes forms: {FORM_TYPE}."))
    try:
        text = (await _body(request)).decode("ascii")
        pairs = parse_qsl(
            text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        detail = f"The form cannot be read: percent-encoded UTF-8 of at most {_MOST_FIELDS} fields."
        raise Refusal(problem(422, "invalid_request", detail)) from None
    finally:
        await give_body_room_back(request.scope)
    return Form(pairs)


async def _body(request: Request) -> bytes:
    return await (request.received() if isinstance(request, BoundedRequest) else request.body())
