"""Reads the true scores of one unit from loosely named fields, and what is odd about them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, MAX_TOTAL_SCORE, Item
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.datasets.oddities import OddityCode

CUT_OFF: Final = 10
"""A total from which the binary label is 1. Source: Kroenke et al. 2009, J Affect Disord 114."""

SECOND_ITEMS: Final = {item: f"{item}_second" for item in Item}
"""The names of a second rater's scores."""
_BLANK: Final = frozenset({"", "na", "n/a", "nan", "none", "null"})
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,9}(?:\.0*)?")
_NOT_NAME: Final = re.compile(r"[^a-z0-9]")
_ITEM: Final = {
    item: rf"(?:phq8?|phq8?[1-8])?{item.removeprefix('PHQ8_').lower()}" for item in Item
}
_SCORES: Final = {
    **_ITEM,
    **{SECOND_ITEMS[item]: f"{name}(?:rater2|second)" for item, name in _ITEM.items()},
    "total": r"phq8?(?:total)?score|phq8?total|total|depressionseverity",
    "binary": r"phq8?binary|binary|depressionlabel",
}
_IDENTIFIERS: Final = {
    "unit_id": "unitid|id|file|sampleid",
    "participant": "participantid|participant",
}
_BESIDE_IDENTIFIERS: Final = re.compile("|".join([*_SCORES.values(), "split", "gender", "sex"]))
"""A gender stands there where the scores of a part of a corpus are kept back."""


def label_columns(header: Sequence[str], *, where: str) -> dict[str, int]:
    """Find the columns by their names, without case, blanks and punctuation.

    Returns name → place: those of `Item` and `SECOND_ITEMS`, `total`, `binary`, `split`, `unit_id`,
    and `participant` where units have identifiers of their own. Raises `InputError` naming both
    columns when two mean the same.
    """
    names = _plain(header)
    places: dict[str, int] = {}
    for meaning, pattern in (_IDENTIFIERS | _SCORES | {"split": "split"}).items():
        for at, name in enumerate(names):
            if not re.fullmatch(pattern, name):
                continue
            if meaning in places:
                first, second = header[places[meaning]], header[at]
                msg = (
                    f"{where}: the columns {first!r} and {second!r} mean the same; remove one of "
                    "them"
                )
                raise InputError(msg, field=second)
            places[meaning] = at
    if "unit_id" not in places and "participant" in places:
        places["unit_id"] = places.pop("participant")
    return places


def names_labels(header: Sequence[str]) -> bool:
    """Tell the header of a file of labels: identifiers, and scores or what goes with them."""
    names = _plain(header)
    identifier = re.compile("|".join(_IDENTIFIERS.values()))
    return any(map(_BESIDE_IDENTIFIERS.fullmatch, names)) and any(map(identifier.fullmatch, names))


def _plain(header: Sequence[str]) -> list[str]:
    return [_NOT_NAME.sub("", name.casefold()) for name in header]


def merged(rows: Iterable[Mapping[str, object]]) -> dict[str, object] | None:
    """Join the labels that several files give for one unit; `None` when they contradict."""
    known: dict[str, object] = {}
    for row in rows:
        for name, value in row.items():
            if _is_blank(known.get(name)):
                known[name] = value
            elif not _is_blank(value) and not _agree(known[name], value):
                return None
    return known


class _Unusable(Exception):
    """A value is none that a label can have."""

    def __init__(self, code: OddityCode) -> None:
        super().__init__(code.value)
        self.code = code


def checked_labels(given: Mapping[str, object]) -> tuple[Labels | None, list[OddityCode]]:
    """Check the scores against each other; nothing is clamped and no contradiction is resolved.

    `given`: scores as a file has them, by the names of `label_columns`. One blank item is the total
    minus the other seven when that lies in 0–3. A total that is not the sum is unknown. The binary
    label follows the total, by its definition. There are no labels where none are given, and none
    that can be used where a value is no score; the codes say so.
    """
    try:
        items = _scores([given.get(item) for item in Item])
        second_items = _scores([given.get(name) for name in SECOND_ITEMS.values()])
        total = _number(given.get("total"), MAX_TOTAL_SCORE)
        binary = _number(given.get("binary"), 1)
    except _Unusable as unusable:
        return None, [unusable.code]
    if not items and total is None and binary is None:
        return None, [OddityCode.LABEL_WITHOUT_SCORES]
    odd: list[OddityCode] = []
    if items:
        total = _with_sum(items, total, odd)
    says = None if binary is None or OddityCode.TOTAL_NOT_SUM in odd else bool(binary)
    by_total = None if total is None else total >= CUT_OFF
    if None not in (says, by_total) and says is not by_total:
        odd.append(OddityCode.BINARY_NOT_TOTAL)
    labels = Labels(
        items=items,
        total=total,
        binary=says if by_total is None else by_total,
        is_recovered=OddityCode.ITEM_RECOVERED in odd,
        second_items=second_items,
    )
    return labels, odd


def _with_sum(
    items: dict[Item, int | None], total: int | None, odd: list[OddityCode]
) -> int | None:
    """Fill a blank item where the total tells it; return the total that the items allow."""
    blank = [item for item, score in items.items() if score is None]
    known = sum(score for score in items.values() if score is not None)
    if len(blank) == 1 and total is not None and 0 <= total - known <= MAX_ITEM_SCORE:
        items[blank[0]] = total - known
        odd.append(OddityCode.ITEM_RECOVERED)
        return total
    if blank:
        odd.append(OddityCode.ITEMS_BLANK)
    if total is None:
        return None if blank else known
    if known <= total <= known + MAX_ITEM_SCORE * len(blank):
        return total
    odd.append(OddityCode.TOTAL_NOT_SUM)
    return None


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().casefold() in _BLANK)


def _agree(one: object, other: object) -> bool:
    """Compare as numbers where both are: `2` and `2.0` are the same score."""
    try:
        return float(str(one)) == float(str(other))
    except ValueError:
        return str(one).strip() == str(other).strip()


def _scores(given: Sequence[object]) -> dict[Item, int | None]:
    """Return all eight scores, none where all are blank."""
    scores = [_number(value, MAX_ITEM_SCORE) for value in given]
    return {} if set(scores) == {None} else dict(zip(Item, scores, strict=True))


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
