"""The artefact of references: a folder of arrays and texts, opened with every check or not at all.

Its manifest says what it was made with, and holds the digest of each file.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.infrastructure.given_files import open_regular, read_regular, reason_of
from ai_psychiatrist.services.retrieval.chunks import Reading
from ai_psychiatrist.services.retrieval.identity import Identity
from ai_psychiatrist.services.retrieval.index import DenseIndex, LexicalIndex
from ai_psychiatrist.services.retrieval.people import People
from ai_psychiatrist.services.retrieval.settings import LEXICAL

MANIFEST_FILE: Final = "manifest.json"
CHUNKS_FILE: Final = "chunks.jsonl"
SESSIONS_FILE: Final = "sessions.jsonl"
OFFSETS_FILE: Final = "offsets.npy"
SESSION_OF_FILE: Final = "session_of.npy"
READINGS_FILE: Final = "readings.npy"
WORDS_FILE: Final = "bm25_words.json"
WEIGHTS_FILE: Final = "bm25_weights.npy"
WORD_CHUNKS_FILE: Final = "bm25_chunks.npy"
STARTS_FILE: Final = "bm25_starts.npy"
VECTORS_FILE: Final = "vectors.npy"
SCALES_FILE: Final = "scales.npy"

NOT_SCORED: Final = -1
_MEGABYTE: Final = 1 << 20
_MOST_BYTES: Final = 1 << 30
"""Of a text file that is read as a whole, and of a line of one that is not."""

Scores = npt.NDArray[np.int8]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Chunking(_Record):
    """How transcripts were cut."""

    lines: int
    step: int


class EmbedderRecord(_Record):
    """What the vectors or word weights were made with."""

    name: str
    """As in the settings."""
    digest: str
    """Of the program or model files as far as they are known here; of the name for servers."""
    dimensions: int | None = None
    """Of a vector; `None` for the lexical one."""


class ScoringRecord(_Record):
    """Where the scores of the chunks come from."""

    source: Literal["labels", "model"]
    models: tuple[str, ...] = ()
    prompts: dict[str, str] = {}
    """Agent → digest of its prompt; empty for labels."""
    file: Annotated[str, Field(pattern=r"^scores-[0-9a-f]{12}\.npy$")]
    """Named by its digest: earlier scores stay whole until the manifest names the new ones."""
    scored: int
    """Pairs of chunk and item that have a score."""


class Manifest(_Record):
    """What an artefact was made with, and what is in it."""

    format: Literal[3] = 3
    program: str
    """The version that made it."""
    dataset: str
    """SHA-256 of the dataset's files and options."""
    split: str
    """Digest of who is in it."""
    chunking: Chunking
    embedder: EmbedderRecord
    chunks: int
    sessions: int
    participants: int
    scoring: ScoringRecord | None = None
    """`None` until the chunks are scored."""
    files: dict[str, str]
    """Name → SHA-256 of the file."""


class ChunkText(NamedTuple):
    """The words of a chunk."""

    text: str
    digest: str
    """Keyed by its whole session: 16 hexadecimal digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAccount:
    """How many chunks there are for an item."""

    read: int
    """Those whose words were read as about it."""
    scored: int
    shown: int
    """Those that are both."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Artefact:
    """An artefact that was opened and checked; what its files hold is read when it is needed."""

    folder: Path
    manifest: Manifest
    digest: str
    """Of the manifest, and so of every file: 64 hexadecimal digits."""
    people: People = field(repr=False)
    index: LexicalIndex | DenseIndex = field(repr=False)
    session_of: npt.NDArray[np.int32] = field(repr=False)
    """(chunks,)."""
    readings: npt.NDArray[np.uint8] = field(repr=False)
    """(chunks, items)."""
    scores: Scores = field(repr=False)
    """(chunks, items), `NOT_SCORED` where there is none."""
    offsets: npt.NDArray[np.int64] = field(repr=False)
    """(chunks + 1,): where the line of each chunk begins."""
    lines: npt.NDArray[np.uint8] = field(repr=False)
    """(bytes,): of all chunks, a JSON object each."""

    def text_of(self, chunk: int) -> ChunkText:
        """Read the text of a chunk."""
        line = orjson.loads(self.lines[self.offsets[chunk] : self.offsets[chunk + 1]].tobytes())
        return ChunkText(line["text"], line["digest"])

    def account(self) -> dict[Item, ItemAccount]:
        """Count the chunks of every item."""
        is_read, is_scored = self.readings != Reading.NOTHING, self.scores != NOT_SCORED
        counts = (one.sum(axis=0).tolist() for one in (is_read, is_scored, is_read & is_scored))
        return {
            item: ItemAccount(read=read, scored=scored, shown=shown)
            for item, read, scored, shown in zip(Item, *counts, strict=True)
        }


