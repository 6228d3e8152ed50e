"""Reads the true scores of one unit from loosely named fields, and what is odd about them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, MAX_TOTAL_SCORE, Item
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.datasets.oddities import OddityCode

CUT_OFF: Final = 10
"""A total from which the binary label is 1. Source: Kroenke et al. 2009, J Affect Disord 114."""

_BLANK: Final = frozenset({"", "na", "n/a", "nan", "none", "null"})
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,9}(?:\.0*)?")
_NOT_NAME: Final = re.compile(r"[^a-z0-9]")
_PREFIX: Final = r"(?:phq8?|phq8?[1-8])?"
_ITEM_FIELDS: Final = {
    item: re.compile(_PREFIX + item.value.removeprefix("PHQ8_").lower()) for item in Item
}
_SECOND_FIELDS: Final = {
    item: re.compile(name.pattern + "(?:rater2|second)") for item, name in _ITEM_FIELDS.items()
}
_FIELDS: Final = {
    "id": re.compile(r"unitid|id|file|sampleid"),
    "participant": re.compile(r"participantid|participant"),
    "total": re.compile(r"phq8?(?:total)?score|phq8?total|total|depressionseverity"),
    "binary": re.compile(r"phq8?binary|binary|depressionlabel"),
    "split": re.compile(r"split"),
}

_Name = TypeVar("_Name")
_GENDER: Final = re.compile("gender|sex")
"""Beside identifiers, where the scores of a part of a corpus are kept back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelColumns:
    """Which column of a header holds what; `None` where there is none."""

    unit_id: int | None
    participant: int | None
    """Of the participant, where units have identifiers of their own."""
    items: Mapping[Item, int]
    second_items: Mapping[Item, int]
    """Those of a second rater."""
    total: int | None
    binary: int | None
    split: int | None


def label_columns(header: Sequence[str], *, where: str) -> LabelColumns:
    """Find the columns by their names, without case, blanks and punctuation.

    Raises `InputError` naming both columns when two fit.
    """
    names = [_NOT_NAME.sub("", name.casefold()) for name in header]

    def find(pattern: re.Pattern[str]) -> int | None:
        fits = [at for at, name in enumerate(names) if pattern.fullmatch(name)]
        if len(fits) > 1:
            first, second = header[fits[0]], header[fits[1]]
            msg = f"{where}: the columns {first!r} and {second!r} mean the same; remove one of them"
            raise InputError(msg, field=second)
        return fits[0] if fits else None

    def find_items(patterns: Mapping[Item, re.Pattern[str]]) -> dict[Item, int]:
        found = {item: find(pattern) for item, pattern in patterns.items()}
        return {item: at for item, at in found.items() if at is not None}

    unit, participant = find(_FIELDS["id"]), find(_FIELDS["participant"])
    return LabelColumns(
        unit_id=participant if unit is None else unit,
        participant=None if unit is None else participant,
        items=find_items(_ITEM_FIELDS),
        second_items=find_items(_SECOND_FIELDS),
        total=find(_FIELDS["total"]),
        binary=find(_FIELDS["binary"]),
        split=find(_FIELDS["split"]),
    )


