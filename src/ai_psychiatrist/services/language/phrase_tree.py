"""Phrases with alternatives as one tree of words, which grows as far as it is walked."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from ai_psychiatrist.services.language.phrase_grammar import ANY, END, Later, Step
from ai_psychiatrist.services.language.vocabulary import word_list


class PhraseTree:
    """Phrases by cue, walked word by word."""

    def __init__(self) -> None:
        self._root = _Node()

    def add(self, cue: str, steps: tuple[Step, ...]) -> None:
        """Add a phrase; before the tree is first walked."""
        self._root.rests.append(_Rest(cue, steps))

    @cached_property
    def _start(self) -> "_State":
        return _State((self._root,))

    def ends(self, texts: tuple[str, ...], first: int) -> Iterator[tuple[tuple[str, ...], int]]:
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


@dataclass(slots=True)
class _Rest:
    """What is still to be said of a phrase: steps, and then what follows their group.

    Nobody changes one, but a frozen one takes four times as long to make, and thousands are made.
    """

    cue: str
    steps: tuple[Step, ...]
    after: "_Rest | None" = None


class _Node:
    """What may follow the words read so far, and the cues of the phrases that end here.

    It is grown when it is first reached: a text reaches few of the many thousand nodes, and all
    of them together cost most of a second.
    """

    __slots__ = ("cues", "following", "is_grown", "rests")

    def __init__(self) -> None:
        self.rests: list[_Rest] = []
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
        if ANY in following and word not in denying_words():
            return [*following.get(word, ()), *following[ANY]]
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
        if ANY in self._named:
            self._named |= denying_words()
        self.cues = _cues_of(nodes)
        """The cues of the phrases that end here."""
        ends = [child for following in followings for child in following.get(END, ())]
        for end in ends:
            end.grow()
        self.ending_cues = _cues_of(ends)
        """Those of the phrases that end here where the clause does."""

    def after(self, word: str) -> "_State | None":
        """Return what a word leads to, `None` where no phrase goes on with it."""
        if word not in self._named:
            if ANY not in self._named:
                return None
            # All words that no phrase names lead to the same.
            word = ANY
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
        self._children: dict[str | frozenset[str], _Node] = {}

    def add(self, rest: _Rest) -> None:
        """Add what is still to be said of a phrase."""
        at: _Rest | None = rest
        while at is not None:
            if not self._passes(at.cue, at.steps, at.after):
                return
            at = at.after
        self.cues.pop(rest.cue, None)
        self.cues[rest.cue] = None

    def _passes(self, cue: str, steps: tuple[Step, ...], after: _Rest | None) -> bool:
        """Add the steps, and tell whether all of them may be left out."""
        for number, step in enumerate(steps, start=1):
            if isinstance(step, Later):
                return self._passes(cue, step.read(step.text), after)
            then = _Rest(cue, steps[number:], after)
            if isinstance(step, str):
                self._child(step).rests.append(then)
                return False
            if step.words:
                self._child_of_any(step.words).rests.append(then)
            may_be_left_out = False
            for branch in step.branches:
                if branch and isinstance(branch[0], str):
                    self._child(branch[0]).rests.append(_Rest(cue, branch[1:], then))
                elif self._passes(cue, branch, then):
                    may_be_left_out = True
            if not may_be_left_out:
                return False
        return True

    def _child_of_any(self, words: frozenset[str]) -> _Node:
        """Return the node after any one of some words."""
        if len(words) == 1:
            (word,) = words
            return self._child(word)
        node = self._children.get(words)
        if node is None:
            node = self._children[words] = _Node()
            for word in words:
                self.following.setdefault(word, []).append(node)
        return node

    def _child(self, word: str) -> _Node:
        node = self._children.get(word)
        if node is None:
            node = self._children[word] = _Node()
            self.following.setdefault(word, []).append(node)
        return node


@cache
def denying_words() -> frozenset[str]:
    """Return the words that deny by themselves."""
    return frozenset(word_list("spoken", "denying"))
