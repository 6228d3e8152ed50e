"""Make the artefact of references, and give its chunks scores; whole or not at all."""

import fcntl
import glob
import hashlib
import hmac
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson

from ai_psychiatrist import __version__
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.infrastructure.private_files import (
    draft_of,
    make_folders,
    sync_folder,
    write_whole,
    writing_to,
)
from ai_psychiatrist.services.retrieval.artefact import (
    CHUNKS_FILE,
    MANIFEST_FILE,
    NOT_SCORED,
    OFFSETS_FILE,
    READINGS_FILE,
    SCALES_FILE,
    SESSION_OF_FILE,
    SESSIONS_FILE,
    STARTS_FILE,
    VECTORS_FILE,
    WEIGHTS_FILE,
    WORD_CHUNKS_FILE,
    WORDS_FILE,
    Artefact,
    Chunking,
    EmbedderRecord,
    Manifest,
    Scores,
    ScoringRecord,
    file_digest,
)
from ai_psychiatrist.services.retrieval.chunks import Chunk, Reading
from ai_psychiatrist.services.retrieval.embedders import Embedder
from ai_psychiatrist.services.retrieval.identity import DIGESTS, Identity, split_digest
from ai_psychiatrist.services.retrieval.index import (
    LEXICAL_DIGEST,
    DenseIndex,
    dense_index,
    lexical_index,
)
from ai_psychiatrist.services.retrieval.settings import LEXICAL

_BATCH: Final = 64
"""Texts that are embedded at a time."""
_CHUNK_DIGITS: Final = 16
_SCORES_DIGITS: Final = 12

_Content = npt.NDArray[Any] | Iterable[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One interview that references are cut from."""

    identity: Identity
    chunks: Sequence[Chunk] = field(repr=False)
    labels: Mapping[Item, int | None] = field(default_factory=dict)
    """The participant's own item scores, where the dataset has them."""


async def write_references(
    out: Path,
    sessions: Sequence[Session],
    *,
    dataset: str,
    chunking: Chunking,
    embedder: Embedder | None = None,
    on_chunks: Callable[[int], None] = lambda _: None,
) -> Manifest:
    """Write a new artefact, whole or not at all, for its owner alone to read.

    `dataset`: its digest. `embedder`: `None` for the lexical index. `on_chunks` gets how many
    further chunks are indexed. Raises `InputError` for a folder that holds something or cannot be
    written and where there is no chunk at all, and `ModelCallFailed` where a server gives no
    vectors.
    """
    texts = [chunk.text for session in sessions for chunk in session.chunks]
    if not texts:
        raise InputError("no interview of the dataset has words to refer to", field="DATASET")
    with _draft_of_folder(out) as draft:
        contents = _contents(sessions)
        if embedder is None:
            contents |= _lexical_contents(texts)
            record = EmbedderRecord(name=LEXICAL, digest=LEXICAL_DIGEST)
            on_chunks(len(texts))
        else:
            dense = await _dense(texts, embedder, on_chunks)
            contents |= {VECTORS_FILE: dense.vectors, SCALES_FILE: dense.scales}
            record = EmbedderRecord(
                name=embedder.name, digest=embedder.digest, dimensions=dense.vectors.shape[1]
            )
        people = [session.identity for session in sessions]
        manifest = Manifest(
            program=__version__,
            dataset=dataset,
            split=split_digest(people),
            chunking=chunking,
            embedder=record,
            chunks=len(texts),
            sessions=len(sessions),
            participants=len({one.participant or one.session or one.words for one in people}),
            files={name: _write(draft / name, one) for name, one in contents.items()},
        )
        _write_manifest(draft, manifest)
    return manifest


def _contents(sessions: Sequence[Session]) -> dict[str, _Content]:
    """Return what every artefact holds, by the names of its files."""
    cut = [(number, chunk) for number, one in enumerate(sessions) for chunk in one.chunks]
    lines = [
        _line(
            session=number,
            first_line=chunk.first_line,
            lines=chunk.lines,
            digest=_chunk_digest(chunk.text, sessions[number].identity.words),
            text=chunk.text,
        )
        for number, chunk in cut
    ]
    readings = [[chunk.readings.get(item, Reading.NOTHING) for item in Item] for _, chunk in cut]
    return {
        CHUNKS_FILE: lines,
        SESSIONS_FILE: [_session_line(session) for session in sessions],
        OFFSETS_FILE: np.cumsum([0, *map(len, lines)], dtype=np.int64),
        SESSION_OF_FILE: np.array([number for number, _ in cut], dtype=np.int32),
        READINGS_FILE: np.array(readings, dtype=np.uint8),
    }


def _lexical_contents(texts: Sequence[str]) -> dict[str, _Content]:
    index = lexical_index(texts)
    return {
        WEIGHTS_FILE: index.weights,
        WORD_CHUNKS_FILE: index.chunks,
        STARTS_FILE: index.starts,
        WORDS_FILE: [orjson.dumps([*index.word_ids])],
    }


async def _dense(
    texts: Sequence[str], embedder: Embedder, on_chunks: Callable[[int], None]
) -> DenseIndex:
    parts = []
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        parts.append(await embedder.embed(batch, is_query=False))
        on_chunks(len(batch))
    try:
        return dense_index(np.concatenate(parts))
    except ValueError:
        msg = f"{embedder.name} gave vectors that are none, or of several sizes"
        raise InputError(msg, field="REFERENCES_EMBEDDER") from None


def _session_line(session: Session) -> bytes:
    labels = {item.value: score for item, score in session.labels.items() if score is not None}
    digests = {name: getattr(session.identity, name) for name in DIGESTS}
    return _line(**digests, passages=sorted(session.identity.passages), labels=labels)


def _line(**values: object) -> bytes:
    return orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE)


