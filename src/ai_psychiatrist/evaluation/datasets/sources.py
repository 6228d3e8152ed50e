"""Bytes of a dataset's files: read once for the digest, and again, unchanged, for a text."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError, TranscriptUnreadable
from ai_psychiatrist.infrastructure.given_files import (
    open_regular,
    read_at_most,
    read_regular,
    told,
)

MOST_BYTES: Final = 1 << 25
"""Bound on one file of a dataset that is read whole."""

_CHECK_BYTES: Final = 16
_BEGINNING_BYTES: Final = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSource:
    """Where the bytes of one unit lie, and a check that they are still the same."""

    path: Path
    check: bytes
    start: int = 0
    """In bytes; `length` is `None` for the whole file."""
    length: int | None = None

    @property
    def name(self) -> str:
        """The file's name, where it holds this unit alone: a hint at its form."""
        return self.path.name if self.length is None else ""

    def content(self) -> bytes:
        """Read the bytes again. Raises `TranscriptUnreadable` when they are not the same."""
        try:
            content = self._content()
        except OSError:
            msg = "the transcript's file cannot be read any more"
            raise TranscriptUnreadable(msg) from None
        if check_of(content) != self.check:
            msg = "the transcript's file has changed since the dataset was opened; open it again"
            raise TranscriptUnreadable(msg)
        return content

    def _content(self) -> bytes:
        with open_regular(self.path) as file:
            file.seek(self.start)
            return read_at_most(file, MOST_BYTES) if self.length is None else file.read(self.length)


def check_of(content: bytes) -> bytes:
    """Return a short digest that tells whether a file was changed."""
    return hashlib.blake2b(content, digest_size=_CHECK_BYTES).digest()


def content_of(path: Path) -> bytes:
    """Read a file of the dataset. Raises `InputError` when that cannot be done."""
    try:
        return read_regular(path, most_bytes=MOST_BYTES)
    except OSError as error:
        msg = f"{path.name!r} cannot be read: {told(error)}"
        raise InputError(msg, field="PATH") from None


def content_or_none(path: Path) -> bytes | None:
    """Read a file of one unit; `None` when that cannot be done, as other units still can."""
    try:
        return read_regular(path, most_bytes=MOST_BYTES)
    except OSError:
        return None


def beginning_of(path: Path) -> bytes | None:
    """Read the first bytes of a file, enough for a header; `None` when that cannot be done."""
    try:
        with open_regular(path) as file:
            return file.read(_BEGINNING_BYTES)
    except OSError:
        return None


class DatasetDigest:
    """SHA-256 over the files that are read, each with its name, and over the options."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, name: str, content: bytes | None) -> None:
        """Take in one file, `None` for an unreadable one; the order of the calls counts."""
        length = None if content is None else len(content)
        self._hash.update(json.dumps([name, length]).encode())
        self._hash.update(hashlib.sha256(content or b"").digest())

    def hexdigest(self, options: Mapping[str, str]) -> str:
        """Return the digest of all that was added and of the options, as hexadecimal digits."""
        whole = self._hash.copy()
        whole.update(json.dumps(dict(options), sort_keys=True).encode())
        return whole.hexdigest()


def unreadable(unit_id: str) -> TranscriptUnreadable:
    """Return the error for a unit whose text is missing or cannot be used."""
    msg = (
        f"unit {unit_id!r} has no transcript that can be read; "
        "`ai-psychiatrist evaluate datasets check` says why"
    )
    return TranscriptUnreadable(msg)
