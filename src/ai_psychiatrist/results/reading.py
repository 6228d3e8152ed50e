"""Read a result back from its JSON, as a file or an archive holds it."""

import hashlib
from typing import Annotated, Final

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.results.models import SCHEMA_VERSION

_CURE: Final = "make one with `ai-psychiatrist assess FILE --json`"


def result_of(content: bytes, *, field: str) -> FullResult:
    """Return the whole assessment that JSON holds.

    Raises `InputError`, in which `field` says where it came from, for anything else and for a
    result of another schema version; nothing of the content is repeated.
    """
    try:
        found: object = orjson.loads(content)
    except orjson.JSONDecodeError:
        msg = f"{field}: it is no JSON; {_CURE}"
        raise InputError(msg, field=field) from None
    _refuse_other(found, field)
    try:
        return FullResult.model_validate_json(content)
    except ValidationError as error:
        place = ".".join(_named(error.errors(include_input=False)[0]["loc"]))
        msg = f"{field}: it holds no whole assessment: {place} is missing or wrong; {_CURE}"
        raise InputError(msg, field=field) from None


def transcript_sha256_of(result: FullResult) -> str | None:
    """Return the SHA-256 of the transcript in UTF-8, where the result tells it; 64 hex digits."""
    if result.transcript_text is not None:
        return hashlib.sha256(result.transcript_text.encode()).hexdigest()
    certified = _certified(result)
    return None if certified is None else certified.transcript.sha256


def program_of(result: FullResult) -> str | None:
    """Return the version of the program that made a result, where its certificate tells it."""
    certified = _certified(result)
    return None if certified is None else certified.program


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class _CertifiedTranscript(_Read):
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Certified(_Read):
    program: Annotated[str, Field(min_length=1, max_length=64)]
    transcript: _CertifiedTranscript


class _Certificate(_Read):
    certificate: _Certified


def _certified(result: FullResult) -> _Certified | None:
    if result.certificate is None:
        return None
    try:
        return _Certificate.model_validate_json(result.certificate.text).certificate
    except ValidationError:
        return None


def _refuse_other(found: object, field: str) -> None:
    if not isinstance(found, dict) or "schema_version" not in found:
        msg = f"{field}: it holds no result: schema_version is not there; {_CURE}"
    elif found["schema_version"] != SCHEMA_VERSION:
        msg = (
            f"{field}: its schema_version is not {SCHEMA_VERSION!r}, the one that is read; assess "
            "the interview again, or use the version of the program that made it"
        )
    elif "quantitative" not in found:
        msg = f"{field}: it holds a part of an assessment, and the whole is wanted; {_CURE}"
    else:
        return
    raise InputError(msg, field=field)


def _named(place: tuple[int | str, ...]) -> list[str]:
    """Return those steps of a place that are names of fields: keys of tables are the file's own."""
    known = FullResult.model_fields
    return [str(step) for step in place[:1] if step in known] or ["a field"]
