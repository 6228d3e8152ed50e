"""The key of a store: one that the operator names, or our own, made when it is needed."""

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import open_regular, read_at_most
from ai_psychiatrist.infrastructure.private_files import require_private, write_new
from ai_psychiatrist.store.cipher import (
    KEY_BYTES,
    MOST_KEY_FILE_BYTES,
    Cipher,
    key_in,
    load_cipher,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreKeys:
    """Where the keys are that may open a store."""

    own: Path
    """Used while no key is named; made for a file that is not encrypted yet."""
    named: Path | None = None
    kept: str = "the interviews"
    """What the store keeps, as its errors call it."""

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
            f"{self.kept} are encrypted with another key: set DATA_KEY_FILE to it, or put it "
            f"back at {str(self.own)!r}"
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
                written = read_at_most(file, MOST_KEY_FILE_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            reason = error.strerror or "it is a link or no regular file"
            msg = f"the key of {self.kept} cannot be read: {reason}: {str(self.own)!r}"
            raise ConfigurationError(msg) from None
        key = key_in(written)
        if key is None:
            msg = f"the key of {self.kept} is damaged: put it back at {str(self.own)!r}"
            raise ConfigurationError(msg)
        return key

    def _made_key(self) -> bytes:
        """Write a new key; of several processes that start at once the first one's is kept by all.

        It is on the disk before anything is encrypted with it.
        """
        key = secrets.token_bytes(KEY_BYTES)
        try:
            write_new(self.own, [key.hex().encode()])
        except FileExistsError:
            return self._own_key() or key
        except OSError as error:
            msg = f"the key of {self.kept} cannot be made: {error.strerror}: {str(self.own)!r}"
            raise ConfigurationError(msg) from None
        return key
