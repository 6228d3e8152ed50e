"""What a caller sends with a transcript: the body, a file, the query and headers."""

import re
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias
from urllib.parse import unquote

from fastapi import Depends, Header, Query, Request
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    InstanceOf,
    StrictBool,
    StrictInt,
    StrictStr,
    model_validator,
)
from pydantic.config import JsonDict
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from ai_psychiatrist.api.media_types import media_type
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.speaker_labels import LONGEST_LABEL, Roles

_MEDIA_TYPES: Final = frozenset(
    {
        "application/jsonl",
        "application/ndjson",
        "application/octet-stream",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/x-ndjson",
        "application/x-subrip",
        "text/csv",
        "text/markdown",
        "text/plain",
        "text/tab-separated-values",
        "text/vtt",
    }
)
_REFUSED_BY_NAME: Final = frozenset(
    {
        "application/msword",
        "application/pdf",
        "application/rtf",
        "application/vnd.oasis.opendocument.text",
        "text/html",
        "text/rtf",
    }
)
"""Of files that no transcript is read from: what reads one says what to save it as."""
_FILE_TYPES: Final = _MEDIA_TYPES | _REFUSED_BY_NAME
MULTIPART: Final = "multipart/form-data"
_REQUEST: Final = re.compile(rb'\s{0,100}\{\s{0,100}"(?:transcript_text|participant_id|mode)"')
"""A request whose content type was forgotten."""
_FILE_BODY: Final[dict[str, object]] = {
    media_type: {"schema": {"type": "string", "format": "binary"}}
    for media_type in sorted(_MEDIA_TYPES)
} | {
    MULTIPART: {
        "schema": {
            "type": "object",
            "required": ["transcript"],
            "properties": {"transcript": {"type": "string", "format": "binary"}},
        }
    }
}
TAKES_FILES: Final = {"requestBody": {"content": _FILE_BODY}}
"""What the OpenAPI document says of a route whose body may be a file."""
_NAMES: Final = {
    "application/jsonl": "sent.jsonl",
    "application/x-subrip": "sent.srt",
    "text/csv": "sent.csv",
    "text/html": "sent.html",
    "text/tab-separated-values": "sent.tsv",
    "text/vtt": "sent.vtt",
}
_MOST_FIELDS: Final = 20
"""More cannot be known; each of those that are not would be an error of its own."""
_MOST_LABELS: Final = 20
_LONGEST_SUBJECT: Final = 200
_ASYNC: Final = "respond-async"
IDEMPOTENCY_KEY: Final = "Idempotency-Key"
RETRY_AFTER_SECONDS: Final = 2
_WHOLE: Final = re.compile(r"\d{1,9}", re.ASCII)
_SOURCES: Final = ("participant_id", "transcript_text")
_EXAMPLE_TEXT = (
    "Interviewer: How have you been sleeping?\n"
    "Participant: Badly. I wake up at four nearly every night.\n"
    "Interviewer: And your appetite?\n"
    "Participant: No problem there, I eat well."
)

ModeName: TypeAlias = Literal["zero_shot", "few_shot", "random_references", "descriptions_only"]
SpeakerRole: TypeAlias = Literal["participant", "interviewer", "other"]
Speakers: TypeAlias = Annotated[
    dict[Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_LABEL)], SpeakerRole],
    Field(max_length=20, fail_fast=True),
]
"""Whom each label stands for; `*` is everybody."""
ParticipantId: TypeAlias = Annotated[StrictInt, Field(ge=1, le=999_999)]
ModeNumber: TypeAlias = Literal["0", "1"]
Label: TypeAlias = Annotated[str, Field(min_length=1, max_length=LONGEST_LABEL)]
_NUMBERED: Final[dict[str, ModeName]] = {"0": "zero_shot", "1": "few_shot"}


class SentFile(bytes):
    """What a caller sent as a file; its format is detected from its content."""

    name: str = ""
    """Such as a file of its content type would have."""


def sent_file(content: bytes, content_type: str) -> SentFile:
    """Return a body as a file."""
    file = SentFile(content)
    file.name = _NAMES.get(media_type(content_type), "")
    return file


