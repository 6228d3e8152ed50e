"""References for few-shot scoring: what of other people's interviews is like this evidence."""

import asyncio
import mmap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import orjson

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.domain.evidence import Quote
from ai_psychiatrist.domain.items import NoReferences
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.retrieval.artefact import (
    CHUNKS_FILE,
    NOT_SCORED,
)
from ai_psychiatrist.services.retrieval.chunks import Reading
from ai_psychiatrist.services.retrieval.found import ItemReferences, Reference
from ai_psychiatrist.services.retrieval.identity import Identity
from ai_psychiatrist.services.retrieval.manifest import Manifest
from ai_psychiatrist.services.retrieval.people import People
from ai_psychiatrist.services.retrieval.settings import ReferenceSettings

_ITEMS: Final = {item: column for column, item in enumerate(Item)}
_FIRST_LOOKED_AT: Final = 64
_BYTES_A_TOKEN: Final = 4

_Mask = npt.NDArray[np.bool_]


class Index(Protocol):
    """Tells how like every chunk is to a text."""

    async def similarities(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return (texts, chunks), 0–1."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class References:
    """An artefact that was opened and checked, and the way to search it.

    Everything is read from the disk as it is needed; one for all assessments.
    """

    folder: Path
    manifest: Manifest
    digest: str
    """Of the record, and so of every file: 64 hexadecimal digits."""
    settings: ReferenceSettings
    people: People = field(repr=False)
    index: Index = field(repr=False)
    session_of: npt.NDArray[np.int32] = field(repr=False)
    readings: npt.NDArray[np.uint8] = field(repr=False)
    """(chunks, items)."""
    scores: npt.NDArray[np.int8] = field(repr=False)
    """(chunks, items), `NOT_SCORED` where there is none."""
    texts: "ChunkTexts" = field(repr=False)

    async def references_for(
        self, evidence: Mapping[Item, Sequence[Quote]], excluded: Identity
    ) -> dict[Item, ItemReferences]:
        """Return the references of every item in `evidence`, in its order.

        `evidence`: grounded quotes; anything else in their place is a `TypeError`, so that words
        that nobody said search for nothing. `excluded`: whose references are never shown; so are
        none of whoever shares a session, a name or all words with them. Raises `ModelCallFailed`
        where the embedder's server gives no vectors.
        """
        queries = {item: _query(quotes) for item, quotes in evidence.items() if quotes}
        if not queries:
            return {item: _no_evidence(item) for item in evidence}
        found = await self.index.similarities([*queries.values()])
        rows = dict(zip(queries, found, strict=True))

        def search() -> dict[Item, ItemReferences]:
            others = self._others(excluded)
            return {item: self._most_alike(item, row, others) for item, row in rows.items()}

        chosen = await asyncio.to_thread(search)
        return {item: chosen.get(item) or _no_evidence(item) for item in evidence}

    async def random_references(
        self, evidence: Mapping[Item, Sequence[Quote]], excluded: Identity, *, seed: int
    ) -> dict[Item, ItemReferences]:
        """Return references that are drawn blindly, for the items that a search is made for.

        Everything but the likeness and its floor is as in a search, so that what a search gains can
        be told. The same seed, person and item draw the same ones.
        """
        wanted = [item for item, quotes in evidence.items() if quotes]

        def draw() -> dict[Item, ItemReferences]:
            others = self._others(excluded)
            return {
                item: self._drawn(item, others, f"{seed}:{excluded.words}:{item.value}")
                for item in wanted
            }

        drawn = await asyncio.to_thread(draw)
        return {item: drawn.get(item) or _no_evidence(item) for item in evidence}

    def _others(self, excluded: Identity) -> _Mask:
        """Return which chunks are of other people."""
        allowed: _Mask = ~self.people.same_as(excluded)[self.session_of]
        return allowed

    def _allowed(self, item: Item, others: _Mask) -> _Mask:
        column = _ITEMS[item]
        allowed: _Mask = others & (self.scores[:, column] != NOT_SCORED)
        if self.settings.same_item:
            allowed &= self.readings[:, column] != Reading.NOTHING
        return allowed

    def _most_alike(
        self, item: Item, similarities: npt.NDArray[np.float32], others: _Mask
    ) -> ItemReferences:
        allowed = self._allowed(item, others)
        if not allowed.any():
            return ItemReferences(item=item, none_because=NoReferences.NONE_LEFT)
        like = np.flatnonzero(allowed & (similarities > self.settings.min_similarity))
        if not len(like):
            return ItemReferences(item=item, none_because=NoReferences.BELOW_FLOOR)
        return self._chosen(item, _falling(like, similarities), similarities)

    def _drawn(self, item: Item, others: _Mask, seed: str) -> ItemReferences:
        allowed = np.flatnonzero(self._allowed(item, others))
        if not len(allowed):
            return ItemReferences(item=item, none_because=NoReferences.NONE_LEFT)
        return self._chosen(item, _shuffled(allowed, seed), None)

    def _chosen(
        self, item: Item, ranked: Iterator[int], similarities: npt.NDArray[np.float32] | None
    ) -> ItemReferences:
        """Take from the first on what fits, at most one of each person."""
        column, left = _ITEMS[item], self.settings.max_tokens
        chosen: list[Reference] = []
        persons: set[int] = set()
        unfit = over_budget = 0
        for chunk in ranked:
            person = self.people.person_of(int(self.session_of[chunk]))
            if person in persons:
                continue
            score = int(self.scores[chunk, column])
            if self.settings.check == "reading" and _speaks_against(
                score, Reading(int(self.readings[chunk, column]))
            ):
                unfit += 1
                continue
            text, digest = self.texts.read(chunk)
            tokens = -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN)
            if tokens > left:
                over_budget += 1
                continue
            chosen.append(
                Reference(
                    chunk=chunk,
                    digest=digest,
                    score=score,
                    similarity=None if similarities is None else float(similarities[chunk]),
                    tokens=tokens,
                    text=text,
                )
            )
            persons.add(person)
            left -= tokens
            if len(chosen) == self.settings.top_k:
                break
        why = NoReferences.OVER_BUDGET if over_budget else NoReferences.UNFIT
        return ItemReferences(
            item=item,
            references=tuple(chosen),
            none_because=None if chosen else why,
            unfit=unfit,
            over_budget=over_budget,
        )


