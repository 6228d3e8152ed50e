"""What is written of each unit, each kind of line to a stream of its own, files whole or not."""

import gzip
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

import orjson

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.private_files import is_device
from ai_psychiatrist.validation.checks.host_fields import METADATA, SET_ASIDE, UNIT_ID
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.jsonl.unit import UnitOutcome

_NAME_BYTES: Final = 8
_OWNERS_ALONE: Final = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The open streams of a run."""

    valid: BinaryIO
    failures: BinaryIO
    coercions: BinaryIO | None = None
    """One line for each value that was read from another type or spelling, if wanted."""
    following: BinaryIO | None = None
    """The contexts of the next step, if wanted."""

    def write(self, outcome: UnitOutcome, validator: StepValidator) -> None:
        """Write the lines of one unit."""
        unit, verdict = outcome
        if not verdict.is_valid:
            self.failures.write(_failure_line(outcome))
        else:
            self.valid.write(_valid_line(outcome))
            if self.following is not None:
                known = validator.accumulated(unit.context or {}, verdict.value or {})
                self.following.write(_line({UNIT_ID: unit.unit_id, **known}))
        if verdict.coercions and self.coercions is not None:
            unit_id = json.dumps(unit.unit_id)
            for coercion in verdict.coercions:
                line = f"{unit_id} {coercion.line}\n"
                self.coercions.write(line.encode("utf-8", "backslashreplace"))


def _valid_line(outcome: UnitOutcome) -> bytes:
    """Return the coerced answer between the unit's id and the other fields of its host."""
    unit, verdict = outcome
    if unit.written is not None and verdict.value is unit.answer:
        return unit.written + b"\n"
    answer = verdict.value or {}
    written = dict(answer) if unit.unit_id is None else {UNIT_ID: unit.unit_id, **answer}
    written |= {name: value for name, value in unit.host.items() if name not in SET_ASIDE}
    if METADATA in unit.host:
        written[METADATA] = unit.host[METADATA]
    return _line(written)


def _failure_line(outcome: UnitOutcome) -> bytes:
    unit, verdict = outcome
    return _line(
        {
            UNIT_ID: unit.unit_id,
            "failure_stage": verdict.stage,
            "input": unit.context,
            "raw_response": unit.raw_response,
            "errors": [error.note for error in verdict.errors],
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
    if is_device(path) or target.is_dir():
        # A device or a pipe cannot be replaced by a finished file, and what /dev/stdout stands for
        # belongs to another program.
        try:
            stream: BinaryIO = path.open("ab")
        except OSError as error:
            raise _unwritable(field, error) from None
        with stream:
            yield stream
        return
    # Named before it is there: an interrupt at any moment finds what is to be removed.
    draft = target.with_name(f".{target.name}.{secrets.token_hex(_NAME_BYTES)}")
    try:
        with ExitStack() as stack:
            try:
                descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNERS_ALONE)
            except OSError as error:
                raise _unwritable(field, error) from None
            stream = stack.enter_context(os.fdopen(descriptor, "wb"))
            yield stack.enter_context(_packed(stream)) if path.suffix == ".gz" else stream
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _packed(plain: BinaryIO) -> BinaryIO:
    """Return a stream whose bytes do not tell when or under which name they were written."""
    packer = gzip.GzipFile(filename="", mode="wb", fileobj=plain, compresslevel=6, mtime=0)
    return cast("BinaryIO", packer)


def _unwritable(field: str, error: OSError) -> InputError:
    return InputError(f"{field} cannot be written: {error.strerror}", field=field)
