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
    r"|(?P<one>\b(?:every|any|some|no)1\b)|(?P<decimal>\b\d+[.,:]\d+)|(?P<keycap>\d\ufe0f?\u20e3)|(?P<ordinal>\d+(?:st|nd|rd|th)\b)"
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
_DRAWN_OUT: Final = re.compile(r"([^\W\d])\1{2,}")
"""As in "everyyy"."""
_ANSWERING_SIGNS: Final = frozenset("👍👎👌✅❌💯")
_WHOLE: Final = 7
"""From this on the second of two numbers may be what the first is a part of."""
_SHORT: Final = 4
_LONG: Final = 6
"""From this many letters on any one letter may be wrong or too much."""
_ANSWERS: Final = frozenset("no nope nah none never yes yeah yep".split())
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

    def _word_at(self, at: int) -> tuple[int, int, int]:
        return self.places[max(0, bisect_right(self.places, at, key=lambda place: place[0]) - 1)]


def spoken_answer(text: str) -> SpokenAnswer:
    """Take an answer apart; without any word or number `spoken` holds none either."""
    words: list[str] = []
    places: list[tuple[int, int, int]] = []
    length = 0
    for token in _TOKEN.finditer(text):
        for word in _words(token).split():
            if words and words[-1] in _GOES_ON and word in _STOPS:
                # "Every. Single. Day."
                continue
            if words and (words[-1], word) == ("no", "one"):
                words[-1], length = "nobody", places[-1][0] + len("nobody ")
                places[-1] = (*places[-1][:2], token.end())
                continue
            is_thing = word.isalpha() and not _AFTER_A_NUMBER.fullmatch(word)
            if words and words[-1] in _NO_NUMBER and is_thing:
                # "Zero energy" counts no days.
                words[-1] = "no"
                length = places[-1][0] + len("no ")
            is_new = words and (words[-1] in _ANSWERS or words[-3:] == ["not", "at", "all"])
            for said in (",", word) if is_new and word in _OWN else (word,):
                words.append(said)
                places.append((length, *token.span()))
                length += len(said) + 1
    return SpokenAnswer(text=text, spoken=" ".join(words), places=tuple(places))


def _words(token: re.Match[str]) -> str:
    typed = token[0]
    match token.lastgroup:
        case "pause":
            words = _PAUSES.get(typed, "," if typed.startswith("-") else ".")
        case "pair":
            words = _pair(typed)
        case "one":
            words = f"{typed[:-1].casefold()} one"
        case "always":
            words = "constantly"
        case "span":
            names = re.findall(r"[a-z]+", typed.casefold())
            words = " to ".join(_misspelt().get(name, name) for name in names)
        case "keycap":
            words = typed[0]
        case "sign" if typed == "+" and token.string[: token.start()].endswith(" "):
            words = "and"
        case "sign":
            is_said = typed.isalnum() or typed in _ANSWERING_SIGNS
            words = _SIGNS.get(typed, typed if is_said else "")
        case _:
            word = _DRAWN_OUT.sub(r"\1", re.sub(r"['’ʼ`´]", "", typed.casefold()))
            words = _misspelt().get(word, word)
    return words


def _pair(typed: str) -> str:
    """Return "3/14" as three out of fourteen, "4-5" and "4/5" as four to five."""
    first, last = re.findall(r"\d+", typed)
    if first == last == "50":
        return "half"
    is_part = "/" in typed and int(last) >= _WHOLE and int(last) != int(first) + 1
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
