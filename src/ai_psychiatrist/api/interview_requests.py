"""What a caller sends to begin an interview and to answer in one."""

from typing import Annotated, Final, TypeAlias

from pydantic import ConfigDict, Field, StrictBool, StrictInt, StrictStr

from ai_psychiatrist.api.given_assessment import GivenAssessment
from ai_psychiatrist.api.requests import ParticipantId, RequestBody, Speakers, chosen
from ai_psychiatrist.interview.service import AnswerSubmission

_MOST_INPUTS: Final = 50
_STARTS: Final = ("assessment", "transcript_text", "participant_id")
_ANSWERS: Final = ("option_id", "text")

Name: TypeAlias = Annotated[StrictStr, Field(max_length=200)]
Words: TypeAlias = Annotated[StrictStr, Field(max_length=20_000)]
Number: TypeAlias = Annotated[StrictInt, Field(ge=-(2**53), le=2**53)]


class InterviewRequest(RequestBody):
    """An interview to begin; at most one of assessment, transcript_text and participant_id."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"protocol": "phq8"},
                {"protocol": "phq8", "transcript_text": "Participant: I wake up every night."},
            ],
            "oneOf": [chosen(name, _STARTS) for name in (None, *_STARTS)],
        }
    )

    protocol: Name
    """The protocol's name, such as `phq8` or `incident`."""
    inputs: Annotated[
        dict[Name, Words | Number], Field(fail_fast=True, max_length=_MOST_INPUTS)
    ] = Field(default_factory=dict)
    """What the protocol asks for, such as title and summary of an incident."""
    assessment: GivenAssessment | None = None
    """A result of this service; its unknown items are asked about."""
    transcript_text: StrictStr | None = None
    """An interview to assess first; its unknown items are asked about."""
    speakers: Speakers | None = None
    """Who is who in it where the labels do not tell."""
    participant_id: ParticipantId | None = None
    """Whose stored transcript to assess first."""

    @property
    def has_transcript(self) -> bool:
        """Whether a transcript is to be assessed first."""
        return self.transcript_text is not None or self.participant_id is not None


class AnswerRequest(RequestBody):
    """One answer: an option that was offered, or words; `stop` ends the interview instead."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"question_id": "q1", "option_id": "a2", "idempotency_key": "k1", "version": 1},
                {"question_id": "q2", "text": "most days", "idempotency_key": "k2", "version": 2},
            ],
            "anyOf": [
                *(chosen(name, _ANSWERS) for name in _ANSWERS),
                {"required": ["stop"], "properties": {"stop": {"const": True}}},
            ],
        }
    )

    question_id: Name
    """The question that is answered."""
    option_id: Name | None = None
    """The option that was chosen."""
    text: Words | None = None
    """The answer in the person's own words."""
    is_stop: StrictBool = Field(default=False, alias="stop")
    """True ends the interview without an answer; what is open stays unknown."""
    idempotency_key: Annotated[StrictStr, Field(pattern=r"^[A-Za-z0-9_.:-]{1,128}$")]
    """Made up for each answer: 1-128 letters, digits or `-_.:`. Sent again, it changes nothing."""
    version: Number
    """The version of the snapshot that is answered."""

    def as_submission(self) -> AnswerSubmission:
        """Return the answer as the service takes it."""
        return AnswerSubmission(**self.model_dump())
