"""The scores of chunks: an item has one where the chunk's own words carry it, or none."""

import hashlib
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.retrieval.arrays import write_array
from ai_psychiatrist.services.retrieval.artefact import NOT_SCORED
from ai_psychiatrist.services.retrieval.chunks import Reading
from ai_psychiatrist.services.retrieval.manifest import (
    Manifest,
    ScoringRecord,
    file_digest,
    write_manifest,
)
from ai_psychiatrist.services.retrieval.references import References

Scores = npt.NDArray[np.int8]
_DIGITS: Final = 12


def scores_of_labels(references: References) -> Scores:
    """Return (chunks, items): the participant's own score where the chunk's words speak for it.

    A label is about a person's last two weeks and not about eight lines. It becomes a chunk's score
    only where the rules read the symptom as there, for 1–3, or as not there, for 0, and nothing
    against it; elsewhere the chunk has none.
    """
    items = tuple(Item)
    labels = np.array(
        [[one.get(item, NOT_SCORED) for item in items] for one in references.people.labels],
        dtype=np.int8,
    )[references.session_of]
    polar = references.readings & (Reading.AFFIRMED | Reading.DENIED)
    is_carried = ((labels > 0) & (polar == Reading.AFFIRMED)) | (
        (labels == 0) & (polar == Reading.DENIED)
    )
    return np.where(is_carried, labels, np.int8(NOT_SCORED))


def write_scores(
    folder: Path,
    manifest: Manifest,
    scores: Scores,
    *,
    models: tuple[str, ...] = (),
    prompts: dict[str, str] | None = None,
) -> Manifest:
    """Give an artefact these scores, whole or not at all. Without `models` they are of labels."""
    name = f"scores-{hashlib.sha256(scores.tobytes()).hexdigest()[:_DIGITS]}.npy"
    write_array(folder / name, scores)
    scoring = ScoringRecord(
        source="model" if models else "labels",
        models=models,
        prompts=prompts or {},
        file=name,
        scored=int((scores != NOT_SCORED).sum()),
    )
    before = None if manifest.scoring is None else manifest.scoring.file
    kept = {one: digest for one, digest in manifest.files.items() if one != before}
    files = kept | {name: file_digest(folder / name)}
    scored = manifest.model_copy(update={"scoring": scoring, "files": files})
    write_manifest(folder, scored)
    if before is not None and before != name:
        (folder / before).unlink(missing_ok=True)
    return scored
