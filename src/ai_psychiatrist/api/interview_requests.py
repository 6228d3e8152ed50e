"""What a caller sends to begin an interview and to answer in one."""

from pydantic import ConfigDict, Field, StrictBool, StrictInt, StrictStr

from ai_psychiatrist.api.given_assessment import GivenAssessment
from ai_psychiatrist.api.requests import ParticipantId, RequestBody
from ai_psychiatrist.interview.service import AnswerSubmission


class InterviewRequest(RequestBody):
    """An interview to begin; at most one of assessment, transcript_text and participant_id."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"protocol": "phq8"},
                {"protocol": "phq8", "transcript_text": "Participant: I wake up every night."},
            ]
        }
    )

    protocol: StrictStr
    """The protocol's name, such as `phq8` or `incident`."""
    inputs: dict[StrictStr, StrictStr | StrictInt] = Field(default_factory=dict)
    """What the protocol asks for, such as title and summary of an incident."""
    assessment: GivenAssessment | None = None
    """A result of this service; its unknown items are asked about."""
    transcript_text: StrictStr | None = None
    """An interview to assess first; its unknown items are asked about."""
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
            ]
        }
    )

    question_id: StrictStr
    """The question that is answered."""
    option_id: StrictStr | None = None
    """The option that was chosen."""
    text: StrictStr | None = None
    """The answer in the person's own words."""
    is_stop: StrictBool = Field(default=False, alias="stop")
    """True ends the interview without an answer; what is open stays unknown."""
    idempotency_key: StrictStr
    """Made up for each answer: 1-128 letters, digits or `-_.:`. Sent again, it changes nothing."""
    version: StrictInt
    """The version of the snapshot that is answered."""

    def as_submission(self) -> AnswerSubmission:
        """Return the answer as the service takes it."""
        return AnswerSubmission(**self.model_dump())
