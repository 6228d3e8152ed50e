"""Spoken words as they are compared, and the cue phrases that are found among them."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from ai_psychiatrist.services.cues.remembered import remembered
from ai_psychiatrist.services.language.spoken import words_in

_PIECE: Final = re.compile(r"[()|]|[^()|]+")

_Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The normalised words of a text, commas among them, and where each of them stands."""

    texts: _Phrase
    spans: tuple[tuple[int, int], ...]
    """Characters into the text, start inclusive, end exclusive."""

    def without(self, skip: frozenset[str]) -> "Words":
        """Leave out some words; the others keep their places in the text."""
        kept = tuple(at for at, text in enumerate(self.texts) if text not in skip)
        return Words(
            texts=tuple(self.texts[at] for at in kept), spans=tuple(self.spans[at] for at in kept)
        )


class Hit(NamedTuple):
    """A cue phrase found among words: characters `start` to `end`, words `first` to `last`."""

    cue: str
    text: str
    """The phrase as normalised words, joined by spaces."""
    start: int
    end: int
    first: int
    last: int
    """The last word of the phrase, inclusive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Cue phrases, found by their first two words, longest first."""

    cues: Mapping[_Phrase, str]
    lengths: Mapping[str, Mapping[str, tuple[int, ...]]]
    """First word → second word → how many words such phrases have, descending.

    The second word of a phrase of one word is "", and its length stands under every other too.
    """

    def find(self, words: Words) -> Iterator[Hit]:
        """Yield the longest phrases from left to right; no two of them overlap."""
        texts, lengths, cues = words.texts, self.lengths, self.cues
        after = 0
        for at, first in enumerate(texts):
            if at < after or first not in lengths:
                continue
            seconds = lengths[first]
            second = texts[at + 1] if at + 1 < len(texts) else ""
            for length in seconds.get(second) or seconds.get("", ()):
                phrase = texts[at : at + length]
                cue = cues.get(phrase)
                if cue is not None:
                    after = at + len(phrase)
                    start, end = words.spans[at][0], words.spans[after - 1][1]
                    yield Hit(cue, " ".join(phrase), start, end, at, after - 1)
                    break


@remembered(512)
def words_of(text: str) -> Words:
    """Read the words of a text: case-folded, "n't" without its apostrophe, commas kept."""
    found = words_in(text)
    return Words(texts=tuple(word for word, _ in found), spans=tuple(span for _, span in found))


def lexicon_from(
    table: Mapping[str, Iterable[str]], *, skip: frozenset[str] = frozenset()
) -> Lexicon:
    """Build a lexicon from cue → phrases; `sleep(|s|ing)` in a phrase stands for three words.

    Words in `skip` are left out of the phrases, for use with `Words.without`; a phrase of which
    a single word would remain is dropped.
    """
    cues: dict[_Phrase, str] = {}
    for cue, entries in table.items():
        for phrase in itertools.chain.from_iterable(map(_expanded, entries)):
            kept = tuple(word for word in phrase if word not in skip)
            if len(kept) >= min(len(phrase), 2):
                cues[kept] = cue
    return Lexicon(cues=cues, lengths=_lengths(cues))


def _lengths(phrases: Iterable[_Phrase]) -> dict[str, dict[str, tuple[int, ...]]]:
    found: dict[str, dict[str, set[int]]] = {}
    for phrase in phrases:
        second = phrase[1] if len(phrase) > 1 else ""
        found.setdefault(phrase[0], {}).setdefault(second, set()).add(len(phrase))
    return {
        first: {
            second: tuple(sorted(lengths | seconds.get("", set()), reverse=True))
            for second, lengths in seconds.items()
        }
        for first, seconds in found.items()
    }


def _expanded(entry: str) -> set[_Phrase]:
    # "(is|'s) fine" after a word stands for two spellings, one of which joins it.
    spelt = _spelt_out(iter(_PIECE.findall(entry)))
    return {words_of(text.replace(" '", "'")).texts for text in spelt}


def _spelt_out(pieces: Iterator[str]) -> set[str]:
    """Write out the alternatives up to the end of their group."""
    spelt: set[str] = set()
    branch = {""}
    for piece in pieces:
        if piece == "(":
            tails = _spelt_out(pieces)
            branch = {head + tail for head in branch for tail in tails}
        elif piece in {"|", ")"}:
            spelt |= branch
            branch = {""}
            if piece == ")":
                return spelt
        else:
            branch = {head + piece for head in branch}
    return spelt | branch
