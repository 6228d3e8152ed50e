"""Turn the reply of the danger agent into risk statements, or ask the model again.

Every stretch of words that a reply gives is a statement. What else it says of them may be written
in other ways; what cannot be read is asked for again, and counts as said where it stays unread.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Final, Literal, TypeVar

from ai_psychiatrist.agents.extractors import (
    A_WORD,
    MAX_QUOTES,
    FieldReading,
    asking_again,
    folded,
    refuse_for,
    refuse_too_many,
    unwrapped,
    valid_part,
)
from ai_psychiatrist.agents.output_models import (
    CompletedSign,
    DangerOutput,
    DangerSign,
    PartialDanger,
    words_of,
)
from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode, UnreadPart
from ai_psychiatrist.domain.risk import RiskKind, RiskLevel, RiskPolarity
from ai_psychiatrist.validation.reply.json_decoder import NotJson, decode
from ai_psychiatrist.validation.reply.limits import (
    HALF_CHARACTER,
    PARTS_LIMITS,
    Effort,
)
from ai_psychiatrist.validation.reply.parse import parse_value
from ai_psychiatrist.validation.reply.repair import repaired_value
from ai_psychiatrist.validation.reply.thinking import without_thinking

ChoiceT = TypeVar("ChoiceT", bound=StrEnum)
_Level = Literal[RiskLevel.LOW, RiskLevel.MODERATE, RiskLevel.HIGH]

_BETWEEN_WORDS: Final = re.compile(r"[\s-]+")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_FLAT_OBJECT: Final = re.compile(r"\{[^{}]{3,16384}\}")
_QUOTE_OF_CUT_OBJECT: Final = re.compile(r'^\{\s*"quote"\s*:\s*"([^"\\]{1,4000})"[^{}]*\Z')
_MOST_PROBLEMS_TOLD: Final = 5

_LEVELS: Final = (RiskLevel.LOW, RiskLevel.MODERATE, RiskLevel.HIGH)
_LEVEL_OF_WORD: Final[dict[str, _Level]] = {
    **dict.fromkeys(("high", "critical", "severe", "urgent", "extreme"), RiskLevel.HIGH),
    **dict.fromkeys(("imminent", "acute", "emergency", "serious"), RiskLevel.HIGH),
    **dict.fromkeys(("moderate", "medium"), RiskLevel.MODERATE),
    **dict.fromkeys(("low", "mild", "minimal", "minor", "slight"), RiskLevel.LOW),
}
_BESIDE_A_LEVEL: Final = frozenset({"very", "risk", "danger", "level"})
_NO_LEVEL: Final = frozenset({"", "none", "no", "na", "null"})

_SIGNS: Final = "signs"
_QUOTE_KEYS: Final = (
    *("quote", "quotes", "text", "words", "quotation", "exactquote", "exactwords", "excerpt"),
    *("utterance", "statement", "phrase", "sentence", "passage", "verbatim", "said", "citation"),
    *("evidence", "span", "snippet", "content"),
)
"""Names under which the words of a sign stand, without case and marks; the first is the task's."""
_MARKS_OF_A_SIGN: Final = frozenset({"kind", "polarity", "level"})
_NO_QUOTE_KEYS: Final = _MARKS_OF_A_SIGN | {
    *("category", "type", "severity", "risk", "reason", "explanation", "rationale", "comment"),
    *("note", "notes", "speaker", "turn", "id", "confidence", "label", "description"),
}
_WRAPPERS: Final = frozenset(
    {"answer", "finalanswer", "result", "results", "data", "output", "response", "json"}
    | {"danger", "dangersigns", "dangersign", "risk", "risks", "risksigns", "sign", "findings"}
)


@asking_again
def extract_danger(text: str) -> DangerOutput:
    """Read the signs of danger; an empty list says that there are none, a missing one nothing."""
    parsed = parse_value(text)
    given = _given(parsed.value)
    if given is None:
        raise OutputRejected(
            RejectionCode.MISSING_ITEM,
            'The reply needs the key "signs" with a list. If there is no sign, send an empty list.',
        )
    refuse_too_many(given.signs, "signs")
    readings = [_SignReading(f"signs[{at}]", value) for at, value in enumerate(given.signs)]
    signs = [one.sign for reading in readings for one in reading.signs]
    problems = [problem for reading in readings for problem in reading.problems.values()]
    refuse_for(problems, most=_MOST_PROBLEMS_TOLD)
    return DangerOutput(
        signs=tuple(dict.fromkeys(signs)),
        repaired=parsed.repaired,
        coercions=given.coercions + sum(reading.coercions for reading in readings),
    )


