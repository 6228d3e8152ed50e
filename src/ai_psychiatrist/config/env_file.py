"""The file `.env`: what it sets, and where, so that a line of it never has to be shown."""

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dotenv.parser import Binding, parse_stream

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import FileTooLarge, read_regular

MOST_BYTES: Final = 1 << 20

_NAME: Final = re.compile(r"[A-Z][A-Z0-9]{0,15}(_[A-Z0-9]{1,15}){0,9}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvFile:
    """What a file sets."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    lines: Mapping[str, int] = field(default_factory=dict, repr=False)
    """Name → the line at which it stands, counted from 1."""
    bare: frozenset[str] = field(default=frozenset(), repr=False)
    """Names without a value behind them: a stray line is read as one."""
    unread_lines: tuple[int, ...] = ()
    """Lines that set nothing and are no comment."""


def read_env_file(path: Path | None) -> EnvFile:
    """Read a file; one that is not there, and what is no file, sets nothing.

    Raises `ConfigurationError` for a file that cannot be read.
    """
    if path is None or not path.is_file():
        return EnvFile()
    try:
        text = read_regular(path, most_bytes=MOST_BYTES).decode("utf-8")
    except FileTooLarge:
        msg = f"{path} cannot be read; it is larger than {MOST_BYTES} bytes"
        raise ConfigurationError(msg) from None
    except (OSError, UnicodeDecodeError):
        msg = f"{path} cannot be read; it has to be a text file in UTF-8"
        raise ConfigurationError(msg) from None
    found = list(parse_stream(io.StringIO(text)))
    named = {binding.key: binding for binding in found if binding.key is not None}
    return EnvFile(
        values={name: binding.value or "" for name, binding in named.items()},
        lines={name: _line(binding) for name, binding in named.items()},
        bare=frozenset(name for name, binding in named.items() if binding.value is None),
        unread_lines=tuple(_line(binding) for binding in found if binding.error),
    )


def is_plain_name(name: str) -> bool:
    """Return whether a text has the form of a variable's name, and not that of a key."""
    return _NAME.match(name) is not None


def _line(binding: Binding) -> int:
    """Return where a binding stands; the blank lines before it count as its own."""
    text = binding.original.string
    blank = text[: len(text) - len(text.lstrip())]
    return binding.original.line + len(blank.splitlines())
