"""What is true of each interview of a challenge, and the file that says so."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.difficulty import Difficulty
from ai_psychiatrist.evaluation.scores.prediction import ItemScore
from ai_psychiatrist.evaluation.scores.record_lines import records_by_unit

_FIELD: Final = "truth"

Place = Annotated[int, Field(ge=0)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Span(_Record):
    """Words of the participant; `text[start:end]` gives them back."""

    start: Place
    end: Place


class EvidenceSpan(Span):
    """Words that say of an item that it is so, or is not."""

    polarity: Literal[Polarity.AFFIRMED, Polarity.DENIED]
    needed: bool = True
    """Whether it has to be quoted; an answer that says how often alone is right, and need not."""


class ItemTruth(_Record):
    """What an interview says about one item."""

    score: ItemScore | None
    """`None` where the words do not determine it."""
    spans: tuple[EvidenceSpan, ...] = ()


class InterviewTruth(_Record):
    """All that is true of one interview."""

    unit_id: Annotated[str, Field(min_length=1)]
    participant: str
    """Whose it is: the same interview under several conditions is one participant's."""
    difficulty: Difficulty
    noise: float | None
    """The share of wrong words; `None` for interviews outside of that comparison."""
    injected: bool | None
    """`None` for interviews outside of that comparison."""
    items: Mapping[Item, ItemTruth]
    danger: tuple[Span, ...]
    """Words that tell of danger now."""
    is_dangerous: bool
    """Whether danger was spoken of, which noise may have left no word of."""

    def to_line(self) -> bytes:
        """Return it as one JSON line."""
        return self.model_dump_json().encode() + b"\n"


def read_truth(path: Path) -> dict[str, InterviewTruth]:
    """Read the truth by interview; raises `InputError` naming the line that is unusable."""
    return records_by_unit(path, TypeAdapter(InterviewTruth), known=_KEYS, field=_FIELD)


_KEYS: Final = frozenset(
    name for record in (EvidenceSpan, ItemTruth, InterviewTruth) for name in record.model_fields
) | frozenset(Item)
