"""References for few-shot scoring: what of other people's interviews is like this evidence."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

import numpy as np
import numpy.typing as npt

from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError, ModelCallFailed
from ai_psychiatrist.domain.evidence import Quote
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.items import NoReferences, ShownReference
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.retrieval.artefact import (
    NOT_SCORED,
    Artefact,
    Manifest,
    open_artefact,
    read_manifest,
)
from ai_psychiatrist.services.retrieval.chunks import Reading
from ai_psychiatrist.services.retrieval.embedders import Embedder
from ai_psychiatrist.services.retrieval.identity import Identity
from ai_psychiatrist.services.retrieval.index import LEXICAL_DIGEST, LexicalIndex, Similarities
from ai_psychiatrist.services.retrieval.settings import ReferenceSettings

_FIRST_SORTED: Final = 64
_BYTES_A_TOKEN: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A stretch of another person's interview."""

    shown: ShownReference
    """What the result says of it."""
    text: str = field(repr=False)


ItemReferences = tuple[Reference, ...] | NoReferences
"""The references of an item, the most similar one first, or why there are none."""


@dataclass(frozen=True, kw_only=True, eq=False)
class References:
    """An artefact and how it is searched; one for all assessments."""

    artefact: Artefact
    settings: ReferenceSettings
    embedder: Embedder | None = field(repr=False)
    """`None` for the lexical index."""

    async def references_for(
        self,
        evidence: Mapping[Item, Sequence[Quote]],
        excluded: Identity,
        *,
        drawn_by: int | None = None,
    ) -> dict[Item, ItemReferences]:
        """Return the references of every item in `evidence`, in its order.

        `evidence`: grounded quotes; anything else in their place is a `TypeError`, so that words
        that were not said search for nothing. `excluded`: whose references are never shown, nor
        those of sessions that may be of the same person. `drawn_by`: a seed that draws references
        blindly in place of the search, to measure what a search gains: all but the similarity and
        its floor is as in a search, and the same seed, person and item draw the same ones. Raises
        `ModelCallFailed` where the embedder's server gives no vectors.
        """
        queries = {item: _query(quotes) for item, quotes in evidence.items() if quotes}
        rows: dict[Item, Similarities | None] = dict.fromkeys(queries)
        if queries and drawn_by is None:
            found = await self._similarities([*queries.values()])
            rows = dict(zip(queries, found, strict=True))

        def choose() -> dict[Item, ItemReferences]:
            others = ~self.artefact.people.same_as(excluded)[self.artefact.session_of]
            seed = f"{drawn_by}:{excluded.words}"
            return {item: self._chosen(item, others, row, seed) for item, row in rows.items()}

        chosen = await asyncio.to_thread(choose)
        return {item: chosen.get(item, NoReferences.NO_EVIDENCE) for item in evidence}

    async def _similarities(self, texts: Sequence[str]) -> Similarities:
        """Return (texts, chunks)."""
        index = self.artefact.index
        if isinstance(index, LexicalIndex):
            return await asyncio.to_thread(index.similarities, texts)
        if self.embedder is None:
            raise TypeError("an index of vectors is searched with its embedder")
        queries = await self.embedder.embed(texts, is_query=True)
        if queries.shape != (len(texts), index.vectors.shape[1]):
            # Under the same name the server has another model.
            raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
        return await asyncio.to_thread(index.similarities, queries)

    def _chosen(
        self,
        item: Item,
        others: npt.NDArray[np.bool_],
        similarities: Similarities | None,
        seed: str,
    ) -> ItemReferences:
        column = [*Item].index(item)
        allowed = others & (self.artefact.scores[:, column] != NOT_SCORED)
        if self.settings.same_item:
            allowed &= self.artefact.readings[:, column] != Reading.NOTHING
        if not allowed.any():
            return NoReferences.NONE_LEFT
        if similarities is None:
            drawn = np.flatnonzero(allowed).tolist()
            Random(f"{seed}:{item.value}").shuffle(drawn)  # noqa: S311  it can be repeated
            return self._fitting(reversed(drawn), column, None)
        allowed &= similarities > self.settings.min_similarity
        if not allowed.any():
            return NoReferences.BELOW_FLOOR
        return self._fitting(_falling(np.flatnonzero(allowed), similarities), column, similarities)

    def _fitting(
        self, ranked: Iterator[int], column: int, similarities: Similarities | None
    ) -> ItemReferences:
        """Take what fits from the first on, at most one chunk of each person."""
        scores, readings = self.artefact.scores[:, column], self.artefact.readings[:, column]
        chosen: dict[int, Reference] = {}
        left, why = self.settings.max_tokens, NoReferences.UNFIT
        for chunk in ranked:
            person = self.artefact.people.person_of(self.artefact.session_of[chunk])
            score = int(scores[chunk])
            against = Reading.DENIED if score else Reading.AFFIRMED
            is_contradicted = readings[chunk] & Reading.POLAR == against
            if person in chosen or (is_contradicted and self.settings.check == "reading"):
                continue
            text, digest = self.artefact.text_of(chunk)
            tokens = -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN)
            if tokens > left:
                why = NoReferences.OVER_BUDGET
                continue
            left -= tokens
            similarity = None if similarities is None else float(similarities[chunk])
            shown = ShownReference(chunk=chunk, digest=digest, score=score, similarity=similarity)
            chosen[person] = Reference(shown=shown, text=text)
            if len(chosen) == self.settings.top_k:
                break
        return tuple(chosen.values()) or why


