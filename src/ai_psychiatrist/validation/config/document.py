"""A YAML file as plain values that remember where they stand, and what is wrong with it.

`read_document(path)` reads a file. `document.error(location, code, message)` reports a problem at
the place that a tuple of keys and positions leads to. Pydantic names places in the same way, so
`validate_model(document, Model)` reports all that a model says against a file, in our own words,
for Pydantic's can repeat what stands in the file:

    document = read_document(path)
    try:
        protocol = validate_model(document, ProtocolFile)
        if protocol is not None:
            check_goals(protocol, document)   # document.error(("goals", 2, "name"), code, message)
    except TooManyProblems:
        pass
    return document.problems
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ai_psychiatrist.infrastructure.given_files import FileTooLarge, NotRegularFile, read_regular
from ai_psychiatrist.validation.checks.verdict import type_name
from ai_psychiatrist.validation.config.problem import (
    FilePosition,
    KeyPath,
    LintProblem,
    ProblemLevel,
    dotted,
)
from ai_psychiatrist.validation.config.yaml_values import Mark, YamlUnusable, read_yaml
from ai_psychiatrist.validation.nearest import did_you_mean

MOST_BYTES: Final = 1 << 20
"""Bound on a schema or a list of items."""
MOST_TEMPLATE_BYTES: Final = 1 << 17
MOST_YAML_BYTES: Final = 1 << 18
"""Bound on a pipeline's or a protocol's own file."""
MOST_PROBLEMS: Final = 500
"""Problems that are told of one file; each of them costs a search for what was meant."""

_NOTHING: Final = object()


class FileUnusable(Exception):
    """A file cannot be read; the message says why and names no path."""


class TooManyProblems(Exception):
    """A file has so many problems that the rest of it is not looked at."""


@dataclass(slots=True, kw_only=True)
class Document:
    """One file: what it holds, where each value stands, and the problems found so far."""

    content: bytes = field(default=b"", repr=False)
    value: object = field(default=None, repr=False)
    """Dictionaries, lists and plain values, without what was reported and left out."""
    mark: Mark = field(default_factory=lambda: Mark(path=()), repr=False)
    """Where the value and those inside of it stand in the file."""
    is_readable: bool = False
    """Whether there is a value to look at."""
    _problems: list[LintProblem] = field(default_factory=list, repr=False)
    _reported: set[KeyPath] = field(default_factory=set, repr=False)

    def error(
        self,
        location: KeyPath,
        code: str,
        message: str,
        *,
        column: int | None = None,
        level: ProblemLevel = ProblemLevel.ERROR,
    ) -> None:
        """Report a problem that makes the file unusable; `column`: from 1 inside the text there.

        One more than `MOST_PROBLEMS` raises `TooManyProblems`; so does `warn`.
        """
        _, value = self.found(location)
        mark = self.mark_at(location)
        place = mark.key
        if column is not None and mark.text is not None and "\n" not in str(value):
            place = FilePosition(line=mark.text.line, column=mark.text.column + column - 1)
        self.report_at(place, mark.path, code, message, level=level)

    def warn(self, location: KeyPath, code: str, message: str) -> None:
        """Report a problem that the file can be used with."""
        self.error(location, code, message, level=ProblemLevel.WARNING)

    def report_at(
        self,
        place: FilePosition | None,
        path: KeyPath,
        code: str,
        message: str,
        *,
        level: ProblemLevel = ProblemLevel.ERROR,
    ) -> None:
        """Report a problem at a place of the file; `path`: the keys that lead there in the file."""
        if len(self._problems) == MOST_PROBLEMS:
            raise TooManyProblems
        problem = LintProblem(
            level=level,
            code=code,
            where=dotted(path),
            line=None if place is None else place.line,
            column=None if place is None else place.column,
            message=message,
        )
        self._problems.append(problem)
        self._reported.add(path)

    @property
    def problems(self) -> list[LintProblem]:
        """Every problem once, by line; those without a line come first."""
        found = set(self._problems)
        if len(self._problems) == MOST_PROBLEMS:
            found.add(_AND_MORE)
        return sorted(
            found,
            key=lambda one: (one.line or 0, one.column or 0, one.where, one.code, one.message),
        )

    @property
    def has_errors(self) -> bool:
        """Whether a problem makes the file unusable."""
        return any(problem.is_error for problem in self._problems)

    def reported_in(self, location: KeyPath) -> set[KeyPath]:
        """Return the ways from a location, `()` for itself, to all that something is wrong with."""
        found, _ = self.found(location)
        path = (*self.mark_at(found).path, *location[len(found) :])
        return {one[len(path) :] for one in self._reported if one[: len(path)] == path}

    def found(self, location: KeyPath) -> tuple[KeyPath, object]:
        """Return as much of a location as there is in the document, and the value there.

        Parts that are a model's own, such as a key that is missing, are passed over.
        """
        path: KeyPath = ()
        value = self.value
        for part in location:
            inner = _inner(value, part)
            if inner is not _NOTHING:
                path, value = (*path, part), inner
        return path, value

    def mark_at(self, location: KeyPath) -> Mark:
        """Return where the value at a location stands or stood, or the nearest thing around it."""
        mark = self.mark
        for part in location:
            mark = mark.inner.get(part, mark)
        return mark

    def leave_out(self, changes: Mapping[KeyPath, str | None]) -> None:
        """Take values out, so that the others can be looked at; with a text, rename their key.

        Places stay those of the file; positions behind a value that leaves a list move up.
        """
        outwards = sorted(changes, key=len)
        # From the innermost and from the end of each list, so that what is left keeps its position.
        for location in outwards[::-1]:
            *around, key = location
            _, holder = self.found(tuple(around))
            marks, name = self.mark_at(tuple(around)), changes[location]
            if isinstance(holder, dict):
                value = holder.pop(key)
                if name is not None:
                    holder[name], marks.inner[name] = value, marks.inner[key]
            elif isinstance(holder, list) and isinstance(key, int):
                del holder[key]
                left = [mark for at, mark in marks.inner.items() if at != key]
                marks.inner = dict(enumerate(left))


def read_document(path: Path, *, what: str = "the file") -> Document:
    """Read a YAML file; `what`: how its problems call it.

    A file that leaves nothing to look at gives a document that is not readable and says why.
    """
    try:
        return document_of(read_bounded(path, most_bytes=MOST_YAML_BYTES))
    except FileUnusable as error:
        document = Document()
        document.report_at(None, (), "unreadable", f"{what} cannot be used: {error}")
        return document


def read_bounded(path: Path, *, most_bytes: int = MOST_BYTES) -> bytes:
    """Return a file's bytes; raises `FileUnusable` for no file, an unreadable or a large one."""
    try:
        return read_regular(path, most_bytes=most_bytes)
    except FileTooLarge:
        msg = f"it is larger than {most_bytes} bytes"
    except NotRegularFile:
        msg = "it is no regular file"
    except OSError as error:
        msg = error.strerror or "its name cannot be one of a file"
    raise FileUnusable(msg)


