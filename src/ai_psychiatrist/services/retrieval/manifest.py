"""The record of an artefact of references: what it was made with, and the digest of every file."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.infrastructure.given_files import open_regular, read_regular, reason_of
from ai_psychiatrist.infrastructure.private_files import write_whole

MANIFEST_NAME: Final = "manifest.json"
FORMAT: Final = 2
_MOST_BYTES: Final = 1 << 20
_BLOCK: Final = 1 << 20


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Chunking(_Record):
    """How transcripts were cut."""

    lines: int
    step: int


class EmbedderRecord(_Record):
    """What the vectors or word weights were made with."""

    name: str
    """As in the settings."""
    digest: str
    """Of the program or model files as far as they are known here; of the name for servers."""
    dimensions: int | None = None
    """Of a vector; `None` for the lexical one."""


class ScoringRecord(_Record):
    """Where the scores of the chunks come from."""

    source: Literal["labels", "model"]
    models: tuple[str, ...] = ()
    prompts: dict[str, str] = {}
    """Agent → digest of its prompt; empty for labels."""
    file: Annotated[str, Field(pattern=r"^scores-[0-9a-f]{12}\.npy$")]
    """Named by its digest: those of before stay whole until the record names the new ones."""
    scored: int
    """Pairs of chunk and item that have a score."""


class Manifest(_Record):
    """All of it."""

    format: Literal[2] = FORMAT
    program: str
    """The version that made it."""
    dataset: str
    """SHA-256 of the dataset's files and options."""
    split: str
    """Digest of who is in it."""
    chunking: Chunking
    embedder: EmbedderRecord
    chunks: int
    sessions: int
    participants: int
    scoring: ScoringRecord | None = None
    """`None` until the chunks are scored."""
    files: dict[str, str]
    """Name → SHA-256 of the file."""


def read_manifest(folder: Path) -> Manifest:
    """Read the record; raises `ArtifactMismatch` where it is missing, damaged or of other form."""
    try:
        content = read_regular(folder / MANIFEST_NAME, most_bytes=_MOST_BYTES)
    except FileNotFoundError:
        msg = f"{folder} holds no references; make them with: ai-psychiatrist references build"
        raise ArtifactMismatch(msg) from None
    except OSError as problem:
        msg = f"{folder / MANIFEST_NAME} cannot be read: {reason_of(problem)}"
        raise ArtifactMismatch(msg) from None
    try:
        return Manifest.model_validate_json(content)
    except ValidationError:
        msg = f"{folder / MANIFEST_NAME} is damaged or of another version; build it anew"
        raise ArtifactMismatch(msg) from None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the record, whole or not at all."""
    write_whole(folder / MANIFEST_NAME, [manifest.model_dump_json(indent=2).encode(), b"\n"])


def refuse_damaged(folder: Path, files: Mapping[str, str]) -> None:
    """Raise `ArtifactMismatch` where a file is missing or has other bytes than were written."""
    for name, digest in files.items():
        try:
            found = file_digest(folder / name)
        except OSError as problem:
            msg = f"{name!r} of the references cannot be read: {reason_of(problem)}; build anew"
            raise ArtifactMismatch(msg) from None
        if found != digest:
            msg = f"{name!r} of the references is damaged: its digest is not the one of the record"
            raise ArtifactMismatch(msg)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a regular file, hexadecimal. Raises `OSError`."""
    digest = hashlib.sha256()
    with open_regular(path, follows_links=False) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
