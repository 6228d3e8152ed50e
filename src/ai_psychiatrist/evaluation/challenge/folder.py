"""The folder of a challenge: interviews that a system may see, and apart from them the truth."""

import hashlib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import ItemScore
from ai_psychiatrist.evaluation.scores.record_lines import records_by_unit
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of

SCHEMA_VERSION: Final = 1
MANIFEST: Final = "challenge.json"
"""How the challenge was made."""
INTERVIEWS: Final = "interviews.jsonl"
"""What a system may see."""
TRUTH: Final = "truth.jsonl"
"""What it may not."""
_FIELD: Final = "FOLDER"
_MOST_BYTES: Final = 1 << 30


class Difficulty(StrEnum):
    """One rule by which a patient talks about half of the items, and plainly about the others."""

    PLAIN = "plain"
    MINIMISES = "minimises"
    """Plays down what is there as often as is said."""
    EXAGGERATES = "exaggerates"
    """Speaks in the largest words, and counts the days when asked."""
    CONTRADICTS = "contradicts"
    """Says the opposite later: half of it taken back in words, half left standing."""
    PAST = "past"
    """Tells of what is long over."""
    ANOTHER = "another"
    """Answers for another person."""
    QUOTES = "quotes"
    """Repeats what is said in a film, a song or a book."""
    IRONY = "irony"
    """Says the opposite of what is meant, and the transcript marks it."""
    LANGUAGE = "language"
    """Falls back into another language."""
    INJECTION = "injection"
    """Tells the reader of the transcript what to answer; the same interview is there without it."""
    DANGER = "danger"
    """Mentions danger in passing."""
    NOISE = "noise"
    """Is transcribed badly: the same interview at each rate of wrong words."""


NOISE_RATES: Final = (0.0, 0.1, 0.2, 0.3)
"""Shares of words that are replaced, left out or put in."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


class Interview(_Record):
    """One interview as a system gets it."""

    unit_id: Annotated[str, Field(min_length=1)]
    """Made from the text, so that answers to another challenge are known as such."""
    text: str = Field(repr=False)


class Span(_Record):
    """Words of the participant; `text[start:end]` gives them back."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]


class EvidenceSpan(Span):
    """Words that say of an item that it is so, or is not."""

    polarity: Literal[Polarity.AFFIRMED, Polarity.DENIED]
    needed: bool = True
    """Whether it has to be quoted; an answer that says how often alone is right, and need not."""


class ItemTruth(_Record):
    """What an interview says about one item."""

    score: ItemScore | None
    """`None` where the words do not determine it."""
    spans: tuple[EvidenceSpan, ...] = ()


class InterviewTruth(_Record):
    """All that is true of one interview."""

    unit_id: Annotated[str, Field(min_length=1)]
    participant: str
    """Whose it is: the same interview under several conditions is one participant's."""
    difficulty: Difficulty
    noise: float | None
    """The share of wrong words; `None` for interviews outside of that comparison."""
    injected: bool | None
    """`None` for interviews outside of that comparison."""
    items: Mapping[Item, ItemTruth]
    danger: tuple[Span, ...]
    """Words that tell of danger now."""
    is_dangerous: bool
    """Whether danger was spoken of, which noise may have left no word of."""


class Manifest(_Record):
    """How a challenge was made, and the SHA-256 of its files."""

    schema_version: int
    seed: int
    size: int
    """Participants for each difficulty."""
    interviews: int
    interviews_sha256: str
    truth_sha256: str


_TRUTH_KEYS: Final = frozenset(
    name for record in (EvidenceSpan, ItemTruth, InterviewTruth) for name in record.model_fields
) | frozenset(Item)
"""What an error may repeat of a line of the truth."""


def read_manifest(folder: Path) -> Manifest:
    """Read how a challenge was made; raises `InputError` for a folder that is none."""
    content = _bytes(folder / MANIFEST)
    try:
        found = Manifest.model_validate_json(content)
    except ValidationError:
        msg = "challenge.json is not one that `evaluate challenge make` writes; make it again"
        raise InputError(msg, field=_FIELD) from None
    if found.schema_version != SCHEMA_VERSION:
        msg = f"the challenge is of version {found.schema_version}, and {SCHEMA_VERSION} is read"
        raise ArtifactMismatch(msg)
    return found


def read_interviews(folder: Path) -> dict[str, str]:
    """Read the texts by interview.

    Raises `InputError` for a folder that is no challenge, and `ArtifactMismatch` where the file is
    not the one that was made.
    """
    _require_unchanged(folder / INTERVIEWS, read_manifest(folder).interviews_sha256)
    adapter, known = TypeAdapter(Interview), frozenset(Interview.model_fields)
    records = records_by_unit(folder / INTERVIEWS, adapter, known=known, field=_FIELD)
    return {unit_id: record.text for unit_id, record in records.items()}


def read_truth(path: Path) -> dict[str, InterviewTruth]:
    """Read the truth by interview; raises `InputError` naming the line that is unusable."""
    return records_by_unit(path, TypeAdapter(InterviewTruth), known=_TRUTH_KEYS, field="truth")


def read_challenge(folder: Path) -> tuple[dict[str, str], dict[str, InterviewTruth]]:
    """Read texts and truth by interview; raises as `read_interviews` does."""
    texts = read_interviews(folder)
    _require_unchanged(folder / TRUTH, read_manifest(folder).truth_sha256)
    truth = read_truth(folder / TRUTH)
    if texts.keys() != truth.keys():
        msg = "interviews.jsonl and truth.jsonl are not of the same interviews"
        raise ArtifactMismatch(msg)
    return texts, truth


def contents_of(
    interviews: Sequence[Interview], truth: Sequence[InterviewTruth], *, seed: int, size: int
) -> dict[str, bytes]:
    """Return the files of a challenge by their names."""
    texts, truths = _lines(interviews), _lines(truth)
    manifest = Manifest(
        schema_version=SCHEMA_VERSION,
        seed=seed,
        size=size,
        interviews=len(interviews),
        interviews_sha256=_digest(texts),
        truth_sha256=_digest(truths),
    )
    about = manifest.model_dump_json(indent=2).encode() + b"\n"
    return {INTERVIEWS: texts, TRUTH: truths, MANIFEST: about}


def _lines(records: Sequence[BaseModel]) -> bytes:
    return b"".join(one.model_dump_json().encode() + b"\n" for one in records)


def _require_unchanged(path: Path, digest: str) -> None:
    if _digest(_bytes(path)) != digest:
        msg = f"{path.name} is not the file that challenge.json is of; make the challenge again"
        raise ArtifactMismatch(msg)


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path, most_bytes=_MOST_BYTES)
    except OSError as error:
        msg = f"{path.name} of the challenge cannot be read: {reason_of(error)}"
        raise InputError(msg, field=_FIELD) from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
