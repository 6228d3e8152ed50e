"""The checks of answers by a JSON Schema alone, in memory."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Annotated, ClassVar, Final, TypeAlias

from pydantic import AfterValidator

from ai_psychiatrist.domain.errors import InputError, require
from ai_psychiatrist.interface.given import named_path
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.validation.checks.step_config import StepConfig
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.config.pipeline import step_of_document, step_of_schema
from ai_psychiatrist.validation.jsonl.lines import LONGEST_LINE_BYTES, Line, source_lines
from ai_psychiatrist.validation.jsonl.outputs import Outputs
from ai_psychiatrist.validation.jsonl.run import ValidationOptions, validate_lines

Answer: TypeAlias = str | bytes | Mapping[str, object]
"""One answer: an object as JSON, a reply that gives one, or the object itself."""
JsonSchema: TypeAlias = Mapping[str, object] | bool | Path

_OPTIONS: Final = ValidationOptions(needs_unit_ids=False)
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class ValidAnswer(dict[str, object]):
    """An answer that nothing is wrong with; it shows how many values it has, and none of them."""

    shown: ClassVar[tuple[str, ...]] = ()
    """Keys whose values are this program's own."""

    def __rich_repr__(self) -> Iterator[tuple[str, object]]:
        """Yield the values that are shown."""
        yield from ((key, self[key]) for key in self.shown)

    def __repr__(self) -> str:
        """Show these values, and how many there are."""
        shown = "".join(f"{key}={value!r}, " for key, value in self.__rich_repr__())
        return f"{type(self).__name__}({shown}<{len(self)}>)"


class FailedAnswer(ValidAnswer):
    """What is wrong with an answer, and the answer."""

    shown = ("line", "failure_stage")


class ValidatedLines(Result):
    """What became of answers, each in the order in which they were given."""

    valid: tuple[Annotated[dict[str, object], AfterValidator(ValidAnswer)], ...]
    """As they are after coercion."""
    failures: tuple[Annotated[dict[str, object], AfterValidator(FailedAnswer)], ...]
    """Each with `line`, the place of the answer from 1, `failure_stage`, `errors`, and what was
    answered."""
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

    `lines`: one answer each, an object or a model's reply that gives one in a fence or among words,
    or the path of a file with one object a line. Each answer comes back once, an empty one as well.
    `schema`: a JSON Schema, or the path of one. All is kept in memory: the command does files of
    any length. Raises `ConfigurationError` for what is no schema, and `InputError` for what are no
    lines, or no answers.
    """
    validator = StepValidator(_step(schema))
    valid, failures, coercions = BytesIO(), BytesIO(), BytesIO()
    outputs = Outputs(valid=valid, failures=failures, coercions=coercions)
    summary = validate_lines(validator, _lines(lines), outputs, options=_OPTIONS)
    return ValidatedLines(
        valid=tuple(_objects(valid)),
        failures=tuple(_objects(failures)),
        coercions=tuple(coercions.getvalue().decode().splitlines()),
        summary=asdict(summary),
    )


def _step(schema: JsonSchema) -> StepConfig:
    if isinstance(schema, Path):
        return step_of_schema(named_path(schema, field="schema"))
    document = dict(schema) if isinstance(schema, Mapping) else schema
    return step_of_document(document, name="schema")


def _lines(lines: Iterable[Answer] | Path) -> Iterable[Line]:
    if isinstance(lines, Path):
        return source_lines(named_path(lines, field="lines"))
    require(
        isinstance(lines, Iterable) and not isinstance(lines, str | bytes | Mapping),
        "give a list of answers, or the pathlib.Path of a file with one a line",
        field="lines",
    )
    return [_line(number, answer) for number, answer in enumerate(lines, start=1)]


def _line(number: int, answer: Answer) -> Line:
    content = _content(number, answer)
    if content is None:
        return Line(number, None, 0, is_writable=False)
    is_too_long = len(content) > LONGEST_LINE_BYTES
    return Line(number, None if is_too_long else content, len(content), is_reply=True)


def _content(number: int, answer: Answer) -> bytes | None:
    """Return an answer as it is in a file; `None` for what no JSON can hold."""
    match answer:
        case str():
            content = answer.encode("utf-8", "surrogatepass")
        case bytes():
            content = answer
        case Mapping():
            try:
                content = json.dumps(dict(answer)).encode()
            except (TypeError, ValueError, RecursionError):
                return None
        case _:
            raise InputError(
                f"answer {number} is of type {type(answer).__name__}: give each as str, bytes or "
                "a mapping",
                field="lines",
            )
    return content.removeprefix(_BYTE_ORDER_MARK).rstrip(b"\r\n")


def _objects(stream: BytesIO) -> Iterator[dict[str, object]]:
    # One after the other, not by lines: a valid answer is written as it was, breaks and all. A
    # reader of numbers of any length: what is valid comes out as it went in.
    text, start = stream.getvalue().decode("utf-8", "surrogatepass"), 0
    decoder = json.JSONDecoder()
    while start < len(text):
        value, end = decoder.raw_decode(text, start)
        yield value
        start = end + 1
