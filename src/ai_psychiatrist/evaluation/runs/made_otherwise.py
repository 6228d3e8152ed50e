"""What two runs were made with that is not the same: models, mode, prompts and settings."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from ai_psychiatrist.llm.providers import provider_of

_PARTS: Final = (
    "mode",
    "references",
    "models",
    "addresses",
    "weights",
    "served_models",
    "reader",
    "variant",
    "prompts",
    "settings",
    "calls",
    "version",
)
_CALLS: Final = "calls."
_ADDRESSES: Final = "addresses."
_OF_OLD: Final = {"settings.judge.calls": "four"}
"""What holds where a record says nothing."""
_SHOWN_CHARACTERS: Final = 60


def made_otherwise(
    first: Mapping[str, object],
    second: Mapping[str, object],
    *,
    parts: Collection[str] = _PARTS,
) -> dict[str, tuple[str, str]]:
    """Return name → both values, such as `settings.judge.calls` → `four`, `one`.

    `first`, `second`: the records of two runs. `parts`: of them. A value that only one of them has
    is `none` in the other.
    """
    one, other = _flat(first, parts), _flat(second, parts)
    names = dict.fromkeys([*one, *other])
    found = {
        name: (one.get(name, _missing(name)), other.get(name, _missing(name))) for name in names
    }
    return {name: sides for name, sides in found.items() if sides[0] != sides[1]}


def _flat(record: Mapping[str, object], parts: Collection[str]) -> dict[str, str]:
    return {
        _told(name): value
        for part in _PARTS
        if part in parts and part in record
        for name, value in _named(part, record)
    }


def _told(name: str) -> str:
    """Name the setting behind what shapes calls: its variable is what a reader can change."""
    if name.startswith(_CALLS):
        variable, dot, rest = name.removeprefix(_CALLS).partition(".")
        return f"{variable.upper()}{dot}{rest}"
    provider = provider_of(name.removeprefix(_ADDRESSES))
    if name.startswith(_ADDRESSES) and provider is not None:
        return f"{provider.url_variable} ({name})"
    return name


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
