"""Predictions as they are written: one JSON line for each unit."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, make_dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import TypeAdapter, ValidationError

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.items import ShownReference
from ai_psychiatrist.domain.phq8 import Item, total_of
from ai_psychiatrist.evaluation.scores.prediction import (
    AttemptSummary,
    BeliefPrediction,
    ChangedScorePrediction,
    FailureSummary,
    FaithfulnessPrediction,
    ItemPrediction,
    ItemSignals,
    SetPrediction,
    UnitPrediction,
)
from ai_psychiatrist.evaluation.scores.record_lines import complaint_of, line_error, numbered_lines

FIELD: Final = "predictions"
_TOTALS_KEPT: Final = 4_096


def to_line(prediction: UnitPrediction) -> bytes:
    """Return a prediction as one JSON line; equal predictions give equal bytes."""
    record = _adapter().dump_python(prediction, mode="json") | _totals(prediction.scores())
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def from_line(line: bytes, *, line_number: int = 1) -> UnitPrediction:
    """Read one line of `to_line`.

    Raises `InputError` that names the line and the field when anything in it is missing, unknown,
    of another type, out of range, or at odds with the items.
    """
    try:
        found = _lines().validate_json(line)
    except ValidationError as error:
        complaint = complaint_of(error, known=_KEYS)
        raise line_error(line_number, complaint, field=FIELD) from None
    prediction = UnitPrediction(**{name: getattr(found, name) for name in _FIELDS})
    for name, value in _totals(prediction.scores()).items():
        written = getattr(found, name)
        if written != value or isinstance(written, bool):
            complaint = f"has a {name!r} that does not follow from its items"
            raise line_error(line_number, complaint, field=FIELD)
    return prediction


def iterate_predictions(path: Path) -> Iterator[UnitPrediction]:
    """Yield the predictions of a file. Raises `InputError` naming the line that is unusable."""
    for number, line in numbered_lines(path, field=FIELD):
        yield from_line(line, line_number=number)


def read_predictions(path: Path) -> list[UnitPrediction]:
    """Read all predictions of a file.

    Raises `InputError` as `iterate_predictions` does, and when a unit is predicted twice.
    """
    predictions = list(iterate_predictions(path))
    refuse_repeated(prediction.unit_id for prediction in predictions)
    return predictions


def refuse_repeated(unit_ids: Iterable[str]) -> None:
    """Raise `InputError` when a unit is predicted twice."""
    repeated = sum(count > 1 for count in Counter(unit_ids).values())
    if repeated:
        message = f"predictions hold {repeated} units more than once; keep one line of each"
        raise InputError(message, field=FIELD)


@cache
def _adapter() -> TypeAdapter[UnitPrediction]:
    return TypeAdapter(UnitPrediction)


@lru_cache(_TOTALS_KEPT)
def _totals(scores: tuple[int | None, ...]) -> Mapping[str, int | None]:
    found = total_of(scores)
    return {name: getattr(found, part) for name, part in DERIVED.items()}


DERIVED: Final = {
    "total": "total_score",
    "total_min": "total_score_min",
    "total_max": "total_score_max",
    "severity": "severity",
    "severity_lower_bound": "severity_lower_bound",
    "severity_upper_bound": "severity_upper_bound",
}
"""What is written of the items' total → which part of it."""
_FIELDS: Final = tuple(field.name for field in fields(UnitPrediction))
_Line: Final = make_dataclass(
    "_Line",
    [(name, object, "missing") for name in DERIVED],
    bases=(UnitPrediction,),
    frozen=True,
    kw_only=True,
)
"""A prediction as it is read, with what is written of its total, whatever that is."""


@cache
def _lines() -> TypeAdapter[Any]:
    return TypeAdapter(_Line)


_KEYS: Final = frozenset(
    name
    for record in (
        ItemSignals,
        BeliefPrediction,
        SetPrediction,
        ShownReference,
        FaithfulnessPrediction,
        ChangedScorePrediction,
        ItemPrediction,
        AttemptSummary,
        FailureSummary,
        UnitPrediction,
    )
    for name in record.__dataclass_fields__
) | frozenset(Item)
