"""What a browser or a program sends to begin a session."""

from typing import Final
from urllib.parse import parse_qsl

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import ConfigDict, Field, SecretStr, ValidationError

from ai_psychiatrist.api.content_type import FORM_TYPE, content_type
from ai_psychiatrist.api.json_body import read_json
from ai_psychiatrist.api.problems import Refusal, problem
from ai_psychiatrist.api.requests import RequestBody, chosen

SESSION_PATH: Final = "/v1/session"
MOST_FIELDS: Final = 1000

_FIELDS: Final = "The fields of the body are key and rater; no others."


class SessionRequest(RequestBody):
    """A key, or where the server asks for none the name of a rater: one of the two."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [chosen(name, ("key", "rater")) for name in ("key", "rater")]}
    )

    key: SecretStr | None = Field(default=None, max_length=200)
    """An API key, `aip_...`."""
    rater: str | None = Field(default=None, min_length=1, max_length=60)
    """Who rates: letters, digits and blanks; the same name is the same rater."""


async def session_request(request: Request) -> SessionRequest:
    """Return what a body in JSON, or of a form, asks for.

    Raises `RequestValidationError`, and `Refusal` for what is no JSON or has other fields.
    """
    body = await request.body()
    given = _fields_of(body) if content_type(request.scope) == FORM_TYPE else read_json(body)
    if isinstance(given, dict) and not given.keys() <= SessionRequest.model_fields.keys():
        raise Refusal(problem(422, "invalid_request", _FIELDS))
    try:
        return SessionRequest.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False, include_context=False)
        placed = [{**one, "loc": ("body", *one["loc"])} for one in found]
        raise RequestValidationError(placed) from None


def _fields_of(body: bytes) -> dict[str, str]:
    """Return those of our fields that were filled in; a page may have others beside them."""
    try:
        given = dict(parse_qsl(body.decode(), max_num_fields=MOST_FIELDS))
    except ValueError:
        return {}
    return {name: given[name] for name in SessionRequest.model_fields if name in given}
