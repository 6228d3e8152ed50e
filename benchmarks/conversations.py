"""Real utterances for benchmarks: public clinical conversations, or the examples without them."""

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

EXAMPLES = Path(__file__).parents[1] / "examples"


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """What a participant says in one turn of a conversation."""

    conversation: int
    turn: int
    words: str


@cache
def conversations() -> tuple[Transcript, ...]:
    """Read the public conversations below `TEST_DATA_DIR`, and the examples."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.txt"))]
    folder = os.environ.get("TEST_DATA_DIR")
    if folder is not None:
        path = Path(folder) / "transcripts" / "conversations.jsonl"
        texts += map(_as_text, path.read_text(encoding="utf-8").splitlines())
    return tuple(map(parse_transcript, filter(_has_participant, texts)))


def _as_text(line: str) -> str:
    turns = json.loads(line)["turns"]
    return "\n".join(
        f"{_label(turn['speaker'])}: {' '.join(turn['text'].split())}" for turn in turns
    )


def _label(speaker: str) -> str:
    return {"doctor": "Doctor", "patient": "Patient"}.get(speaker, "Interviewer")


def _has_participant(text: str) -> bool:
    return "Patient: " in text or "Participant: " in text


def utterances(*, fewest_words: int = 8) -> list[Utterance]:
    """Return the participants' turns that are long enough to be changed."""
    return [
        Utterance(conversation=number, turn=turn.index, words=words)
        for number, transcript in enumerate(conversations())
        for turn in transcript.turns
        if turn.speaker is Speaker.PARTICIPANT
        and len((words := transcript.words(turn).strip()).split()) >= fewest_words
    ]
