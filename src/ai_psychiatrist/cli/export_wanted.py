"""What of results is to be exported: the options of `export`, and which of them go together."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NoReturn

from ai_psychiatrist.domain.errors import InputError

_SUBJECT: Final = re.compile(
    r"Patient/[A-Za-z0-9.-]{1,64}|urn:uuid:[0-9a-f-]{36}|https://\S{1,500}"
)


class ExportFormat(StrEnum):
    """What results are put into."""

    FHIR = "fhir"
    JSONL = "jsonl"
    CSV = "csv"


class ExportedRows(StrEnum):
    """What a row is."""

    RESULTS = "results"
    """One assessment."""
    ITEMS = "items"
    """One item of one assessment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportWanted:
    """What is to be written."""

    format: ExportFormat
    rows: ExportedRows = ExportedRows.RESULTS
    with_words: bool = False
    questionnaire: bool = False
    is_transaction: bool = False
    subject: str | None = None


def wanted_of(
    export_format: ExportFormat,
    rows: ExportedRows,
    *,
    with_words: bool,
    questionnaire: bool,
    transaction: bool,
    subject: str | None,
) -> ExportWanted:
    """Return what the options ask for; raises `InputError` for those that do not go together."""
    is_fhir = export_format is ExportFormat.FHIR
    if is_fhir and rows is not ExportedRows.RESULTS:
        refuse("--rows", "a bundle holds all items; leave it out, or use csv or jsonl")
    if not is_fhir and questionnaire:
        refuse("--questionnaire", "only fhir has one; use --format fhir")
    if not is_fhir and transaction:
        refuse("--transaction", "only fhir has one; use --format fhir")
    if not is_fhir and subject is not None:
        refuse("--subject", "only fhir names one; use --format fhir")
    if subject is not None and _SUBJECT.fullmatch(subject) is None:
        refuse("--subject", "write Patient/ID, urn:uuid:... or an https address")
    if not is_fhir and with_words and rows is ExportedRows.RESULTS:
        refuse("--with-words", "the words are those of items; use --rows items")
    return ExportWanted(
        format=export_format,
        rows=rows,
        with_words=with_words,
        questionnaire=questionnaire,
        is_transaction=transaction,
        subject=subject,
    )


def refuse_without_format(**given: bool) -> None:
    """Raise `InputError` for an option that says something of results, without their format."""
    for name, is_given in given.items():
        if is_given:
            refuse(f"--{name.replace('_', '-')}", "it is for results; add --format")


def refuse(option: str, problem: str) -> NoReturn:
    """Raise `InputError` for an option."""
    raise InputError(f"{option}: {problem}", field=option)
