"""Interviews of several people, and artefacts of references cut from them."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ai_psychiatrist.domain.evidence import Quote
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.evidence_validation.transcript_index import TranscriptIndex
from ai_psychiatrist.services.retrieval.artefact import Artefact, Chunking
from ai_psychiatrist.services.retrieval.build import (
    Session,
    scores_of_labels,
    write_references,
    write_scores,
)
from ai_psychiatrist.services.retrieval.chunks import chunks_of
from ai_psychiatrist.services.retrieval.embedders import Embedder
from ai_psychiatrist.services.retrieval.identity import Identity, identity_of
from ai_psychiatrist.services.retrieval.references import References, open_references
from ai_psychiatrist.services.retrieval.settings import ReferenceSettings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

TALKS: Mapping[str, Sequence[tuple[str, str]]] = {
    "301": [
        ("How have you been sleeping?", "I lie awake until four nearly every night."),
        ("And your appetite?", "I eat well, my appetite is good."),
    ],
    "302": [
        ("How is your sleep?", "I sleep well, no trouble sleeping at all."),
        ("How is your mood?", "I feel down most days."),
    ],
    "303": [
        ("How do you sleep?", "I wake up at three and lie awake most nights."),
        ("Do you still enjoy things?", "I have lost interest in everything lately."),
    ],
}
LABELS: Mapping[str, Mapping[Item, int | None]] = {
    "301": {Item.SLEEP: 3, Item.APPETITE: 0},
    "302": {Item.SLEEP: 0, Item.DEPRESSED: 2},
    "303": {Item.SLEEP: 2, Item.NO_INTEREST: 3},
}
LEXICAL_SETTINGS = ReferenceSettings(chunk_lines=2, chunk_step=2)


def talk(name: str) -> Transcript:
    """Return an interview by the number of its participant."""
    return parse_transcript(
        "\n".join(f"Interviewer: {asked}\nParticipant: {said}" for asked, said in TALKS[name])
    )


def session(name: str, settings: ReferenceSettings = LEXICAL_SETTINGS) -> Session:
    """Return the references that are cut from an interview."""
    said = talk(name)
    return Session(
        identity=identity_of(said, participant_id=name, session_id=name),
        chunks=tuple(chunks_of(said, lines=settings.chunk_lines, step=settings.chunk_step)),
        labels=LABELS[name],
    )


def made_references(
    folder: Path,
    sessions: Sequence[Session] | None = None,
    *,
    settings: ReferenceSettings = LEXICAL_SETTINGS,
    embedder: Embedder | None = None,
    is_scored: bool = True,
) -> ReferenceSettings:
    """Write an artefact, scored from labels, and return the settings that name it."""
    settings = settings.model_copy(update={"dir": folder})
    given = [session(name, settings) for name in TALKS] if sessions is None else sessions
    written = write_references(
        folder,
        given,
        dataset="d" * 64,
        chunking=Chunking(lines=settings.chunk_lines, step=settings.chunk_step),
        embedder=embedder,
    )
    manifest = asyncio.run(written)
    if is_scored:
        found = artefact_of(settings, embedder=embedder)
        write_scores(folder, manifest, scores_of_labels(found))
    return settings


def opened(
    settings: ReferenceSettings,
    *,
    embedder: Embedder | None = None,
    prompts: Mapping[str, str] | None = None,
) -> References:
    """Open references that are scored."""
    return open_references(settings, embedder=embedder, prompts=prompts or {})


def artefact_of(settings: ReferenceSettings, *, embedder: Embedder | None = None) -> Artefact:
    """Open an artefact, scored or not."""
    return open_references(settings, embedder=embedder, prompts=None).artefact


def grounded(said: Transcript, *quotes: str) -> tuple[Quote, ...]:
    """Return quotes with their places, which they have to have."""
    index = TranscriptIndex(said)
    found = tuple(index.ground(quote) for quote in quotes)
    assert all(isinstance(quote, Quote) for quote in found)
    return tuple(quote for quote in found if isinstance(quote, Quote))


def stranger(text: str = "Participant: Somebody else altogether.") -> Identity:
    """Return the identity of a person who is in no artefact."""
    return identity_of(parse_transcript(text), participant_id="999", session_id="999")


def shown_by(folder: Path, **more: str) -> dict[str, str]:
    """Return the variables under which assessments show such an artefact."""
    cut = {"REFERENCES_CHUNK_LINES": "2", "REFERENCES_CHUNK_STEP": "2"}
    return {"REFERENCES_DIR": str(folder)} | cut | more


def references_in(prompt: str) -> dict[str, list[dict[str, Any]]]:
    """Read the block of references out of a prompt, which has to be JSON."""
    opening = prompt.index("<references-")
    start = prompt.index("\n", opening)
    found: dict[str, list[dict[str, Any]]] = json.loads(
        prompt[start : prompt.index("</references-", start)]
    )
    return found
