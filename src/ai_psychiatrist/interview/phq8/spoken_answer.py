"""An answer as the words that are said in it, with their places in what was typed."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from string import ascii_lowercase
from typing import Final

from ai_psychiatrist.domain.interview_items import AnswerQuote
from ai_psychiatrist.interview.phq8.reading_words import table

_TOKEN: Final = re.compile(
    r"(?P<always>\b24\s?[-/]\s?7\b)|(?P<span>(?i:\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\s?[-–—]\s?(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b))|(?P<pair>\b\d{1,2}\s?[-–—/]\s?\d{1,2}\b)"
    r"|(?P<one>\b(?:every|any|some|no)1\b)|(?P<decimal>\b\d+[.,:]\d+)|(?P<keycap>\d)\ufe0f?\u20e3|(?P<ordinal>\d+(?:st|nd|rd|th)\b)"
    r"|(?P<short>\b\d{1,2}\s?(?i:d|nts?)\b)"
    r"|(?P<number>\d+)|(?P<word>[^\W\d_]+(?:['’ʼ`´_][^\W\d_]+)*)"
    r"|(?P<pause>[.?!;:…\n,()]|[—–]|(?<=\s)-+(?=\s))|(?P<sign>[^\s\"'“”‘’*_])"
)
_PAUSES: Final = {"?": "?", ",": ",", "(": ",", ")": ",", "—": ",", "–": ",", ":": ","}
_SIGNS: Final = {
    "%": "percent",
    "~": "about",
    "≈": "about",
    "<": "less than",
    ">": "more than",
    "+": "or more",
    "&": "and",
    "½": "half",
    "⅓": "a third",
    "⅔": "two thirds",
    "¾": "three quarters",
    "¼": "a quarter",
    "🔟": "ten",
    "/": "per",
}
_WORD: Final = re.compile(r"[^\s.,?]")
_DRAWN_OUT: Final = re.compile(r"([^\W\d])\1{2,}")
"""As in "everyyy"."""
_ANSWERING_SIGNS: Final = frozenset("👍👎👌✅✔❌💯🆗🙋🚫🙅")
_LAUGHTER: Final = frozenset("lol lmao haha hahaha ha hehe xd".split())
"""Between two things that are said, like a picture; both stand for a pause."""
_LAST_LETTER: Final = "\u2190"
_SHORT: Final = 4
_LONG: Final = 6
"""From this many letters on any one letter may be wrong or too much."""
_ANSWERS: Final = frozenset("no nope nah none never yes yeah yep".split())
_NO: Final = frozenset("no nope nah".split())
_AFTER_NO: Final = frozenset("not none never nothing only well just 0 zero".split())
_SITTING: Final = frozenset(["", *"i we he she they just".split()])
"""After these, or at the beginning, "sat" is no Saturday."""
_GOES_ON: Final = frozenset("every each single nearly bloody damn the".split())
_NO_NUMBER: Final = frozenset("0 zero".split())
_AFTER_A_NUMBER: Final = re.compile(
    r"(?:day|night|morning|evening|afternoon|time|occasion|week)s?|to|out|of|or|and|on|in|at|for|is"
    r"|percent|per|x|then|but|i|if|because|so|all|really|honestly|thanks|please|this|these|over"
)
_STOPS: Final = frozenset(".,")
_OWN: Final = frozenset("i im ive id my its".split())
"""They begin something new after an answer: "no I'm fine", "not at all my sleep is good"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenAnswer:
    """An answer in small letters without apostrophes, its pauses as words of their own."""

    text: str
    """As it was typed."""
    spoken: str
    places: tuple[tuple[int, int, int], ...]
    """Of each word: its first character in `spoken`, its first and last in `text`."""

    def quote(self, start: int, end: int) -> AnswerQuote:
        """Return the typed words of some characters of `spoken`, end exclusive."""
        first = self._word_at(start)
        last = self._word_at(end - 1)
        return AnswerQuote(text=self.text[first[1] : last[2]], start=first[1], end=last[2])

    def typed_from(self, at: int) -> int:
        """Return where the first word from a character of `spoken` on begins; 0 without one."""
        word = _WORD.search(self.spoken, at)
        return self._word_at(word.start())[1] if word else 0

    def _word_at(self, at: int) -> tuple[int, int, int]:
        return self.places[max(0, bisect_right(self.places, at, key=lambda place: place[0]) - 1)]


def spoken_answer(text: str) -> SpokenAnswer:
    """Take an answer apart; without any word or number `spoken` holds none either."""
    said = _WordsSoFar()
    for token in _TOKEN.finditer(text):
        for word in _words(token).split():
            said.take(word, token)
    return SpokenAnswer(text=text, spoken=" ".join(said.words), places=tuple(said.places))


