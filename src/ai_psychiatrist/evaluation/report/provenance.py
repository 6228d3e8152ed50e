"""Where a run comes from, flattened into names and values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.evaluation.report.figure_row import grouped, words

MOST_ENTRIES: Final = 60
"""Of one block; what is left out is counted."""
MOST_CHARACTERS: Final = 200
_FACTS: Final = (
    ("Dataset", ("dataset", "kind"), False),
    ("Dataset digest", ("dataset", "digest"), True),
    ("Mode", ("mode",), False),
    ("Version", ("version",), False),
    ("Commit", ("git_commit",), True),
)
_LOOKS_LIKE_CODE: Final = ("digest", "commit", "model", "prompt", "contract")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of a block."""

    name: str
    value: str
    is_code: bool
    """Whether it is an identifier rather than words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One part of the provenance, such as the dataset or the settings."""

    title: str
    entries: tuple[Entry, ...]
    left_out: int


def blocks_of(provenance: Mapping[str, object]) -> tuple[Block, ...]:
    """Return what stands at the top as one block, and each nested part as its own."""
    plain = {name: value for name, value in provenance.items() if not isinstance(value, Mapping)}
    nested = {name: value for name, value in provenance.items() if isinstance(value, Mapping)}
    found = [_block("run", plain), *(_block(name, part) for name, part in nested.items())]
    return tuple(block for block in found if block.entries)


def _block(title: str, part: Mapping[str, object]) -> Block:
    entries = tuple(_entries(part, title))
    return Block(
        title=words(title).capitalize(),
        entries=entries[:MOST_ENTRIES],
        left_out=max(len(entries) - MOST_ENTRIES, 0),
    )


def _entries(part: Mapping[str, object], title: str, prefix: str = "") -> Iterator[Entry]:
    for name, value in part.items():
        if isinstance(value, Mapping):
            yield from _entries(value, title, f"{prefix}{name}.")
            continue
        is_code = any(sign in f"{title}.{prefix}{name}".lower() for sign in _LOOKS_LIKE_CODE)
        yield Entry(
            name=words(f"{prefix}{name}"),
            value=_shortened(_written(value)),
            is_code=is_code and isinstance(value, str | list),
        )


def _written(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case int():
            return grouped(value)
        case str():
            return value
        case Sequence():
            return ", ".join(map(_written, value)) or "none"
        case _:
            return str(value)


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def value_at(provenance: Mapping[str, object], *path: str) -> object | None:
    """Return what lies at a path, or `None` when nothing does."""
    found: object = provenance
    for name in path:
        if not isinstance(found, Mapping):
            return None
        found = found.get(name)
    return found


def facts_of(run_name: str, provenance: Mapping[str, object]) -> tuple[Entry, ...]:
    """Return the few lines that tell this run from another."""
    known = [(name, value_at(provenance, *path), is_code) for name, path, is_code in _FACTS]
    return (
        Entry(name="Run", value=_shortened(run_name), is_code=False),
        *(
            Entry(name=name, value=value[:12] if is_code else words(value), is_code=is_code)
            for name, value, is_code in known
            if isinstance(value, str)
        ),
    )
