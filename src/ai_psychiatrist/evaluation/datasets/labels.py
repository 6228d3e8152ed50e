"""The true scores of one unit: read from fields as people write them, and checked."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, MAX_TOTAL_SCORE, Item
from ai_psychiatrist.evaluation.datasets.dataset import IssueCode, Labels
from ai_psychiatrist.evaluation.datasets.options import LabelCodes, LabelOptions

SECOND_ITEMS: Final = {item: f"{item}_second" for item in Item}
"""The meanings of a second rater's scores."""
TOTAL: Final = "total"
BINARY: Final = "binary"
SPLIT: Final = "split"
FILE_ID: Final = "unit_id"
"""An identifier of an interview."""
PERSON_ID: Final = "participant"
"""An identifier of a person."""
OCCASION: Final = "occasion"
"""Which of several measurements of a person a row is."""
TRAIT: Final = "trait"
"""What a person is: age, gender, site."""
KNOWN: Final = "known"
"""What other instruments and survey programs write."""
UNKNOWN: Final = ""
SCORES: Final = frozenset({*Item, *SECOND_ITEMS.values(), TOTAL, BINARY})

WANTED_COLUMNS: Final = (
    "an identifier (unit_id, filename, record_id, participant_id, subject_id, patient_id or "
    "study_id), phq8_1 … phq8_8 or the items' names (PHQ8_NoInterest, PHQ8_Sleep …), phq8_total, "
    "phq8_binary"
)

_SEPARATED: Final = re.compile(r"[^a-z0-9]")
_WITHOUT_ACCENTS: Final = str.maketrans("áàâãäåéèêëíìîïóòôõöúùûüñç", "aaaaaaeeeeiiiiooooouuuunc")
_SERIES: Final = re.compile(r"phq(?:q|sq|i|item)?0*([1-8])")
_FIRST_OF_SERIES: Final = frozenset("123")
_BUT_THE_LAST: Final = frozenset("1234567")
_NAMES: Final = {
    # The names of an item, further ones behind "phq", and how its question begins.
    Item.NO_INTEREST: ("nointerest", "(?:lossof)?interest|pleasure|anhedonia", "littleinterest"),
    Item.DEPRESSED: ("depressed", "down|feelingdown|mood|hopeless", "feelingdown"),
    Item.SLEEP: ("sleep", "sleeping|insomnia", "troublefalling"),
    Item.TIRED: ("tired", "fatigue|energy|tiredness", "feelingtired"),
    Item.APPETITE: ("appetite", "eating", "poorappetite"),
    Item.FAILURE: ("failure", "feelingbad|worthless|guilt|selfworth", "feelingbadabout"),
    Item.CONCENTRATING: ("concentrating|concentration", "concentrate", "troubleconcentrating"),
    Item.MOVING: ("moving", "movement|psychomotor|restless(?:ness)?", "movingorspeaking"),
}
_SECOND: Final = "(?:rater2|second)"
_SUM: Final = "(?:total|sum|score|summe|gesamt(?:score|wert)?|skor|puntaje|somme)"


def _item_names(number: int, item: Item) -> str:
    names, further, _ = _NAMES[item]
    prefix = f"phq[89]?(?:q|sq|i|item)?0*{number}?"
    return f"(?:{prefix})?(?:{names})|{prefix}(?:{further})|phq[89](?:q|sq|i|item)?0*{number}"


_ITEMS: Final = {item: _item_names(number, item) for number, item in enumerate(Item, start=1)}
_PHQ8_TOTAL: Final = re.compile(rf"phq8{_SUM}+")
_PATTERNS: Final = {
    meaning: re.compile(pattern)
    for meaning, pattern in {
        **_ITEMS,
        **{SECOND_ITEMS[item]: f"(?:{names}){_SECOND}" for item, names in _ITEMS.items()},
        TOTAL: rf"phq8{_SUM}+|phq{_SUM}+|total(?:score)?|sumscore|depressionseverity",
        BINARY: r"phq8?(?:binary|bin|caseness)|binary|depressionlabel",
        SPLIT: "split",
        FILE_ID: r"unitid|id|file|filename|sampleid|(?:transcript|interview|session)(?:id|file)",
        PERSON_ID: (
            r"(?:participant|subject|patient|proband(?:en)?|teilnehmer|vp)"
            r"(?:id|nr|no|number|code|nummer)?|(?:record|study|case|client|person|respondent|response)id|pid|"
            r"external(?:data)?reference"
        ),
        OCCASION: (
            r"(?:redcap)?(?:eventname|repeatinstance)|visit(?:number|no|id)?|wave|timepoint|occasion|"
            r"assessmenttime|messzeitpunkt|session"
        ),
        TRAIT: (
            r"age|alter|edad|eta|idade|leeftijd|ageyears|gender|sex|geschlecht|sexo|sexe|genero|"
            r"genere|geslacht|site|siteid|cent(?:er|re)|zentrum|standort|centro|group|gruppe|arm|"
            r"condition|education|ethnicity|race|language|sprache"
        ),
        KNOWN: (
            r"phq(?:9|15|4).*|gad.*|pcl.*|ptsd.*|bdi.*|hamd.*|redcap.*|.*complete|.*timestamp|"
            r"startdate|enddate|status|ipaddress|progress|duration.*|finished|recordeddate|"
            r"recipient.*|location(?:latitude|longitude)|"
            r"distributionchannel|userlanguage"
        ),
    }.items()
}
_QUESTIONS: Final = {item: begins for item, (_, _, begins) in _NAMES.items()}