class _WordsSoFar:
    """Words one after the other; some change the one before, or begin something new after it."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.places: list[tuple[int, int, int]] = []

    def take(self, word: str, token: re.Match[str]) -> None:
        """Take the next word, which stands for a token or for a part of one."""
        last = self.words[-1] if self.words else ""
        if last in _GOES_ON and word in _STOPS:
            # "Every. Single. Day."
            return
        if (last, word) == ("no", "one"):
            self.words[-1] = "nobody"
            self.places[-1] = (*self.places[-1][:2], token.end())
            return
        if last in _NO_NUMBER and word.isalpha() and not _AFTER_A_NUMBER.fullmatch(word):
            # "Zero energy" counts no days.
            self.words[-1] = "no"
        said = _unabbreviated(word, token[0].casefold(), last)
        if said in self._beginnings():
            self._add(",", token)
        self._add(said, token)

    def _add(self, word: str, token: re.Match[str]) -> None:
        start = self.places[-1][0] + len(self.words[-1]) + 1 if self.words else 0
        self.words.append(word)
        self.places.append((start, *token.span()))

    def _beginnings(self) -> frozenset[str]:
        """Return the words that would begin something new here."""
        if self.words and self.words[-1] in _NO:
            return _OWN | _AFTER_NO
        is_answered = self.words and self.words[-1] in _ANSWERS
        return _OWN if is_answered or self.words[-3:] == ["not", "at", "all"] else frozenset()


def _unabbreviated(word: str, typed: str, last: str) -> str:
    """Return "sun" and "sat" as they were typed where the words before make them no days."""
    is_sun = word == "sunday" and typed == "sun" and last == "the"
    is_sat = word == "saturday" and typed == "sat" and last in _SITTING
    return typed if is_sun or is_sat else word


def _words(token: re.Match[str]) -> str:
    typed = token[token.lastgroup or 0]
    match token.lastgroup:
        case "pause":
            words = _PAUSES.get(typed, "," if typed.startswith("-") else ".")
        case "pair":
            words = _pair(typed)
        case "one":
            is_of = token.string[token.end() :].lstrip().casefold().startswith("of ")
            words = f"{typed[:-1].casefold()}{' one' if is_of else 'one'}"
            words = "nobody" if words == "noone" else words
        case "always":
            words = "constantly"
        case "span":
            names = re.findall(r"[a-z]+", typed.casefold())
            words = " to ".join(_misspelt().get(name, name) for name in names)
        case "short":
            number, unit = re.findall(r"\d+|[a-z]", typed.casefold())[:2]
            words = f"{number} {'days' if unit == 'd' else 'nights'}"
        case "sign" if typed == "+" and token.string[: token.start()].endswith(" "):
            words = "and"
        case "sign":
            is_said = typed.isalnum() or typed in _ANSWERING_SIGNS
            words = _SIGNS.get(typed, typed if is_said else "," if typed > _LAST_LETTER else "")
        case _:
            if typed.casefold() in _LAUGHTER:
                return ","
            word = _DRAWN_OUT.sub(r"\1", re.sub(r"['’ʼ`´]", "", typed.casefold()))
            words = _misspelt().get(word, word)
    return words


def _pair(typed: str) -> str:
    """Return "3/14" as three out of fourteen, "4-5" and "4/5" as four to five."""
    first, last = re.findall(r"\d+", typed)
    if first == last == "50":
        return "half"
    is_part = "/" in typed and int(last) != int(first) + 1
    return f"{first} out of {last}" if is_part else f"{first} to {last}"


@cache
def _misspelt() -> dict[str, str]:
    """Return the right words of the wrong ones: those listed, and slips of one letter."""
    slips = {
        wrong: word
        for word in table("slips")["words"]
        for wrong in _slips_of(word)
        if wrong not in table("slips")["words"] + table("slips")["other_words"]
    }
    listed = {wrong: right for right, typed in table("misspelt").items() for wrong in typed}
    return slips | listed


def _slips_of(word: str) -> Iterator[str]:
    """Yield a word with one slip: two letters swapped, and the more others the longer it is."""
    for at in range(len(word)):
        yield word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
        if len(word) > _SHORT:
            yield word[:at] + word[at + 1 :]
        if len(word) >= _SHORT:
            yield word[:at] + word[at] + word[at:]
        if len(word) >= _LONG:
            for letter in ascii_lowercase:
                yield word[:at] + letter + word[at:]
                yield word[:at] + letter + word[at + 1 :]
