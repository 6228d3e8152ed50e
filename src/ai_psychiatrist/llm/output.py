"""What every accepted reply has in common, and what is kept of one that is refused."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field


class ModelOutput(BaseModel):
    """An accepted reply, and what had to be done to read it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    repaired: bool = False
    """Whether the JSON syntax was repaired."""
    coercions: int = Field(default=0, ge=0)
    """How many values were read from another type."""


class PartialOutput(BaseModel):
    """What is valid of a reply that is refused as a whole."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @property
    @abstractmethod
    def unread_count(self) -> int:
        """How many parts of the reply could not be read."""

    @property
    def lost_count(self) -> int:
        """How many answers, not only their particulars, are missing for that."""
        return 0

    def over(self, earlier: Self) -> Self:
        """Return what stands of this reply and of one that was refused before it.

        The one that lost less does, and the later one of equals. They are not mixed: an answer is
        that of one reply.
        """
        return self if self.lost_count <= earlier.lost_count else earlier


OnKept: TypeAlias = Callable[[PartialOutput], None]
"""Called with what stands so far of the refused replies, whenever there is more of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsReader:
    """How what is valid of a refused reply is read."""

    read: Callable[[str], PartialOutput | None]
    """Returns `None` where nothing is; never raises for what a reply holds."""
    takes_cut_off: bool = False
    """Whether that also goes for what stands before the cut of a reply that was cut off."""
