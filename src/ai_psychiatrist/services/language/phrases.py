"""Phrases with alternatives, found among spoken words in one walk.

`(kill|killing) myself` stands for two phrases, `(x|)` may be left out, `{name}` is a list, `_` any
one word that does not deny, and `$` the end of the clause. A phrase is read as far as something
begins like it: a text reaches few of the many thousand, and all together cost most of a second.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from ai_psychiatrist.services.language.spoken import DENYING, FILLERS, Spoken, compared
from ai_psychiatrist.services.language.vocabulary import word_table

_ANY: Final = "_"
_END: Final = "$"
_GROUP: Final = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_HEAD: Final = re.compile(rf"{_GROUP}|\{{\w+\}}|[^(){{}}|$_\s]+(?=\s)")
_PLAIN: Final = re.compile(r"(?:[^\W_]|[' ])+")
_PIECE: Final = re.compile(r"\{\w+\}|[()|$_]|[^(){}|$_\s]+")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedText:
    """The words of a text, and the phrases among them in the order of their first words."""

    words: Spoken
    hits: tuple[Hit, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The words as they are compared."""
        return self.words.texts

    def among(self, *subjects: str) -> Iterator[Hit]:
        """Yield the phrases of some tables."""
        return (hit for hit in self.hits if hit.subject in subjects)


