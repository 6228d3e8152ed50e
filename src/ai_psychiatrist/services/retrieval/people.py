"""Who is in an artefact: which sessions may be of one person, and of whom a search has to keep."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import orjson

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.infrastructure.given_files import read_regular
from ai_psychiatrist.services.retrieval.artefact import SESSIONS_FILE
from ai_psychiatrist.services.retrieval.copies import Copies
from ai_psychiatrist.services.retrieval.identity import Identity

_MOST_BYTES: Final = 1 << 30


@dataclass(frozen=True)
class People:
    """The sessions of an artefact, by their numbers."""

    identities: Sequence[Identity] = field(repr=False)
    labels: Sequence[Mapping[Item, int]] = field(repr=False)
    """Each participant's own item scores, where they are known."""
    copies: Copies = field(repr=False)

    def person_of(self, session: int) -> int:
        """Return the number of a session's person: the first session that may be of the same."""
        return self._persons[session]

    def same_as(self, other: Identity) -> npt.NDArray[np.bool_]:
        """Return which sessions may be of a person.

        They share a name, a session, all words or half of the shorter one's passages with them, or
        are of somebody who does.
        """
        persons = self._persons_of(other)
        return np.array([person in persons for person in self._persons], dtype=np.bool_)

    def shared_with(self, others: Iterable[Identity]) -> int:
        """Return how many of these identities may be of somebody in the artefact."""
        return sum(bool(self._persons_of(one)) for one in others)

    def _persons_of(self, other: Identity) -> set[int]:
        known = self._person_of_digest
        named = {known[digest] for digest in other.digests if digest in known}
        return named | {self._persons[session] for session in self.copies.of(other.passages)}

    @cached_property
    def _person_of_digest(self) -> dict[str, int]:
        return {
            digest: person
            for person, identity in zip(self._persons, self.identities, strict=True)
            for digest in identity.digests
        }

    @cached_property
    def _persons(self) -> list[int]:
        """Join sessions that share a digest, and those that share one with them."""
        first: dict[str, int] = {}
        parents = list(range(len(self.identities)))

        def root(session: int) -> int:
            while parents[session] != session:
                parents[session] = parents[parents[session]]
                session = parents[session]
            return session

        for session, identity in enumerate(self.identities):
            for digest in identity.digests:
                one, other = root(first.setdefault(digest, session)), root(session)
                parents[max(one, other)] = min(one, other)
        return [root(session) for session in range(len(parents))]


def read_people(folder: Path) -> People:
    """Read the sessions; raises `ArtifactMismatch` for a file that does not hold them."""
    try:
        lines = read_regular(folder / SESSIONS_FILE, most_bytes=_MOST_BYTES).splitlines()
        values = [orjson.loads(line) for line in lines]
        labels = [
            {Item(key): int(score) for key, score in value.pop("labels").items()}
            for value in values
        ]
        identities = [Identity(**value) for value in values]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        msg = f"{SESSIONS_FILE!r} of the references is damaged; build them anew"
        raise ArtifactMismatch(msg) from None
    return People(identities, labels, Copies(folder, len(identities)))
