"""The true scores of one unit: read from fields as people write them, and checked."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_lowercase
from typing import Final

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, MAX_TOTAL_SCORE, Item
from ai_psychiatrist.evaluation.datasets.dataset import DataIssue, IssueCode, Labels
from ai_psychiatrist.evaluation.datasets.label_columns import (
    BINARY,
    SECOND_ITEMS,
    TOTAL,
    plain_name,
)
from ai_psychiatrist.evaluation.datasets.options import LabelCodes, LabelOptions

CUT_OFF: Final = 10
"""A total from which the binary label is 1. Source: Kroenke et al. 2009, J Affect Disord 114."""

_NONE_HINT: Final = "write `Not at all` where it means that, and NA where there is no answer"
_LEAST_CODE: Final = 7
_MOST_CODE: Final = 9_999
_LEAST_PEOPLE: Final = 5
"""Fewer may all be unwell, or hold a slip of the pen."""
_AS_SET: Final = LabelOptions()
_NOT_SAID: Final = frozenset(
    {
        *("missing", "refused", "skipped", "unknown", "no answer", "not answered", "don't know"),
        *("prefer not to say", "prefer not to answer", "keine angabe"),
    }
)
_BLANK: Final = _NOT_SAID.union(
    ("", ".", "-", "--", "?", "na", "n/a", "#n/a", "nan", "none", "null", "#null!", "<na>"),
    ("unk", "dk", "k.a."),
)
_NO_ANSWER: Final = _NOT_SAID.union(
    {
        *("refused to answer", "declined", "declined to answer", "no response", "nr", "not asked"),
        *("not done", "not applicable", "n.a.", "n/d", "nd", "weiß nicht", "weiss nicht", "(leer)"),
        *("(blank)", "(missing)", "(empty)", "–", "—", "---", "#n/v", "#nv", "#div/0!", "#value!"),
        # Stata's own.
        *(f".{letter}" for letter in ascii_lowercase),
    }
)
_NOT_AT_ALL: Final = (
    *("not at all", "never", "überhaupt nicht", "gar nicht", "jamais", "pas du tout"),
    *("para nada", "nada", "ningún día", "nunca"),
)
_SEVERAL_DAYS: Final = (
    *("several days", "an einzelnen tagen", "einzelne tage", "varios días", "plusieurs jours"),
)
_HALF_THE_DAYS: Final = (
    *("more than half the days", "more than half of the days", "más de la mitad de los días"),
    *("an mehr als der hälfte der tage", "mehr als die hälfte der tage"),
    *("plus de la moitié des jours", "plus de la moitié du temps"),
)
_EVERY_DAY: Final = (
    *("nearly every day", "nearly everyday", "almost every day", "beinahe jeden tag"),
    *("fast jeden tag", "casi todos los días", "casi cada día", "presque tous les jours"),
)
_ANSWERS: Final = {
    plain_name(words): score
    for score, answers in enumerate((_NOT_AT_ALL, _SEVERAL_DAYS, _HALF_THE_DAYS, _EVERY_DAY))
    for words in answers
}
_YES: Final = frozenset({"yes", "y", "true", "ja", "sí", "si", "oui"})
_NO: Final = frozenset({"no", "n", "false", "nein", "non"})
_LETTERED: Final = re.compile(r"[a-d][.)]\s*", re.IGNORECASE)
"""How an answer is numbered by a letter."""
_CODED: Final = re.compile(r"[+-]?[0-9]{1,9}\s*(?:[-–:=]\s*)?(.*)", re.DOTALL)
"""A code with what it stands for."""
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,9}(?:[.,]0*)?")
_CODE: Final = re.compile(r"\d+")
_LETTER_CODE: Final = re.compile(r"ao?0*([0-9])", re.IGNORECASE)
"""An answer by its code in LimeSurvey, such as A1 or AO01, which counts from wherever one likes."""
_QUOTED: Final = re.compile(r"=\"(.*)\"|'(.*)")
"""How spreadsheets keep a number from being changed."""


class _Unusable(Exception):
    """A value is none that a label can have."""

    def __init__(self, code: IssueCode) -> None:
        super().__init__(code.value)
        self.code = code


def is_blank(value: object) -> bool:
    """Tell an empty cell, however that is written."""
    return value is None or (isinstance(value, str) and value.strip().casefold() in _BLANK)


def is_no_answer(value: object) -> bool:
    """Tell a score that was not given, also behind its code: `9 - refused`."""
    if is_blank(value) or not isinstance(value, str):
        return is_blank(value)
    written = value.strip().casefold()
    coded = _CODED.fullmatch(written)
    return written in _NO_ANSWER or (coded is not None and coded[1] in _NO_ANSWER)


def merged(rows: Iterable[Mapping[str, object]]) -> dict[str, object] | None:
    """Join the labels that several rows give for one unit; `None` when they contradict."""
    known: dict[str, object] = {}
    for row in rows:
        for name, value in row.items():
            if is_no_answer(known.get(name)):
                known[name] = value
            elif not is_no_answer(value) and not _agree(known[name], value):
                return None
    return known


def _agree(one: object, other: object) -> bool:
    """Compare as numbers where both are: `2` and `2,0` are the same score."""
    return _plain_value(one) == _plain_value(other)


def _plain_value(value: object) -> str | int:
    written = unquoted(value)
    return int(re.split("[.,]", written)[0]) if _WHOLE.fullmatch(written) else written


def checked_labels(
    given: Mapping[str, object], options: LabelOptions = _AS_SET
) -> tuple[Labels | None, list[IssueCode]]:
    """Check the scores against each other; nothing is clamped and no contradiction is resolved.

    `given`: scores as a file has them, by what their columns mean. One blank item is the total
    minus the other seven when that lies in 0–3. A total that is not the sum is unknown. The binary
    label follows the total, by its definition. There are no labels where none are given, and none
    that can be used where a value is no score; the codes say so.
    """
    try:
        items = _scores([given.get(item) for item in Item], options)
        second_items = _scores([given.get(name) for name in SECOND_ITEMS.values()], options)
        total, is_clear = _total(given.get(TOTAL), items, options)
        binary = _binary(given.get(BINARY), options)
    except _Unusable as unusable:
        return None, [unusable.code]
    if not items and total is None and binary is None:
        return None, [IssueCode.LABEL_WITHOUT_SCORES]
    odd: list[IssueCode] = [] if is_clear else [IssueCode.TOTAL_NOT_SUM]
    if items:
        total = _with_sum(items, total, odd)
    says = None if binary is None or IssueCode.TOTAL_NOT_SUM in odd else bool(binary)
    by_total = None if total is None else total >= CUT_OFF
    if None not in (says, by_total) and says is not by_total:
        odd.append(IssueCode.BINARY_NOT_TOTAL)
    labels = Labels(
        items=items,
        total=total,
        binary=says if by_total is None else by_total,
        is_recovered=IssueCode.ITEM_RECOVERED in odd,
        second_items=second_items,
    )
    return labels, odd


def _with_sum(items: dict[Item, int | None], total: int | None, odd: list[IssueCode]) -> int | None:
    """Fill a blank item where the total tells it; return the total that the items allow."""
    blank = [item for item, score in items.items() if score is None]
    known = sum(score for score in items.values() if score is not None)
    if len(blank) == 1 and total is not None and 0 <= total - known <= MAX_ITEM_SCORE:
        items[blank[0]] = total - known
        odd.append(IssueCode.ITEM_RECOVERED)
        return total
    if blank:
        odd.append(IssueCode.ITEMS_BLANK)
    if total is None:
        return None if blank else known
    if known <= total <= known + MAX_ITEM_SCORE * len(blank):
        return total
    odd.append(IssueCode.TOTAL_NOT_SUM)
    return None


def _scores(given: Sequence[object], options: LabelOptions) -> dict[Item, int | None]:
    """Return all eight scores, none where all are blank."""
    scores = [_item(value, options) for value in given]
    return {} if set(scores) == {None} else dict(zip(Item, scores, strict=True))


def _item(value: object, options: LabelOptions) -> int | None:
    """Return the score of an answer, in words or as a number; words decide where both are there."""
    answer = _in_words(value)
    if answer is not None:
        return answer
    value = _without_letter(value)
    if options.codes is LabelCodes.FROM_1:
        number = _number(value, range(1, MAX_ITEM_SCORE + 2), options)
        return None if number is None else number - 1
    return _number(value, range(MAX_ITEM_SCORE + 1), options)


def _in_words(value: object) -> int | None:
    """Return the score of an answer such as `2 - More than half the days`; `None` for a number."""
    written = value if isinstance(value, str) else ""
    score = _ANSWERS.get(plain_name(_CODE.sub("", _LETTERED.sub("", written, count=1))))
    codes = {int(code) for code in _CODE.findall(written)}
    # A survey may code its answers from 1 and write their words as well.
    if score is not None and codes - {score, score + 1}:
        raise _Unusable(IssueCode.VALUE_UNREADABLE)
    return score


def _total(
    value: object, items: Mapping[Item, int | None], options: LabelOptions
) -> tuple[int | None, bool]:
    """Return the total, and whether it is clear: of answers coded from 1 it may be their sum."""
    is_from_1 = options.codes is LabelCodes.FROM_1
    if not (is_from_1 and items):
        return _number(value, range(MAX_TOTAL_SCORE + 1), options), True
    total = _number(value, range(MAX_TOTAL_SCORE + len(Item) + 1), options)
    if total is None:
        return None, True
    scores = [score for score in items.values() if score is not None]
    most = sum(scores) + MAX_ITEM_SCORE * (len(Item) - len(scores))
    fitting = [one for one in (total, total - len(Item)) if sum(scores) <= one <= most]
    if not fitting:
        return total, True
    return (fitting[0], True) if len(fitting) == 1 else (None, False)


def _binary(value: object, options: LabelOptions) -> int | None:
    written = value.strip().casefold() if isinstance(value, str) else ""
    if written in _YES | _NO:
        return int(written in _YES)
    return _number(value, range(2), options)


def _number(value: object, wanted: range, options: LabelOptions) -> int | None:
    if is_no_answer(value):
        return None
    if isinstance(value, bool):
        written = str(int(value)) if len(wanted) == len(range(2)) else ""
    else:
        written = unquoted(value) if isinstance(value, str | int | float) else ""
        if isinstance(value, str) and is_no_answer(written):
            return None
    if not _WHOLE.fullmatch(written):
        raise _Unusable(IssueCode.VALUE_UNREADABLE)
    number = int(re.split("[.,]", written)[0])
    if number in wanted:
        return number
    if number in options.missing:
        return None
    raise _Unusable(IssueCode.VALUE_OUT_OF_RANGE)


def unquoted(value: object) -> str:
    """Return what a cell says, without the signs that keep spreadsheets from changing it."""
    written = str(value).strip()
    found = _QUOTED.fullmatch(written)
    return written if found is None else (found[1] or found[2] or "").strip()


def is_readable(meaning: str, value: object, options: LabelOptions) -> bool:
    """Tell a score from what is neither an answer in words, a whole number nor missing."""
    try:
        if meaning == BINARY:
            _binary(value, options)
        else:
            _item(value, options)
    except _Unusable as unusable:
        return unusable.code is not IssueCode.VALUE_UNREADABLE
    return True


def is_missing_code(cell: str, options: LabelOptions) -> bool:
    """Tell a number that `--missing` names."""
    return any(number in options.missing for number in numbers_of({"": cell}, [""]))


def item_numbers(given: Mapping[str, object]) -> Iterator[int]:
    """Yield the numbers, whatever they stand for, that are given for items."""
    plain = {name: _without_letter(value) for name, value in given.items()}
    yield from numbers_of(plain, [*Item, *SECOND_ITEMS.values()])


def _without_letter(value: object) -> object:
    found = _LETTER_CODE.fullmatch(unquoted(value)) if isinstance(value, str) else None
    return value if found is None else found[1]


def numbers_of(given: Mapping[str, object], names: Iterable[str]) -> Iterator[int]:
    """Yield the numbers, whatever they stand for, that are given under some names."""
    for name in names:
        value = given.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            written = unquoted(value)
            if _WHOLE.fullmatch(written):
                yield int(re.split("[.,]", written)[0])


def are_codes_unclear(people: Mapping[str, Sequence[Mapping[str, object]]]) -> bool:
    """Return whether it is unclear if the codes of items start at 0 or at 1.

    It is unclear if a person has a 4, if none of several people has a 0, or if no number is 0 and
    some answers are words or numbers behind a letter. `people`: identifier → their rows.
    """
    numbers = {
        who: {number for row in rows for number in item_numbers(row) if 0 <= number <= 4}
        for who, rows in people.items()
    }
    given = [found for found in numbers.values() if found]
    every = set().union(*given)
    if 0 in every or not every:
        # No coding has both; of few people it is a slip of the pen.
        return MAX_ITEM_SCORE + 1 in every and len(given) >= _LEAST_PEOPLE
    is_mixed = any(map(_is_mixed, (row for rows in people.values() for row in rows)))
    return MAX_ITEM_SCORE + 1 in every or len(given) >= _LEAST_PEOPLE or is_mixed


def _is_mixed(row: Mapping[str, object]) -> bool:
    """Tell answers that are not plain numbers alone: words, or codes of a letter and a number."""
    answers = [row.get(item) for item in Item]
    return _has_words(row) or any(_without_letter(one) is not one for one in answers)


def _has_words(row: Mapping[str, object]) -> bool:
    answers = (row.get(item) for item in Item)
    return any(isinstance(one, str) and plain_name(one) in _ANSWERS for one in answers)


def none_among_words(rows: Sequence[Mapping[str, object]], *, where: str) -> DataIssue | None:
    """Return the issue of items that are `None` where others are answered in words.

    The word may mean "not at all", or be what a program writes for an empty cell.
    """
    cells = [one for row in rows for item in Item if isinstance(one := row.get(item), str)]
    count = sum(one.strip().casefold() == "none" for one in cells)
    if not count or not any(map(_has_words, rows)):
        return None
    code = IssueCode.NONE_AMONG_WORDS
    return DataIssue(where=where, code=code, count=count, hint=_NONE_HINT)


def unclear_totals(rows: Sequence[Mapping[str, object]], options: LabelOptions) -> bool:
    """Tell totals that may be sums of codes from 1: none says otherwise, and there are no items."""
    totals = {number for row in rows for number in numbers_of(row, [TOTAL])} - options.missing
    is_from_1 = options.codes is LabelCodes.FROM_1
    return is_from_1 and bool(totals) and not have_items(rows) and min(totals) >= len(Item)


def have_items(rows: Iterable[Mapping[str, object]]) -> bool:
    """Whether any row has an answer to an item."""
    return any(not is_no_answer(row.get(item)) for row in rows for item in Item)


def unclear_binary(rows: Sequence[Mapping[str, object]]) -> bool:
    """Tell a binary label that is coded from 1: some have a 2, and none a 0."""
    numbers = {number for row in rows for number in numbers_of(row, [BINARY])}
    return 2 in numbers and 0 not in numbers


def missing_codes(rows: Iterable[Mapping[str, object]], options: LabelOptions) -> list[int]:
    """Return the numbers that `--missing` may be meant for; one just above a scale is an error.

    Codes for no answer are negative or, in scales of one digit, 7 to 9.
    """
    every = list(rows)
    items = {number for row in every for number in item_numbers(row)}
    totals = {number for row in every for number in numbers_of(row, [TOTAL])}
    found = {number for number in items if not 0 <= number < _LEAST_CODE}
    found |= {number for number in totals if not 0 <= number <= MAX_TOTAL_SCORE + len(Item)}
    return sorted(number for number in found - options.missing if abs(number) <= _MOST_CODE)
