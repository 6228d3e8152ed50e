"""Files that are given to the interview command, read whole and without repeating their words."""

from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ai_psychiatrist.api.interview_requests import GivenAssessment
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.interview_items import AssessmentInput
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of

_MOST_BYTES: Final = 1 << 24


def read_text(path: Path, *, field: str) -> str:
    """Return a UTF-8 file exactly as it is; raises `InputError` naming the option."""
    try:
        return read_regular(path, most_bytes=_MOST_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        msg = f"{field}: the file is not UTF-8 text; convert it, for example with iconv"
        raise InputError(msg, field=field) from None
    except OSError as error:
        msg = f"{field}: the file cannot be read: {reason_of(error)}"
        raise InputError(msg, field=field) from None


def read_assessment(path: Path) -> AssessmentInput:
    """Read what `assess --json` or the HTTP API gave; raises `InputError` for anything else."""
    text = read_text(path, field="--from")
    try:
        return GivenAssessment.model_validate_json(text).as_input()
    except ValidationError:
        msg = (
            "--from: the file holds no assessment; make one with "
            "`ai-psychiatrist assess FILE --json`"
        )
        raise InputError(msg, field="--from") from None


def read_inputs(given: list[str]) -> dict[str, str]:
    """Return the inputs of `NAME=TEXT` or `NAME=@FILE`; raises `InputError`."""
    inputs: dict[str, str] = {}
    for one in given:
        name, separator, value = one.partition("=")
        if not (name.strip() and separator):
            msg = "--input: write NAME=TEXT or NAME=@FILE, for example title=Lunch"
            raise InputError(msg, field="--input")
        text = read_text(Path(value[1:]), field="--input") if value.startswith("@") else value
        inputs[name.strip()] = text
    return inputs
