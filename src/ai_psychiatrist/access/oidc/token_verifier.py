"""Whom a bearer token stands for, if anybody."""

import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.access.oidc.key_cache import KeyCache
from ai_psychiatrist.access.oidc.key_sources import fetch_keys, read_keys
from ai_psychiatrist.access.oidc.rules import TokenRules
from ai_psychiatrist.access.settings import AuthSettings
from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, RSAKey

logger = get_logger(__name__)

LEEWAY_SECONDS: Final = 60
"""How far the clocks of the issuer and of this machine may differ."""
_MOST_CHARACTERS: Final = 8_192
_VERIFIERS: Final = WorkerThreads(count=4, seconds=10.0)


class _Refused(StrEnum):
    """Why a token is not taken: for the log, and for nobody who calls."""

    SIZE = "no_token"
    HEADER = "algorithm_or_type_not_taken"
    KEY = "key_unknown"
    CLAIMS = "signature_or_claims_wrong"
    TENANT = "no_tenant"


class TokenVerifier:
    """Takes tokens of one issuer for one audience; of all others it only says that it does not."""

    def __init__(
        self, rules: TokenRules, keys: KeyCache, now: Callable[[], float] = time.time
    ) -> None:
        self._rules = rules
        self._keys = keys
        self._now = now

    async def principal_of(self, token: str) -> Principal | None:
        """Return whom a token stands for, `None` for one that is not taken."""
        found = await self._looked_at(token)
        if isinstance(found, Principal):
            return found
        logger.warning("token_refused", reason=found)
        return None

    async def _looked_at(self, token: str) -> Principal | _Refused:
        if not (token.isascii() and 0 < len(token) <= _MOST_CHARACTERS):
            return _Refused.SIZE
        header = await _VERIFIERS.run(partial(_header, token))
        if header is None or not self._rules.takes(header):
            return _Refused.HEADER
        key = await self._keys.find(header.get("kid"))
        if key is None:
            return _Refused.KEY
        claims = await _VERIFIERS.run(partial(self._claims, token, key))
        if claims is None:
            return _Refused.CLAIMS
        return self._rules.principal_of(claims) or _Refused.TENANT

    def _claims(self, token: str, key: "RSAKey | ECKey") -> Mapping[str, object] | None:
        from joserfc import jwt  # noqa: PLC0415
        from joserfc.errors import JoseError  # noqa: PLC0415

        rules = self._rules
        registry = jwt.JWTClaimsRegistry(
            now=int(self._now()),
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": rules.issuer},
            aud={"essential": True, "value": rules.audience},
            exp={"essential": True},
            sub={"essential": True},
        )
        try:
            claims = jwt.decode(token, key, algorithms=sorted(rules.algorithms)).claims
            registry.validate(claims)
        except (JoseError, ValueError, TypeError, RecursionError):
            return None
        return claims


def token_verifier(settings: AuthSettings) -> TokenVerifier | None:
    """Return what checks tokens, `None` where no issuer is named."""
    rules = TokenRules.of(settings)
    if rules is None:
        return None
    if settings.oidc_jwks_file is not None:
        return TokenVerifier(rules, KeyCache(partial(read_keys, settings.oidc_jwks_file)))
    return TokenVerifier(rules, KeyCache(partial(fetch_keys, settings.oidc_jwks_url or "")))


def _header(token: str) -> Mapping[str, object] | None:
    from joserfc.errors import JoseError  # noqa: PLC0415
    from joserfc.jws import extract_compact  # noqa: PLC0415

    try:
        return extract_compact(token.encode()).headers()
    except (JoseError, ValueError, TypeError, RecursionError):
        return None
