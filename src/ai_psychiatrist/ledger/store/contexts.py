"""What a step is asked about, as a ledger keeps it."""

import json
from collections.abc import Mapping
from typing import Protocol

from ai_psychiatrist.store.errors import refusing_damage


class ContextOf(Protocol):
    """Gives what a step was asked about for a unit; `None` when that is not known."""

    def __call__(self, unit_id: str, step: str, *, round: int = 0) -> bytes | None: ...  # noqa: A002


def write_context(context: Mapping[str, object] | None) -> bytes | None:
    """Return a context as a ledger keeps it, equal for equal contexts."""
    if context is None:
        return None
    text = json.dumps(context, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def read_context(content: bytes | None) -> dict[str, object] | None:
    """Return a context that `write_context` wrote; raises `LedgerUnusable` for another."""
    if content is None:
        return None
    with refusing_damage():
        return dict(json.loads(content.decode("utf-8", "surrogatepass")).items())
