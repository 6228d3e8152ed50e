"""What the query of an export may say."""

from enum import StrEnum
from typing import Annotated, Final, TypeAlias

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from ai_psychiatrist.domain.errors import InputError

_MEDIA_TYPES: Final = {
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8; header=present",
    "fhir": "application/fhir+ndjson",
}
_NAMES: Final = {"jsonl": "jsonl", "csv": "csv", "fhir": "ndjson"}


class ExportedThing(StrEnum):
    """What is exported."""

    RESULTS = "results"
    """Assessments, one a row."""
    ITEMS = "items"
    """Their items, one a row."""
    RATINGS = "ratings"
    """What raters said."""


class ExportedAs(StrEnum):
    """In which form."""

    JSONL = "jsonl"
    CSV = "csv"
    FHIR = "fhir"
    """One bundle a line."""

    @property
    def media_type(self) -> str:
        """What the bytes are."""
        return _MEDIA_TYPES[self.value]


class ExportInQuery(BaseModel):
    """What is wanted, and how; nothing unknown."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    what: ExportedThing = Field(
        default=ExportedThing.RESULTS,
        description="Assessments, their items, or what raters said: of others for admins alone.",
    )
    format: ExportedAs = Field(
        default=ExportedAs.JSONL, description="JSON lines, CSV, or one FHIR bundle a line."
    )
    with_words: bool = Field(
        default=False,
        description="Also the words that carry scores: of items, or of results as fhir.",
    )
    questionnaire: bool = Field(
        default=False, description="In fhir also a QuestionnaireResponse of each assessment."
    )

    def checked(self) -> "ExportInQuery":
        """Return it; raises `InputError` for what does not go together."""
        is_fhir = self.format is ExportedAs.FHIR
        if is_fhir and self.what is ExportedThing.ITEMS:
            msg = "a bundle holds all items: ask for results, or for csv or jsonl"
            raise InputError(msg, field="what")
        has_words = self.what is ExportedThing.ITEMS or (
            is_fhir and self.what is ExportedThing.RESULTS
        )
        if self.with_words and not has_words:
            msg = "words are those of items: ask for items, or for results as fhir"
            raise InputError(msg, field="with_words")
        if self.questionnaire and not is_fhir:
            msg = "only fhir has a questionnaire: ask for format=fhir, or leave it out"
            raise InputError(msg, field="questionnaire")
        return self

    @property
    def file_name(self) -> str:
        """What a browser saves it as."""
        return f"{self.what.value}.{_NAMES[self.format.value]}"


ExportOfQuery: TypeAlias = Annotated[ExportInQuery, Query()]
