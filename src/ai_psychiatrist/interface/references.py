"""References for few-shot scoring, made and scored: what the commands do."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from ai_psychiatrist.assessment.parts import Part
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.evaluation.datasets.dataset import (
    Dataset,
    DatasetKind,
    DatasetUnit,
    SpeakerFilter,
)
from ai_psychiatrist.evaluation.runs.run import EvaluationOptions, RunState, RunTally
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.start import StartOptions
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions
from ai_psychiatrist.infrastructure.digests import plain_digest
from ai_psychiatrist.interface.dataset_run import DatasetRun, Watch, make_run
from ai_psychiatrist.interface.deciding import call_settings, deciding_settings
from ai_psychiatrist.services.retrieval.artefact import NOT_SCORED, Chunking, Manifest, Scores
from ai_psychiatrist.services.retrieval.build import (
    Session,
    scores_of_labels,
    write_references,
    write_scores,
)
from ai_psychiatrist.services.retrieval.chunks import chunks_of
from ai_psychiatrist.services.retrieval.identity import identity_of
from ai_psychiatrist.services.retrieval.references import References
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.store.run_file import make_private_folder
from ai_psychiatrist.wiring import Services
from ai_psychiatrist.wiring.references import embedder_of, references_of, scoring_prompts

SCORING_FOLDER: Final = "scoring"
"""The runs that score chunks, inside the artefact; their ledgers hold what models replied."""


async def build_references(
    services: Services,
    dataset: Dataset,
    out: Path,
    *,
    on_unit: Callable[[], None] = lambda: None,
    on_chunks: Callable[[int], None] = lambda _: None,
) -> Manifest:
    """Cut a dataset's interviews into references, and write them into a new folder.

    Units without a transcript that can be read give none. `on_unit` is told of every unit,
    `on_chunks` how many further chunks are indexed. Raises what `write_references` raises.
    """
    options = services.settings.references
    chunking = Chunking(lines=options.chunk_lines, step=options.chunk_step)
    sessions = _cut_dataset(dataset, chunking, on_unit=on_unit)
    return await write_references(
        out,
        sessions,
        dataset=dataset.digest,
        chunking=chunking,
        embedder=embedder_of(options.embedder, services.connections),
        on_chunks=on_chunks,
    )


def _cut_dataset(
    dataset: Dataset, chunking: Chunking, *, on_unit: Callable[[], None]
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


def score_by_labels(services: Services) -> Manifest:
    """Score chunks by the participants' own labels, where the chunk's words speak for them.

    Raises `ConfigurationError` for references of a dataset without item labels.
    """
    artefact = _opened(services).artefact
    if not any(artefact.people.labels):
        raise ConfigurationError(
            "the dataset of the references has no item labels; score them with a model"
        )
    return write_scores(artefact.folder, artefact.manifest, scores_of_labels(artefact))


async def score_by_model(
    services: Services, *, concurrency: int, watch: Watch
) -> tuple[Manifest, RunState]:
    """Score every chunk as an interview of its own, evidence and all, and write the scores.

    A run in the artefact's folder keeps every call: what was stopped goes on there, and failed
    chunks are asked for again. The scores are written when the run has come to its end; a chunk
    that failed has none.
    """
    references = _opened(services)
    folder, before = references.artefact.folder, references.artefact.manifest
    scorers = {"quantitative": services.agent_models["quantitative"]}
    assessor = replace(services.assessor, danger=None, agent_models=scorers)
    alone = replace(services, assessor=assessor)
    make_private_folder(folder / SCORING_FOLDER)
    run = RunFolder(folder / SCORING_FOLDER / _run_name(alone))
    state = await make_run(
        alone,
        DatasetRun(
            dataset=_chunk_dataset(references, folder),
            folder=run,
            start=StartOptions(is_resumed=run.run.exists(), accepts_changed=True),
            options=EvaluationOptions(concurrency=concurrency, retries_failed=True),
            mode=AssessmentMode.ZERO_SHOT,
            parts=frozenset({Part.SCORES}),
        ),
        tally=RunTally(),
        watch=watch,
    )
    manifest = write_scores(
        folder,
        before,
        _scores_of_predictions(run.predictions, before.chunks),
        models=alone.agent_models["quantitative"],
        prompts=scoring_prompts(),
    )
    return manifest, state


def _chunk_dataset(references: References, folder: Path) -> Dataset:
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


def _scores_of_predictions(path: Path, chunks: int) -> Scores:
    """Return (chunks, items): what a run gave; a failed unit and an unknown item have no score."""
    scores = np.full((chunks, len(Item)), NOT_SCORED, dtype=np.int8)
    for prediction in read_predictions(path):
        for column, item in enumerate(Item):
            found = prediction.items.get(item)
            if found is not None and found.score is not None:
                scores[int(prediction.unit_id), column] = found.score
    return scores


def _opened(services: Services) -> References:
    return references_of(services.settings.references, services.connections, needs_scores=False)


def _run_name(services: Services) -> str:
    """Return a name for what decides on the scores: another model's are a run of their own."""
    decides = {
        "models": services.agent_models,
        "prompts": scoring_prompts(),
        "settings": deciding_settings(services.settings),
        "calls": call_settings(services.settings),
        # Decides which chunks there are to score.
        "same_item": services.settings.references.same_item,
    }
    return plain_digest(json.dumps(decides, sort_keys=True))
