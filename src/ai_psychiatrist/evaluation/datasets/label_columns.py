"""What the columns of a label table mean, by their names or by the wording of the questions."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.domain.phq8 import Item

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
_FROM_0: Final = re.compile(r"phq[89]?(?:q|sq|i|item)?0+")
LEAST_ITEMS: Final = 3
"""So many columns named as items are no chance."""
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


_WITHOUT_PREFIX: Final = {item: re.compile(names) for item, (names, _, _) in _NAMES.items()}
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
        FILE_ID: (
            r"unitid|id|file|filename|dateiname|sampleid|(?:transcript|interview|session)(?:id|file)"
        ),
        PERSON_ID: (
            r"(?:participant|subject|patient|proband(?:en)?|teilnehmer|vp)"
            r"(?:id|nr|no|number|code|nummer)?|(?:record|study|case|client|person|respondent|response)id|pid|"
            r"external(?:data)?reference|token|pt(?:id|no)?|subj(?:id|no)?|idnumber|idno|caseno"
        ),
        OCCASION: (
            r"(?:redcap)?(?:eventname|repeatinstance)|visit(?:number|num|no|id|name|date)?|wave|"
            r"timepoint|occasion|assessmenttime|messzeitpunkt|session|dateofvisit|event|time|phase|"
            r"week|month|day|round|welle|zeitpunkt"
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


def column_meanings(
    header: Sequence[str], questions: Sequence[str] = (), *, are_items: bool = False
) -> list[str]:
    """Return what each column means, `UNKNOWN` where that is not known.

    `questions`: what was asked, as far as a second row says it. `phq1` … `phq8` are items only as a
    series; a single column `PHQ8` is the total. Next to a ninth item or a total of the PHQ-9 a
    column `total` is not taken for the PHQ-8's. A word such as `sleep` may be anything, unless
    several columns are named like it or all of them `are_items`.
    """
    names = [plain_name(name) for name in header]
    asked = [plain_name(question) for question in questions[: len(names)]]
    asked += [""] * (len(names) - len(asked))
    numbers = {found[1] for name in names if (found := _SERIES.fullmatch(name))}
    has_phq9 = any(name.startswith("phq9") for name in names)
    meanings = [
        _meaning(name, question, numbers=numbers, has_phq9=has_phq9)
        for name, question in zip(names, asked, strict=True)
    ]
    items = {meaning for meaning in meanings if meaning in _WITHOUT_PREFIX}
    words = [_is_word(*both) for both in zip(names, meanings, strict=True)]
    told = {meaning for meaning, is_word in zip(meanings, words, strict=True) if not is_word}
    return [
        UNKNOWN
        if is_word and not are_items and (meaning in told or len(items) < LEAST_ITEMS)
        else meaning
        for meaning, is_word in zip(meanings, words, strict=True)
    ]


def _is_word(name: str, meaning: str) -> bool:
    """Whether a column is taken for an item by a word that other columns may have as well."""
    item = next((one for one in Item if one == meaning), None)
    return item is not None and _WITHOUT_PREFIX[item].fullmatch(name) is not None


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

    Raises `InputError` naming both columns when two mean the same, and for names of which nobody
    can tell which items they are.
    """
    _refuse_unclear(header, where)
    places: dict[str, int] = {}
    for at, meaning in enumerate(meanings):
        if meaning in places:
            raise same_meaning(where, header[places[meaning]], header[at])
        if meaning in SCORES or meaning == SPLIT:
            places[meaning] = at
    return places


def _refuse_unclear(header: Sequence[str], where: str) -> None:
    names = [plain_name(name) for name in header]
    first = next((at for at, name in enumerate(names) if _FROM_0.fullmatch(name)), None)
    numbers = {found[1] for name in names if (found := _SERIES.fullmatch(name))}
    if first is not None:
        msg = (
            f"{where}: the columns count items from 0 ({header[first]!r}), so that each number may "
            "mean another item; name them phq8_1 … phq8_8"
        )
        raise InputError(msg, field=header[first])
    if "phq8" in names and numbers - {"8"} and not numbers >= _BUT_THE_LAST:
        name = header[names.index("phq8")]
        msg = (
            f"{where}: {name!r} may be the total or the eighth item next to a part of the series; "
            "name it phq8_total or phq8_8"
        )
        raise InputError(msg, field=name)


def same_meaning(where: str, first: str, second: str) -> InputError:
    """Return the error for two columns of which one has to go."""
    msg = f"{where}: the columns {first!r} and {second!r} mean the same; remove one of them"
    return InputError(msg, field=second)


def item_scores(given: Mapping[str, object]) -> dict[str, object] | None:
    """Return scores by item; `None` where a name is no item's. Raises as `column_places`."""
    names = list(given)
    meanings = column_meanings(names, are_items=True)
    places = column_places(names, meanings, where="items")
    is_item = all(meaning in list(Item) for meaning in meanings)
    return {item: given[names[at]] for item, at in places.items()} if is_item else None
