"""The interviews of a dataset, cut into references."""

from collections.abc import Callable
from dataclasses import dataclass

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.services.retrieval.artefact import Session
from ai_psychiatrist.services.retrieval.chunks import chunks_of
from ai_psychiatrist.services.retrieval.identity import identity_of
from ai_psychiatrist.services.retrieval.manifest import Chunking


@dataclass(frozen=True, slots=True, kw_only=True)
class CutDataset:
    """What a dataset gives."""

    sessions: tuple[Session, ...]
    unreadable: int
    """Units without a transcript that can be read."""


def cut_dataset(
    dataset: Dataset, chunking: Chunking, *, on_unit: Callable[[], None] = lambda: None
) -> CutDataset:
    """Read every interview, and cut it; labels are kept beside it."""
    sessions: list[Session] = []
    unreadable = 0
    for unit in dataset.units:
        try:
            transcript = dataset.transcript(unit.unit_id)
        except InputError:
            unreadable += 1
        else:
            sessions.append(
                Session(
                    identity=identity_of(
                        transcript,
                        participant_id=unit.participant_id,
                        session_id=unit.unit_id,
                    ),
                    chunks=tuple(chunks_of(transcript, lines=chunking.lines, step=chunking.step)),
                    labels={} if unit.labels is None else unit.labels.items,
                )
            )
        on_unit()
    return CutDataset(sessions=tuple(sessions), unreadable=unreadable)