def names_labels(header: Sequence[str]) -> bool:
    """Tell the header of a file of labels: identifiers, and scores or what goes with them."""
    names = [_NOT_NAME.sub("", name.casefold()) for name in header]
    scores = [
        *_ITEM_FIELDS.values(),
        *_SECOND_FIELDS.values(),
        *(_FIELDS[name] for name in ("total", "binary", "split")),
    ]
    has_scores = any(field.fullmatch(name) for field in (*scores, _GENDER) for name in names)
    return has_scores and any(
        _FIELDS[field].fullmatch(name) for name in names for field in ("id", "participant")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RawLabels:
    """Scores as a file gives them; a field is absent where the file has none."""

    items: Mapping[Item, object] = field(default_factory=dict)
    second_items: Mapping[Item, object] = field(default_factory=dict)
    total: object = None
    binary: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelReading:
    """The labels of one unit, `None` when unusable or not given, and what is odd about them."""

    labels: Labels | None
    oddities: tuple[OddityCode, ...] = ()


class _Unusable(Exception):
    """A value is none that a label can have."""

    def __init__(self, code: OddityCode) -> None:
        super().__init__(code.value)
        self.code = code


def read_labels(raw: RawLabels) -> LabelReading:
    """Check the scores against each other; nothing is clamped and no contradiction is resolved.

    One blank item is the total minus the other seven when that lies in 0–3. A total that is not
    the sum is unknown. The binary label follows the total, by its definition.
    """
    try:
        items, second = (_scores(given) for given in (raw.items, raw.second_items))
        total = _number(raw.total, MAX_TOTAL_SCORE)
        binary = _number(raw.binary, 1)
    except _Unusable as unusable:
        return LabelReading(labels=None, oddities=(unusable.code,))
    if not items and total is None and binary is None:
        return LabelReading(labels=None, oddities=(OddityCode.LABEL_WITHOUT_SCORES,))
    given = Labels(
        items=items,
        total=total,
        binary=None if binary is None else bool(binary),
        second_items=second,
    )
    return _with_binary(_with_sum(given))


def merged(rows: Iterable[RawLabels]) -> RawLabels | None:
    """Join the labels that several files give for one unit; `None` when they contradict."""
    items: dict[Item, object] = {}
    second: dict[Item, object] = {}
    totals: dict[str, object] = {}
    for row in rows:
        whole = {"total": row.total, "binary": row.binary}
        joined = (_join(items, row.items), _join(second, row.second_items), _join(totals, whole))
        if not all(joined):
            return None
    return RawLabels(
        items=items, second_items=second, total=totals.get("total"), binary=totals.get("binary")
    )


def _join(known: dict[_Name, object], given: Mapping[_Name, object]) -> bool:
    """Add what is given to what is known; `False` when they contradict."""
    for name, value in given.items():
        if _is_blank(known.get(name)):
            known[name] = value
        elif not _is_blank(value) and not _agree(known[name], value):
            return False
    return True


def _with_sum(given: Labels) -> LabelReading:
    """Fill or check the total and a blank item."""
    if not given.items:
        return LabelReading(labels=given)
    blank = [item for item, score in given.items.items() if score is None]
    known = sum(score for score in given.items.values() if score is not None)
    if not blank and given.total is None:
        return LabelReading(labels=replace(given, total=known))
    if not blank and given.total != known:
        return LabelReading(labels=replace(given, total=None), oddities=(OddityCode.TOTAL_NOT_SUM,))
    if len(blank) == 1 and given.total is not None and 0 <= given.total - known <= MAX_ITEM_SCORE:
        filled = dict(given.items) | {blank[0]: given.total - known}
        recovered = replace(given, items=filled, is_recovered=True)
        return LabelReading(labels=recovered, oddities=(OddityCode.ITEM_RECOVERED,))
    if blank:
        return _with_blanks(given, known=known, highest=known + MAX_ITEM_SCORE * len(blank))
    return LabelReading(labels=given)


def _with_blanks(given: Labels, *, known: int, highest: int) -> LabelReading:
    if given.total is None or known <= given.total <= highest:
        return LabelReading(labels=given, oddities=(OddityCode.ITEMS_BLANK,))
    return LabelReading(
        labels=replace(given, total=None),
        oddities=(OddityCode.ITEMS_BLANK, OddityCode.TOTAL_NOT_SUM),
    )


def _with_binary(reading: LabelReading) -> LabelReading:
    """Take the binary label from the total, and doubt it where the total is doubted."""
    labels = reading.labels
    if labels is None or labels.total is None:
        is_doubtful = OddityCode.TOTAL_NOT_SUM in reading.oddities
        doubted = replace(labels, binary=None) if labels and is_doubtful else labels
        return LabelReading(labels=doubted, oddities=reading.oddities)
    by_total = labels.total >= CUT_OFF
    contradicts = labels.binary is not None and labels.binary != by_total
    return LabelReading(
        labels=replace(labels, binary=by_total),
        oddities=(*reading.oddities, *([OddityCode.BINARY_NOT_TOTAL] if contradicts else [])),
    )


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().casefold() in _BLANK)


def _agree(one: object, other: object) -> bool:
    """Compare as numbers where both are: `2` and `2.0` are the same score."""
    try:
        return float(str(one)) == float(str(other))
    except ValueError:
        return str(one).strip() == str(other).strip()


def _scores(given: Mapping[Item, object]) -> dict[Item, int | None]:
    """Return all eight scores, none where all are blank."""
    found = {item: _number(given.get(item), MAX_ITEM_SCORE) for item in Item if given}
    return {} if all(score is None for score in found.values()) else found


def _number(value: object, highest: int) -> int | None:
    if _is_blank(value):
        return None
    if isinstance(value, bool):
        written = str(int(value)) if highest == 1 else ""
    else:
        written = str(value).strip() if isinstance(value, str | int | float) else ""
    if not _WHOLE.fullmatch(written):
        raise _Unusable(OddityCode.VALUE_UNREADABLE)
    number = int(written.partition(".")[0])
    if not 0 <= number <= highest:
        raise _Unusable(OddityCode.VALUE_OUT_OF_RANGE)
    return number
