"""The labelled sets: those that rules are tuned to, and the sealed ones."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

BENCHMARKS: Final = Path(__file__).parents[1]
TUNING: Final = BENCHMARKS / "labelled" / "meaning"
SEALED: Final = BENCHMARKS / "sealed"
_LISTED: Final = re.compile(r"^\| `(\S+\.gz)` \| (\d+) \| `([0-9a-f]{64})` \|$", re.MULTILINE)

Record = Mapping[str, Any]
"""A line of a set, as it was written."""


class SealBroken(Exception):
    """A sealed file is not the one that its folder's README lists."""


def tuning(kind: str) -> tuple[Record, ...]:
    """Load all tuning sets of a kind: `items`, `interviews`, `sessions` or `danger`."""
    files = sorted((TUNING / kind).glob("*.jsonl"))
    return tuple(record for file in files for record in records_of(file))


def open_sealed(name: str, folder: Path) -> tuple[Record, ...]:
    """Load a sealed set. Raises `SealBroken` when its file is not as listed."""
    file = folder / f"{name}.jsonl.gz"
    if digest_of(file) != listed_digests(folder).get(file.name):
        raise SealBroken(file.name)
    return tuple(_records(gzip.decompress(file.read_bytes()).decode("utf-8")))


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file as it lies there, which opens nothing."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def listed_digests(folder: Path) -> dict[str, str]:
    """Return file name → SHA-256 as the folder's README lists them."""
    listed = _LISTED.findall((folder / "README.md").read_text("utf-8"))
    return {name: digest for name, _, digest in listed}


def records_of(file: Path) -> Iterator[Record]:
    """Yield the records of a file of JSON lines."""
    return _records(file.read_text("utf-8"))


def _records(text: str) -> Iterator[Record]:
    return (json.loads(line) for line in text.split("\n") if line.strip())


def transcript_of(record: Record) -> str:
    """Write a statement with its question, or all turns of a conversation, as a transcript."""
    turns = record.get("turns") or [
        {"speaker": speaker, "text": text}
        for speaker, text in (("interviewer", record["question"]), ("participant", record["text"]))
        if text
    ]
    return "\n".join(
        f"{turn['speaker'].title()}: {' '.join(turn['text'].split())}" for turn in turns
    )
