"""Keyed digests of patient text: equal texts show in logs as equal, guesses cannot be checked.

A short quote has so few likely wordings that a plain hash of it can be reversed by trying them; a
digest under a key that never leaves the installation cannot.
"""

import hashlib
import hmac
import os
import secrets
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import (
    NotRegularFile,
    open_regular,
    read_at_most,
)
from ai_psychiatrist.infrastructure.private_files import require_private, write_new, write_whole
from ai_psychiatrist.infrastructure.runtime import (
    KEY_BYTES,
    Runtime,
    current_runtime,
    use_runtime,
    using_runtime,
)

KEY_NAME: Final = "digest.key"
"""In the folder of the installation's state."""
_SHORTEST_KEY_BYTES: Final = 16
_MOST_KEY_BYTES: Final = 1_024


def use_installation_key(key: bytes) -> None:
    """Make the keyed digests of this task, and of those it starts, use `key`: at least 16 bytes."""
    use_runtime(_with_key(key))


def using_installation_key(key: bytes) -> AbstractContextManager[None]:
    """Use `key` inside the block, and after it again the one before, whatever was used inside."""
    return using_runtime(_with_key(key))


def _with_key(key: bytes) -> Runtime:
    if len(key) < _SHORTEST_KEY_BYTES:
        msg = f"an installation key has at least {_SHORTEST_KEY_BYTES} bytes"
        raise ValueError(msg)
    return replace(current_runtime(), digest_key=key)


def derived_key(key: bytes, purpose: str) -> bytes:
    """Return a key of its own for a purpose, by HKDF with SHA-256 (RFC 5869); 32 bytes.

    Neither the key nor what is derived for another purpose can be found from it.
    """
    extracted = hmac.digest(bytes(hashlib.sha256().digest_size), key, hashlib.sha256)
    return hmac.digest(extracted, purpose.encode() + b"\x01", hashlib.sha256)


def load_installation_key(path: Path) -> bytes:
    """Read the key file, or write a new one that only its owner can read.

    A file that holds no key, such as one that was cut off, is replaced. Raises `OSError` when it
    can be neither read nor written, and `ConfigurationError` for a link and for a file that
    others can read.
    """
    return _read_key(path) or _write_key(path)


def _read_key(path: Path) -> bytes | None:
    try:
        with open_regular(path, follows_links=False) as file:
            require_private(os.fstat(file.fileno()), path)
            key = bytes.fromhex(read_at_most(file, _MOST_KEY_BYTES).decode("ascii").strip())
    except NotRegularFile:
        msg = f"no file, but a link or a device: put the file itself at {str(path)!r}"
        raise ConfigurationError(msg) from None
    except (FileNotFoundError, ValueError):
        return None
    return key if len(key) >= _SHORTEST_KEY_BYTES else None


def _write_key(path: Path) -> bytes:
    """Write a new key; of several processes that start at once the first one's is kept by all."""
    key = secrets.token_bytes(KEY_BYTES)
    try:
        write_new(path, [key.hex().encode()])
    except FileExistsError:
        written = _read_key(path)
        if written is not None:
            return written
        write_whole(path, [key.hex().encode()])
    return key


def keyed_digest(text: str, *, length: int = 12) -> str:
    """Return `length` hex digits of a digest that only this installation can recompute."""
    data = text.encode("utf-8", "surrogatepass")
    return hmac.new(current_runtime().digest_key, data, hashlib.sha256).hexdigest()[:length]


def plain_digest(text: str, *, length: int = 12) -> str:
    """Return `length` hex digits of SHA-256; for prompts and artefacts, never for patient text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:length]
