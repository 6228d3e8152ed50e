"""The digest of the rules that read quotes: the same digest reads the same facts."""

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

_ROOMS: Final = (
    "agents/contracts",
    "domain",
    "services/evidence_validation",
    "services/language",
    "services/risk",
)
"""The packages that decide what a quote says, and what a score may stand on."""


@cache
def rule_set_digest() -> str:
    """Return SHA-256 over the files of these packages, code and vocabularies alike."""
    whole = hashlib.sha256()
    package = files("ai_psychiatrist")
    for room in _ROOMS:
        for name, content in _contents(package.joinpath(room), room):
            whole.update(f"{name}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()


def _contents(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        path = f"{name}/{one.name}"
        if one.is_dir():
            if one.name != "__pycache__":
                yield from _contents(one, path)
        elif not one.name.endswith(".pyc"):
            yield path, one.read_bytes()