@valid_part
def danger_in_part(text: str) -> PartialDanger | None:
    """Read all signs of a refused reply that have words; of no more than may be given."""
    values = _values_in(text)
    if len(values) > MAX_QUOTES:
        return None
    found = [_SignReading("", value).signs for value in values]
    signs = tuple(dict.fromkeys(chain.from_iterable(found)))
    if not 0 < len(signs) <= MAX_QUOTES:
        return None
    return PartialDanger(signs=signs, wordless_count=sum(not some for some in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """The signs of a reply as they stand in it."""

    signs: list[object]
    coercions: int
    """How many things around them are written in another way than the task has them."""


def _given(value: object, *, is_wrapped: bool = False) -> _Given | None:
    """Return the signs of a reply, `None` where it is not clear what of it they are."""
    match value:
        case None:
            return _Given(signs=[], coercions=1)
        case [dict() as only] if not _is_sign(only) and only:
            return _given(only, is_wrapped=True)
        case list():
            return _Given(signs=value, coercions=1)
        case dict():
            return _given_in(value, is_wrapped=is_wrapped)
    return None


def _given_in(value: dict[str, object], *, is_wrapped: bool) -> _Given | None:
    names = [key for key in value if folded(key) == _SIGNS]
    if len(names) == 1:
        signs = value[names[0]]
        listed = signs if isinstance(signs, list) else _listed(signs)
        odd = is_wrapped + (names[0] != _SIGNS) + (listed is not signs)
        return None if listed is None else _Given(signs=listed, coercions=odd)
    if _is_sign(value):
        return _Given(signs=[value], coercions=1)
    inner = unwrapped(value, _WRAPPERS, PARTS_LIMITS)
    return None if inner is None else _given(inner, is_wrapped=True)


def _listed(signs: object) -> list[object] | None:
    """Return what stands in place of the list of signs as a list."""
    match signs:
        case None:
            return []
        case str():
            return None if folded(signs) in _NO_LEVEL else [signs]
        case dict() if _is_sign(signs):
            return [signs]
        case dict() if all(isinstance(one, dict | str) for one in signs.values()):
            return [*signs.values()]
    return None


def _is_sign(value: dict[str, object]) -> bool:
    """Return whether an object is one sign: it has words, and something that is said of them."""
    names = {folded(key) for key in value}
    holds = [isinstance(said, str) for key, said in value.items() if folded(key) in _QUOTE_KEYS]
    return any(holds) or len(names & _MARKS_OF_A_SIGN) >= 2


def _values_in(text: str) -> list[object]:
    """Return all signs of a reply: of the whole of it or, where it is no JSON, of its objects."""
    try:
        value = parse_value(text, PARTS_LIMITS).value
    except OutputRejected as rejection:
        if rejection.code is RejectionCode.NO_JSON:
            return []
        return [one for one in _objects_in(without_thinking(text)) if _is_sign(one)]
    given = _given(value)
    return [*(_signs_within(value) if given is None else _flat(given.signs))]


def _objects_in(text: str) -> Iterator[dict[str, object]]:
    """Yield the objects without others inside them, wherever they stand, and one that is cut."""
    effort = Effort(len(text))
    for found in _FLAT_OBJECT.finditer(text):
        effort.spend(Effort.PLACE)
        with suppress(OutputRejected):
            value = _object_of(found[0], effort)
            if isinstance(value, dict):
                yield value
    cut = _QUOTE_OF_CUT_OBJECT.search(text[text.rfind("{") :])
    if cut is not None:
        yield {"quote": cut[1]}


def _object_of(text: str, effort: Effort) -> object:
    try:
        return decode(text, PARTS_LIMITS)
    except NotJson:
        return repaired_value(text, PARTS_LIMITS, end=len(text), effort=effort).value


def _signs_within(value: object) -> Iterator[object]:
    """Yield what is a sign by its own form, or stands in a list of signs, at any depth."""
    match value:
        case dict() if _is_sign(value):
            yield value
        case dict() if _SIGNS in value and (given := _given(value)) is not None:
            yield from _flat(given.signs)
        case dict():
            yield from chain.from_iterable(map(_signs_within, value.values()))
        case list():
            yield from chain.from_iterable(map(_signs_within, value))


def _flat(signs: list[object]) -> Iterator[object]:
    for one in signs:
        if isinstance(one, list):
            yield from _flat(one)
        else:
            yield one


class _SignReading(FieldReading):
    """Reads one statement; a part with a problem counts as said."""

    def __init__(self, place: str, value: object) -> None:
        super().__init__(value)
        self._place = place
        inner = [one for one in self.fields.values() if isinstance(one, dict) and _is_sign(one)]
        if len(inner) == 1 and not _is_sign(self.fields):
            self.fields, self.coercions = inner[0], 1
        quotes = _spoken(value) if isinstance(value, str) else self._named_quotes()
        if isinstance(value, str):
            self._note_quote(RejectionCode.WRONG_TYPE, _IS_NO_OBJECT)
        kind = self.part(
            UnreadPart.KIND, lambda: self._choice("kind", RiskKind), RiskKind.UNSPECIFIED
        )
        polarity = self.part(
            UnreadPart.POLARITY,
            lambda: self._choice("polarity", RiskPolarity),
            RiskPolarity.AFFIRMED,
        )
        level = self.part(UnreadPart.LEVEL, lambda: self._level(polarity), RiskLevel.HIGH)
        if polarity is RiskPolarity.DENIED and UnreadPart.LEVEL in self.problems:
            level = RiskLevel.LOW
        elif polarity is RiskPolarity.DENIED and level is not RiskLevel.LOW:
            polarity = RiskPolarity.AFFIRMED
            self.problems[UnreadPart.POLARITY] = OutputRejected(
                RejectionCode.RULE_BROKEN,
                f"{place}: a denied sign has to be low. Correct its polarity or its level.",
            )
        self.signs = [
            CompletedSign(
                sign=DangerSign(quote=quote, kind=kind, polarity=polarity, level=level),
                unread=tuple(self.problems),
            )
            for quote in quotes
        ]
        """One for each stretch of words."""

    def _named_quotes(self) -> list[str]:
        """Return the words: one stretch under a name for them is right, all else is noted."""
        by_name = {folded(key): said for key, said in self.fields.items()}
        for name in _QUOTE_KEYS:
            said = by_name.get(name)
            if words := _spoken(said):
                if not isinstance(said, str) or HALF_CHARACTER in said:
                    self._note_quote(
                        RejectionCode.WRONG_TYPE, "has to have one string as its quote"
                    )
                self.coercions += name != _QUOTE_KEYS[0]
                return words
        if isinstance(self.fields.get("quote"), str):
            self._note_quote(
                RejectionCode.EMPTY_FIELD,
                "has a quote without words. Copy them, or leave the sign out",
            )
        else:
            self._note_quote(RejectionCode.WRONG_TYPE, _IS_NO_OBJECT)
        others = [said for name, said in by_name.items() if name not in _NO_QUOTE_KEYS]
        texts = [words for said in others if isinstance(said, str) for words in _spoken(said)]
        return [max(texts, key=len)] if texts else []

    def _note_quote(self, code: RejectionCode, what: str) -> None:
        self.problems[UnreadPart.QUOTE] = OutputRejected(code, f"{self._place} {what}.")

    def _choice(self, name: str, choices: type[ChoiceT]) -> ChoiceT:
        written = self._text(name)
        word = _BETWEEN_WORDS.sub("_", words_of(written)).lower()
        if word not in set(choices):
            raise self._is_no_choice(name, choices)
        self.coercions += word != written
        return choices(word)

    def _level(self, polarity: RiskPolarity) -> _Level:
        written = self._text("level")
        words = {word.lower() for word in _LETTERS.findall(written)}
        levels = {_LEVEL_OF_WORD[word] for word in words if word in _LEVEL_OF_WORD}
        is_level = words <= _LEVEL_OF_WORD.keys() | _BESIDE_A_LEVEL and len(levels) == 1
        is_none = folded(written) in _NO_LEVEL and polarity in _OF_NO_LEVEL
        if not is_level and not is_none:
            raise self._is_no_choice("level", _LEVELS)
        (level,) = levels or {RiskLevel.LOW}
        self.coercions += written != level
        return level

    def _is_no_choice(self, name: str, choices: Iterable[StrEnum]) -> OutputRejected:
        what = f"{self._place}.{name} has to be one of: {', '.join(choices)}."
        return OutputRejected(RejectionCode.NOT_A_CHOICE, what)

    def _text(self, name: str) -> str:
        value = self.fields.get(name)
        if not isinstance(value, str):
            what = f"{self._place} has to be an object whose {name} is a string."
            raise OutputRejected(RejectionCode.WRONG_TYPE, what)
        return value


_IS_NO_OBJECT: Final = "has to be an object whose quote is a string"
_OF_NO_LEVEL: Final = frozenset({RiskPolarity.DENIED, RiskPolarity.PAST, RiskPolarity.QUOTED})
"""What is spoken of so may be given no level at all; it is low then."""


def _spoken(value: object) -> list[str]:
    """Return the stretches of words in what stands for a quote, at any depth."""
    match value:
        case str():
            words = words_of(value.replace(HALF_CHARACTER, " "))
            return [words] if A_WORD.search(words) else []
        case list():
            return [*chain.from_iterable(map(_spoken, value))]
        case dict():
            named = [said for key, said in value.items() if folded(key) in _QUOTE_KEYS]
            return [*chain.from_iterable(map(_spoken, named))]
    return []
