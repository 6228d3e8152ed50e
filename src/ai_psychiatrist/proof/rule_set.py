"""The digest of the rules that read quotes: the same digest reads the same facts."""

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

_ROOMS: Final = (
    "agents/contracts",
    "agents/item_rules.py",
    "domain",
    "services/evidence_validation",
    "services/language",
    "services/risk",
)
"""The packages and modules that decide what a quote says, and what a score may stand on."""


@cache
def rule_set_digest() -> str:
    """Return SHA-256 over the files of these packages, code and vocabularies alike."""
    whole = hashlib.sha256()
    package = files("ai_psychiatrist")
    for room in _ROOMS:
        for name, content in _contents(package.joinpath(room), room):
            whole.update(f"{name}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()


def _contents(source: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    if not source.is_dir():
        yield name, source.read_bytes()
        return
    for one in sorted(source.iterdir(), key=lambda one: one.name):
        if one.name != "__pycache__" and not one.name.endswith(".pyc"):
            yield from _contents(one, f"{name}/{one.name}")
