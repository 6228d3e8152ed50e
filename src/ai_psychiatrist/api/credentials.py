"""What a caller shows to be let in."""

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from starlette.requests import Request
from starlette.types import Scope

from ai_psychiatrist.access.key_text import START
from ai_psychiatrist.access.sessions import TOKEN
from ai_psychiatrist.api.problems import Refusal, problem
from ai_psychiatrist.api.session_cookie import cookie_name

KEY_HEADER: Final = "X-API-Key"
_BEARER: Final = "bearer"


@dataclass(frozen=True, slots=True)
class GivenKey:
    """A key of ours, in a header."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class GivenToken:
    """A bearer token that somebody else gave out."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class GivenSession:
    """The cookie of a session."""

    token: str = field(repr=False)


Credential: TypeAlias = GivenKey | GivenToken | GivenSession


def given_credential(scope: Scope) -> Credential | None:
    """Return what the headers show; a header goes before the cookie, and the query holds none.

    Raises `Refusal` where two headers show something, for it would not be clear which counts.
    """
    request = Request(scope)
    shown = [_of_header(value) for value in request.headers.getlist("authorization")]
    shown += [_of_text(value) for value in request.headers.getlist(KEY_HEADER)]
    if len(shown) > 1:
        detail = f"Show one credential, in Authorization or in {KEY_HEADER}."
        raise Refusal(problem(400, "credential_unclear", detail))
    if shown:
        return shown[0]
    token = request.cookies.get(cookie_name(scope), "")
    return GivenSession(token) if TOKEN.fullmatch(token) else None


def _of_header(value: str) -> Credential:
    scheme, _, text = value.partition(" ")
    return _of_text(text.strip()) if scheme.casefold() == _BEARER else GivenToken("")


def _of_text(text: str) -> Credential:
    return GivenKey(text) if text.startswith(START) else GivenToken(text)
