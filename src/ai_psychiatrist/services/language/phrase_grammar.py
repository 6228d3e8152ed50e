"""How phrases with alternatives are written, and read into steps of words.

`(kill|killing) myself` stands for two phrases, `(x|)` may be left out, `{name}` is a list, `_` any
one word that does not deny, and `$` the end of the clause.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

ANY: Final = "_"
END: Final = "$"
_FLAT: Final = re.compile(r"\((?:[^\W_]|['| ])*\)")
"""Alternatives without any further mark."""
_PIECE: Final = re.compile(r"\{\w+\}|[()|$_]|[^(){}|$_\s]+")
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
            only = branch[0] if len(branch) == 1 else None
            if isinstance(only, str):
                words.add(only)
            elif isinstance(only, Group):
                words |= only.words
                longer += only.branches
            else:
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
    _plain: dict[str, tuple[Step, ...]] = field(default_factory=dict, init=False, repr=False)

    def group(self, text: str) -> Group:
        """Read a phrase, or a part of one in which brackets are closed."""
        if _FLAT.fullmatch(text):
            return Group.of([self.plain(alternative) for alternative in text[1:-1].split("|")])
        return self._group(self._pieces(text))

    def plain(self, text: str) -> tuple[Step, ...]:
        """Read words without marks; half of them stand in several phrases."""
        words = self._plain.get(text)
        if words is None:
            read: list[Step] = [word for piece in text.split() for word in self.compared(piece)]
            words = self._plain[text] = self._without_fillers(read)
        return words

    def _pieces(self, text: str) -> Iterator[str]:
        for piece in _PIECE.findall(text):
            if piece in _MARKS or piece in {END, ANY} or piece[0] == _LIST:
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
