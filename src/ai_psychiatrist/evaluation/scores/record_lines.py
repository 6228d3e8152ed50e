"""Files of one JSON record a line: read by number, and faults named without repeating the line."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Protocol, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.given_files import open_regular, reason_of
from ai_psychiatrist.validation.jsonl.lines import read_lines


class StrictRecord:
    """A dataclass of which nothing may be missing, unknown or of another type where it is read."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False
    )


class UnitRecord(Protocol):
    """A record about one unit."""

    @property
    def unit_id(self) -> str:
        """The unit's identifier."""
        ...


Record = TypeVar("Record", bound=UnitRecord)


def records_by_unit(
    path: Path, adapter: TypeAdapter[Record], *, known: frozenset[str], field: str
) -> dict[str, Record]:
    """Read the records of a file by unit id; `known` are the keys that an error may repeat.

    Raises `InputError` that names the line and the key when one is missing, unknown, of another
    type or out of range, or when a unit comes twice.
    """
    records: dict[str, Record] = {}
    for number, line in numbered_lines(path, field=field):
        try:
            record = adapter.validate_json(line)
        except ValidationError as error:
            raise line_error(number, complaint_of(error, known=known), field=field) from None
        if record.unit_id in records:
            raise line_error(number, "repeats a unit", field=field)
        records[record.unit_id] = record
    return records


def numbered_lines(path: Path, *, field: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, counted from 1.

    Raises `InputError` for `field` when the file cannot be read.
    """
    try:
        with open_regular(path) as file:
            for line in read_lines(file):
                if line.content is None:
                    raise line_error(line.number, "is too long", field=field)
                if line.content.strip():
                    yield line.number, line.content
    except OSError as error:
        msg = f"cannot read {str(path)!r}: {reason_of(error)}"
        raise InputError(msg, field=field) from None


def line_error(number: int, complaint: str, *, field: str) -> InputError:
    """Return the error for one unusable line."""
    return InputError(f"line {number} {complaint}", field=field)


def complaint_of(error: ValidationError, *, known: frozenset[str]) -> str:
    """Name the place and the fault; of the place only keys that are `known` are repeated."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    match first["type"], first["loc"]:
        case "json_invalid", _:
            return "is no JSON"
        case "dataclass_type", ():
            return "is no JSON object"
        case "unexpected_keyword_argument", _:
            return "has a field that does not belong there"
    parts = [str(part) for part in first["loc"] if isinstance(part, int) or part in known]
    return f"is unusable at {'.'.join(parts) or 'the top'}: {first['msg']}"
