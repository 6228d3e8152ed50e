"""Reads predictions, each held against the interview that it is of."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.challenge.prediction import KEYS, ChallengePrediction
from ai_psychiatrist.evaluation.scores.record_lines import complaint_of, line_error, numbered_lines

_FIELD: Final = "predictions"


def read_challenge_predictions(
    path: Path, texts: Mapping[str, str]
) -> dict[str, ChallengePrediction]:
    """Read a file by interview; interviews that it leaves out are not in it.

    Raises `InputError` naming line and field for what is missing, unknown, of another type or out
    of range, for an interview that the challenge does not have or that comes twice, for a quote
    whose words do not stand where it says, and for answers of more than one system.
    """
    found: dict[str, ChallengePrediction] = {}
    for number, line in numbered_lines(path, field=_FIELD):
        try:
            prediction = ChallengePrediction.model_validate_json(line)
        except ValidationError as error:
            raise _refused(path, number, complaint_of(error, known=KEYS)) from None
        if prediction.unit_id not in texts:
            complaint = "is unusable at unit_id: this challenge has no such interview"
            raise _refused(path, number, complaint)
        if prediction.unit_id in found:
            raise _refused(path, number, "is unusable at unit_id: the interview comes twice")
        if found and prediction.system != next(iter(found.values())).system:
            complaint = "is unusable at system: the lines before it are another's"
            raise _refused(path, number, complaint)
        for place in _misplaced(prediction, texts[prediction.unit_id]):
            complaint = f"is unusable at {place}: other words stand from start to end"
            raise _refused(path, number, complaint)
        found[prediction.unit_id] = prediction
    if not found:
        msg = f"{path.name} holds no prediction"
        raise InputError(msg, field=_FIELD)
    return found


def _misplaced(prediction: ChallengePrediction, text: str) -> Iterator[str]:
    """Yield where quotes say of themselves to stand in other places than they do."""
    for item, answer in prediction.items.items():
        for number, quote in enumerate(answer.quotes):
            if quote.start is not None and text[quote.start : quote.end] != quote.text:
                yield f"items.{item}.quotes.{number}"


def _refused(path: Path, number: int, complaint: str) -> InputError:
    error = line_error(number, complaint, field=_FIELD)
    return InputError(f"{path.name}: {error}", field=_FIELD)
