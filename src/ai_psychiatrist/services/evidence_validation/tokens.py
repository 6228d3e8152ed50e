"""Cut text into comparable words that keep their place: case, punctuation and typography are gone.

Numbers, symbols of quantity and apostrophes inside words stay, because they carry meaning; what a
transcriber notes in brackets (tags, sounds, times) is no word.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from itertools import accumulate, islice
from typing import Final, TypeAlias

import rtoml

from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.services.transcripts.lines import INVISIBLE

_TABLES: Final = rtoml.loads(files(__package__).joinpath("words.toml").read_bytes().decode())


def _words(key: str, section: str = "words") -> frozenset[str]:
    return frozenset(_TABLES[section][key].split())


ANSWER_WORDS: Final = _words("answers")
FILLERS: Final = _words("fillers")
NUMBER_WORDS: Final = _words("numbers")
NEGATIONS: Final = _words("negations")
PERSONS: Final = _words("persons")
QUANTITIES: Final = _words("quantities")
PROTECTED: Final = ANSWER_WORDS | NEGATIONS | NUMBER_WORDS | _words("frequencies")
"""Words that a tolerant match never leaves out."""
STOP_WORDS: Final = ANSWER_WORDS | FILLERS | _words("other_stop_words")
BARE_WORDS: Final = ANSWER_WORDS | FILLERS | NEGATIONS | _words("other_bare_words")
"""Words that say by themselves nothing of what somebody is, has or does."""

OPENERS: Final = FILLERS | _words("openers", "utterances")
CLOSERS: Final = FILLERS | _words("closers", "utterances")
WELL: Final = _words("well", "utterances")
SELF: Final = _words("self", "utterances")
SINGLE_ANSWERS: Final = ANSWER_WORDS | _words("other_single_answers", "utterances")

SOUNDS: Final = _words("sounds", "sounds")
SOUND_MODIFIERS: Final = _words("modifiers", "sounds")
SOUND_PHRASES: Final[frozenset[str]] = frozenset(_TABLES["sounds"]["phrases"])

WITH_SHORTENED_VERB: Final = _words("with_shortened_verb", "verbs")
ADVERBS: Final = _words("adverbs", "verbs")
PERFECTS: Final = _words("perfects", "verbs")
PARTICIPLES: Final = _words("participles", "verbs")
TIMELESS_PARTICIPLES: Final = _words("timeless_participles", "verbs")
WITH_APOSTROPHE: Final = {
    form.replace("'", ""): form for form in _words("forms", "without_apostrophe")
}
"""Words written without their apostrophe, and with it."""
EXPANSIONS: Final[dict[str, tuple[str, ...]]] = {
    written: tuple(meant.split()) for written, meant in _TABLES["expansions"].items()
}
NEGATED_STEMS: Final[dict[str, str]] = _TABLES["negated_stems"]
SHORTENED_AUXILIARIES: Final[dict[str, str]] = _TABLES["shortened_auxiliaries"]

_TYPOGRAPHY: Final = str.maketrans("‘’ʼ`´＇“”\u00a0–—", "''''''\"\" --")
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

_NAME: Final = r"[^\W\d_]\w{0,19}(?:[ -]\w{1,20}){0,4}"
_TIME: Final = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?"
_SPAN: Final = rf"{_TIME}(?:\s?(?:-{{1,2}}>?|–)\s?{_TIME})?"
_CLOCK: Final = r"(?<![\w:.])\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,3})?(?![\w:])"
"""To the second: nobody says it, a tool writes it."""
_MARK: Final = re.compile(
    # A model copies the joiner by which prompts break what could be a control token.
    rf"<\u200d?/?(?P<angle>{_NAME})\s?/?>|\[\u200d?\s?(?P<square>{_NAME})\s?\]"
    rf"|\(\s?(?P<round>{_NAME})\s?\)"
    rf"|<{_SPAN}>|\[{_SPAN}\]|\({_SPAN}\)|{_CLOCK}(?:\s?-{{1,2}}>\s?{_CLOCK})?"
)
_TIME_OF_DAY: Final = re.compile(r"[<\[(]\d{1,2}:\d{2}[>\])]")

_NEGATED: Final = "n't"
_MOST_ADVERBS: Final = 3

_Place: TypeAlias = tuple[str, int, int]
"""Characters as they are compared, and where they begin and end."""


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


def is_ideographic(word: str) -> bool:
    """Return whether a word is one character of a script that writes no spaces."""
    return len(word) == 1 and _is_spaceless(word)


def _tokenise(text: str) -> Tokens:
    plain = _with_contractions_joined(without_marks(text))
    if not plain.isascii() or "`" in plain:
        plain = plain.translate(_TYPOGRAPHY)
    if not plain.isascii():
        places = list(_unicode_words(plain))
        words, starts, ends = map(list, zip(*places, strict=True)) if places else ([], [], [])
        return Tokens(words=words, starts=starts, ends=ends)
    # Splitting at the words gives gap, word, gap, …, gap; the running sum of lengths places them.
    parts = _ASCII_WORD.split(plain.lower())
    edges = list(accumulate(map(len, parts)))
    words = parts[1::2]
    if _JOINER in plain:
        words = [word.replace(_JOINER, "") for word in words]
    return Tokens(words=words, starts=edges[:-1:2], ends=edges[1::2])


def _with_contractions_joined(text: str) -> str:
    """Fill the space in "do n't" and "I 'm" with characters that are no gap."""
    if _JOINER in text:
        text = text.replace(_JOINER, " ")
    if ("'" not in text and "’" not in text) or not _APOSTROPHE_APART.search(text):
        return text
    return _SPLIT_CONTRACTION.sub(lambda space: _JOINER * len(space[0]), text)


def _unicode_words(text: str) -> Iterator[_Place]:
    for chunk in _CHUNK.finditer(text):
        base = chunk.start()
        read = _chunk_words if chunk.end() - base <= _LONGEST_KEPT_CHUNK else _read_chunk
        for word, start, end in read(chunk[0]):
            yield word, base + start, base + end


_KINDS_OF_WORD: Final = re.compile(
    r"[91](?:[91wm]|(?<=[9m])[.,:/](?=[91]))*|[wm](?:[91wm]|'(?=[91wm]))*|a|-(?=[91])"
)
"""A word among the kinds of characters (`_kind`), as `_ASCII_WORD` among characters."""


def _read_chunk(chunk: str) -> tuple[_Place, ...]:
    """Return (word, start, end) within one piece of text without white space."""
    if chunk.isascii():
        found = _ASCII_WORD.finditer(chunk.lower())
        return tuple((word[0].replace(_JOINER, ""), *word.span()) for word in found)
    clusters = list(_clusters(chunk))
    kinds = "".join(_kind(letters) for letters, _, _ in clusters)
    return tuple(
        # Composed once more: syllables are encoded in several ways.
        (nfkc("".join(letters for letters, _, _ in parts)), parts[0][1], parts[-1][2])
        for parts in (clusters[slice(*one.span())] for one in _KINDS_OF_WORD.finditer(kinds))
    )


_chunk_words: Final = lru_cache(maxsize=4096)(_read_chunk)


def _clusters(chunk: str) -> Iterator[_Place]:
    """Yield a base character with its combining marks, composed and in lower case."""
    start = 0
    for position in range(1, len(chunk) + 1):
        if position < len(chunk) and unicodedata.category(chunk[position]).startswith("M"):
            continue
        letters = nfkc(chunk[start:position].translate(_ZERO_WIDTH)).lower()
        if letters:
            yield letters, start, position
        start = position


def _kind(letters: str) -> str:
    """Return one character for what a cluster is in a word.

    `9` a digit, `1` what begins with one and ends otherwise, `m` the reverse, `w` another letter,
    `a` what stands alone, and else itself or a gap.
    """
    first = letters[0]
    if _is_spaceless(first):
        return "a"
    category = unicodedata.category(first)
    if category[0] in "LNM":
        ends_in_digit = letters[-1].isdigit()
        return ("9" if ends_in_digit else "1") if first.isdigit() else "m" if ends_in_digit else "w"
    is_symbol = category[0] == "S" and first not in "^`|~"
    if is_symbol or first in "%&@":
        return "a"
    return letters if letters in {"'", "-", ".", ",", ":", "/"} else " "


def _is_spaceless(character: str) -> bool:
    code = ord(character)
    return 0x3040 <= code <= 0x30FF or 0x3400 <= code <= 0x9FFF or 0x20000 <= code <= 0x3FFFF


def without_marks(text: str) -> str:
    """Blank out the marks of a transcriber, keeping the length.

    Square and angle brackets hold a mark unless its words could change what is said; round ones
    hold speech unless they name a known sound or a time.
    """
    if ":" not in text and "<" not in text and "[" not in text and "(" not in text:
        return text
    return _MARK.sub(lambda mark: mark[0] if _is_speech(mark) else " " * len(mark[0]), text)


def marks_in(text: str) -> tuple[str, ...]:
    """Return the marks of a text as they are written."""
    return tuple(mark[0] for mark in _MARK.finditer(text) if not _is_speech(mark))


def times_of_day_in(text: str) -> list[str]:
    """Return the marks that may be part of what was said: "(3:15)"."""
    return _TIME_OF_DAY.findall(text)


def _is_speech(mark: re.Match[str]) -> bool:
    kind = mark.lastgroup
    if kind is None:
        return False
    name = mark[kind].lower()
    plain = name.replace("_", " ").replace("-", " ")
    words = set(plain.split())
    if plain in SOUND_PHRASES or (words & SOUNDS and words <= SOUNDS | SOUND_MODIFIERS):
        return False
    if kind == "round" or "-" in name:
        return True
    if not words.isdisjoint(PROTECTED | QUANTITIES) or not PROTECTED.isdisjoint(name):
        return True
    # `<i>` is italics; "[I]" is a word that somebody put in.
    return kind == "square" and words <= STOP_WORDS


def written_out(tokens: Tokens) -> Tokens:
    """Return words with contractions written out; their parts stand where the whole stood."""
    words = tokens.words
    parts = [
        (part, position)
        for position, word in enumerate(words)
        for part in EXPANSIONS.get(word) or (_parts(words, position) if "'" in word else (word,))
    ]
    return Tokens(
        words=[part for part, _ in parts],
        starts=[tokens.starts[position] for _, position in parts],
        ends=[tokens.ends[position] for _, position in parts],
    )


def _parts(words: Sequence[str], at: int) -> tuple[str, ...]:
    word = words[at]
    for ending, verb in SHORTENED_AUXILIARIES.items():
        if word.endswith(ending) and len(word) > len(ending):
            following = "have" if verb == "have" else ""
            return *_word_parts(word.removesuffix(ending), following), verb
    # An adverb between tells nothing: "she's really gone".
    near = islice(words, at + 1, at + 2 + _MOST_ADVERBS)
    verbs = (one for one in near if one not in ADVERBS and not one.endswith("ly"))
    return _word_parts(word, next(verbs, ""))


def _word_parts(word: str, following: str) -> tuple[str, ...]:
    """Return what a word is written out; `following`: the verb after it, "" where none is near."""
    if word in EXPANSIONS:
        return EXPANSIONS[word]
    if word.endswith(_NEGATED) and word != "ain't":
        stem = word.removesuffix(_NEGATED)
        return NEGATED_STEMS.get(stem, stem), "not"
    if not word.endswith(("'s", "'d")) or word[:-2] not in WITH_SHORTENED_VERB:
        return (word,)
    if word.endswith("s"):
        return word[:-2], "has" if following in PERFECTS else "is"
    if not following or following in TIMELESS_PARTICIPLES | PERSONS:
        # The next word does not tell what "'d" stands for.
        return word[:-2], "'d"
    is_past = following.endswith("ed") and not following.endswith("eed")
    return word[:-2], "had" if is_past or following in PARTICIPLES else "would"
