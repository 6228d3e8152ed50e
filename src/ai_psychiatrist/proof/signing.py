"""Sign certificates with the Ed25519 key of an installation."""

from pathlib import Path

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import naming_setting, read_regular
from ai_psychiatrist.infrastructure.private_files import require_secret

_KEY_BYTES = 32
_MOST_FILE_BYTES = 1_024
_CURE = "make one with `(umask 077; openssl rand -hex 32 > FILE)`"


class Signer:
    """Signs with one key. The library is loaded with it: most commands sign nothing."""

    def __init__(self, seed: bytes) -> None:
        """`seed`: 32 bytes, the private key of RFC 8032."""
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415

        self._key = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
        self.public_key = self._key.public_key().public_bytes_raw().hex()
        """32 bytes in hexadecimal, for those who check."""

    def sign(self, content: bytes) -> str:
        """Return the signature, 64 bytes in hexadecimal."""
        return self._key.sign(content).hex()


def signer_of(key_file: Path | None) -> Signer | None:
    """Return what signs with the key of a file, `None` where none is named.

    Raises `ConfigurationError` for a file that holds no key, or that others than its owner and
    group can read.
    """
    return None if key_file is None else Signer(_seed_in(key_file))


def _seed_in(path: Path) -> bytes:
    with naming_setting("CERTIFICATE_KEY_FILE"):
        found = path.stat()
        written = read_regular(path, most_bytes=_MOST_FILE_BYTES)
    require_secret(found, setting="CERTIFICATE_KEY_FILE")
    try:
        seed = bytes.fromhex(written.decode("ascii").strip())
    except ValueError:
        seed = b""
    if len(seed) != _KEY_BYTES or not any(seed):
        msg = f"CERTIFICATE_KEY_FILE holds no key of 32 bytes in hexadecimal; {_CURE}"
        raise ConfigurationError(msg)
    return seed
