"""Bearer tokens of an identity provider (OpenID Connect): its keys, and whom a token stands for."""

import asyncio
import json
import time
from base64 import urlsafe_b64decode
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import httpx2
from joserfc import errors, jwt
from joserfc.jwk import JWKRegistry, Key, KeySet
from joserfc.jws import extract_compact

from ai_psychiatrist.access.settings import AuthSettings
from ai_psychiatrist.domain.access import Principal, Scope, is_tenant
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import FileTooLarge, naming_setting, read_regular
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads

logger = get_logger(__name__)

FRESH_SECONDS: Final = 3_600.0
STALE_SECONDS: Final = 86_400.0
"""How old keys may be while no newer ones can be had."""
PAUSE_SECONDS: Final = 60.0
"""Between two looks for keys, whatever ids of keys are asked for."""
MOST_BYTES: Final = 262_144
"""Of a set of keys."""

_PUBLIC_PARTS: Final = frozenset({"kty", "kid", "n", "e", "crv", "x", "y"})
_OF_ID_TOKENS: Final = frozenset({"nonce", "at_hash", "c_hash"})
"""Claims that no access token has: who logs in at another service gets an ID token, too."""
_MALFORMED: Final = (
    errors.JoseError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    RecursionError,
)
"""What the library raises for what is no key or token: JSON can have any shape."""
_READERS: Final = WorkerThreads(count=2, seconds=10.0)


def public_keys(written: bytes) -> KeySet:
    """Return the keys of a JWK set that check signatures; the rest of it is left out.

    Raises `ConfigurationError` when it has no key that can be used.
    """
    keys: list[Key] = []
    with suppress(*_MALFORMED):
        for entry in json.loads(written)["keys"]:
            with suppress(*_MALFORMED):
                # Private parts are not wanted, and not kept.
                public = {name: entry[name] for name in _PUBLIC_PARTS & entry.keys()}
                if entry.get("use", "sig") == "sig" and _is_strong(public):
                    keys.append(JWKRegistry.import_key(public))
    if not keys:
        raise ConfigurationError("the key set of the issuer has no RSA or EC key for signatures")
    return KeySet(keys)


def _is_strong(public: Mapping[str, str]) -> bool:
    """Return whether it is a key of EC, or of RSA from 2,048 bits; the library takes any."""
    return public["kty"] == "EC" or (
        public["kty"] == "RSA"
        and int.from_bytes(urlsafe_b64decode(public["n"] + "==")).bit_length() >= 2_048
    )


def read_keys(path: Path) -> KeySet:
    """Read the keys of a file; raises `ConfigurationError`."""
    with naming_setting("AUTH_OIDC_JWKS_FILE"):
        return public_keys(read_regular(path, most_bytes=MOST_BYTES))


async def fetch_keys(url: str) -> KeySet:
    """Fetch the keys, from this address alone; raises `ConfigurationError`."""
    written = b""
    try:
        async with (
            asyncio.timeout(5.0),
            # In a thread, for it reads certificates: its own, whatever the environment names.
            await _READERS.run(partial(httpx2.AsyncClient, trust_env=False)) as client,
            client.stream("GET", url, headers={"Accept-Encoding": "identity"}) as response,
        ):
            response.raise_for_status()
            async for chunk in response.aiter_raw():
                written += chunk
                if len(written) > MOST_BYTES:
                    raise FileTooLarge
        return await _READERS.run(partial(public_keys, written))
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        status = (
            f" {error.response.status_code}" if isinstance(error, httpx2.HTTPStatusError) else ""
        )
        reason = f"{type(error).__name__}{status}"
        raise ConfigurationError(f"AUTH_OIDC_JWKS_URL gives no keys: {reason}") from None


class KeyCache:
    """The issuer's keys, loaded when they are needed; of many who wait one loads."""

    def __init__(
        self, load: Callable[[], Awaitable[KeySet]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._load, self._clock, self._lock = load, clock, asyncio.Lock()
        self._keys = KeySet([])
        self._loaded_at, self._tried_at = -STALE_SECONDS, -PAUSE_SECONDS

    async def find(self, key_id: str | None) -> Key | None:
        """Return the key of an id, `None` where the issuer has none or cannot be asked."""
        if self._known(key_id, FRESH_SECONDS) is None:
            async with self._lock:
                now = self._clock()
                if now - self._tried_at >= PAUSE_SECONDS:
                    self._tried_at = now
                    try:
                        self._keys, self._loaded_at = await self._load(), now
                    except (ConfigurationError, TimeoutError) as error:
                        logger.error("token_keys_not_loaded", reason=str(error) or "timed out")
        return self._known(key_id, STALE_SECONDS)

    def _known(self, key_id: str | None, oldest_seconds: float) -> Key | None:
        if self._clock() - self._loaded_at < oldest_seconds:
            # The only one there is needs no id.
            with suppress(errors.InvalidKeyIdError):
                return self._keys.get_by_kid(key_id)
        return None


class TokenVerifier:
    """Takes tokens of one issuer for one audience; of all others it only says that it does not."""

    def __init__(self, settings: AuthSettings) -> None:
        """Take the settings of an issuer, which `require_usable_issuer` looked at."""
        self._settings, file = settings, settings.oidc_jwks_file
        self._keys = KeyCache(
            partial(fetch_keys, settings.oidc_jwks_url or "")
            if file is None
            else partial(_READERS.run, partial(read_keys, file))
        )
        self._rules = jwt.JWTClaimsRegistry(
            leeway=60,  # how far the clocks of the issuer and of this machine may differ
            iss={"essential": True, "value": settings.oidc_issuer or ""},
            aud={"essential": True, "value": settings.oidc_audience or ""},
            exp={"essential": True},
            sub={"essential": True},
        )

    async def principal_of(self, token: str) -> Principal | None:
        """Return whom a token stands for, `None` for one that is not taken."""
        try:
            if len(token) > 8_192:
                raise errors.ExceededSizeError
            header = extract_compact(token.encode()).headers()
            # Keys that a header brings along, or says where to fetch, are never looked at.
            if (
                header["alg"] not in self._settings.oidc_algorithms
                or header["typ"].casefold().removeprefix("application/")
                not in self._settings.oidc_token_types
                or "crit" in header
            ):
                raise errors.UnsupportedHeaderError
            if (key := await self._keys.find(header.get("kid"))) is None:
                raise errors.InvalidKeyIdError
            claims = jwt.decode(token, key, self._settings.oidc_algorithms).claims
            self._rules.validate(claims)
            if claims.get("typ") == "ID" or not _OF_ID_TOKENS.isdisjoint(claims):
                raise errors.InvalidClaimError("typ")
            return self._principal(claims)
        except _MALFORMED as error:
            # A code of the library, never its words.
            logger.warning("token_refused", reason=getattr(error, "error", "malformed"))
        return None

    def _principal(self, claims: Mapping[str, Any]) -> Principal:
        tenant = claims[self._settings.oidc_tenant_claim]
        if not is_tenant(tenant):
            raise errors.InvalidClaimError(self._settings.oidc_tenant_claim)
        listed = claims.get(self._settings.oidc_scope_claim) or ()
        granted = listed.split() if isinstance(listed, str) else listed
        digest = sha256(json.dumps([claims["iss"], claims["sub"]]).encode()).hexdigest()
        # What the token calls its holder is of no use here, and may be a person's name.
        return Principal(
            id=f"oidc:{digest[:32]}",
            name=f"oidc:{digest[:8]}",
            tenant=tenant,
            scopes=frozenset(scope for scope in Scope if scope.value in granted),
        )