def decoded(content: bytes) -> str:
    """Return UTF-8 text without a byte order mark; raises `FileUnusable` for other encodings."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        msg = "it is not UTF-8 text"
        raise FileUnusable(msg) from None


def with_line_feeds(content: bytes) -> bytes:
    """Return the content of a file as it is digested: an editor's line ends make no other file."""
    return content.replace(b"\r\n", b"\n")


def document_of(content: bytes) -> Document:
    """Read YAML; raises `FileUnusable` for bytes that are no text."""
    text = decoded(content)
    document = Document(content=with_line_feeds(content))
    try:
        document.value, document.mark = read_yaml(text, document.report_at)
    except YamlUnusable as error:
        document.report_at(error.place, (), error.code, str(error))
    except TooManyProblems:
        pass
    else:
        document.is_readable = True
    return document


def _inner(value: object, part: str | int) -> object:
    if isinstance(value, dict):
        return value.get(part, _NOTHING)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return _NOTHING


_AND_MORE: Final = LintProblem(
    level=ProblemLevel.ERROR,
    code="too_many_problems",
    where="",
    line=None,
    column=None,
    message=f"these are the first {MOST_PROBLEMS} problems; the rest was not looked at",
)


_Model = TypeVar("_Model", bound=BaseModel)

_WANTED: Final[Mapping[str, str]] = {
    "string_type": "a text, in quotes",
    "string_pattern_mismatch": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
}
_BOUNDS: Final[Mapping[str, str]] = {
    "greater_than_equal": "{ge} or more",
    "greater_than": "more than {gt}",
    "less_than_equal": "{le} or less",
    "less_than": "less than {lt}",
}
_CHOICES: Final[Mapping[str, str]] = {
    "enum": "expected",
    "literal_error": "expected",
    "union_tag_invalid": "expected_tags",
}
_MISSING: Final = frozenset({"missing", "union_tag_not_found"})
_TAGS: Final = frozenset({"union_tag_invalid", "union_tag_not_found"})
_CHOICE: Final = re.compile("'([^']*)'")


