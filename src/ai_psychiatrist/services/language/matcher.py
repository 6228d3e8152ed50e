"""Phrases of any number of tables, found among spoken words in one walk.

`(kill|killing) myself` stands for two phrases, `(x|)` may be left out, `{name}` is a list of the
table `lists`, `_` any one word that does not deny, and `$` the end of the clause.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from ai_psychiatrist.services.language.spoken import Spoken, compared, is_filler
from ai_psychiatrist.services.language.vocabulary import word_list

_PIECE: Final = re.compile(r"\{\w+\}|[()|$_]|[^(){}|$_\s]+")
_GROUP: Final = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_HEAD: Final = re.compile(rf"{_GROUP}|\{{\w+\}}|[^(){{}}|$_\s]+(?=\s)")
_PLAIN: Final = re.compile(r"(?:[^\W_]|[' ])+")
_ANY: Final = "_"
_END: Final = "$"
_LIST: Final = "{"
_MARKS: Final = frozenset("()|")


class Hit(NamedTuple):
    """A phrase found among words: words `first` to `last`, inclusive."""

    cue: str
    first: int
    last: int

    @property
    def subject(self) -> str:
        """What its table belongs to, such as a concept."""
        return self.cue.partition(".")[0]

    @property
    def kind(self) -> str:
        """Which table of its subject it stands in."""
        return self.cue.partition(".")[2]


@dataclass(frozen=True, slots=True)
class _Group:
    """Alternatives of a phrase: single words, which are one step, and longer branches."""

    words: frozenset[str]
    branches: tuple[tuple["_Step", ...], ...]

    @classmethod
    def of(cls, branches: Iterable[tuple["_Step", ...]]) -> "_Group":
        """Gather the single words, those of inner groups among them."""
        words: set[str] = set()
        longer: list[tuple[_Step, ...]] = []
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


@dataclass(frozen=True, slots=True)
class _Later:
    """The rest of a phrase, which is read when what stands before it was met."""

    text: str
    read: "Callable[[str], tuple[_Step, ...]]"


_Step = str | _Group | _Later


@dataclass(frozen=True, slots=True)
class _Rest:
    """What is still to be said of a phrase: steps, and then what follows their group."""

    cue: str
    steps: tuple[_Step, ...]
    after: "_Rest | None" = None


class _Node:
    """What may follow the words read so far, and the cues of the phrases that end here.

    It is grown when it is first reached: a text reaches few of the many thousand nodes, and all
    of them together cost most of a second.
    """

    __slots__ = ("_cues", "_following", "_rests")

    def __init__(self) -> None:
        self._rests: list[_Rest] = []
        self._cues: tuple[str, ...] = ()
        self._following: dict[str, list[_Node]] | None = None

    def add(self, rest: _Rest) -> None:
        """Let a phrase go on from here; before the node is first reached."""
        self._rests.append(rest)

    @property
    def cues(self) -> tuple[str, ...]:
        """The cues of the phrases that end here, always in the same order."""
        self.following()
        return self._cues

    def following(self) -> dict[str, list["_Node"]]:
        """Return the nodes that each word leads to."""
        if self._following is None:
            # What another thread grows at the same time is equal, and either may stay.
            growth = _Growth()
            for rest in self._rests:
                growth.add(rest)
            self._cues, self._following = tuple(sorted(growth.cues)), growth.following
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
        self.cues: set[str] = set()
        self.following: dict[str, list[_Node]] = {}
        self._children: dict[frozenset[str], _Node] = {}

    def add(self, rest: _Rest) -> None:
        """Add what is still to be said of a phrase."""
        at: _Rest | None = rest
        while at is not None:
            if not self._passes(at):
                return
            at = at.after
        self.cues.add(rest.cue)

    def _passes(self, rest: _Rest) -> bool:
        """Add the steps, and tell whether all of them may be left out."""
        for number, step in enumerate(rest.steps, start=1):
            then = _Rest(rest.cue, rest.steps[number:], rest.after)
            if isinstance(step, _Later):
                return self._passes(_Rest(rest.cue, step.read(step.text), rest.after))
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


class Matcher:
    """Phrases by cue. Those of a cue's subject, before its dot, compete: the longest wins."""

    def __init__(
        self,
        tables: Mapping[str, Iterable[str]],
        lists: Mapping[str, list[str]],
    ) -> None:
        self._lists = lists
        self._listed: dict[str, _Group] = {}
        self._root = _Node()
        for cue, entries in tables.items():
            for entry in entries:
                self._root.add(_Rest(cue, self._phrase(entry)))

    def find(self, words: Spoken) -> tuple[Hit, ...]:
        """Return the phrases in the order of their first words."""
        starts = self._root.following()
        after: dict[str, int] = {}
        found: list[Hit] = []
        for at, first in enumerate(words.texts):
            if first not in starts:
                continue
            longest: dict[str, Hit] = {}
            for hit in self._from(words.texts, at):
                subject = hit.subject
                if after.get(subject, 0) <= at:
                    known = longest.get(subject)
                    if known is None or _weight(hit) > _weight(known):
                        longest[subject] = hit
            for subject, hit in longest.items():
                after[subject] = hit.last + 1
            found += longest.values()
        return tuple(found)

    def _from(self, texts: tuple[str, ...], at: int) -> Iterator[Hit]:
        nodes, first = [self._root], at
        while nodes and at < len(texts):
            nodes = [child for node in nodes for child in node.after(texts[at])]
            for node in nodes:
                for cue in node.cues:
                    yield Hit(cue, first, at)
            at += 1
        for node in nodes:
            for child in node.following().get(_END, ()):
                for cue in child.cues:
                    yield Hit(cue, first, at - 1)

    def _phrase(self, entry: str) -> tuple[_Step, ...]:
        """Read how a phrase begins, and the rest of it when something begins like that."""
        head = _HEAD.match(entry)
        if head is None or head.end() == len(entry):
            return self._rest_of(entry)
        return (*self._rest_of(head[0]), _Later(entry[head.end() :], self._rest_of))

    def _rest_of(self, text: str) -> tuple[_Step, ...]:
        if _PLAIN.fullmatch(text):
            words = (word for part in text.split() for word in _compared(part))
            return tuple(word for word in words if not is_filler(word))
        return (self._group(self._pieces(text)),)

    def _pieces(self, text: str) -> Iterator[str]:
        for piece in _PIECE.findall(text):
            if piece in _MARKS or piece in {_END, _ANY} or piece[0] == _LIST:
                yield piece
            else:
                yield from _compared(piece)

    def _group(self, pieces: Iterator[str]) -> _Group:
        """Read alternatives up to the end of their group."""
        branches: list[tuple[_Step, ...]] = []
        branch: list[_Step] = []
        for piece in pieces:
            if piece == "(":
                branch.append(self._group(pieces))
            elif piece[0] == _LIST:
                branch.append(self._list(piece[1:-1]))
            elif piece in _MARKS:
                branches.append(_without_fillers(branch))
                branch = []
                if piece == ")":
                    return _Group.of(branches)
            else:
                branch.append(piece)
        return _Group.of([*branches, _without_fillers(branch)])

    def _list(self, name: str) -> _Group:
        if name not in self._listed:
            self._listed[name] = self._group(self._pieces("|".join(self._lists[name])))
        return self._listed[name]


def _weight(hit: Hit) -> tuple[int, bool, str]:
    """Order: the longest, and of equals what only looks like something."""
    return hit.last, hit.cue.endswith((".look_alike", ".pass")), hit.cue


@cache
def _denying() -> frozenset[str]:
    return frozenset(word_list("spoken", "denying"))


@cache
def _compared(piece: str) -> list[str]:
    return compared(piece)


def _without_fillers(branch: list[_Step]) -> tuple[_Step, ...]:
    """Leave the fillers out; a branch of nothing else stays, and never matches."""
    kept = tuple(step for step in branch if not isinstance(step, str) or not is_filler(step))
    return kept or tuple(branch)
