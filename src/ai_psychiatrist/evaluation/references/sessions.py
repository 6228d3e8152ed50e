"""The interviews of a dataset, cut into references."""

from collections.abc import Callable
from contextlib import suppress

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.services.retrieval.artefact import Chunking
from ai_psychiatrist.services.retrieval.build import Session
from ai_psychiatrist.services.retrieval.chunks import chunks_of
from ai_psychiatrist.services.retrieval.identity import identity_of


def cut_dataset(
    dataset: Dataset, chunking: Chunking, *, on_unit: Callable[[], None] = lambda: None
) -> list[Session]:
    """Read every interview that can be read, and cut it; labels are kept with it."""
    sessions: list[Session] = []
    for unit in dataset.units:
        with suppress(InputError):
            transcript = dataset.transcript(unit.unit_id)
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
    return sessions
