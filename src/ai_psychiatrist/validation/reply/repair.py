"""Read malformed JSON where only one reading exists; a bracket can be taken in two ways.

What is repaired is this and no more: a comma too many before a bracket or too few between members,
between lists or objects, or between lines; two commas in an object; an arrow for a colon; the marks
around strings, and quotations inside them; keys and single words without marks; constants of
Python; zeros before a number; comments; and a bracket in a wrong place, as long as no key is lost
by that. A text that ends too early is refused.
"""

import math
import re
from typing import Final, Literal, TypeAlias

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.json_decoder import object_of
from ai_psychiatrist.validation.reply.limits import (
    Effort,
    ParseLimits,
    refuse_broken_text,
    rejected,
)
from ai_psychiatrist.validation.reply.strings import (
    COLON,
    OPENERS,
    QUOTED_KEY,
    SPACE,
    Read,
    StringPlace,
    string_at,
)

BracketMove: TypeAlias = Literal["closed_too_early", "never_closed", "odd", "dropped_at_the_end"]
"""What became of a bracket that stands in a wrong place."""


def repaired_value(
    text: str, limits: ParseLimits, *, start: int = 0, end: int, effort: Effort
) -> Read[object]:
    """Read the object or list that begins at `start`, of a text that goes to `end`.

    Raises `OutputRejected` when it ends too early, breaks a limit, or has no one reading.
    """
    if text[start] not in "{[":
        raise rejected(RejectionCode.TRUNCATED)
    readings: list[_Reading] = []
    refusal = rejected(RejectionCode.UNREPAIRABLE)
    for takes_as_due in (False, True):
        reading = _Reading(text, start, end, limits, effort, takes_as_due=takes_as_due)
        try:
            reading.read()
        except OutputRejected as error:
            refusal = error.detached()
        except RecursionError:
            raise rejected(RejectionCode.TOO_DEEP) from None
        else:
            readings.append(reading)
        if not reading.met_odd_bracket:
            break
    if not readings:
        raise refusal.detached()
    best, *others = sorted(readings, key=lambda reading: len(reading.moved))
    rivals = [other for other in others if len(other.moved) == len(best.moved)]
    is_clear = all(repr(rival.value) == repr(best.value) for rival in rivals)
    # Where brackets went wrong in two ways, one of them was moved from here to there.
    if not is_clear or len(set(best.moved)) > 1:
        raise rejected(RejectionCode.UNREPAIRABLE)
    return Read(best.value, best.at)


_GAP: Final = re.compile(rf"(?:[{SPACE}]++|//[^\n]*+|\#[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_KEY_IN_COMMENT: Final = re.compile(r"[\"'”’]\s*:")
_OMISSION: Final = re.compile(
    r"\.\.\.|…|\b(?:unchanged|omitted|remaining|rest of|same as|same for|etc)\b", re.IGNORECASE
)
_COLON: Final = re.compile(COLON)
_NEXT_KEY: Final = re.compile(QUOTED_KEY)
_BARE_KEY: Final = re.compile(r"[A-Za-z_]\w{0,63}")
_UNCLOSED_KEY: Final = re.compile(rf"[\"“]([A-Za-z_]\w{{0,63}})(?=[:：][{SPACE}]*+[\[{{])")
_UNOPENED_KEY_ENDS: Final = re.compile(rf"[\"”][{SPACE}]*+{COLON}")
_BARE_VALUE: Final = re.compile(rf"[^{SPACE},，:：{{}}\[\]\"'`“”„‘’«»#]+")
_NUMBER: Final = re.compile(r"-?0{0,9}(?:0|[1-9]\d{0,299})(\.\d{1,300})?([eE][+-]?\d{1,9})?")
_WORD: Final = re.compile(r"[A-Za-z_][\w/.-]{0,63}")
_BARE_WORD_ENDS: Final = re.compile(rf"[{SPACE}]*+(?:[,，}}\]]|\Z)")
_NO_VALUES: Final = frozenset({"undefined", "NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"})
_CONSTANTS: Final = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    "null": None,
    "None": None,
    "NULL": None,
}
_COMMA_BEFORE_BRACKET: Final = re.compile(r",\s*[}\]]\Z")
_MORE_MEMBERS: Final = re.compile(rf"[{SPACE},}}\]]*+(?={QUOTED_KEY})")
_CLOSERS_LEFT: Final = re.compile(rf"(?:[{SPACE}]*+[}}\]])*+")
_GOES_ON: Final = re.compile(rf"[{SPACE}]*+(?:,[{SPACE}]*+[{{\[]|:)")