class Matcher:
    """Phrases by cue. Those of a cue's subject, before its dot, compete: the longest wins."""

    def __init__(
        self,
        tables: Mapping[str, Iterable[str]],
        lists: Mapping[str, list[str]],
        passes_over: Callable[[str], bool] = FILLERS.__contains__,
    ) -> None:
        """`passes_over`: which words of a phrase are left out, as they are of what is searched."""
        self._passes_over = passes_over
        self._lists = lists
        self._read: dict[str, tuple[_Step, ...]] = {}
        self._listed: dict[str, _Group] = {}
        self._subjects = {cue: cue.partition(".")[0] for cue in tables}
        # It grows as far as it is walked.
        self._root = _Node(
            [
                _Rest(cue, self._phrase(entry))
                for cue, entries in tables.items()
                for entry in entries
            ]
        )

    def match(self, words: Spoken) -> MatchedText:
        """Find the phrases among words."""
        after: dict[str, int] = {}
        found: list[Hit] = []
        for first in range(len(words.texts)):
            longest: dict[str, Hit] = {}
            for cues, last in self._ends(words.texts, first):
                for cue in cues:
                    subject, known = self._subjects[cue], longest.get(self._subjects[cue])
                    if after.get(subject, 0) <= first and (
                        known is None or _weight(cue, last) > _weight(known.cue, known.last)
                    ):
                        longest[subject] = Hit(cue, first, last)
            for subject, hit in longest.items():
                after[subject] = hit.last + 1
            found += longest.values()
        return MatchedText(words=words, hits=tuple(found))

    @cached_property
    def _start(self) -> "_State":
        return _State((self._root,))

    def _ends(self, texts: tuple[str, ...], first: int) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yield cues and last word of the phrases that begin at a word, the shorter ones first.

        A phrase begins with a word that it names.
        """
        self._root.grow()
        if texts[first] not in self._root.following:
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

    def _phrase(self, entry: str) -> "tuple[_Step, ...]":
        """Read how a phrase begins, and the rest of it when something begins like that."""
        head = _HEAD.match(entry)
        if head is None or head.end() == len(entry):
            return self._steps(entry)
        return *self._steps(head[0]), _Later(entry[head.end() :].lstrip(), self._phrase)

    def _steps(self, text: str) -> "tuple[_Step, ...]":
        """Read a part of a phrase in which brackets are closed."""
        # Half of the pieces are those of another phrase as well.
        steps = self._read.get(text)
        if steps is None:
            if _PLAIN.fullmatch(text):
                words = (word for piece in text.split() for word in compared(piece))
                steps = tuple(word for word in words if not self._passes_over(word))
            else:
                steps = (self._alternatives(iter(_PIECE.findall(text))),)
            self._read[text] = steps
        return steps

    def _alternatives(self, pieces: Iterator[str]) -> "_Group":
        """Read alternatives up to the end of their group."""
        branches: list[tuple[_Step, ...]] = []
        branch: list[_Step] = []
        for piece in pieces:
            if piece == "(":
                branch.append(self._alternatives(pieces))
            elif piece[0] == "{":
                branch.append(self._list(piece[1:-1]))
            elif piece in {"|", ")"}:
                branches.append(self._without_fillers(branch))
                branch = []
                if piece == ")":
                    return _group_of(branches)
            else:
                branch += [piece] if piece in {_ANY, _END} else compared(piece)
        return _group_of([*branches, self._without_fillers(branch)])

    def _list(self, name: str) -> "_Group":
        if name not in self._listed:
            entries = "|".join(self._lists[name])
            self._listed[name] = self._alternatives(iter(_PIECE.findall(entries)))
        return self._listed[name]

    def _without_fillers(self, branch: "list[_Step]") -> "tuple[_Step, ...]":
        """Leave the fillers out; a branch of nothing else stays, and never matches."""
        kept = [one for one in branch if not isinstance(one, str) or not self._passes_over(one)]
        return tuple(kept or branch)


def every_phrase(name: str) -> Matcher:
    """Return the phrases of a vocabulary file, in which fillers are words like others."""
    return Matcher(
        {f"{name}.{kind}": entries for kind, entries in word_table(name, "phrases").items()},
        {},
        passes_over=lambda _: False,
    )


def _weight(cue: str, last: int) -> tuple[int, bool, str]:
    """Order: the longest, and of equals what only looks like something."""
    return last, cue.endswith((".look_alike", ".pass")), cue


@dataclass(frozen=True, slots=True)
class _Group:
    """Alternatives of a phrase: single words, which are one step, and longer branches."""

    words: frozenset[str]
    branches: "tuple[tuple[_Step, ...], ...]"


class _Later(NamedTuple):
    """The rest of a phrase, which is read when what stands before it was met."""

    text: str
    read: "Callable[[str], tuple[_Step, ...]]"


_Step = str | _Group | _Later


def _group_of(branches: Iterable[tuple[_Step, ...]]) -> _Group:
    """Gather the single words, those of inner groups among them."""
    words: set[str] = set()
    longer: list[tuple[_Step, ...]] = []
    for branch in branches:
        only = branch[0] if len(branch) == 1 else None
        if isinstance(only, str):
            words.add(only)
        elif isinstance(only, _Group):
            words |= only.words
            longer += only.branches
        else:
            longer.append(branch)
    return _Group(frozenset(words), tuple(longer))


@dataclass(slots=True)
class _Rest:
    """What is still to be said of a phrase: steps, and then what follows their group.

    Nobody changes one, but a frozen one takes four times as long to make, and thousands are made.
    """

    cue: str
    steps: tuple[_Step, ...]
    then: "_Rest | None" = None


class _Node:
    """What may follow the words read so far, and the cues of the phrases that end here.

    It is grown when it is first reached: a text reaches few of the many thousand nodes, and all
    of them together cost most of a second.
    """

    __slots__ = ("cues", "following", "is_grown", "rests")

    def __init__(self, rests: list[_Rest]) -> None:
        self.rests = rests
        """How phrases go on from here."""
        self.is_grown = False
        self.cues: tuple[str, ...] = ()
        """Of the phrases that end here, in the order in which they were given; once grown."""
        self.following: dict[str, list[_Node]] = {}
        """The nodes that each word leads to; once grown."""

    def grow(self) -> None:
        """Read what follows, once."""
        if not self.is_grown:
            # What another thread grows at the same time is equal, and either may stay.
            growth = _Growth()
            for rest in self.rests:
                growth.add(rest)
            self.cues, self.following = tuple(growth.cues), growth.following
            self.is_grown = True

    def after(self, word: str) -> Sequence["_Node"]:
        """Return the nodes that a word leads to; of a node that is grown."""
        following = self.following
        if _ANY in following and word not in DENYING:
            return [*following.get(word, ()), *following[_ANY]]
        return following.get(word, ())


class _State:
    """The nodes that the same words lead to, as one; what follows is kept when it is reached."""

    __slots__ = ("_after", "_named", "_nodes", "cues", "ending_cues")

    def __init__(self, nodes: tuple[_Node, ...]) -> None:
        for node in nodes:
            node.grow()
        followings = [node.following for node in nodes]
        self._nodes = nodes
        self._after: dict[str, _State | None] = {}
        self._named = frozenset().union(*followings)
        if _ANY in self._named:
            self._named |= DENYING
        self.cues = _cues_of(nodes)
        """The cues of the phrases that end here."""
        ends = [child for following in followings for child in following.get(_END, ())]
        for end in ends:
            end.grow()
        self.ending_cues = _cues_of(ends)
        """Those of the phrases that end here where the clause does."""

    def after(self, word: str) -> "_State | None":
        """Return the state after a word, `None` where no phrase continues with it."""
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
            if not self._passes(at.cue, at.steps, at.then):
                return
            at = at.then
        self.cues.pop(rest.cue, None)
        self.cues[rest.cue] = None

    def _passes(self, cue: str, steps: tuple[_Step, ...], after: _Rest | None) -> bool:
        """Add the steps, and tell whether all of them may be left out."""
        for number, step in enumerate(steps, start=1):
            if isinstance(step, _Later):
                return self._passes(cue, step.read(step.text), after)
            then = _Rest(cue, steps[number:], after)
            if isinstance(step, str):
                self._child(frozenset((step,))).rests.append(then)
                return False
            if step.words:
                self._child(step.words).rests.append(then)
            may_be_left_out = False
            for branch in step.branches:
                may_be_left_out |= self._passes(cue, branch, then)
            if not may_be_left_out:
                return False
        return True

    def _child(self, words: frozenset[str]) -> _Node:
        """Return the node after any one of some words."""
        node = self._children.get(words)
        if node is None:
            node = self._children[words] = _Node([])
            for word in words:
                self.following.setdefault(word, []).append(node)
        return node
