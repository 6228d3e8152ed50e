"""Who is in an artefact: which sessions may be of one person, and which are copies of a text.

Resemblance by shared sequences of words: Broder 1997, Compression and Complexity of Sequences.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.retrieval.identity import Identity

_LEAST_SHARED: Final = 4
"""Passages, that is eleven words in a row: a single sentence may be anybody's."""
_SHARE: Final = 0.5
"""Of the shorter text's passages: a part is a copy as well, and one with words corrected.

Of 267 conversations of other people no two share more than 0.06, of 599 made of the same set
phrases no more than 0.40; with one word in twenty changed a copy keeps 0.67.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class People:
    """The sessions of an artefact, by their numbers."""

    identities: Sequence[Identity] = field(repr=False)
    labels: Sequence[Mapping[Item, int]] = field(repr=False)
    """Each participant's own item scores, where they are known."""

    def person_of(self, session: int) -> int:
        """Return the number of a session's person: the first session that may be of the same."""
        return int(self._persons[session])

    def same_as(self, other: Identity) -> npt.NDArray[np.bool_]:
        """Return which sessions, (sessions,), may be of a person.

        They share a name, a session, all words or half of the shorter one's passages with it, or
        are of a person who does.
        """
        return np.isin(self._persons, [*self._persons_like(other)])

    def shared_with(self, others: Iterable[Identity]) -> int:
        """Return how many of these identities may be of a person in the artefact."""
        return sum(bool(self._persons_like(one)) for one in others)

    def _persons_like(self, other: Identity) -> set[int]:
        named = {self._person_of[one] for one in other.digests if one in self._person_of}
        return named.union(self._persons[self._copies_of(other.passages)].tolist())

    def _copies_of(self, passages: frozenset[int]) -> list[int]:
        """Return the sessions that share so many passages that one is a copy of the other."""
        counts = [(len(passages & one.passages), len(one.passages)) for one in self.identities]
        return [
            session
            for session, (shared, own) in enumerate(counts)
            if shared >= max(_LEAST_SHARED, _SHARE * min(own, len(passages)))
        ]

    @cached_property
    def _persons(self) -> npt.NDArray[np.intp]:
        """The person of each session."""
        return np.array([self._person_of[one.words] for one in self.identities], dtype=np.intp)

    @cached_property
    def _person_of(self) -> dict[str, int]:
        """Digest → person: of one are sessions that share a digest, also through others."""
        person_of: dict[str, int] = {}
        for session, identity in enumerate(self.identities):
            persons = {person_of[one] for one in identity.digests if one in person_of}
            person = min(persons, default=session)
            if len(persons) > 1:
                # This session joins people who seemed to be several.
                person_of = {
                    digest: person if known in persons else known
                    for digest, known in person_of.items()
                }
            person_of |= dict.fromkeys(identity.digests, person)
        return person_of