class _Reading:
    """Reads one value of malformed JSON from a place in a text on, in one way."""

    def __init__(
        self,
        text: str,
        start: int,
        end: int,
        limits: ParseLimits,
        effort: Effort,
        *,
        takes_as_due: bool,
    ) -> None:
        """`takes_as_due`: whether a closing bracket of the other kind is the due one, miswritten.

        Else it is one too many, or the sign that one was left out before it.
        """
        self.text, self.at = text, start
        self.value: object = None
        self.met_odd_bracket = False
        self.moved: list[BracketMove] = []
        """The brackets that the reading adds, drops or moves."""
        self._end, self._limits, self._effort = end, limits, effort
        self._takes_as_due = takes_as_due

    def read(self) -> None:
        """Read the value; raises `OutputRejected` and perhaps `RecursionError`."""
        self.value = self._list(1) if self.text[self.at] == "[" else self._object(1)
        closers = _CLOSERS_LEFT.match(self.text, self.at, self._end)
        if closers and closers[0]:
            self.moved.append("dropped_at_the_end")
            self.at = closers.end()
        if _GOES_ON.match(self.text, self.at, self._end):
            raise rejected(RejectionCode.UNREPAIRABLE)

    def _object(self, depth: int) -> dict[str, object]:
        self._enter(depth)
        members: list[tuple[str, object]] = []
        while True:
            symbol = self._next()
            if symbol == "}" or (symbol == "]" and self._is_miswritten()):
                self.at += 1
                if depth > 1 or not self._goes_on():
                    return object_of(members, self._limits)
            elif symbol == "]":
                self.at += 1
            elif symbol in ",，;":
                self.at += 1
                self._refuse_third_comma()
            else:
                key = self._key()
                members.append((key, self._value(depth, StringPlace.MEMBER)))
                self._require_separator(self.at)

    def _key(self) -> str:
        unclosed = _UNCLOSED_KEY.match(self.text, self.at, self._end)
        if unclosed is not None:
            self.at, key = unclosed.end(), unclosed[1]
        elif self.text[self.at] in OPENERS:
            key = self._string(StringPlace.KEY)
        else:
            word = _BARE_KEY.match(self.text, self.at, self._end)
            if word is None:
                raise rejected(RejectionCode.UNREPAIRABLE)
            self.at, key = word.end(), word[0]
            if _UNOPENED_KEY_ENDS.match(self.text, self.at, self._end):
                self.at += 1
        self._next()
        colon = _COLON.match(self.text, self.at, self._end)
        if colon is None:
            raise rejected(RejectionCode.UNREPAIRABLE)
        self.at = colon.end()
        return key

    def _require_separator(self, end_of_last: int) -> None:
        """Refuse what follows a member, when it is no comma, no bracket and no other member."""
        if self._next() in ",，;}]":
            return
        # A comma before the bracket in place of after it: the bracket stands in the wrong place.
        is_bracket_moved = _COMMA_BEFORE_BRACKET.search(
            self.text[max(0, end_of_last - 40) : end_of_last]
        )
        if is_bracket_moved or not _NEXT_KEY.match(self.text, self.at, self._end):
            raise rejected(RejectionCode.UNREPAIRABLE)

    def _refuse_third_comma(self) -> None:
        if self.text.startswith(",,", self.at):
            raise rejected(RejectionCode.UNREPAIRABLE)

    def _goes_on(self) -> bool:
        """Return whether members follow the bracket that closed the root: it stood too early."""
        more = _MORE_MEMBERS.match(self.text, self.at, self._end)
        if more is None:
            return False
        self.at = more.end()
        self.moved.append("closed_too_early")
        return True

    def _list(self, depth: int) -> list[object]:
        self._enter(depth)
        elements: list[object] = []
        while True:
            symbol = self._next()
            if symbol == "]" or (symbol == "}" and self._is_miswritten()):
                self.at += 1
                return elements
            if symbol == "}":
                return elements
            start = self.at
            element = self._value(depth, StringPlace.ELEMENT)
            end = self.at
            self._next()
            if _COLON.match(self.text, self.at, self._end):
                if not elements or not isinstance(element, str):
                    raise rejected(RejectionCode.UNREPAIRABLE)
                # It is a key already: the list was never closed.
                self.at = start
                self.moved.append("never_closed")
                return elements
            elements.append(element)
            self._separate_elements(element, end)

    def _separate_elements(self, last: object, end_of_last: int) -> None:
        symbol = self._next()
        if symbol in ",，":
            self.at += 1
            if self._next() in ",，":
                raise rejected(RejectionCode.UNREPAIRABLE)
        elif symbol not in "]}":
            is_apart = isinstance(last, dict | list) and symbol in "{["
            if not is_apart and "\n" not in self.text[end_of_last : self.at]:
                raise rejected(RejectionCode.UNREPAIRABLE)

    def _is_miswritten(self) -> bool:
        self.met_odd_bracket = True
        self.moved.append("odd")
        return self._takes_as_due

    def _value(self, depth: int, place: StringPlace) -> object:
        symbol = self._next()
        if symbol == "{":
            return self._object(depth + 1)
        if symbol == "[":
            return self._list(depth + 1)
        if symbol in OPENERS:
            return self._string(place)
        return self._bare(place)

    def _string(self, place: StringPlace) -> str:
        found = string_at(self.text, self.at, self._end, place, effort=self._effort)
        self.at = found.end
        refuse_broken_text(found.value)
        return found.value

    def _bare(self, place: StringPlace) -> object:
        """Read a number, a constant, or a single word without marks."""
        found = _BARE_VALUE.match(self.text, self.at, self._end)
        if found is None:
            raise rejected(RejectionCode.UNREPAIRABLE)
        word = found[0]
        if "//" in word or "/*" in word:
            word = word[: min(at for mark in ("//", "/*") if (at := word.find(mark)) >= 0)]
        self.at += len(word)
        if word in _CONSTANTS:
            return _CONSTANTS[word]
        number = _NUMBER.fullmatch(word)
        if number is not None:
            return _number(number)
        if word in _NO_VALUES:
            raise rejected(RejectionCode.NOT_FINITE)
        is_one_word = place is StringPlace.MEMBER and _WORD.fullmatch(word) is not None
        if not is_one_word or _BARE_WORD_ENDS.match(self.text, self.at, self._end) is None:
            raise rejected(RejectionCode.UNREPAIRABLE)
        return word

    def _enter(self, depth: int) -> None:
        if depth > self._limits.max_depth:
            raise rejected(RejectionCode.TOO_DEEP)
        self.at += 1

    def _next(self) -> str:
        """Go on to the next mark and return it; raises `OutputRejected` at the end of the text."""
        self._effort.spend(self._effort.TOKEN // 4)
        gap = _GAP.match(self.text, self.at, self._end)
        if gap is not None and gap.end() > self.at:
            # A comment with a key in it may have swallowed a member.
            if _KEY_IN_COMMENT.search(gap[0]):
                raise rejected(RejectionCode.UNREPAIRABLE)
            # A comment that stands for what was left out: the value is not whole.
            if _OMISSION.search(gap[0]):
                raise rejected(RejectionCode.TRUNCATED)
            self.at = gap.end()
        if self.at >= self._end:
            raise rejected(RejectionCode.TRUNCATED)
        return self.text[self.at]


def _number(found: re.Match[str]) -> int | float:
    if found[1] is None and found[2] is None:
        return int(found[0])
    value = float(found[0])
    if not math.isfinite(value):
        raise rejected(RejectionCode.NOT_FINITE)
    return value