def plain_name(name: str) -> str:
    """Return a name without case, accents, blanks and punctuation."""
    return _SEPARATED.sub("", nfkc(name).casefold().translate(_WITHOUT_ACCENTS))


def column_meanings(header: Sequence[str], questions: Sequence[str] = ()) -> list[str]:
    """Return what each column means, `UNKNOWN` where that is not known.

    `questions`: what was asked, as far as a second row says it. `phq1` … `phq8` are items only as a
    series; a single column `PHQ8` is the total. Next to a ninth item or a total of the PHQ-9 a
    column `total` is not taken for the PHQ-8's.
    """
    names = [plain_name(name) for name in header]
    asked = [plain_name(question) for question in questions[: len(names)]]
    asked += [""] * (len(names) - len(asked))
    numbers = {found[1] for name in names if (found := _SERIES.fullmatch(name))}
    has_phq9 = any(name.startswith("phq9") for name in names)
    return [
        _meaning(name, question, numbers=numbers, has_phq9=has_phq9)
        for name, question in zip(names, asked, strict=True)
    ]


def _meaning(name: str, question: str, *, numbers: set[str], has_phq9: bool) -> str:
    found = _SERIES.fullmatch(name)
    if name == "phq8" and not numbers >= _BUT_THE_LAST:
        return TOTAL
    if found:
        return list(Item)[int(found[1]) - 1] if numbers >= _FIRST_OF_SERIES else UNKNOWN
    meaning = next((one for one, names in _PATTERNS.items() if names.fullmatch(name)), UNKNOWN)
    if meaning == TOTAL and has_phq9 and not _PHQ8_TOTAL.fullmatch(name):
        return KNOWN
    if meaning in {UNKNOWN, KNOWN}:
        wordings = [item for item, begins in _QUESTIONS.items() if begins in (name + question)]
        return wordings[0] if len(wordings) == 1 else meaning
    return meaning


def column_places(header: Sequence[str], meanings: Sequence[str], *, where: str) -> dict[str, int]:
    """Return score or split → the place of its column.

    Raises `InputError` naming both columns when two mean the same.
    """
    places: dict[str, int] = {}
    for at, meaning in enumerate(meanings):
        if meaning in places:
            raise same_meaning(where, header[places[meaning]], header[at])
        if meaning in SCORES or meaning == SPLIT:
            places[meaning] = at
    return places


def same_meaning(where: str, first: str, second: str) -> InputError:
    """Return the error for two columns of which one has to go."""
    msg = f"{where}: the columns {first!r} and {second!r} mean the same; remove one of them"
    return InputError(msg, field=second)


def item_scores(given: Mapping[str, object]) -> dict[str, object] | None:
    """Return scores by item; `None` where a name is no item's. Raises as `column_places`."""
    names = list(given)
    meanings = column_meanings(names)
    places = column_places(names, meanings, where="items")
    is_item = all(meaning in list(Item) for meaning in meanings)
    return {item: given[names[at]] for item, at in places.items()} if is_item else None


CUT_OFF: Final = 10
"""A total from which the binary label is 1. Source: Kroenke et al. 2009, J Affect Disord 114."""

_MOST_CODE: Final = 9_999
_LEAST_PEOPLE: Final = 5
"""Fewer may all be unwell, or hold a slip of the pen."""
_AS_SET: Final = LabelOptions()
_BLANK: Final = frozenset(
    {
        *("", ".", "-", "--", "?", "na", "n/a", "#n/a", "nan", "none", "null", "#null!", "<na>"),
        *("unk", "unknown", "missing", "refused", "skipped", "no answer", "not answered"),
        *("prefer not to say", "prefer not to answer", "don't know", "dk", "k.a.", "keine angabe"),
    }
)
_NOT_AT_ALL: Final = (
    *("not at all", "never", "überhaupt nicht", "gar nicht", "para nada", "ningún día", "nunca"),
    *("jamais", "pas du tout"),
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
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,9}(?:[.,]0*)?")
_CODE: Final = re.compile(r"\d+")
_QUOTED: Final = re.compile(r"=\"(.*)\"|'(.*)")
"""How spreadsheets keep a number from being changed."""


class _Unusable(Exception):
    """A value is none that a label can have."""

    def __init__(self, code: IssueCode) -> None:
        super().__init__(code.value)
        self.code = code


def is_blank(value: object) -> bool:
    """Tell a cell without an answer, however that is written."""
    return value is None or (isinstance(value, str) and value.strip().casefold() in _BLANK)


