"""What two runs were made with that is not the same: models, mode, prompts and settings."""

from collections.abc import Iterator, Mapping
from typing import Final

_PARTS: Final = (
    "mode",
    "references",
    "models",
    "reader",
    "variant",
    "prompts",
    "settings",
    "version",
)
_OF_OLD: Final = {"settings.judge.calls": "four"}
"""What holds where a record says nothing."""
_SHOWN_CHARACTERS: Final = 60


def made_otherwise(
    first: Mapping[str, object], second: Mapping[str, object]
) -> dict[str, tuple[str, str]]:
    """Return name → both values, such as `settings.judge.calls` → `four`, `one`.

    `first`, `second`: the records of two runs. A value that only one of them has is `none` in the
    other.
    """
    one, other = _flat(first), _flat(second)
    names = dict.fromkeys([*one, *other])
    found = {
        name: (one.get(name, _missing(name)), other.get(name, _missing(name))) for name in names
    }
    return {name: sides for name, sides in found.items() if sides[0] != sides[1]}


def _flat(record: Mapping[str, object]) -> dict[str, str]:
    return {
        name: value for part in _PARTS if part in record for name, value in _named(part, record)
    }


def _named(part: str, record: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    name, value = f"{prefix}{part}", record[part]
    if isinstance(value, Mapping):
        for inner in value:
            yield from _named(inner, value, f"{name}.")
    else:
        yield name, _written(value)


def _written(value: object) -> str:
    match value:
        case None:
            text = "none"
        case list():
            text = ", ".join(map(str, value)) or "none"
        case _:
            text = str(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _missing(name: str) -> str:
    return _OF_OLD.get(name, "none")
