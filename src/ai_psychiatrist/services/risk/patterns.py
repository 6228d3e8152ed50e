"""The phrases of danger, and the words of a clause as they are compared with them."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from ai_psychiatrist.services.cues.lexicon import Hit, Lexicon, Words, lexicon_from, words_of
from ai_psychiatrist.services.language.phrase_tree import Grammar, PhraseTree
from ai_psychiatrist.services.language.vocabulary import word_table


@dataclass(frozen=True, slots=True)
class PatternTable:
    """Phrases by cue; at one place the longest wins, and of equals the one given last."""

    tree: PhraseTree

    def find(self, words: Words) -> Iterator[Hit]:
        """Yield the phrases from left to right; no two of them overlap."""
        after = 0
        for at, first in enumerate(words.texts):
            if at < after or not self.tree.begins_with(first):
                continue
            ends = list(self.tree.ends(words.texts, at))
            if not ends:
                continue
            cues, last = ends[-1]
            after = last + 1
            yield Hit(
                cue=cues[-1],
                text=" ".join(words.texts[at:after]),
                start=words.spans[at][0],
                end=words.spans[last][1],
                first=at,
                last=last,
            )


@cache
def patterns(*sections: str) -> PatternTable:
    """Load sections of the risk file: each of their keys is a cue, each value its phrases."""
    tree = PhraseTree()
    for section in sections:
        for cue, entries in _risk_file()[section].items():
            for entry in entries:
                tree.add(cue, (_grammar().group(entry),))
    return PatternTable(tree)


def spoken_words(text: str) -> Words:
    """Read the words of a clause: fillers left out, spellings of the same thing made one."""
    plain = words_of(text).without(_fillers())
    texts: list[str] = []
    spans: list[tuple[int, int]] = []
    after = 0
    for hit in _rewriting().find(plain):
        texts += plain.texts[after : hit.first]
        spans += plain.spans[after : hit.first]
        written = hit.cue.split()
        texts += written
        spans += [(hit.start, hit.end)] * len(written)
        after = hit.last + 1
    texts += plain.texts[after:]
    spans += plain.spans[after:]
    return Words(texts=tuple(texts), spans=tuple(spans))


@cache
def _grammar() -> Grammar:
    return Grammar(
        compared=lambda piece: words_of(piece).texts,
        is_filler=_fillers().__contains__,
        lists=_risk_file()["lists"],
    )


@cache
def _fillers() -> frozenset[str]:
    return frozenset(_risk_file()["fillers"]["words"])


@cache
def _rewriting() -> Lexicon:
    return lexicon_from(word_table("spoken", "rewrite"))


@cache
def _risk_file() -> Mapping[str, Mapping[str, list[str]]]:
    text = resources.files(__package__).joinpath("risk.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
