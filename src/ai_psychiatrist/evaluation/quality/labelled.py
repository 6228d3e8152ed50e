"""Interviews made up for this project, with what a careful reader says of each."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item
from ai_psychiatrist.domain.risk import RiskLevel

_FILE: Final = "interviews.toml"

Score = Annotated[int, Field(ge=0, le=MAX_ITEM_SCORE)]


class LabelledInterview(BaseModel):
    """One interview and its labels."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    id: Annotated[str, Field(pattern=r"[a-z]+(-[a-z]+)*")]
    danger: Literal[RiskLevel.NONE, RiskLevel.LOW, RiskLevel.MODERATE, RiskLevel.HIGH]
    """How soon a person should look at it."""
    transcript: Annotated[str, Field(min_length=1)] = Field(repr=False)
    """Lines labelled `Interviewer:` and `Participant:`."""
    scores: Mapping[Item, Score] = {}
    """Those that the words tell; all other items are unknown."""
    polarity: Mapping[Item, Literal[Polarity.AFFIRMED, Polarity.DENIED]] = {}
    """Of unknown items, where the words say plainly that the problem is there, or is not."""

    @model_validator(mode="after")
    def _is_labelled_once(self) -> Self:
        if self.scores.keys() & self.polarity.keys():
            msg = "a score tells the polarity: give that of unknown items alone"
            raise ValueError(msg)
        return self

    @property
    def is_dangerous(self) -> bool:
        """Whether a person should look at it at once."""
        return self.danger.is_urgent

    def is_present(self, item: Item) -> bool | None:
        """Return whether a problem is there, `None` where the words do not tell."""
        if item in self.scores:
            return self.scores[item] > 0
        return self.polarity[item] is Polarity.AFFIRMED if item in self.polarity else None


@cache
def labelled_interviews() -> tuple[LabelledInterview, ...]:
    """Return the interviews that come with the package."""
    content = files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    found = tomllib.loads(content)["interview"]
    return tuple(LabelledInterview.model_validate(one) for one in found)
