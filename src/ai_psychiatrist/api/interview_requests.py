"""What a caller sends to begin an interview and to answer in one."""

from collections.abc import Mapping
from typing import Annotated, Final, Self, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    model_validator,
)

from ai_psychiatrist.api.requests import ParticipantId, RequestBody, Speakers, chosen
from ai_psychiatrist.domain.interview_items import AssessedItem, AssessmentInput
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item, UnknownReason
from ai_psychiatrist.interview.service import AnswerSubmission

_LONGEST_QUOTE: Final = 20_000
_MOST_QUOTES: Final = 1_000
_MOST_QUOTED: Final = 400_000
"""Characters of all quotes together."""


class _Given(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", hide_input_in_errors=True, use_attribute_docstrings=True
    )


class GivenQuote(_Given):
    """Words of the transcript that carry a score."""

    text: Annotated[StrictStr, Field(max_length=_LONGEST_QUOTE)]
    """The words of the quote."""


class GivenItem(_Given):
    """One item as the assessment left it."""

    score: Annotated[StrictInt, Field(ge=0, le=MAX_ITEM_SCORE)] | None
    """0-3, or null for unknown."""
    unknown_reason: UnknownReason | None = None
    """Why there is no score."""
    evidence: Annotated[tuple[GivenQuote, ...], Field(fail_fast=True, max_length=_MOST_QUOTES)] = ()
    """The quotes that carry the score."""


class GivenScores(_Given):
    """The item scores; null when their part of the assessment did not finish."""

    items: Annotated[dict[Item, GivenItem], Field(fail_fast=True, max_length=len(Item))] | None = (
        None
    )
    """Key of the item → what the assessment says of it."""


class GivenAssessment(GivenScores):
    """The result of `/full_pipeline`, `/assess/quantitative` or `assess --json`."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["items"]}, {"required": ["quantitative"]}]}
    )

    assessment_id: Annotated[StrictStr, Field(max_length=64)] | None = None
    """Where it is stored under this id, the interview is about it."""
    quantitative: GivenScores | None = None
    """The scores of a whole assessment."""

    @model_validator(mode="after")
    def _is_an_assessment(self) -> Self:
        if not {"items", "quantitative"} & self.model_fields_set:
            msg = "there are no item scores"
            raise ValueError(msg)
        quotes = (quote for item in self._scored().values() for quote in item.evidence)
        if sum(len(quote.text) for quote in quotes) > _MOST_QUOTED:
            msg = "the quotes are longer than a transcript"
            raise ValueError(msg)
        return self

    def as_input(self) -> AssessmentInput:
        """Return the items; one that is not listed counts as unknown."""
        return assessment_input(self._scored())

    def _scored(self) -> Mapping[Item, GivenItem]:
        if self.items is None and self.quantitative is not None:
            return self.quantitative.items or {}
        return self.items or {}


def assessment_input(items: Mapping[Item, GivenItem | ItemAssessment]) -> AssessmentInput:
    """Return what an interview needs of an assessment that was sent, or made just now."""
    needed = {
        key: AssessedItem(
            score=item.score,
            unknown_reason=item.unknown_reason,
            evidence=tuple(quote.text for quote in item.evidence),
        )
        for key, item in items.items()
    }
    return AssessmentInput(items=needed)


_MOST_INPUTS: Final = 50
_STARTS: Final = ("assessment", "transcript_text", "participant_id")
_ANSWERS: Final = ("option_id", "text")

Name: TypeAlias = Annotated[StrictStr, Field(max_length=200)]
Words: TypeAlias = Annotated[StrictStr, Field(max_length=20_000)]
IdempotencyKey: TypeAlias = Annotated[StrictStr, Field(pattern=r"^[A-Za-z0-9_.:-]{1,128}$")]
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
    callback_url: Annotated[StrictStr, Field(min_length=1, max_length=2_048)] | None = None
    """Address that is told, signed, when the interview is held: its id, and the level and kinds of
    danger, without words; on a host that the setting JOBS_WEBHOOK_HOSTS names."""
    asks_all: StrictBool = Field(default=False, alias="ask_all")
    """True also asks what earlier interviews about the stored assessment have answered."""
    has_link: StrictBool = Field(default=False, alias="link")
    """True makes a link as well, by which the person answers in a browser of their own."""

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
                {"required": ["pause"], "properties": {"pause": {"const": True}}},
                {"required": ["change"]},
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
    is_pause: StrictBool = Field(default=False, alias="pause")
    """True sets the interview aside; its question waits for whoever comes back."""
    change: Item | None = None
    """An item that was answered in the interview, to be answered again."""
    is_appended: StrictBool = Field(default=False, alias="append")
    """True where more of the same answer may follow within INTERVIEW_JOIN_SECONDS: it is joined."""
    idempotency_key: IdempotencyKey
    """Made up for each answer: 1-128 letters, digits or `-_.:`. Sent again, it changes nothing."""
    version: Number
    """The version of the snapshot that is answered."""

    def as_submission(self) -> AnswerSubmission:
        """Return the answer as the service takes it."""
        return AnswerSubmission(**self.model_dump())


class ParticipantAnswer(AnswerRequest):
    """What the page for the person sends: an answer, or what else the person wants."""

    is_retry: StrictBool = Field(default=False, alias="retry")
    """True takes a step again that failed or was cut short."""

    def as_submission(self) -> AnswerSubmission:
        """Return the answer as the service takes it."""
        return AnswerSubmission(**self.model_dump(exclude={"is_retry"}))
