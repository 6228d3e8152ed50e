"""Phrases of any number of tables, found among spoken words in one walk."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from ai_psychiatrist.services.language.phrase_grammar import Grammar, Later, Step
from ai_psychiatrist.services.language.phrase_tree import PhraseTree
from ai_psychiatrist.services.language.spoken import Spoken, compared, is_filler
from ai_psychiatrist.services.language.vocabulary import word_table

_GROUP: Final = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_HEAD: Final = re.compile(rf"{_GROUP}|\{{\w+\}}|[^(){{}}|$_\s]+(?=\s)")
_PLAIN: Final = re.compile(r"(?:[^\W_]|[' ])+")


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
        passes_over: Callable[[str], bool] = is_filler,
    ) -> None:
        """`passes_over`: which words of a phrase are left out, as they are of what is searched."""
        self._passes_over = passes_over
        self._grammar = Grammar(compared=_compared, is_filler=passes_over, lists=lists)
        self._steps_of: dict[str, tuple[Step, ...]] = {}
        self._tree = PhraseTree()
        self._subjects = {cue: cue.partition(".")[0] for cue in tables}
        for cue, entries in tables.items():
            for entry in entries:
                self._tree.add(cue, self._phrase(entry))

    def match(self, words: Spoken) -> MatchedText:
        """Find the phrases among words."""
        return MatchedText(words=words, hits=self.find(words))

    def find(self, words: Spoken) -> tuple[Hit, ...]:
        """Return the phrases in the order of their first words."""
        after: dict[str, int] = {}
        found: list[Hit] = []
        for first in range(len(words.texts)):
            longest: dict[str, Hit] = {}
            for cues, last in self._tree.ends(words.texts, first):
                for cue in cues:
                    subject, known = self._subjects[cue], longest.get(self._subjects[cue])
                    if after.get(subject, 0) <= first and (
                        known is None or _weight(cue, last) > _weight(known.cue, known.last)
                    ):
                        longest[subject] = Hit(cue, first, last)
            for subject, hit in longest.items():
                after[subject] = hit.last + 1
            found += longest.values()
        return tuple(found)

    def _phrase(self, entry: str) -> tuple[Step, ...]:
        """Read how a phrase begins, and the rest of it when something begins like that."""
        head = _HEAD.match(entry)
        if head is None or head.end() == len(entry):
            return self._rest_of(entry)
        return (*self._rest_of(head[0]), Later(entry[head.end() :].lstrip(), self._phrase))

    def _rest_of(self, text: str) -> tuple[Step, ...]:
        # Half of the pieces are those of another phrase as well.
        steps = self._steps_of.get(text)
        if steps is None:
            steps = self._steps_of[text] = self._steps(text)
        return steps

    def _steps(self, text: str) -> tuple[Step, ...]:
        if _PLAIN.fullmatch(text):
            words = (word for part in text.split() for word in _compared(part))
            return tuple(word for word in words if not self._passes_over(word))
        return (self._grammar.group(text),)


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


@cache
def _compared(piece: str) -> list[str]:
    return compared(piece)
