"""Encryption of what a ledger, or the file of the interviews, keeps of people's and models' words.

The library is loaded with the first key: that takes 50 ms, which most commands need not wait for.
"""

import os
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import FileTooLarge, read_regular

KEY_BYTES: Final = 32
MOST_KEY_FILE_BYTES: Final = 1_024

_NONCE_BYTES: Final = 12


class Cipher:
    """AES-256-GCM with a random nonce in front: seals bytes for one place, opens them there alone.

    The place is authenticated with the content.
    """

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

        self._aead = AESGCM(key)

    def seal(self, content: bytes, *, place: str) -> bytes:
        """Return nonce and encrypted content."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._aead.encrypt(nonce, content, place.encode())

    def unseal(self, sealed: bytes, *, place: str) -> bytes:
        """Return the content; raises `ConfigurationError` for another key, place or content."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415

        nonce, content = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            return self._aead.decrypt(nonce, content, place.encode())
        except (InvalidTag, ValueError):
            msg = "the ledger was encrypted with another key, or was changed: check DATA_KEY_FILE"
            raise ConfigurationError(msg) from None


def cipher_of(key_file: Path | None) -> Cipher | None:
    """Return what encrypts with the key of a file, `None` where none is named.

    Raises `ConfigurationError` as `load_cipher` does.
    """
    return None if key_file is None else load_cipher(key_file)


def load_cipher(path: Path, *, name: str = "DATA_KEY_FILE") -> Cipher:
    """Return what encrypts with the key of a file; raises as `load_key` does."""
    return Cipher(load_key(path, name=name))


def load_key(path: Path, *, name: str = "DATA_KEY_FILE") -> bytes:
    """Return the key in a file, 32 bytes in hexadecimal digits.

    `name`: of the setting or option that names the file, for errors.
    Raises `ConfigurationError` when the file holds no such key.
    """
    try:
        written = read_regular(path, most_bytes=MOST_KEY_FILE_BYTES)
    except FileTooLarge:
        written = b""
    except OSError as error:
        reason = error.strerror or "it is no regular file"
        msg = f"{name} cannot be read: {reason}"
        raise ConfigurationError(msg) from None
    key = key_in(written)
    if key is None:
        msg = (
            f"{name} holds no key: 32 bytes in hexadecimal are wanted; "
            "make one with `openssl rand -hex 32`"
        )
        raise ConfigurationError(msg)
    return key


def key_in(written: bytes) -> bytes | None:
    """Return the key that a file holds, `None` when it holds none."""
    try:
        key = bytes.fromhex(written.decode("ascii").strip())
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES else None
