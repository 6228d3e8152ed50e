"""Phrases with alternatives as one tree of words, and how such phrases are written.

`(kill|killing) myself` stands for two phrases, `(x|)` may be left out, `{name}` is a list, `_` any
one word that does not deny, and `$` the end of the clause.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Final

from ai_psychiatrist.services.language.vocabulary import word_list

_PIECE: Final = re.compile(r"\{\w+\}|[()|$_]|[^(){}|$_\s]+")
_ANY: Final = "_"
_END: Final = "$"
_LIST: Final = "{"
_MARKS: Final = frozenset("()|")


@dataclass(frozen=True, slots=True)
class Group:
    """Alternatives of a phrase: single words, which are one step, and longer branches."""

    words: frozenset[str]
    branches: tuple[tuple["Step", ...], ...]

    @classmethod
    def of(cls, branches: Iterable[tuple["Step", ...]]) -> "Group":
        """Gather the single words, those of inner groups among them."""
        words: set[str] = set()
        longer: list[tuple[Step, ...]] = []
        for branch in branches:
            match branch:
                case (str(word),):
                    words.add(word)
                case (Group() as inner,):
                    words |= inner.words
                    longer += inner.branches
                case _:
                    longer.append(branch)
        return cls(frozenset(words), tuple(longer))


@dataclass(frozen=True, slots=True)
class Later:
    """The rest of a phrase, which is read when what stands before it was met."""

    text: str
    read: Callable[[str], tuple["Step", ...]]


Step = str | Group | Later


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """How phrases are written: `compared` gives the words of a piece as they are compared."""

    compared: Callable[[str], Iterable[str]]
    is_filler: Callable[[str], bool]
    """Whether a word is passed over, in speech and in phrases alike."""
    lists: Mapping[str, list[str]]
    _listed: dict[str, Group] = field(default_factory=dict, init=False, repr=False)

    def group(self, text: str) -> Group:
        """Read a phrase, or a part of one in which brackets are closed."""
        return self._group(self._pieces(text))

    def _pieces(self, text: str) -> Iterator[str]:
        for piece in _PIECE.findall(text):
            if piece in _MARKS or piece in {_END, _ANY} or piece[0] == _LIST:
                yield piece
            else:
                yield from self.compared(piece)

    def _group(self, pieces: Iterator[str]) -> Group:
        """Read alternatives up to the end of their group."""
        branches: list[tuple[Step, ...]] = []
        branch: list[Step] = []
        for piece in pieces:
            if piece == "(":
                branch.append(self._group(pieces))
            elif piece[0] == _LIST:
                branch.append(self._list(piece[1:-1]))
            elif piece in _MARKS:
                branches.append(self._without_fillers(branch))
                branch = []
                if piece == ")":
                    return Group.of(branches)
            else:
                branch.append(piece)
        return Group.of([*branches, self._without_fillers(branch)])

    def _list(self, name: str) -> Group:
        if name not in self._listed:
            self._listed[name] = self.group("|".join(self.lists[name]))
        return self._listed[name]

    def _without_fillers(self, branch: list[Step]) -> tuple[Step, ...]:
        """Leave the fillers out; a branch of nothing else stays, and never matches."""
        kept = [step for step in branch if not isinstance(step, str) or not self.is_filler(step)]
        return tuple(kept or branch)


class PhraseTree:
    """Phrases by cue, walked word by word."""

    def __init__(self) -> None:
        self._root = _Node()

    def add(self, cue: str, steps: tuple[Step, ...]) -> None:
        """Add a phrase; before the tree is first walked."""
        self._root.add(_Rest(cue, steps))

    @cached_property
    def _start(self) -> "_State":
        return _State((self._root,))

    def ends(self, texts: tuple[str, ...], first: int) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yield cues and last word of the phrases that begin at a word, the shorter ones first.

        A phrase begins with a word that it names.
        """
        if texts[first] not in self._root.following():
            return
        state = self._start
        for at in range(first, len(texts)):
            following = state.after(texts[at])
            if following is None:
                return
            state = following
            if state.cues:
                yield state.cues, at
        if state.ending_cues:
            yield state.ending_cues, len(texts) - 1


@dataclass(frozen=True, slots=True)
class _Rest:
    """What is still to be said of a phrase: steps, and then what follows their group."""

    cue: str
    steps: tuple[Step, ...]
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
        """The cues of the phrases that end here, in the order in which they were given."""
        self.following()
        return self._cues

    def following(self) -> dict[str, list["_Node"]]:
        """Return the nodes that each word leads to."""
        if self._following is None:
            # What another thread grows at the same time is equal, and either may stay.
            growth = _Growth()
            for rest in self._rests:
                growth.add(rest)
            self._cues, self._following = tuple(growth.cues), growth.following
        return self._following

    def after(self, word: str) -> Iterator["_Node"]:
        """Yield the nodes that a word leads to."""
        following = self.following()
        yield from following.get(word, ())
        if _ANY in following and word not in denying_words():
            yield from following[_ANY]


class _State:
    """The nodes that the same words lead to, as one; what follows is kept when it is reached."""

    __slots__ = ("_after", "_named", "_nodes", "cues", "ending_cues")

    def __init__(self, nodes: tuple[_Node, ...]) -> None:
        followings = [node.following() for node in nodes]
        self._nodes = nodes
        self._after: dict[str, _State | None] = {}
        self._named = frozenset().union(*followings)
        if _ANY in self._named:
            self._named |= denying_words()
        self.cues = _cues_of(nodes)
        """The cues of the phrases that end here."""
        self.ending_cues = _cues_of(
            child for following in followings for child in following.get(_END, ())
        )
        """Those of the phrases that end here where the clause does."""

    def after(self, word: str) -> "_State | None":
        """Return what a word leads to, `None` where no phrase goes on with it."""
        if word not in self._named:
            if _ANY not in self._named:
                return None
            # All words that no phrase names lead to the same.
            word = _ANY
        if word not in self._after:
            nodes = tuple(child for node in self._nodes for child in node.after(word))
            self._after[word] = _State(nodes) if nodes else None
        return self._after[word]


def _cues_of(nodes: Iterable[_Node]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cue for node in nodes for cue in sorted(node.cues)))


class _Growth:
    """The branches of one node while its phrases are added."""

    def __init__(self) -> None:
        self.cues: dict[str, None] = {}
        self.following: dict[str, list[_Node]] = {}
        self._children: dict[frozenset[str], _Node] = {}

    def add(self, rest: _Rest) -> None:
        """Add what is still to be said of a phrase."""
        at: _Rest | None = rest
        while at is not None:
            if not self._passes(at):
                return
            at = at.after
        self.cues.pop(rest.cue, None)
        self.cues[rest.cue] = None

    def _passes(self, rest: _Rest) -> bool:
        """Add the steps, and tell whether all of them may be left out."""
        for number, step in enumerate(rest.steps, start=1):
            if isinstance(step, Later):
                return self._passes(_Rest(rest.cue, step.read(step.text), rest.after))
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


@cache
def denying_words() -> frozenset[str]:
    """Return the words that deny by themselves."""
    return frozenset(word_list("spoken", "denying"))
