"""What a caller sends."""

from typing import Annotated, Final, Literal, TypeAlias

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

from ai_psychiatrist.api.sent_file import SentFile
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.services.transcripts.speaker_labels import LONGEST_LABEL

ModeName: TypeAlias = Literal["zero_shot", "few_shot", "random_references", "descriptions_only"]
SpeakerRole: TypeAlias = Literal["participant", "interviewer", "other"]
Speakers: TypeAlias = Annotated[
    dict[Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_LABEL)], SpeakerRole],
    Field(max_length=20, fail_fast=True),
]
"""Whom each label stands for; `*` is everybody."""
ParticipantId: TypeAlias = Annotated[StrictInt, Field(ge=1, le=999_999)]

_EXAMPLE_TEXT = (
    "Interviewer: How have you been sleeping?\n"
    "Participant: Badly. I wake up at four nearly every night.\n"
    "Interviewer: And your appetite?\n"
    "Participant: No problem there, I eat well."
)


_MOST_FIELDS: Final = 20
"""More cannot be known; each of those that are not would be an error of its own."""


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


_SOURCES: Final = ("participant_id", "transcript_text")

_NUMBERED: Final[dict[str, ModeName]] = {"0": "zero_shot", "1": "few_shot"}


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

    @property
    def wanted_mode(self) -> AssessmentMode | None:
        """The mode, `None` where the service is to choose."""
        return None if self.mode is None else named_mode(self.mode)


class KeptAssessmentRequest(AssessmentRequest):
    """One transcript whose assessment is stored."""

    subject: Annotated[StrictStr, Field(min_length=1, max_length=200, pattern=r"\S")] | None = None
    """Whose interview it is, as you call them: sealed, and met again under the same name. Null for
    a subject of whom nothing else is stored."""
    callback_url: Annotated[StrictStr, Field(min_length=1, max_length=2_048)] | None = None
    """Address that is told, signed and without words or scores, once the job has ended; on a host
    that the setting JOBS_WEBHOOK_HOSTS names."""


class FindingsRequest(AssessmentRequest):
    """One transcript of which no item is scored."""

    model_config = ConfigDict(
        json_schema_extra=_ONE_SOURCE | {"allOf": [{"properties": {"ablate": {"const": False}}}]}
    )


def named_mode(mode: str | int) -> AssessmentMode:
    """Return the mode of a name, or of 0 or 1."""
    name = str(mode)
    return AssessmentMode(_NUMBERED.get(name, name))
