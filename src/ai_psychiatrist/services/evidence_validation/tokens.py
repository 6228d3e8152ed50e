"""Cut text into comparable words that keep their place: case, punctuation and typography are gone.

Numbers, symbols of quantity and apostrophes inside words stay, because they carry meaning.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Final

from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.services.evidence_validation.marks import without_marks
from ai_psychiatrist.services.evidence_validation.words import WITH_APOSTROPHE
from ai_psychiatrist.services.transcripts.line_ends import INVISIBLE

_TYPOGRAPHY: Final = str.maketrans(
    {
        "‘": "'",
        "’": "'",
        "ʼ": "'",
        "`": "'",
        "´": "'",
        "＇": "'",
        "“": '"',
        "”": '"',
        "\u00a0": " ",
        "–": "-",
        "—": "-",
    }
)
_ZERO_WIDTH: Final = dict.fromkeys(map(ord, f"\x7f{INVISIBLE}"))
_UNSEEN: Final = f"[{INVISIBLE}]{{0,2}}"
_SPLIT_CONTRACTION: Final = re.compile(
    rf"(?<=[^\W\d_])\s{{1,4}}(?=(?:n{_UNSEEN})?['’]{_UNSEEN}(?:t|m|s|re|ve|ll|d)(?![\w'’]))",
    re.IGNORECASE,
)
# Looking for apostrophes is cheaper than looking at each space.
_APOSTROPHE_APART: Final = re.compile(r"(?:(?<=\s)|(?<=\s[nN])|(?<=[^\x00-\x7f]))['’]")
_ASCII_WORD: Final = re.compile(
    r"([a-z][a-z0-9\x7f]*(?:'[a-z0-9]+)*|\d+(?:[.,:/]\d+)*[a-z]*|[<>=+%$&@]|-(?=\d))"
)
_CHUNK: Final = re.compile(r"\S+")
_WHITE_SPACE: Final = re.compile(r"\s+")
_JOINER: Final = "\x7f"
_LONGEST_KEPT_CHUNK: Final = 64
"""Text without spaces is one chunk, however long: only what may be a word is remembered."""


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """Words in order with their offsets in the text they were cut from, end exclusive."""

    words: list[str]
    starts: list[int]
    ends: list[int]


def normalize_for_quote_match(text: str) -> str:
    """Return the text in the form in which quotes are compared: NFKC, plain quotes, lower case.

    Zero-width characters are dropped, non-verbal tags such as `<laughter>` and runs of white space
    become one space. Deterministic, conservative and linear in time.
    """
    plain = nfkc(text).translate(_TYPOGRAPHY).translate(_ZERO_WIDTH)
    return _WHITE_SPACE.sub(" ", without_marks(plain)).strip().lower()


def tokenise(text: str) -> Tokens:
    """Cut a text into words; those of the closed list get the apostrophe they lack."""
    tokens = _tokenise(text)
    if WITH_APOSTROPHE.keys().isdisjoint(tokens.words):
        return tokens
    return replace(tokens, words=[WITH_APOSTROPHE.get(word, word) for word in tokens.words])


def _tokenise(text: str) -> Tokens:
    plain = _with_contractions_joined(without_marks(text))
    if not plain.isascii() or "`" in plain:
        plain = plain.translate(_TYPOGRAPHY)
    if not plain.isascii():
        return _tokenise_unicode(plain)
    # Splitting at the words gives gap, word, gap, …, gap; the running sum of lengths places them.
    parts = _ASCII_WORD.split(plain.lower())
    places = list(accumulate(map(len, parts)))
    words = parts[1::2]
    if _JOINER in plain:
        words = [word.replace(_JOINER, "") for word in words]
    return Tokens(words=words, starts=places[:-1:2], ends=places[1::2])


def is_ideographic(word: str) -> bool:
    """Return whether a word is one character of a script that writes no spaces."""
    return len(word) == 1 and _is_spaceless(word)


def _with_contractions_joined(text: str) -> str:
    """Fill the space in "do n't" and "I 'm" with characters that are no gap."""
    if _JOINER in text:
        text = text.replace(_JOINER, " ")
    if ("'" not in text and "’" not in text) or not _APOSTROPHE_APART.search(text):
        return text
    return _SPLIT_CONTRACTION.sub(lambda space: _JOINER * len(space[0]), text)


def _tokenise_unicode(text: str) -> Tokens:
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for chunk in _CHUNK.finditer(text):
        base = chunk.start()
        read = _chunk_words if chunk.end() - base <= _LONGEST_KEPT_CHUNK else _read_chunk
        for word, begin, stop in read(chunk[0]):
            words.append(word)
            starts.append(base + begin)
            ends.append(base + stop)
    return Tokens(words=words, starts=starts, ends=ends)


def _read_chunk(chunk: str) -> tuple[tuple[str, int, int], ...]:
    if chunk.isascii():
        found = _ASCII_WORD.finditer(chunk.lower())
        return tuple((word[0].replace(_JOINER, ""), *word.span()) for word in found)
    return tuple(_iterate_chunk(chunk))


_chunk_words: Final = lru_cache(maxsize=4096)(_read_chunk)


def _iterate_chunk(chunk: str) -> Iterator[tuple[str, int, int]]:
    """Yield (word, start, end) within one piece of text without white space."""
    word: list[str] = []
    begin, stop = 0, 0
    clusters = list(_clusters(chunk))
    for position, (letters, start, end) in enumerate(clusters):
        kind = _kind(letters)
        if word and _joins(word, letters) and _continues(clusters, position):
            word.append(letters)
            stop = end
            continue
        if kind == "word":
            if not word:
                begin = start
            word.append(letters)
            stop = end
            continue
        if word:
            yield _composed(word), begin, stop
            word.clear()
        if kind == "alone" or (letters == "-" and _continues_number(clusters, position)):
            yield letters, start, end
    if word:
        yield _composed(word), begin, stop


def _composed(word: list[str]) -> str:
    """Return a word in one form, however its syllables were encoded."""
    return nfkc("".join(word))


def _clusters(chunk: str) -> Iterator[tuple[str, int, int]]:
    """Yield a base character with its combining marks, composed and in lower case."""
    start = 0
    for position in range(1, len(chunk) + 1):
        if position < len(chunk) and unicodedata.category(chunk[position]).startswith("M"):
            continue
        raw = chunk[start:position].translate(_ZERO_WIDTH)
        letters = nfkc(raw).lower()
        if letters:
            yield letters, start, position
        start = position


def _kind(letters: str) -> str:
    first = letters[0]
    if _is_spaceless(first):
        return "alone"
    category = unicodedata.category(first)
    if category[0] in "LNM":
        return "word"
    is_symbol = category[0] == "S" and first not in "^`|~"
    return "alone" if is_symbol or first in "%&@" else "gap"


def _joins(word: list[str], letters: str) -> bool:
    """Return whether a mark may stand inside a word: `don't`, `4.5`, `3:30`."""
    if word[0][0].isdigit():
        return letters in {".", ",", ":", "/"} and word[-1][-1].isdigit()
    return letters == "'"


def _continues(clusters: list[tuple[str, int, int]], position: int) -> bool:
    if clusters[position][0] != "'":
        return _continues_number(clusters, position)
    following = clusters[position + 1 : position + 2]
    return bool(following) and _kind(following[0][0]) == "word"


def _continues_number(clusters: list[tuple[str, int, int]], position: int) -> bool:
    return any(letters[0].isdigit() for letters, _, _ in clusters[position + 1 : position + 2])


def _is_spaceless(character: str) -> bool:
    code = ord(character)
    return 0x3040 <= code <= 0x30FF or 0x3400 <= code <= 0x9FFF or 0x20000 <= code <= 0x3FFFF
