"""The checks of answers by a JSON Schema alone, in memory."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, TypeAlias

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.validation.checks.step_config import StepConfig
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.config.pipeline import step_of_document, step_of_schema
from ai_psychiatrist.validation.jsonl.lines import open_source
from ai_psychiatrist.validation.jsonl.options import ValidationOptions
from ai_psychiatrist.validation.jsonl.outputs import Outputs
from ai_psychiatrist.validation.jsonl.run import validate_lines

Answer: TypeAlias = str | bytes | Mapping[str, object]
"""One answer: a JSON line, or the object itself."""
JsonSchema: TypeAlias = Mapping[str, object] | bool | Path

_OPTIONS = ValidationOptions(needs_unit_ids=False)


class ValidatedLines(Result):
    """What became of answers, each in the order in which they were given."""

    valid: tuple[dict[str, object], ...]
    """As they are after coercion."""
    failures: tuple[dict[str, object], ...]
    """Each with `line`, from 1, `failure_stage`, `errors`, and what was answered."""
    coercions: tuple[str, ...]
    """A line for each value that was read from another type or spelling."""
    summary: dict[str, object]
    """The account in numbers, as `validate --summary` writes it."""

    @property
    def is_all_valid(self) -> bool:
        """Whether nothing failed."""
        return not self.failures


def validate(lines: Iterable[Answer] | Path, schema: JsonSchema) -> ValidatedLines:
    """Check answers as `ai-psychiatrist validate --schema` does: coercion, then the schema.

    `lines`: one answer each, or the path of a file with one a line. `schema`: a JSON Schema, or the
    path of one. All is kept in memory: the command does files of any length. Raises
    `ConfigurationError` for what is no schema, and `InputError` for what are no lines.
    """
    validator = StepValidator.compile(_step(schema))
    valid, failures, coercions = BytesIO(), BytesIO(), BytesIO()
    outputs = Outputs(valid=valid, failures=failures, coercions=coercions)
    with _opened(lines) as source:
        summary = validate_lines(validator, source, outputs, options=_OPTIONS)
    return ValidatedLines(
        valid=tuple(_objects(valid)),
        failures=tuple(_objects(failures)),
        coercions=tuple(coercions.getvalue().decode().splitlines()),
        summary=asdict(summary),
    )


def _step(schema: JsonSchema) -> StepConfig:
    if isinstance(schema, Path):
        return step_of_schema(schema)
    document = dict(schema) if isinstance(schema, Mapping) else schema
    return step_of_document(document, name="schema")


@contextmanager
def _opened(lines: Iterable[Answer] | Path) -> Iterator[BinaryIO]:
    if isinstance(lines, Path):
        with open_source(lines) as stream:
            yield stream
        return
    if isinstance(lines, str | bytes | Mapping):
        msg = "give a list of answers, or the pathlib.Path of a file with one a line"
        raise InputError(msg, field="lines")
    yield BytesIO(b"".join(_line(number, line) for number, line in enumerate(lines, start=1)))


def _line(number: int, answer: Answer) -> bytes:
    if isinstance(answer, Mapping):
        try:
            return f"{json.dumps(dict(answer))}\n".encode()
        except (TypeError, ValueError, RecursionError):
            msg = f"answer {number} cannot be written as JSON"
            raise InputError(msg, field="lines") from None
    line = answer.encode("utf-8", "surrogatepass") if isinstance(answer, str) else answer
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    if b"\n" in line:
        msg = f"answer {number} has a line break; an answer is one line"
        raise InputError(msg, field="lines")
    return line + b"\n"


def _objects(stream: BytesIO) -> Iterator[dict[str, object]]:
    # A reader of numbers of any length: what is valid comes out as it went in.
    return map(json.loads, stream.getvalue().split(b"\n")[:-1])
