"""What any system says of an interview of a challenge: one JSON line, read strictly."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import ItemScore
from ai_psychiatrist.evaluation.scores.record_lines import complaint_of, line_error, numbered_lines

OUTCOMES: Final = (0, 1, 2, 3, None)
"""What can be true of an item, in the order of `probabilities`; `None` is not determinable."""
MOST_QUOTES: Final = 1_000
"""Of an item."""
_ROUNDING: Final = 1e-6
_FIELD: Final = "predictions"

Share = Annotated[float, Field(ge=0, le=1)]


class _Given(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )


class GivenQuote(_Given):
    """Words that a system shows for an item."""

    text: Annotated[str, Field(min_length=1)] = Field(repr=False)
    start: Annotated[int, Field(ge=0)] | None = None
    """First character in the interview's text, from 0; without it the words are looked for."""
    end: int | None = None
    """Character after the last one."""
    polarity: Polarity | None = None
    """Whether the words are taken to say that the symptom is there."""

    @model_validator(mode="after")
    def _has_whole_place(self) -> Self:
        if (self.start is None) != (self.end is None):
            msg = "start and end are given together"
            raise ValueError(msg)
        return self


class ItemAnswer(_Given):
    """One item: a score, or `None` where the system cannot tell."""

    score: ItemScore | None
    quotes: Annotated[tuple[GivenQuote, ...], Field(max_length=MOST_QUOTES)] = ()
    probabilities: tuple[Share, Share, Share, Share, Share] | None = None
    """Of 0, 1, 2, 3 and not determinable; together 1."""
    outcomes: Annotated[tuple[ItemScore | None, ...], Field(min_length=1)] | None = Field(
        default=None, alias="set"
    )
    """Those that the system holds possible; `None` in it is not determinable."""

    @model_validator(mode="after")
    def _is_coherent(self) -> Self:
        shares = self.probabilities
        if shares is not None and not math.isclose(math.fsum(shares), 1, abs_tol=_ROUNDING):
            msg = "the five probabilities add up to 1"
            raise ValueError(msg)
        if self.outcomes is not None and len(set(self.outcomes)) < len(self.outcomes):
            msg = "a set holds each outcome once"
            raise ValueError(msg)
        return self


class ChallengePrediction(_Given):
    """What a system says of one interview."""

    unit_id: Annotated[str, Field(min_length=1)]
    items: Mapping[Item, ItemAnswer]
    """All eight, or none where the system failed."""
    danger: bool | None = None
    """Whether a person should look at once; `None` where the system does not say."""
    calls: Annotated[int, Field(ge=0)] | None = None
    """Model calls that were made for it."""
    cost_usd: Annotated[float, Field(ge=0)] | None = None
    system: Annotated[str, Field(min_length=1)] | None = None
    """What answered; all lines of a file name the same, or none does."""

    @model_validator(mode="after")
    def _has_all_items(self) -> Self:
        if self.items and len(self.items) < len(Item):
            msg = "all eight items are given, or none"
            raise ValueError(msg)
        return self

    @property
    def is_failed(self) -> bool:
        """Whether it answers no item at all."""
        return not self.items

    def to_line(self) -> bytes:
        """Return it as one JSON line; what is not given is left out."""
        written = self.model_dump_json(by_alias=True, exclude_defaults=True)
        return written.encode() + b"\n"


_KEYS: Final = frozenset(
    field.alias or name
    for record in (GivenQuote, ItemAnswer, ChallengePrediction)
    for name, field in record.model_fields.items()
) | frozenset(Item)
"""What an error may repeat of a line."""


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
            complaint = next(_complaints(prediction, found, texts), None)
        except ValidationError as error:
            complaint = complaint_of(error, known=_KEYS)
        if complaint is not None:
            error_of_line = line_error(number, complaint, field=_FIELD)
            raise InputError(f"{path.name}: {error_of_line}", field=_FIELD)
        found[prediction.unit_id] = prediction
    if not found:
        msg = f"{path.name} holds no prediction"
        raise InputError(msg, field=_FIELD)
    return found


def _complaints(
    prediction: ChallengePrediction,
    before: Mapping[str, ChallengePrediction],
    texts: Mapping[str, str],
) -> Iterator[str]:
    """Yield what of a line does not go with the interviews, and with the lines before it."""
    text = texts.get(prediction.unit_id)
    if text is None:
        yield "is unusable at unit_id: this challenge has no such interview"
        return
    if prediction.unit_id in before:
        yield "is unusable at unit_id: the interview comes twice"
    if before and prediction.system != next(iter(before.values())).system:
        yield "is unusable at system: the lines before it are another's"
    for item, answer in prediction.items.items():
        for number, quote in enumerate(answer.quotes):
            if quote.start is not None and text[quote.start : quote.end] != quote.text:
                place = f"items.{item}.quotes.{number}"
                yield f"is unusable at {place}: other words stand from start to end"
