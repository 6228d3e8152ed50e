"""Phrases with alternatives, found among spoken words without writing each phrase out."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from ai_psychiatrist.services.cues.lexicon import Hit, Lexicon, Words, lexicon_from, words_of

_PIECE: Final = re.compile(r"\{\w+\}|[()|$_]|[^(){}|$_\s]+")
_ANY: Final = "_"
"""Stands in a phrase for any one word that does not deny."""
_END: Final = "$"
"""Stands in a phrase for the end of the clause."""
_LIST: Final = "{"
"""Begins the name of a list, whose entries are alternatives."""
_MARKS: Final = frozenset("()|")


@dataclass(frozen=True, slots=True)
class _Group:
    """Alternatives of a phrase: single words, which are one step, and longer branches."""

    words: frozenset[str]
    branches: tuple[tuple["str | _Group", ...], ...]

    @classmethod
    def of(cls, branches: Iterable[tuple["str | _Group", ...]]) -> "_Group":
        """Gather the single words, those of inner groups among them."""
        words: set[str] = set()
        longer: list[tuple[str | _Group, ...]] = []
        for branch in branches:
            match branch:
                case (str(word),):
                    words.add(word)
                case (_Group() as inner,):
                    words |= inner.words
                    longer += inner.branches
                case _:
                    longer.append(branch)
        return cls(frozenset(words), tuple(longer))


_Step = str | _Group


@dataclass(frozen=True, slots=True)
class _Rest:
    """What is still to be said of a phrase: steps, and then what follows their group."""

    cue: str
    steps: tuple[_Step, ...]
    after: "_Rest | None" = None


class _Node:
    """What may follow the words read so far, and the cue of a phrase that ends here.

    It is grown when it is first reached: a text reaches few of the many thousand nodes, and all
    of them together cost most of a second.
    """

    __slots__ = ("_cue", "_following", "_rests")

    def __init__(self) -> None:
        self._rests: list[_Rest] = []
        self._cue: str | None = None
        self._following: dict[str, list[_Node]] | None = None

    def add(self, rest: "_Rest") -> None:
        """Let a phrase go on from here; before the node is first reached."""
        self._rests.append(rest)

    @property
    def cue(self) -> str | None:
        """The cue of the phrase that ends here; of several the one given last."""
        self.following()
        return self._cue

    def following(self) -> dict[str, list["_Node"]]:
        """Return the nodes that each word leads to."""
        if self._following is None:
            # What another thread grows at the same time is equal, and either may stay.
            growth = _Growth()
            for rest in self._rests:
                growth.add(rest)
            self._cue, self._following = growth.cue, growth.following
        return self._following

    def after(self, word: str) -> Iterator["_Node"]:
        """Yield the nodes that a word leads to."""
        following = self.following()
        yield from following.get(word, ())
        if _ANY in following and word not in _denying():
            yield from following[_ANY]


class _Growth:
    """The branches of one node while its phrases are added."""

    def __init__(self) -> None:
        self.cue: str | None = None
        self.following: dict[str, list[_Node]] = {}
        self._children: dict[frozenset[str], _Node] = {}

    def add(self, rest: _Rest) -> None:
        """Add what is still to be said of a phrase."""
        at: _Rest | None = rest
        while at is not None:
            if not self._passes(at):
                return
            at = at.after
        self.cue = rest.cue

    def _passes(self, rest: _Rest) -> bool:
        """Add the steps, and tell whether all of them may be left out."""
        for number, step in enumerate(rest.steps, start=1):
            then = _Rest(rest.cue, rest.steps[number:], rest.after)
            if isinstance(step, str):
                self._child(frozenset({step})).add(then)
                return False
            if step.words:
                self._child(step.words).add(then)
            branches = [self._passes(_Rest(rest.cue, branch, then)) for branch in step.branches]
            if not any(branches):
                return False
        return True

    def _child(self, words: frozenset[str]) -> _Node:
        """Return the node after any one of some words."""
        node = self._children.get(words)
        if node is None:
            node = self._children[words] = _Node()
            for word in words:
                self.following.setdefault(word, []).append(node)
        return node


@dataclass(frozen=True, slots=True)
class PatternTable:
    """Phrases by cue; at one place the longest wins, and of equals the one given last."""

    root: _Node

    def find(self, words: Words) -> Iterator[Hit]:
        """Yield the phrases from left to right; no two of them overlap."""
        starts = self.root.following()
        after = 0
        for at, first in enumerate(words.texts):
            if at < after or first not in starts:
                continue
            last, cue = _longest(self.root, words.texts, at)
            if cue is None:
                continue
            after = last + 1
            yield Hit(
                cue=cue,
                text=" ".join(words.texts[at:after]),
                start=words.spans[at][0],
                end=words.spans[last][1],
                first=at,
                last=last,
            )


def _longest(root: _Node, texts: tuple[str, ...], at: int) -> tuple[int, str | None]:
    last, cue = at, None
    nodes = [root]
    while nodes and at < len(texts):
        nodes = [child for node in nodes for child in node.after(texts[at])]
        for node in nodes:
            if node.cue is not None:
                last, cue = at, node.cue
        at += 1
    for node in nodes:
        for child in node.following().get(_END, ()):
            last, cue = at - 1, child.cue
    return last, cue


@cache
def patterns(*sections: str) -> PatternTable:
    """Load sections of the risk file: each of their keys is a cue, each value its phrases."""
    root = _Node()
    for section in sections:
        for cue, entries in _risk_file()[section].items():
            for entry in entries:
                root.add(_Rest(cue, (_group(_pieces(entry)),)))
    return PatternTable(root)


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
def _fillers() -> frozenset[str]:
    return frozenset(_risk_file()["fillers"]["words"])


@cache
def _denying() -> frozenset[str]:
    return frozenset(_risk_file()["lists"]["denying"])


@cache
def _rewriting() -> Lexicon:
    return lexicon_from(_risk_file()["rewrite"])


def _pieces(text: str) -> Iterator[str]:
    for piece in _PIECE.findall(text):
        if piece in _MARKS or piece in {_END, _ANY} or piece[0] == _LIST:
            yield piece
        else:
            yield from words_of(piece).texts


@cache
def _listed(name: str) -> _Group:
    return _group(_pieces("|".join(_risk_file()["lists"][name])))


def _group(pieces: Iterator[str]) -> _Group:
    """Read alternatives up to the end of their group."""
    branches: list[tuple[_Step, ...]] = []
    branch: list[_Step] = []
    for piece in pieces:
        if piece == "(":
            branch.append(_group(pieces))
        elif piece[0] == _LIST:
            branch.append(_listed(piece[1:-1]))
        elif piece in _MARKS:
            branches.append(_without_fillers(branch))
            branch = []
            if piece == ")":
                return _Group.of(branches)
        else:
            branch.append(piece)
    return _Group.of([*branches, _without_fillers(branch)])


def _without_fillers(branch: list[_Step]) -> tuple[_Step, ...]:
    """Leave the fillers out; a branch of nothing else stays, and never matches."""
    fillers = _fillers()
    kept = tuple(step for step in branch if isinstance(step, _Group) or step not in fillers)
    return kept or tuple(branch)


@cache
def _risk_file() -> Mapping[str, Mapping[str, list[str]]]:
    text = resources.files(__package__).joinpath("risk.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
