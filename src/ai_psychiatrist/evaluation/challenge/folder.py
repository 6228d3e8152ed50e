"""The folder of a challenge: interviews that a system may see, and apart from them the truth."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.evaluation.challenge.truth import InterviewTruth, read_truth
from ai_psychiatrist.evaluation.scores.record_lines import records_by_unit
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of

SCHEMA_VERSION: Final = 1
_FIELD: Final = "FOLDER"
_MOST_BYTES: Final = 1 << 30


class Interview(BaseModel):
    """One interview as a system gets it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)

    unit_id: Annotated[str, Field(min_length=1)]
    """Made from the text, so that answers to another challenge are known as such."""
    text: str = Field(repr=False)


class Manifest(BaseModel):
    """How a challenge was made, and the SHA-256 of its files."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)

    schema_version: int
    seed: int
    size: int
    """Participants for each difficulty."""
    interviews: int
    interviews_sha256: str
    truth_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeFolder:
    """Where a challenge lies."""

    path: Path

    @property
    def manifest(self) -> Path:
        """How it was made."""
        return self.path / "challenge.json"

    @property
    def interviews(self) -> Path:
        """What a system may see."""
        return self.path / "interviews.jsonl"

    @property
    def truth(self) -> Path:
        """What it may not."""
        return self.path / "truth.jsonl"


def read_manifest(folder: ChallengeFolder) -> Manifest:
    """Read how a challenge was made; raises `InputError` for a folder that is none."""
    content = _bytes(folder.manifest)
    try:
        found = Manifest.model_validate_json(content)
    except ValidationError:
        msg = "challenge.json is not one that `evaluate challenge make` writes; make it anew"
        raise InputError(msg, field=_FIELD) from None
    if found.schema_version != SCHEMA_VERSION:
        msg = f"the challenge is of version {found.schema_version}, and {SCHEMA_VERSION} is read"
        raise ArtifactMismatch(msg)
    return found


def read_interviews(folder: ChallengeFolder) -> dict[str, str]:
    """Read the texts by interview.

    Raises `InputError` for a folder that is no challenge, and `ArtifactMismatch` where the file is
    not the one that was made.
    """
    _refuse_changed(folder.interviews, read_manifest(folder).interviews_sha256)
    adapter, known = TypeAdapter(Interview), frozenset(Interview.model_fields)
    records = records_by_unit(folder.interviews, adapter, known=known, field=_FIELD)
    return {unit_id: record.text for unit_id, record in records.items()}


def read_whole(folder: ChallengeFolder) -> tuple[dict[str, str], dict[str, InterviewTruth]]:
    """Read texts and truth by interview; raises as `read_interviews` does."""
    texts = read_interviews(folder)
    _refuse_changed(folder.truth, read_manifest(folder).truth_sha256)
    truth = read_truth(folder.truth)
    if texts.keys() != truth.keys():
        msg = "interviews.jsonl and truth.jsonl are not of the same interviews"
        raise ArtifactMismatch(msg)
    return texts, truth


def contents_of(
    interviews: Sequence[Interview], truth: Sequence[InterviewTruth], *, seed: int, size: int
) -> dict[str, bytes]:
    """Return the files of a challenge by their names."""
    folder = ChallengeFolder(path=Path())
    texts = b"".join(one.model_dump_json().encode() + b"\n" for one in interviews)
    truths = b"".join(one.to_line() for one in truth)
    manifest = Manifest(
        schema_version=SCHEMA_VERSION,
        seed=seed,
        size=size,
        interviews=len(interviews),
        interviews_sha256=_digest(texts),
        truth_sha256=_digest(truths),
    )
    return {
        folder.interviews.name: texts,
        folder.truth.name: truths,
        folder.manifest.name: manifest.model_dump_json(indent=2).encode() + b"\n",
    }


def _refuse_changed(path: Path, digest: str) -> None:
    if _digest(_bytes(path)) != digest:
        msg = f"{path.name} is not the file that challenge.json is of; make the challenge anew"
        raise ArtifactMismatch(msg)


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path, most_bytes=_MOST_BYTES)
    except OSError as error:
        msg = f"{path.name} of the challenge cannot be read: {reason_of(error)}"
        raise InputError(msg, field=_FIELD) from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