def is_file(content_type: str, content: bytes) -> bool:
    """Return whether a body is a transcript itself, and not a request in JSON."""
    return (
        is_file_type(media_type(content_type))
        and content != b""
        and _REQUEST.match(content) is None
    )


def is_file_type(name: str) -> bool:
    """Return whether bodies of this type are transcripts."""
    return name in _FILE_TYPES


def chosen(name: str | None, names: tuple[str, ...]) -> JsonDict:
    """Return the JSON schema of a body that gives this field, or none, and not the others."""
    fields: JsonDict = {other: {"type": "null"} for other in names if other != name}
    if name is None:
        return {"properties": fields}
    return {"required": [name], "properties": fields | {name: {"not": {"type": "null"}}}}


class RequestBody(BaseModel):
    """What a caller sends: no unknown fields, and nothing of it in errors."""

    model_config = ConfigDict(
        extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _has_few_fields(cls, given: object) -> object:
        if isinstance(given, SentFile):
            return {"file": given}
        if isinstance(given, dict) and len(given) > _MOST_FIELDS:
            raise PydanticCustomError("extra_forbidden", "there are too many fields")
        return given


_ONE_SOURCE: Final[JsonDict] = {
    "examples": [{"transcript_text": _EXAMPLE_TEXT}, {"participant_id": 300}],
    "oneOf": [chosen(name, _SOURCES) for name in _SOURCES],
}


class AssessmentRequest(RequestBody):
    """One transcript to assess: a stored one by its participant, or a text."""

    model_config = ConfigDict(json_schema_extra=_ONE_SOURCE)

    participant_id: ParticipantId | None = None
    """Whose stored transcript to assess."""
    transcript_text: StrictStr | None = None
    """The interview: lines that begin with a label such as `Participant:`, or a file's content."""
    speakers: Speakers | None = None
    """Who is who where the labels do not tell: label → participant, interviewer or other."""
    file: SkipJsonSchema[InstanceOf[SentFile] | None] = Field(default=None, exclude=True)
    """A body that is no JSON but the transcript itself."""
    mode: ModeName | Annotated[StrictInt, Field(ge=0, le=1)] | None = None
    """What scoring sees beside the transcript: by `zero_shot` (0) nothing, by `few_shot` (1)
    scored examples of other participants that are like the evidence, by `random_references` such
    examples drawn by chance, by `descriptions_only` what each item is about in more words. Null:
    as the service is set up, which is `zero_shot` unless it says otherwise. Findings are the same
    in each."""
    ablate: StrictBool = False
    """Whether to score again with the evidence changed, to tell whether it drives the scores; not
    where only findings are asked for."""


class KeptAssessmentRequest(AssessmentRequest):
    """One transcript whose assessment is stored."""

    subject: Annotated[StrictStr, Field(min_length=1, max_length=200, pattern=r"\S")] | None = None
    """The study id: whose interview it is, as you call them. It is sealed, found by its exact form,
    and exported. Null for a subject of whom nothing else is stored."""
    callback_url: Annotated[StrictStr, Field(min_length=1, max_length=2_048)] | None = None
    """Address that is told, signed, once the job has ended: its state, and the level and group of
    danger, without words or scores; and later, with the study id, where nobody has confirmed
    reading statements of danger. On a host that the setting JOBS_WEBHOOK_HOSTS names."""


class FindingsRequest(AssessmentRequest):
    """One transcript of which no item is scored."""

    model_config = ConfigDict(
        json_schema_extra=_ONE_SOURCE | {"allOf": [{"properties": {"ablate": {"const": False}}}]}
    )


class InQuery(BaseModel):
    """What a query says: nothing unknown, and nothing of it in errors."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class PageInQuery(InQuery):
    """Which page of a list is wanted."""

    limit: int = Field(default=50, ge=1, le=500, description="Most lines of a page.")
    cursor: str | None = Field(
        default=None, max_length=200, description="The `next` of the page before."
    )


class SpeakersInQuery(InQuery):
    """Who is who, most often in a file that is sent as it is."""

    participant: list[Label] = Field(
        default=[], max_length=_MOST_LABELS, description="For a file: a label of the participant."
    )
    interviewer: list[Label] = Field(
        default=[], max_length=_MOST_LABELS, description="For a file: a label of the interviewer."
    )

    @property
    def roles(self) -> Roles:
        """Each label with its role."""
        return (
            *((label, Speaker.PARTICIPANT) for label in self.participant),
            *((label, Speaker.INTERVIEWER) for label in self.interviewer),
        )


class ScoringInQuery(SpeakersInQuery):
    """The same, and how items are scored."""

    certificate: bool = Field(
        default=False, description="Whether the result has a certificate, which others can check."
    )
    mode: ModeName | ModeNumber | None = Field(
        default=None, description="For a file: what `mode` of a JSON body says."
    )
    ablate: bool = Field(
        default=False, description="For a file: what `ablate` of a JSON body says."
    )

    def mode_for(self, body: AssessmentRequest) -> AssessmentMode | None:
        """Return the mode of body or query, `None` where the service is to choose.

        Raises `InputError` where it is in both.
        """
        if self.mode is not None:
            _require_absent("mode", body)
        mode = body.mode if self.mode is None else self.mode
        return None if mode is None else AssessmentMode(_NUMBERED.get(str(mode), str(mode)))

    def ablates_for(self, body: AssessmentRequest) -> bool:
        """Return whether to score with changed evidence; raises `InputError` where said twice."""
        if "ablate" not in self.model_fields_set:
            return body.ablate
        _require_absent("ablate", body)
        return self.ablate


def _require_absent(name: str, body: AssessmentRequest) -> None:
    if name in body.model_fields_set:
        msg = f"{name} is in the body and in the query: say it once"
        raise InputError(msg, field=name)


SpeakersOfQuery: TypeAlias = Annotated[SpeakersInQuery, Query()]
ScoringOfQuery: TypeAlias = Annotated[ScoringInQuery, Query()]


async def subject_of_header(
    x_subject: Annotated[
        str | None,
        Header(
            description="The study id, percent-encoded in UTF-8: of an interview that is sent as a "
            "file, or of those that are listed."
        ),
    ] = None,
) -> str | None:
    """Return the subject; raises `InputError` for what can be none."""
    if x_subject is None:
        return None
    try:
        subject = unquote(x_subject, errors="strict").strip()
    except UnicodeDecodeError:
        subject = ""
    if not 1 <= len(subject) <= _LONGEST_SUBJECT:
        msg = f"X-Subject has to be 1-{_LONGEST_SUBJECT} characters, percent-encoded in UTF-8"
        raise InputError(msg, field="subject")
    return subject


SubjectOfHeader: TypeAlias = Annotated[str | None, Depends(subject_of_header)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferred:
    """What the header Prefer asks for, as far as it is known here."""

    is_async: bool
    wait_seconds: int
    """How long the caller waits for the result first; 0 where nothing, or nonsense, is said."""

    @property
    def applied(self) -> str:
        """The header Preference-Applied."""
        return f"{_ASYNC}, wait={self.wait_seconds}" if self.wait_seconds else _ASYNC


async def preferred(
    request: Request,
    _prefer: Annotated[
        str | None,
        Header(
            alias="Prefer",
            description="`respond-async`: a job makes it; `respond-async, wait=30`: and the answer "
            "waits so many seconds for the result.",
        ),
    ] = None,
) -> Preferred:
    """Return what is preferred; of a preference that comes twice the first counts."""
    given: dict[str, str] = {}
    for one in ",".join(request.headers.getlist("prefer")).split(","):
        name, _, value = one.partition(";")[0].partition("=")
        given.setdefault(name.strip().lower(), value.strip().strip('"'))
    wait = given.get("wait", "")
    seconds = int(wait) if _WHOLE.fullmatch(wait) else 0
    return Preferred(is_async=_ASYNC in given, wait_seconds=seconds)


PreferredOf: TypeAlias = Annotated[Preferred, Depends(preferred)]