def open_references(
    settings: ReferenceSettings,
    *,
    embedder: Embedder | None,
    prompts: Mapping[str, str] | None,
) -> References:
    """Open the artefact that the settings name, all of it checked.

    `embedder` and `prompts`: as in `mismatches`. Raises `ConfigurationError` where no folder is
    set, and `ArtifactMismatch` for one that is damaged, made with other settings, or not scored as
    it has to be.
    """
    folder = settings.dir
    if folder is None:
        msg = "REFERENCES_DIR is not set; name the folder that `references build` made"
        raise ConfigurationError(msg)
    manifest = read_manifest(folder)
    problems = mismatches(manifest, settings, embedder=embedder, prompts=prompts)
    if problems:
        raise ArtifactMismatch(f"the references in {folder} cannot be used: {'; '.join(problems)}")
    artefact = open_artefact(folder, manifest)
    return References(artefact=artefact, settings=settings, embedder=embedder)


def mismatches(
    manifest: Manifest,
    settings: ReferenceSettings,
    *,
    embedder: Embedder | None,
    prompts: Mapping[str, str] | None,
) -> list[str]:
    """Return why an artefact cannot be used as the program is set up now, a sentence each.

    `embedder`: the one that the settings name, `None` for the lexical index. `prompts`: agent →
    digest of its prompt now; `None` where the scores of the chunks are not needed.
    """
    chunking, made = manifest.chunking, manifest.embedder
    found = []
    if made.name != settings.embedder:
        found.append(f"made with the embedder {made.name}, and {settings.embedder} is set")
    elif made.digest != (LEXICAL_DIGEST if embedder is None else embedder.digest):
        found.append(f"the embedder {made.name} is another version than it was made with")
    if (chunking.lines, chunking.step) != (settings.chunk_lines, settings.chunk_step):
        found.append(
            f"cut into {chunking.lines} lines every {chunking.step}, and "
            f"{settings.chunk_lines} every {settings.chunk_step} are set"
        )
    if prompts is None:
        return found
    if manifest.scoring is None:
        return [*found, "its chunks have no scores; run: ai-psychiatrist references score"]
    scored_with = manifest.scoring.prompts
    changed = sorted(agent for agent, one in scored_with.items() if prompts.get(agent) != one)
    if changed:
        found.append(f"scored with other prompts of {', '.join(changed)}; score it again")
    return found


def _query(quotes: Sequence[Quote]) -> str:
    if not all(isinstance(quote, Quote) for quote in quotes):
        msg = "references are searched for only with grounded quotes"
        raise TypeError(msg)
    return "\n".join(quote.text for quote in quotes)


def _falling(chunks: npt.NDArray[np.intp], similarities: Similarities) -> Iterator[int]:
    """Yield the most similar first, and of equal ones the one with the lowest number.

    The first few are sorted alone: nearly always no more are needed.
    """
    values = similarities[chunks]
    few = min(_FIRST_SORTED, len(values))
    is_near = values >= np.partition(values, -few)[-few]
    for part in (is_near, ~is_near):
        yield from chunks[part][np.argsort(-values[part], kind="stable")].tolist()