class ChunkTexts:
    """The texts, each read from the disk when it is wanted."""

    def __init__(self, folder: Path, offsets: npt.NDArray[np.int64]) -> None:
        self._offsets = offsets
        with (folder / CHUNKS_FILE).open("rb") as file:
            self._lines = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if int(offsets[-1]) != len(self._lines):
            msg = "the texts of the references and their places do not fit; build them anew"
            raise ArtifactMismatch(msg)

    def read(self, chunk: int) -> tuple[str, str]:
        """Return the text of a chunk, and its digest."""
        line = self._lines[int(self._offsets[chunk]) : int(self._offsets[chunk + 1])]
        value: dict[str, Any] = orjson.loads(line)
        return value["text"], value["digest"]


def _no_evidence(item: Item) -> ItemReferences:
    return ItemReferences(item=item, none_because=NoReferences.NO_EVIDENCE)


def _query(quotes: Sequence[Quote]) -> str:
    if not all(isinstance(quote, Quote) for quote in quotes):
        msg = "references are searched for with grounded quotes alone"
        raise TypeError(msg)
    return "\n".join(quote.text for quote in quotes)


def _falling(chunks: npt.NDArray[np.intp], similarities: npt.NDArray[np.float32]) -> Iterator[int]:
    """Yield the most similar first, and of equal ones the one with the lowest number.

    A few are sorted at a time: nearly always the first ones do.
    """
    values = similarities[chunks]
    taken, wanted = 0, _FIRST_LOOKED_AT
    while taken < len(chunks):
        wanted = min(wanted, len(chunks))
        least = np.partition(values, len(values) - wanted)[len(values) - wanted]
        near = np.flatnonzero(values >= least)
        ordered = near[np.lexsort((chunks[near], -values[near]))]
        yield from map(int, chunks[ordered[taken:]])
        taken, wanted = len(ordered), len(ordered) * 8


def _shuffled(chunks: npt.NDArray[np.intp], seed: str) -> Iterator[int]:
    """Yield all in any order; of a long row only what is taken is moved (Fisher and Yates)."""
    random = Random(seed)  # noqa: S311  a draw that can be repeated
    moved: dict[int, int] = {}
    for last in range(len(chunks) - 1, -1, -1):
        at = random.randint(0, last)
        yield int(chunks[moved.get(at, at)])
        moved[at] = moved.get(last, last)


def _speaks_against(score: int, reading: Reading) -> bool:
    """Whether the words of a chunk say the opposite of its score, and nothing for it."""
    is_there, is_not = Reading.AFFIRMED in reading, Reading.DENIED in reading
    return is_not and not is_there if score else is_there and not is_not
