"""What the query of a request may say: who is who, and how items are scored."""

from typing import Annotated, Final, Literal, TypeAlias

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from ai_psychiatrist.api.requests import AssessmentRequest, ModeName, named_mode
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.speaker_labels import LONGEST_LABEL, Roles

_MOST_LABELS: Final = 20

ModeNumber: TypeAlias = Literal["0", "1"]
Label: TypeAlias = Annotated[str, Field(min_length=1, max_length=LONGEST_LABEL)]


class SpeakersInQuery(BaseModel):
    """Who is who, most often in a file that is sent as it is; nothing unknown."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

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

    def mode_beside(self, body: AssessmentRequest) -> AssessmentMode | None:
        """Return the mode that is wanted; raises `InputError` where it is said twice."""
        if self.mode is None:
            return body.wanted_mode
        _once("mode", body)
        return named_mode(self.mode)

    def ablates_beside(self, body: AssessmentRequest) -> bool:
        """Return whether to score with changed evidence; raises `InputError` where said twice."""
        if "ablate" not in self.model_fields_set:
            return body.ablate
        _once("ablate", body)
        return self.ablate


def _once(name: str, body: AssessmentRequest) -> None:
    if name in body.model_fields_set:
        msg = f"{name} is in the body and in the query: say it once"
        raise InputError(msg, field=name)


SpeakersOfQuery: TypeAlias = Annotated[SpeakersInQuery, Query()]
ScoringOfQuery: TypeAlias = Annotated[ScoringInQuery, Query()]
