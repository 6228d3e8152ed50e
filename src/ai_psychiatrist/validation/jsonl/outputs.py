"""What is written of each unit, each kind of line to a stream of its own, files whole or not."""

import gzip
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import orjson

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.private_files import draft_of, is_device
from ai_psychiatrist.validation.checks.host_fields import METADATA, SET_ASIDE, UNIT_ID
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.jsonl.unit import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The open streams of a run."""

    valid: BinaryIO
    failures: BinaryIO
    coercions: BinaryIO | None = None
    """One line for each value that was read from another type or spelling, if wanted."""
    following: BinaryIO | None = None
    """The contexts of the next step, if wanted."""

    def write(self, unit: Unit, validator: StepValidator) -> None:
        """Write the lines of one unit."""
        verdict = unit.verdict
        if not verdict.is_valid:
            self.failures.write(_failure_line(unit))
        else:
            self.valid.write(_valid_line(unit))
            if self.following is not None:
                known = validator.accumulated(unit.context or {}, verdict.value or {})
                self.following.write(_line({UNIT_ID: unit.unit_id, **known}))
        if verdict.coercions and self.coercions is not None:
            unit_id = json.dumps(unit.unit_id)
            for coercion in verdict.coercions:
                line = f"{unit_id} {coercion.line}\n"
                self.coercions.write(line.encode("utf-8", "backslashreplace"))


def _valid_line(unit: Unit) -> bytes:
    """Return the coerced answer between the unit's id and the other fields of its host."""
    if unit.written is not None and unit.verdict.value is unit.answer:
        return unit.written + b"\n"
    answer = unit.verdict.value or {}
    written = dict(answer) if unit.unit_id is None else {UNIT_ID: unit.unit_id, **answer}
    written |= {name: value for name, value in unit.host.items() if name not in SET_ASIDE}
    if METADATA in unit.host:
        written[METADATA] = unit.host[METADATA]
    return _line(written)


def _failure_line(unit: Unit) -> bytes:
    return _line(
        {
            UNIT_ID: unit.unit_id,
            "failure_stage": unit.verdict.stage,
            "input": unit.context,
            "raw_response": unit.raw_response,
            "errors": [error.note for error in unit.verdict.errors],
            "retry_count": unit.retry_count,
            "line": unit.number,
        }
    )


def _line(value: dict[str, object]) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        # Whole numbers beyond 64 bits, and half characters, which come out as \u escapes.
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return f"{text}\n".encode("utf-8", "backslashreplace")


@contextmanager
def output_file(path: Path, *, field: str) -> Iterator[BinaryIO]:
    """Yield a stream whose content appears under its name when the block ends without an error.

    The file can be read by its owner alone and is compressed when its name ends in `.gz`. Raises
    `InputError` naming `field` when it cannot be written.
    """
    target = path.resolve()
    # A device or a pipe cannot be replaced by a finished file, and what /dev/stdout stands for
    # belongs to another program.
    is_replaced = not is_device(path) and not target.is_dir()
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(draft_of(target) if is_replaced else path.open("ab"))
        except OSError as error:
            msg = f"{field} cannot be written: {error.strerror}"
            raise InputError(msg, field=field) from None
        if is_replaced and path.suffix == ".gz":
            # Its bytes do not tell when or under which name they were written.
            packer = gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0)
            stream = cast("BinaryIO", stack.enter_context(packer))
        yield stream
