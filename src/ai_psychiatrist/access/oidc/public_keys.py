"""The public keys of an issuer, as it publishes them."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.domain.errors import ConfigurationError

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, RSAKey

MOST_BYTES: Final = 262_144
_MOST_KEYS: Final = 100
_SHORTEST_RSA_BITS: Final = 2_048
_BITS_PER_DIGIT: Final = 6
"""Of base64."""


class KeysUnreadable(ConfigurationError):
    """What should be a set of public keys is none."""


class PublicKeys:
    """Keys by their id; what is no public key for signatures is left out."""

    def __init__(self, written: bytes) -> None:
        """Read a JWK set; raises `KeysUnreadable` when it has no key that can be used."""
        self._by_id: dict[str | None, RSAKey | ECKey] = {}
        for entry in _entries(written):
            key = _key(entry)
            if key is not None:
                self._by_id[_text(entry.get("kid"))] = key
        if not self._by_id:
            msg = "the key set of the issuer has no RSA or EC key for signatures"
            raise KeysUnreadable(msg)

    def find(self, key_id: object) -> "RSAKey | ECKey | None":
        """Return the key of an id; the only one there is needs none."""
        if key_id is None and len(self._by_id) == 1:
            return next(iter(self._by_id.values()))
        return self._by_id.get(key_id) if isinstance(key_id, str) else None


def _entries(written: bytes) -> list[Mapping[str, object]]:
    try:
        content = json.loads(written)
    except (ValueError, RecursionError):
        content = None
    found = content.get("keys") if isinstance(content, dict) else None
    if not isinstance(found, list) or len(found) > _MOST_KEYS:
        msg = "the key set of the issuer is no JSON object with a list of keys"
        raise KeysUnreadable(msg)
    return [entry for entry in found if isinstance(entry, dict)]


def _key(entry: Mapping[str, object]) -> "RSAKey | ECKey | None":
    from joserfc.errors import JoseError  # noqa: PLC0415
    from joserfc.jwk import ECKey, RSAKey  # noqa: PLC0415

    if entry.get("use", "sig") != "sig":
        return None
    # Private parts are not wanted, and not kept.
    parts = {name: _text(entry.get(name)) or "" for name in ("kty", "n", "e", "crv", "x", "y")}
    with suppress(JoseError, ValueError, TypeError):
        match parts["kty"]:
            case "RSA" if len(parts["n"]) * _BITS_PER_DIGIT >= _SHORTEST_RSA_BITS:
                key = RSAKey.import_key({"kty": "RSA", "n": parts["n"], "e": parts["e"]})
                return key if key.public_key.key_size >= _SHORTEST_RSA_BITS else None
            case "EC":
                names = ("kty", "crv", "x", "y")
                return ECKey.import_key({name: parts[name] for name in names})
    return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