def validate_model(document: Document, model: type[_Model]) -> _Model | None:
    """Make a model of a document, and report everything that speaks against it.

    What is wrong is left out of the document and the rest is looked at again, so that there is a
    model for further checks; its locations are those of the document as it is left. `None` when
    too little remains. Raises `TooManyProblems`.
    """
    while document.is_readable:
        try:
            return model.model_validate(document.value)
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False)
        # What is missing leaves out all that is around it, so everything else is told before.
        others = [detail for detail in details if detail["type"] not in _MISSING]
        changes: dict[KeyPath, str | None] = {}
        for detail in others or details:
            changes |= _reported(document, detail)
        if () in changes:
            return None
        document.leave_out(changes)
    return None


def _reported(document: Document, detail: ErrorDetails) -> dict[KeyPath, str | None]:
    """Report one error, unless it follows from another; return what to leave out or rename."""
    kind, context, where = detail["type"], detail.get("ctx", {}), detail["loc"]
    if kind in _TAGS:
        where = (*where, context["discriminator"].strip("'"))
    if kind in _MISSING:
        return _missing(document, where)
    location, value = document.found(where)
    is_key = where[-1:] == ("[key]",)
    if is_key:
        value = location[-1]
    path = document.mark_at(location).path
    if is_key or not any(document.reported_in(location)):
        code, message = _said(kind, context, dotted(path) or "the file", value)
        report = document.error if context.get("is_error", True) else document.warn
        report(location, code, message)
    return {location: context.get("meant")}


def _missing(document: Document, location: KeyPath) -> dict[KeyPath, str | None]:
    around, _ = document.found(location[:-1])
    path, key = document.mark_at(around).path, location[-1]
    if not document.reported_in((*around, key)):
        document.error(around, "missing_key", f"{dotted(path) or 'the file'} has no {key!r}")
    return {around: None}


def _said(kind: str, context: Mapping[str, Any], place: str, value: object) -> tuple[str, str]:
    """Return code and message of an error."""
    if "message" in context:
        return kind, context["message"]
    if kind in _CHOICES:
        options = _CHOICE.findall(context[_CHOICES[kind]])
        hint = did_you_mean(value, options) if isinstance(value, str) else ""
        return "unknown_choice", f"{place} is one of {', '.join(options)}{hint}"
    found = "nothing" if value is None else "an empty text" if value == "" else type_name(value)
    if kind in _BOUNDS:
        return "out_of_range", f"{place} has to be {_BOUNDS[kind].format(**context)}"
    return "wrong_shape", f"{place} has to be {_WANTED.get(kind, 'something else')}; found {found}"
