"""Spoken words as they are compared: fillers left out, spellings of the same thing made one."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from ai_psychiatrist.services.language.memory import remembered
from ai_psychiatrist.services.language.vocabulary import word_list, word_table

FILLERS: Final = frozenset(word_list("spoken", "fillers"))
"""Words that are passed over."""
DENYING: Final = frozenset(word_list("spoken", "denying"))
"""Words that deny by themselves."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’ʼ][^\W_]+)*|,")
_MARK: Final = re.compile(r"</?[A-Z_]{2,30}/?>")
"""A transcriber's mark, which nobody spoke: `<INAUDIBLE_SPEECH/>`."""
_INVISIBLE: Final = re.compile("[\u200b-\u200d\u2060\ufeff\u00ad]")
# Without its apostrophe "I'll" would read as "ill" and "we're" as "were".
_DROPPED_G: Final = frozenset(word_list("spoken", "dropped_g"))
_DRAWN_OUT: Final = re.compile(r"([aeiouydnt])\1{2,}")
"""A letter that stands for a long sound: "dieee", "deaddd", "sooo"."""
_ARTICLE: Final = re.compile(r"^t'(?=\w{3})")
"""Of northern English: "t'barn"."""
_KEEPS_APOSTROPHE: Final = ("'ll", "'re", "'d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """The words of a text, and where each of them stands."""

    texts: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    """Characters into the text, start inclusive, end exclusive."""
    after_comma: frozenset[int]
    """The words before which a comma stands."""

    def has_digits_or(self, words: frozenset[str]) -> bool:
        """Return whether a number in digits is among the words, or one of these."""
        return not words.isdisjoint(self.texts) or any(map(str.isdecimal, self.texts))

    @property
    def with_commas(self) -> str:
        """The words with a space between them, and the commas."""
        return "".join(
            f"{',' if at in self.after_comma else ''} {word}" for at, word in enumerate(self.texts)
        ).strip(" ,")


def spoken(text: str) -> Spoken:
    """Read the words of a text."""
    return spoken_without(text, FILLERS)


def every_word(text: str) -> Spoken:
    """Read the words of a text, fillers among them: "so far", "at the time", "like I used to"."""
    return spoken_without(text, frozenset())


def spoken_without(text: str, fillers: frozenset[str]) -> Spoken:
    """Read the words of a text but for some."""
    texts: list[str] = []
    spans: list[tuple[int, int]] = []
    commas: set[int] = set()
    for word, span in _written(text):
        if word == ",":
            commas.add(len(texts))
        elif word not in fillers:
            texts.append(word)
            spans.append(span)
    return Spoken(texts=tuple(texts), spans=tuple(spans), after_comma=frozenset(commas))


@cache
def compared(text: str) -> tuple[str, ...]:
    """Return the words of an entry of a table, as they are compared; fillers among them."""
    if text.isascii() and text.isalpha() and text.islower() and text not in _rewriting():
        return (text,)
    return tuple(word for word, _ in _rewritten(words_in(text)))


@cache
def compared_words(name: str, key: str) -> frozenset[str]:
    """Return the single words of a list of a vocabulary file, as they are compared."""
    entries = word_table(name, "words")[key]
    return frozenset(word for entry in entries for word in compared(entry))


@remembered(512)
def _written(text: str) -> "_Found":
    return _rewritten(words_in(text))


_Found = list[tuple[str, tuple[int, int]]]


def words_in(text: str) -> _Found:
    """Return the words of a text, commas among them, each with its place.

    Case-folded, "n't" without its apostrophe.
    """
    # An apostrophe is as long as the invisible character it replaces and joins words like it, so
    # that offsets stay those of the text.
    visible = text if text.isascii() else _INVISIBLE.sub("'", text)
    if "<" in visible:
        visible = _MARK.sub(lambda mark: " " * len(mark[0]), visible)
    return [(_normalised(found[0]), found.span()) for found in _WORD.finditer(visible)]


@lru_cache(maxsize=4096)
def _normalised(word: str) -> str:
    folded = word.casefold()
    if not (folded.isascii() and folded.isalnum()):
        folded = folded.replace("’", "'").replace("ʼ", "'")
        folded = _ARTICLE.sub("", folded)
        if folded.endswith(_KEEPS_APOSTROPHE):
            return folded
        folded = folded.replace("'", "")
    if folded.endswith("in") and folded[:-2] in _DROPPED_G:
        return f"{folded}g"
    return _DRAWN_OUT.sub(r"\1", folded)


def _rewritten(words: _Found) -> _Found:
    """Write the same thing in one way: "do not" as "dont", "gonna" as "going to"."""
    rules = _rewriting()
    if rules.keys().isdisjoint([word for word, _ in words]):
        return words
    found, at = [], 0
    while at < len(words):
        for length, writings in rules.get(words[at][0], ()):
            written = writings.get(tuple(word for word, _ in words[at : at + length]))
            if written is not None:
                span = (words[at][1][0], words[at + length - 1][1][1])
                found += [(word, span) for word in written]
                at += length
                break
        else:
            found.append(words[at])
            at += 1
    return found


@cache
def _rewriting() -> dict[str, list[tuple[int, dict[tuple[str, ...], tuple[str, ...]]]]]:
    """Return first word → (number of words, words → what is written for them), longest first."""
    found: dict[str, dict[int, dict[tuple[str, ...], tuple[str, ...]]]] = {}
    for written, entries in word_table("spoken", "rewrite").items():
        for entry in entries:
            words = tuple(word for word, _ in words_in(entry))
            by_length = found.setdefault(words[0], {}).setdefault(len(words), {})
            by_length[words] = tuple(word for word, _ in words_in(written))
    return {first: sorted(found[first].items(), reverse=True) for first in found}
