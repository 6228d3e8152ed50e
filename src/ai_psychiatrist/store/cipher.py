"""Encryption of what is kept of people's and models' words, and the files of its keys.

The library is loaded with the first key: that takes 50 ms, which most commands need not wait for.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import (
    FileTooLarge,
    open_regular,
    read_at_most,
    read_regular,
)
from ai_psychiatrist.infrastructure.private_files import require_private, write_new

KEY_BYTES: Final = 32
_MOST_KEY_FILE_BYTES: Final = 1_024

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
        written = read_regular(path, most_bytes=_MOST_KEY_FILE_BYTES)
    except FileTooLarge:
        written = b""
    except OSError as error:
        reason = error.strerror or "it is no regular file"
        msg = f"{name} cannot be read: {reason}"
        raise ConfigurationError(msg) from None
    key = _key_in(written)
    if key is None:
        msg = (
            f"{name} holds no key: 32 bytes in hexadecimal are wanted; "
            "make one with `openssl rand -hex 32`"
        )
        raise ConfigurationError(msg)
    return key


def _key_in(written: bytes) -> bytes | None:
    """Return the key that a file holds, `None` when it holds none."""
    try:
        key = bytes.fromhex(written.decode("ascii").strip())
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreKeys:
    """Where the keys are that may open a store."""

    own: Path
    """Used while no key is named; made for a file that is not encrypted yet."""
    named: Path | None = None

    def first(self) -> Cipher:
        """Return what a file is encrypted with from now on.

        Raises `ConfigurationError` for a key that others can read or that is none.
        """
        if self.named is not None:
            return load_cipher(self.named)
        return Cipher(self._own_key() or self._made_key())

    def opened(self, *sealed: bytes, place: str) -> tuple[Cipher, bytes]:
        """Return what opens bytes that were sealed before, and the first of them that it opens.

        The own key is tried after the named one, so that who names a key later, for the sake of
        runs, keeps what is stored. Raises `ConfigurationError` when neither fits.
        """
        for cipher in self._known():
            for one in sealed:
                with suppress(ConfigurationError):
                    return cipher, cipher.unseal(one, place=place)
        msg = (
            "the stored assessments are encrypted with another key: set DATA_KEY_FILE to it, or "
            f"put it back at {str(self.own)!r}"
        )
        raise ConfigurationError(msg)

    def _known(self) -> Iterator[Cipher]:
        if self.named is not None:
            yield load_cipher(self.named)
        own = self._own_key()
        if own is not None:
            yield Cipher(own)

    def _own_key(self) -> bytes | None:
        try:
            with open_regular(self.own, follows_links=False) as file:
                require_private(os.fstat(file.fileno()), self.own)
                written = read_at_most(file, _MOST_KEY_FILE_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            reason = error.strerror or "it is a link or no regular file"
            msg = f"the key of the stored assessments cannot be read: {reason}: {str(self.own)!r}"
            raise ConfigurationError(msg) from None
        key = _key_in(written)
        if key is None:
            msg = f"the key of the stored assessments is damaged: put it back at {str(self.own)!r}"
            raise ConfigurationError(msg)
        return key

    def _made_key(self) -> bytes:
        """Write a new key; of several processes that start at once the first one's is kept by all.

        It is on the disk before anything is encrypted with it.
        """
        key = os.urandom(KEY_BYTES)
        try:
            write_new(self.own, [key.hex().encode()])
        except FileExistsError:
            return self._own_key() or key
        except OSError as error:
            reason = f"{error.strerror}: {str(self.own)!r}"
            msg = f"the key of the stored assessments cannot be made: {reason}"
            raise ConfigurationError(msg) from None
        return key
