"""Encryption of what a ledger keeps of patients' and models' words."""

import os
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError

_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12


class Cipher:
    """AES-256-GCM with a random nonce in front: seals bytes for one place, opens them there alone.

    The place is authenticated with the content.
    """

    def __init__(self, key: bytes) -> None:
        try:
            # An optional extra: only encrypted ledgers need it.
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415
        except ImportError:
            msg = "LEDGER_KEY_FILE needs an extra: pip install 'ai-psychiatrist[encryption]'"
            raise ConfigurationError(msg) from None
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
            msg = "the ledger was encrypted with another key, or was changed: check LEDGER_KEY_FILE"
            raise ConfigurationError(msg) from None


def load_cipher(path: Path) -> Cipher:
    """Read a key of 32 bytes in hexadecimal digits and return what encrypts with it.

    Raises `ConfigurationError` when the file holds no such key or the `encryption` extra is not
    installed.
    """
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except OSError as error:
        msg = f"LEDGER_KEY_FILE cannot be read: {error.strerror}"
        raise ConfigurationError(msg) from None
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        msg = (
            "LEDGER_KEY_FILE holds no key: 32 bytes in hexadecimal are wanted; "
            "make one with `openssl rand -hex 32`"
        )
        raise ConfigurationError(msg)
    return Cipher(key)
