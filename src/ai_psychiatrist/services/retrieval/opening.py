"""Opens an artefact of references, or says why it does not fit; never a part of one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.retrieval.arrays import read_array, refuse_outside
from ai_psychiatrist.services.retrieval.artefact import (
    CONTENT_FILES,
    NOT_SCORED,
    OFFSETS_FILE,
    READINGS_FILE,
    SESSION_OF_FILE,
)
from ai_psychiatrist.services.retrieval.chunks import Reading
from ai_psychiatrist.services.retrieval.copies import COPY_FILES
from ai_psychiatrist.services.retrieval.dense import DENSE_FILES, DenseIndex
from ai_psychiatrist.services.retrieval.embedding import Embedder
from ai_psychiatrist.services.retrieval.lexical import LEXICAL_DIGEST, LEXICAL_FILES, LexicalIndex
from ai_psychiatrist.services.retrieval.manifest import (
    MANIFEST_NAME,
    Manifest,
    file_digest,
    read_manifest,
    refuse_damaged,
)
from ai_psychiatrist.services.retrieval.people import read_people
from ai_psychiatrist.services.retrieval.references import ChunkTexts, Index, References
from ai_psychiatrist.services.retrieval.settings import ReferenceSettings

_FILES: Final = frozenset((*CONTENT_FILES, *COPY_FILES))
"""What every artefact has; which files its index and its scores have is told by the record."""


_LONGEST_LINE: Final = 1 << 30


def open_references(
    settings: ReferenceSettings,
    *,
    embedder: Embedder | None,
    prompts: Mapping[str, str],
    needs_scores: bool = True,
) -> References:
    """Open the artefact that the settings name, all of it checked.

    `embedder`: the one that the settings name, `None` for the lexical one. `prompts`: agent →
    digest of its prompt, as the program asks now; scores that a model gave under other ones are
    refused where scores are needed. Raises `ConfigurationError` where no folder is set, and
    `ArtifactMismatch` for one that is damaged, made with other settings, or not scored although it
    has to be.
    """
    folder = settings.dir
    if folder is None:
        msg = "REFERENCES_DIR is not set; name the folder that `references build` made"
        raise ConfigurationError(msg)
    manifest = read_manifest(folder)
    problems = mismatches(manifest, settings, embedder=embedder)
    if needs_scores:
        problems = (*problems, *unusable_scores(manifest, prompts))
    if problems:
        raise ArtifactMismatch(f"the references in {folder} cannot be used: {'; '.join(problems)}")
    index = LEXICAL_FILES if embedder is None else DENSE_FILES
    scores = () if manifest.scoring is None else (manifest.scoring.file,)
    missing = _FILES.union(index, scores) - manifest.files.keys()
    if missing:
        msg = f"the record of the references in {folder} names no {min(missing)}; build them anew"
        raise ArtifactMismatch(msg)
    refuse_damaged(folder, manifest.files)
    return _opened(folder, manifest, settings, embedder)


def mismatches(
    manifest: Manifest, settings: ReferenceSettings, *, embedder: Embedder | None
) -> tuple[str, ...]:
    """Return what of an artefact is not as the program is set up now, a sentence each."""
    digest = LEXICAL_DIGEST if embedder is None else embedder.digest
    chunking, made = manifest.chunking, manifest.embedder
    found = []
    if made.name != settings.embedder:
        found.append(f"made with the embedder {made.name}, and {settings.embedder} is set")
    elif made.digest != digest:
        found.append(f"the embedder {made.name} is another version than it was made with")
    if (chunking.lines, chunking.step) != (settings.chunk_lines, settings.chunk_step):
        found.append(
            f"cut into {chunking.lines} lines every {chunking.step}, and "
            f"{settings.chunk_lines} every {settings.chunk_step} are set"
        )
    return tuple(found)


def unusable_scores(manifest: Manifest, prompts: Mapping[str, str]) -> tuple[str, ...]:
    """Return why the scores of an artefact cannot be shown, a sentence each."""
    scoring = manifest.scoring
    if scoring is None:
        return ("its chunks have no scores; run: ai-psychiatrist references score",)
    other = sorted(agent for agent, one in scoring.prompts.items() if prompts.get(agent) != one)
    return (f"scored with other prompts of {', '.join(other)}; score it anew",) if other else ()


def _opened(
    folder: Path, manifest: Manifest, settings: ReferenceSettings, embedder: Embedder | None
) -> References:
    items = len(Item)
    people = read_people(folder)
    session_of = read_array(folder / SESSION_OF_FILE, np.int32)
    readings = read_array(folder / READINGS_FILE, np.uint8, columns=items)
    offsets = read_array(folder / OFFSETS_FILE, np.int64)
    if manifest.scoring is None:
        scores = np.full((manifest.chunks, items), NOT_SCORED, dtype=np.int8)
    else:
        scores = read_array(folder / manifest.scoring.file, np.int8, columns=items)
    lengths = {len(session_of), len(readings), len(offsets) - 1, len(scores), manifest.chunks}
    if len(lengths) > 1 or len(people.identities) != manifest.sessions:
        msg = f"the files of the references in {folder} do not fit together; build them anew"
        raise ArtifactMismatch(msg)
    most_read = int(Reading.NAMED | Reading.AFFIRMED | Reading.DENIED)
    refuse_outside(SESSION_OF_FILE, session_of, 0, manifest.sessions - 1)
    refuse_outside(READINGS_FILE, readings, 0, most_read)
    refuse_outside(OFFSETS_FILE, offsets[:1], 0, 0)
    refuse_outside(OFFSETS_FILE, np.diff(offsets), 1, _LONGEST_LINE)
    if manifest.scoring is not None:
        refuse_outside(manifest.scoring.file, scores, NOT_SCORED, 3)
    return References(
        folder=folder,
        manifest=manifest,
        digest=file_digest(folder / MANIFEST_NAME),
        settings=settings,
        people=people,
        index=_index(folder, manifest, embedder),
        session_of=np.asarray(session_of),
        readings=np.asarray(readings),
        scores=np.asarray(scores),
        texts=ChunkTexts(folder, offsets),
    )


def _index(folder: Path, manifest: Manifest, embedder: Embedder | None) -> Index:
    if embedder is None:
        return LexicalIndex(folder, manifest.chunks)
    return DenseIndex(folder, embedder, manifest.embedder.dimensions or 0)
