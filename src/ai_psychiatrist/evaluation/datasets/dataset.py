"""A dataset: units with their labels, the issues of its files, and text read when needed."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.evaluation.datasets.issues import Cost, DataIssue, IssueCode


class DatasetKind(StrEnum):
    """The forms that a dataset can have."""

    DAIC_WOZ = "daic-woz"
    E_DAIC = "e-daic"
    JSONL = "jsonl"
    TEXT = "text"
    """Files of any form that is known, one interview each."""
    MIXED = "mixed"
    """Sessions of DAIC-WOZ or E-DAIC, and other interviews next to them."""
    TABLE = "table"
    """A table with an interview in each row."""


CORPORA: Final = frozenset({DatasetKind.DAIC_WOZ, DatasetKind.E_DAIC})
"""The kinds of which every interview is a session with a number."""


class SpeakerFilter(StrEnum):
    """Whose words the text of a unit holds."""

    PARTICIPANT_ONLY = "participant-only"
    BOTH = "both"
    QUESTION_CONTEXT = "question-context"
    """The participant's lines, each with the line of another speaker directly before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What is known of a unit's true scores."""

    items: Mapping[Item, int | None]
    """Empty when the dataset has no item scores; else all eight, 0–3, `None` where blank."""
    total: int | None
    """0–24; the sum of the items where the dataset gives none."""
    binary: bool | None
    """Whether the total is at least 10; `None` without a total and without a label of its own."""
    is_recovered: bool = False
    """Whether one blank item was filled with the total minus the other seven."""
    second_items: Mapping[Item, int | None] = field(default_factory=dict)
    """Those of a second rater of the same interview; empty when there is none."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """What label files say of the person in short words, such as `Gender` and `site`."""

    @property
    def has_all_items(self) -> bool:
        """Whether all eight item scores are known."""
        return bool(self.items) and None not in self.items.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetUnit:
    """One interview, by its identifier; its text may be missing all the same."""

    unit_id: str
    labels: Labels | None
    """`None` when there are none or they cannot be used."""
    participant_id: int | str | None = None
    """Who spoke, where several units may be of one participant."""
    split: str | None = None


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Units in a fixed order, and a way to their texts."""

    kind: DatasetKind
    path: Path
    units: tuple[DatasetUnit, ...]
    issues: tuple[DataIssue, ...]
    digest: str
    """SHA-256 over the texts' files in order and the options of their reading; hexadecimal."""
    labels_digest: str = ""
    """SHA-256 over the label files and the options of their reading; "" without labels."""
    reading: str = ""
    """SHA-256 over the options alone that decide on the texts."""
    speakers: SpeakerFilter
    unreadable: frozenset[str] = frozenset()
    """Identifiers of units whose text is missing or cannot be used; the issues say why."""
    selection: str | None = None
    """Digest over the identifiers that were chosen of all; `None` when none were left out."""
    transcript: Callable[[str], Transcript] = field(repr=False, compare=False)
    """Returns the interview of a unit, of the speakers that are wanted, read from its file again.

    Raises `TranscriptUnreadable` when there is no file, the file is no transcript or has changed
    since the dataset was opened, and `InputError` for a unit that is not there.
    """

    @cached_property
    def by_id(self) -> Mapping[str, DatasetUnit]:
        """The units by their ids."""
        return {unit.unit_id: unit for unit in self.units}

    @cached_property
    def labelled(self) -> Sequence[Labels]:
        """The labels of the units that have any."""
        return [unit.labels for unit in self.units if unit.labels is not None]

    @cached_property
    def issues_by_code(self) -> Mapping[IssueCode, Sequence[DataIssue]]:
        """Code → its places, costly codes first."""
        order = [Cost.UNIT, Cost.LABEL, Cost.NOTHING]
        codes = sorted(
            {one.code for one in self.issues}, key=lambda one: (order.index(one.cost), one)
        )
        return {code: [one for one in self.issues if one.code is code] for code in codes}

    @property
    def is_whole(self) -> bool:
        """Whether no unit and no label was lost."""
        return all(issue.code.cost is Cost.NOTHING for issue in self.issues)

    @property
    def not_read(self) -> dict[str, int]:
        """What is left out although it may hold an interview: code → how many files or lines."""
        left_out: Counter[str] = Counter()
        for issue in self.issues:
            if issue.code.is_not_read:
                left_out[issue.code.value] += issue.count
        return dict(sorted(left_out.items()))
