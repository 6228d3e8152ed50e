"""The chunks of an artefact as a dataset of short interviews, to be scored as interviews are."""

from pathlib import Path

import numpy as np

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.evaluation.datasets.dataset import (
    Dataset,
    DatasetKind,
    DatasetUnit,
    SpeakerFilter,
)
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions
from ai_psychiatrist.services.retrieval.artefact import NOT_SCORED, Scores
from ai_psychiatrist.services.retrieval.references import References
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript


def chunk_dataset(references: References, folder: Path) -> Dataset:
    """Return a unit for each chunk of which an item is read, or for all where that is not asked.

    A chunk of which nothing is read is never shown while `REFERENCES_SAME_ITEM` holds.
    """
    chunks = range(references.artefact.manifest.chunks)
    if references.settings.same_item:
        chunks_read = np.flatnonzero(references.artefact.readings.max(axis=1)).tolist()
    else:
        chunks_read = list(chunks)

    def transcript(unit_id: str) -> Transcript:
        return parse_transcript(references.artefact.text_of(int(unit_id)).text)

    return Dataset(
        kind=DatasetKind.TEXT,
        path=folder,
        units=tuple(DatasetUnit(unit_id=str(chunk), labels=None) for chunk in chunks_read),
        issues=(),
        digest=references.artefact.manifest.files["chunks.jsonl"],
        speakers=SpeakerFilter.BOTH,
        transcript=transcript,
    )


def scores_of_predictions(path: Path, chunks: int) -> Scores:
    """Return (chunks, items): what a run gave; a failed unit and an unknown item have no score."""
    scores = np.full((chunks, len(Item)), NOT_SCORED, dtype=np.int8)
    for prediction in read_predictions(path):
        for column, item in enumerate(Item):
            found = prediction.items.get(item)
            if found is not None and found.score is not None:
                scores[int(prediction.unit_id), column] = found.score
    return scores