def merged(rows: Iterable[Mapping[str, object]]) -> dict[str, object] | None:
    """Join the labels that several rows give for one unit; `None` when they contradict."""
    known: dict[str, object] = {}
    for row in rows:
        for name, value in row.items():
            if is_blank(known.get(name)):
                known[name] = value
            elif not is_blank(value) and not _agree(known[name], value):
                return None
    return known


def _agree(one: object, other: object) -> bool:
    """Compare as numbers where both are: `2` and `2,0` are the same score."""
    return _plain_value(one) == _plain_value(other)


def _plain_value(value: object) -> str | int:
    written = _unquoted(value)
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
        total = _total(given.get(TOTAL), items, options)
        binary = _number(given.get(BINARY), range(2), options)
    except _Unusable as unusable:
        return None, [unusable.code]
    if not items and total is None and binary is None:
        return None, [IssueCode.LABEL_WITHOUT_SCORES]
    odd: list[IssueCode] = []
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
    if options.codes is LabelCodes.FROM_1:
        number = _number(value, range(1, MAX_ITEM_SCORE + 2), options)
        return None if number is None else number - 1
    return _number(value, range(MAX_ITEM_SCORE + 1), options)


def _in_words(value: object) -> int | None:
    """Return the score of an answer such as `2 - More than half the days`; `None` for a number."""
    written = value if isinstance(value, str) else ""
    score = _ANSWERS.get(plain_name(_CODE.sub("", written)))
    codes = {int(code) for code in _CODE.findall(written)}
    # A survey may code its answers from 1 and write their words as well.
    if score is not None and codes - {score, score + 1}:
        raise _Unusable(IssueCode.VALUE_UNREADABLE)
    return score


def _total(value: object, items: Mapping[Item, int | None], options: LabelOptions) -> int | None:
    """Return the total; where answers are coded from 1 it may be the sum of these codes."""
    is_from_1 = options.codes is LabelCodes.FROM_1
    if not (is_from_1 and items):
        return _number(value, range(MAX_TOTAL_SCORE + 1), options)
    total = _number(value, range(MAX_TOTAL_SCORE + len(Item) + 1), options)
    scores = [score for score in items.values() if score is not None]
    if len(scores) < len(Item):
        return None
    return sum(scores) if total == sum(scores) + len(Item) else total


def _number(value: object, wanted: range, options: LabelOptions) -> int | None:
    if is_blank(value):
        return None
    if isinstance(value, bool):
        written = str(int(value)) if len(wanted) == len(range(2)) else ""
    else:
        written = _unquoted(value) if isinstance(value, str | int | float) else ""
        if isinstance(value, str) and is_blank(written):
            return None
    if not _WHOLE.fullmatch(written):
        raise _Unusable(IssueCode.VALUE_UNREADABLE)
    number = int(re.split("[.,]", written)[0])
    if number in wanted:
        return number
    if number in options.missing:
        return None
    raise _Unusable(IssueCode.VALUE_OUT_OF_RANGE)


def _unquoted(value: object) -> str:
    written = str(value).strip()
    found = _QUOTED.fullmatch(written)
    return written if found is None else (found[1] or found[2] or "").strip()


def item_numbers(given: Mapping[str, object]) -> Iterator[int]:
    """Yield the numbers, whatever they stand for, that are given for items."""
    yield from numbers_of(given, [*Item, *SECOND_ITEMS.values()])


def numbers_of(given: Mapping[str, object], names: Iterable[str]) -> Iterator[int]:
    """Yield the numbers, whatever they stand for, that are given under some names."""
    for name in names:
        value = given.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            written = _unquoted(value)
            if _WHOLE.fullmatch(written):
                yield int(re.split("[.,]", written)[0])


def seems_coded_from_1(people: Mapping[str, Sequence[Mapping[str, object]]]) -> bool:
    """Tell a file of several people of whom none has an item of 0, or one has a 4.

    `people`: identifier → what rows say of them.
    """
    numbers = {
        who: {number for row in rows for number in item_numbers(row) if 0 <= number <= 4}
        for who, rows in people.items()
    }
    given = [found for found in numbers.values() if found]
    every = set().union(*given)
    return len(given) >= _LEAST_PEOPLE and (0 not in every or MAX_ITEM_SCORE + 1 in every)


def missing_codes(rows: Iterable[Mapping[str, object]], options: LabelOptions) -> list[int]:
    """Return the numbers outside of any coding of items that `--missing` may be meant for."""
    every = list(rows)
    items = {number for row in every for number in item_numbers(row)}
    totals = {number for row in every for number in numbers_of(row, [TOTAL])}
    found = {number for number in items if not 0 <= number <= MAX_ITEM_SCORE + 1}
    found |= {number for number in totals if not 0 <= number <= MAX_TOTAL_SCORE + len(Item)}
    return sorted(number for number in found - options.missing if abs(number) <= _MOST_CODE)