def _chunk_digest(text: str, words: str) -> str:
    """Return the digest of a chunk, keyed by the digest of its session's words.

    Without the whole interview a guess of some short lines cannot be checked.
    """
    content = text.encode("utf-8", "surrogatepass")
    return hmac.new(words.encode(), content, "sha256").hexdigest()[:_CHUNK_DIGITS]


def _write(path: Path, content: _Content) -> str:
    """Write an array or the parts of a text for the owner alone to read; return its SHA-256."""
    with draft_of(path) as file:
        if isinstance(content, np.ndarray):
            np.save(file, content, allow_pickle=False)
        else:
            file.writelines(content)
    return file_digest(path)


def _write_manifest(folder: Path, manifest: Manifest) -> None:
    write_whole(folder / MANIFEST_FILE, [manifest.model_dump_json(indent=2).encode(), b"\n"])


@contextmanager
def _draft_of_folder(out: Path) -> Iterator[Path]:
    """Yield a folder beside a path, which takes the path's place when the block ends well.

    Drafts of this path whose programs were killed are removed first: they hold what people said.
    Raises `InputError` for a folder that holds something or cannot be written.
    """
    if out.is_symlink() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        msg = f"{out} is there already and holds something; name a new folder"
        raise InputError(msg, field="--out")
    # Else `.` has no name and no parent.
    out = out.absolute()
    prefix = f".{out.name}.draft-"
    with writing_to(out, field="--out"):
        make_folders(out.parent)
        for path in out.parent.glob(f"{glob.escape(prefix)}*"):
            # Another program is at it, or it is no folder.
            with suppress(OSError), _held(path):
                shutil.rmtree(path, ignore_errors=True)
        with TemporaryDirectory(prefix=prefix, dir=out.parent, ignore_cleanup_errors=True) as name:
            draft = Path(name)
            with _held(draft):
                yield draft
                draft.rename(out)
        sync_folder(out.parent)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a folder; the system lets go of it when the process ends, however it ends.

    Raises `OSError` where another process holds it, and for what is no folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def scores_of_labels(artefact: Artefact) -> Scores:
    """Return (chunks, items): the participant's own score where the chunk's words speak for it.

    A label is about a person's last two weeks and not about eight lines. It becomes a chunk's score
    only where the rules read the symptom as there, for 1–3, or as not there, for 0, and nothing
    against it; elsewhere the chunk has none.
    """
    labels = np.array(
        [[one.get(item, NOT_SCORED) for item in Item] for one in artefact.people.labels],
        dtype=np.int8,
    )[artefact.session_of]
    polar = artefact.readings & Reading.POLAR
    needed = np.where(labels > 0, Reading.AFFIRMED, Reading.DENIED)
    return np.where(polar == needed, labels, np.int8(NOT_SCORED))


def write_scores(
    folder: Path,
    manifest: Manifest,
    scores: Scores,
    *,
    models: tuple[str, ...] = (),
    prompts: Mapping[str, str] | None = None,
) -> Manifest:
    """Give an artefact these scores, whole or not at all. Without `models` they are of labels."""
    name = f"scores-{hashlib.sha256(scores.tobytes()).hexdigest()[:_SCORES_DIGITS]}.npy"
    before = None if manifest.scoring is None else manifest.scoring.file
    files = {one: digest for one, digest in manifest.files.items() if one != before}
    scoring = ScoringRecord(
        source="model" if models else "labels",
        models=models,
        prompts=dict(prompts or {}),
        file=name,
        scored=int((scores != NOT_SCORED).sum()),
    )
    files[name] = _write(folder / name, scores)
    scored = manifest.model_copy(update={"scoring": scoring, "files": files})
    _write_manifest(folder, scored)
    if before is not None and before != name:
        (folder / before).unlink(missing_ok=True)
    return scored
