"""Report what a pydantic model says against a file, at its places and in our own words.

Pydantic's messages can repeat what stands in the file, so only its kinds of errors are used.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ai_psychiatrist.validation.checks.verdict import type_name
from ai_psychiatrist.validation.config.document import Document
from ai_psychiatrist.validation.config.problem import KeyPath, dotted
from ai_psychiatrist.validation.nearest import did_you_mean

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
