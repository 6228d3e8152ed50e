"""What a user may choose about the reading of a dataset."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Self, TypeVar

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import SpeakerFilter
from ai_psychiatrist.services.transcripts.formats.daic_woz import DEFAULT_POLICY, RowPolicy
from ai_psychiatrist.services.transcripts.speaker_labels import DEFAULT_LABELS, SpeakerLabels
from ai_psychiatrist.services.transcripts.utterances import Form

OnProgress = Callable[[int, int], None]
"""Receives how much of a dataset is read: units or bytes done, and all of them."""

Choice = TypeVar("Choice", bound=StrEnum)
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,6}")


def silent(done: int, total: int) -> None:
    """Show no progress."""


class LabelCodes(StrEnum):
    """How the four answers of an item are coded as numbers."""

    FROM_0 = "0-3"
    FROM_1 = "1-4"


class IdMatch(StrEnum):
    """How the identifiers of label files meet those of transcripts."""

    EXACT = "exact"
    LOOSE = "loose"
    """Without leading zeros, `.0`, case and the ending of a file's name, where that is 1 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelOptions:
    """How labels are read."""

    missing: frozenset[int] = frozenset()
    """Numbers that stand for no answer."""
    codes: LabelCodes | None = None
    """`None`: from 0, and a file that looks as if it were coded from 1 is not used."""
    rows: Mapping[str, str] = field(default_factory=dict)
    """Column → the value of the rows that are used, where units have several."""
    match_ids: IdMatch = IdMatch.EXACT
    text_column: str | None = None
    """The column of interviews in a table that has one in each row."""

    @classmethod
    def read(
        cls,
        *,
        missing: str | None = None,
        label_codes: str | None = None,
        label_row: Sequence[str] = (),
        match_ids: str = IdMatch.EXACT,
        text_column: str | None = None,
    ) -> Self:
        """Read the options as they are written; raises `InputError` that names the option."""
        numbers = [part.strip() for part in (missing or "").split(",") if part.strip()]
        if not all(map(_NUMBER.fullmatch, numbers)):
            msg = f"--missing {missing!r}: write numbers with commas, such as --missing=-99,9"
            raise InputError(msg, field="--missing")
        codes = None if label_codes is None else _member(LabelCodes, label_codes, "--label-codes")
        scores = range(1, 5) if codes is LabelCodes.FROM_1 else range(4)
        if any(int(number) in scores for number in numbers):
            msg = f"--missing {missing!r}: {scores[0]} to {scores[-1]} are scores of items"
            raise InputError(msg, field="--missing")
        rows = dict(one.partition("=")[::2] for one in label_row)
        if len(rows) < len(label_row) or not all("=" in one[1:] for one in label_row):
            msg = "--label-row: write each column once, as COLUMN=VALUE, such as visit=1"
            raise InputError(msg, field="--label-row")
        return cls(
            missing=frozenset(map(int, numbers)),
            codes=codes,
            rows={column.strip(): value.strip() for column, value in rows.items()},
            match_ids=_member(IdMatch, match_ids, "--match-ids"),
            text_column=text_column,
        )

    def digested(self) -> dict[str, object]:
        """Return what decides on the labels, for their digest."""
        return {
            "missing": sorted(self.missing),
            "codes": self.codes,
            "rows": dict(self.rows),
            "match_ids": self.match_ids,
        }


def _member(choices: type[Choice], value: str, option: str) -> Choice:
    if value not in list(choices):
        msg = f"{option} {value!r}: it is one of {', '.join(choices)}"
        raise InputError(msg, field=option)
    return choices(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """How transcripts and labels are read."""

    speakers: SpeakerFilter = SpeakerFilter.BOTH
    rows: RowPolicy = DEFAULT_POLICY
    """For DAIC-WOZ only."""
    labels: SpeakerLabels = DEFAULT_LABELS
    scores: LabelOptions = LabelOptions()
    form: Form | None = None
    """What every transcript has to be; `None` to tell each by its content."""
    on_progress: OnProgress = silent

    def digested(self, kind: str) -> dict[str, str]:
        """Return what decides on the texts, as text, for the digest."""
        return {
            "kind": kind,
            "speakers": self.speakers,
            "interruption_373": self.rows.interruption_373,
            "coded_lines": self.rows.coded_lines,
            "labels": repr(self.labels),
        }
