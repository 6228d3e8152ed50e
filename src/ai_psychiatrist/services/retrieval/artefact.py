"""Makes the artefact of references: a folder of arrays, a file of texts, and their record."""

import hmac
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import orjson

from ai_psychiatrist import __version__
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.infrastructure.private_files import write_whole
from ai_psychiatrist.services.retrieval.arrays import write_array
from ai_psychiatrist.services.retrieval.chunks import Chunk, Reading
from ai_psychiatrist.services.retrieval.copies import COPY_FILES, write_passages
from ai_psychiatrist.services.retrieval.dense import DENSE_FILES, write_dense
from ai_psychiatrist.services.retrieval.draft_folder import draft_of_folder
from ai_psychiatrist.services.retrieval.embedding import Embedder, Vectors
from ai_psychiatrist.services.retrieval.identity import DIGESTS, Identity, split_digest
from ai_psychiatrist.services.retrieval.lexical import LEXICAL_DIGEST, LEXICAL_FILES, write_lexical
from ai_psychiatrist.services.retrieval.manifest import (
    Chunking,
    EmbedderRecord,
    Manifest,
    file_digest,
    write_manifest,
)
from ai_psychiatrist.services.retrieval.settings import LEXICAL

CHUNKS_FILE: Final = "chunks.jsonl"
SESSIONS_FILE: Final = "sessions.jsonl"
OFFSETS_FILE: Final = "offsets.npy"
SESSION_OF_FILE: Final = "session_of.npy"
READINGS_FILE: Final = "readings.npy"
CONTENT_FILES: Final = (CHUNKS_FILE, SESSIONS_FILE, OFFSETS_FILE, SESSION_OF_FILE, READINGS_FILE)
NOT_SCORED: Final = -1
_BATCH: Final = 64
"""Texts that are made vectors of at a time."""
_DIGITS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One interview that references are cut from."""

    identity: Identity
    chunks: Sequence[Chunk] = field(repr=False)
    labels: Mapping[Item, int | None] = field(default_factory=dict)
    """The participant's own item scores, where the dataset has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What an artefact is made with."""

    dataset: str
    """The dataset's digest."""
    chunking: Chunking
    embedder: Embedder | None = None
    """`None` for the lexical one."""


def chunk_digest(text: str, words: str) -> str:
    """Return the digest of a chunk, keyed by the digest of its session's words.

    Whoever guesses some short lines cannot check them without the whole interview.
    """
    content = text.encode("utf-8", "surrogatepass")
    return hmac.new(words.encode(), content, "sha256").hexdigest()[:_DIGITS]


async def write_references(
    out: Path,
    sessions: Sequence[Session],
    recipe: Recipe,
    *,
    on_chunks: Callable[[int], None] = lambda _: None,
) -> Manifest:
    """Write a new artefact, whole or not at all, for its owner alone to read.

    `on_chunks` is told how many further chunks are done. Raises `InputError` for a folder that
    holds something or cannot be written and where there is no chunk at all, and `ModelCallFailed`
    where a server gives no vectors.
    """
    texts = [chunk.text for session in sessions for chunk in session.chunks]
    if not texts:
        raise InputError("no interview of the dataset has words to refer to", field="DATASET")
    with draft_of_folder(out) as draft:
        _write_chunks(draft, sessions)
        embedder, names = await _write_index(draft, texts, recipe, on_chunks)
        identities = [session.identity for session in sessions]
        write_passages(draft, identities)
        files = (*CONTENT_FILES, *COPY_FILES, *names)
        manifest = Manifest(
            program=__version__,
            dataset=recipe.dataset,
            split=split_digest(identities),
            chunking=recipe.chunking,
            embedder=embedder,
            chunks=len(texts),
            sessions=len(sessions),
            participants=len({one.participant or one.session or one.words for one in identities}),
            files={name: file_digest(draft / name) for name in files},
        )
        write_manifest(draft, manifest)
    return manifest


async def _write_index(
    draft: Path, texts: Sequence[str], recipe: Recipe, on_chunks: Callable[[int], None]
) -> tuple[EmbedderRecord, tuple[str, ...]]:
    embedder = recipe.embedder
    if embedder is None:
        write_lexical(draft, texts)
        on_chunks(len(texts))
        return EmbedderRecord(name=LEXICAL, digest=LEXICAL_DIGEST), LEXICAL_FILES
    parts: list[Vectors] = []
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        parts.append(await embedder.embed(batch, is_query=False))
        on_chunks(len(batch))
    try:
        vectors = np.concatenate(parts)
        write_dense(draft, vectors)
    except ValueError:
        msg = f"{embedder.name} gave vectors that are none, or of several sizes"
        raise InputError(msg, field="REFERENCES_EMBEDDER") from None
    record = EmbedderRecord(name=embedder.name, digest=embedder.digest, dimensions=vectors.shape[1])
    return record, DENSE_FILES


def _write_chunks(draft: Path, sessions: Sequence[Session]) -> None:
    lines = [*_chunk_lines(sessions)]
    write_whole(draft / CHUNKS_FILE, lines)
    offsets = np.cumsum([0, *map(len, lines)], dtype=np.int64)
    write_array(draft / OFFSETS_FILE, offsets)
    counts = [len(session.chunks) for session in sessions]
    numbers = np.arange(len(sessions), dtype=np.int32)
    write_array(draft / SESSION_OF_FILE, np.repeat(numbers, counts))
    readings = [
        [chunk.readings.get(item, Reading.NOTHING) for item in Item]
        for session in sessions
        for chunk in session.chunks
    ]
    write_array(draft / READINGS_FILE, np.array(readings, dtype=np.uint8))
    write_whole(draft / SESSIONS_FILE, map(_session_line, sessions))


def _chunk_lines(sessions: Iterable[Session]) -> Iterator[bytes]:
    for number, session in enumerate(sessions):
        for chunk in session.chunks:
            yield _line(
                {
                    "session": number,
                    "first_line": chunk.first_line,
                    "lines": chunk.lines,
                    "digest": chunk_digest(chunk.text, session.identity.words),
                    "text": chunk.text,
                }
            )


def _session_line(session: Session) -> bytes:
    labels = {item.value: score for item, score in session.labels.items() if score is not None}
    whose = {name: getattr(session.identity, name) for name in DIGESTS}
    return _line({**whose, "labels": labels})


def _line(value: Mapping[str, object]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