def read_manifest(folder: Path) -> Manifest:
    """Read it; raises `ArtifactMismatch` where it is missing, damaged or of another form."""
    path = folder / MANIFEST_FILE
    try:
        return Manifest.model_validate_json(read_regular(path, most_bytes=_MEGABYTE))
    except FileNotFoundError:
        msg = f"{folder} holds no references; make them with: ai-psychiatrist references build"
    except OSError as problem:
        msg = f"{path} cannot be read: {reason_of(problem)}"
    except ValidationError:
        msg = f"{path} is damaged or of another version; build it again"
    raise ArtifactMismatch(msg)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a regular file, hexadecimal. Raises `OSError`."""
    digest = hashlib.sha256()
    with open_regular(path, follows_links=False) as file:
        while block := file.read(_MEGABYTE):
            digest.update(block)
    return digest.hexdigest()


def open_artefact(folder: Path, manifest: Manifest) -> Artefact:
    """Open an artefact, all of its files checked.

    Raises `ArtifactMismatch` for one that is damaged or does not fit together.
    """
    kinds = _kinds(manifest)
    texts = [CHUNKS_FILE, SESSIONS_FILE] + ([WORDS_FILE] if STARTS_FILE in kinds else [])
    unnamed = {*texts, *kinds} - manifest.files.keys()
    if unnamed:
        msg = f"the record of the references in {folder} names no {min(unnamed)}; build them again"
        raise ArtifactMismatch(msg)
    for name, digest in manifest.files.items():
        try:
            found = file_digest(folder / name)
        except OSError as problem:
            msg = f"{name!r} of the references cannot be read: {reason_of(problem)}; build again"
            raise ArtifactMismatch(msg) from None
        if found != digest:
            msg = f"{name!r} of the references is damaged: its digest is not the one of the record"
            raise ArtifactMismatch(msg)
    arrays = {name: _read_array(folder / name, kind) for name, kind in kinds.items()}
    lines = np.memmap(folder / CHUNKS_FILE, dtype=np.uint8, mode="r")
    people = _read_people(folder)
    fits = len(people.identities) == manifest.sessions and arrays[OFFSETS_FILE][-1] == len(lines)
    if not fits:
        raise _unfitting(folder)
    unscored = np.full((manifest.chunks, len(Item)), NOT_SCORED, dtype=np.int8)
    return Artefact(
        folder=folder,
        manifest=manifest,
        digest=file_digest(folder / MANIFEST_FILE),
        people=people,
        index=_read_index(folder, manifest.chunks, arrays),
        session_of=arrays[SESSION_OF_FILE],
        readings=arrays[READINGS_FILE],
        scores=unscored if manifest.scoring is None else arrays[manifest.scoring.file],
        offsets=arrays[OFFSETS_FILE],
        lines=lines,
    )


class _Kind(NamedTuple):
    """What an array has to be."""

    dtype: type[np.generic]
    shape: tuple[int | None, ...]
    """`None` for any number of rows."""
    bounds: tuple[int, int] | None = None
    """Least and greatest value."""
    is_starts: bool = False
    """It holds where parts begin, from 0 to the end, and `bounds` are those of their lengths."""


def _kinds(manifest: Manifest) -> dict[str, _Kind]:
    """Return the arrays that an artefact has."""
    chunks, sessions = manifest.chunks, (0, manifest.sessions - 1)
    by_item = (chunks, len(Item))
    readings = (0, int(Reading.NAMED | Reading.POLAR))
    kinds = {
        OFFSETS_FILE: _Kind(np.int64, (chunks + 1,), (1, _MOST_BYTES), is_starts=True),
        SESSION_OF_FILE: _Kind(np.int32, (chunks,), sessions),
        READINGS_FILE: _Kind(np.uint8, by_item, readings),
    }
    if manifest.scoring is not None:
        kinds[manifest.scoring.file] = _Kind(np.int8, by_item, (NOT_SCORED, 3))
    if manifest.embedder.name == LEXICAL:
        return kinds | {
            WEIGHTS_FILE: _Kind(np.float32, (None,)),
            WORD_CHUNKS_FILE: _Kind(np.int32, (None,), (0, chunks - 1)),
            STARTS_FILE: _Kind(np.int64, (None,), (0, chunks), is_starts=True),
        }
    return kinds | {
        VECTORS_FILE: _Kind(np.int8, (chunks, manifest.embedder.dimensions)),
        SCALES_FILE: _Kind(np.float32, (chunks,)),
    }


def _read_array(path: Path, kind: _Kind) -> npt.NDArray[Any]:
    """Map an array into memory."""
    try:
        array = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError, EOFError):
        raise _unusable(path, "holds no array") from None
    is_of_kind = array.ndim == len(kind.shape) and array.shape[1:] == kind.shape[1:]
    if array.dtype != kind.dtype or not is_of_kind:
        raise _unusable(path, "holds another kind of array")
    if kind.shape[0] not in (None, len(array)):
        raise _unfitting(path.parent)
    if kind.bounds is not None:
        least, most = kind.bounds
        values = np.diff(array) if kind.is_starts else array
        is_outside = values.size and (values.min() < least or values.max() > most)
        if is_outside or (kind.is_starts and array[:1].any()):
            raise _unusable(path, "holds values that cannot be")
    return array


def _read_people(folder: Path) -> People:
    try:
        content = read_regular(folder / SESSIONS_FILE, most_bytes=_MOST_BYTES)
        values = [orjson.loads(line) for line in content.splitlines()]
        labels = [
            {Item(key): int(score) for key, score in value.pop("labels").items()}
            for value in values
        ]
        identities = [
            Identity(passages=frozenset(map(int, value.pop("passages"))), **value)
            for value in values
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise _unusable(folder / SESSIONS_FILE, "is damaged") from None
    return People(identities=identities, labels=labels)


def _read_index(
    folder: Path, chunks: int, arrays: Mapping[str, npt.NDArray[Any]]
) -> LexicalIndex | DenseIndex:
    if VECTORS_FILE in arrays:
        return DenseIndex(vectors=arrays[VECTORS_FILE], scales=arrays[SCALES_FILE])
    words = orjson.loads(read_regular(folder / WORDS_FILE, most_bytes=_MOST_BYTES))
    weights, word_chunks = arrays[WEIGHTS_FILE], arrays[WORD_CHUNKS_FILE]
    starts = arrays[STARTS_FILE]
    if len(starts) != len(words) + 1 or not starts[-1] == len(weights) == len(word_chunks):
        raise _unfitting(folder)
    return LexicalIndex(
        word_ids={word: at for at, word in enumerate(words)},
        weights=weights,
        chunks=word_chunks,
        starts=starts,
        count=chunks,
    )


def _unusable(path: Path, why: str) -> ArtifactMismatch:
    return ArtifactMismatch(f"{path.name!r} of the references {why}; build them again")


def _unfitting(folder: Path) -> ArtifactMismatch:
    msg = f"the files of the references in {folder} do not fit together; build them again"
    return ArtifactMismatch(msg)
