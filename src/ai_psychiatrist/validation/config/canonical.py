"""Write configuration in one form, so that equal ones have equal digests."""

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass

from pydantic import BaseModel


def canonical_json(config: object) -> bytes:
    """Return a configuration as JSON with sorted keys.

    Records count by their fields, and sets by their sorted members.
    """
    text = json.dumps(_plain(config), sort_keys=True, separators=(",", ":"))
    return text.encode("ascii")


def _plain(config: object) -> object:
    if is_dataclass(config) and not isinstance(config, type):
        return {item.name: _plain(getattr(config, item.name)) for item in fields(config)}
    if isinstance(config, BaseModel):
        return {name: _plain(value) for name, value in config}
    if isinstance(config, Mapping):
        return {str(key): _plain(value) for key, value in config.items()}
    if isinstance(config, AbstractSet):
        return sorted(str(member) for member in config)
    if isinstance(config, list | tuple):
        return [_plain(member) for member in config]
    return config
