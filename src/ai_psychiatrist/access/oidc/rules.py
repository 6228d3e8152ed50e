"""What a token has to say to be taken."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from ai_psychiatrist.access.settings import AuthSettings
from ai_psychiatrist.domain.access import Principal, Scope, is_tenant

_TYPES: Final = frozenset({"at+jwt", "application/at+jwt", "jwt"})
_ID_DIGITS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRules:
    """Who gives tokens out, for whom, and which claims say what their holder may do."""

    issuer: str
    audience: str
    algorithms: frozenset[str]
    tenant_claim: str
    scope_claim: str

    @classmethod
    def of(cls, settings: AuthSettings) -> Self | None:
        """Return the rules of the settings, `None` where no issuer is named."""
        if settings.oidc_issuer is None:
            return None
        return cls(
            issuer=settings.oidc_issuer,
            audience=settings.oidc_audience or "",
            algorithms=frozenset(settings.oidc_algorithms),
            tenant_claim=settings.oidc_tenant_claim,
            scope_claim=settings.oidc_scope_claim,
        )

    def takes(self, header: Mapping[str, object]) -> bool:
        """Whether a header names an algorithm and a type that are taken, and asks for no more.

        Keys that it brings along, or says where to fetch, are never looked at.
        """
        kind = header.get("typ")
        return (
            header.get("alg") in self.algorithms
            and isinstance(kind, str)
            and kind.casefold() in _TYPES
            and "crit" not in header
        )

    def principal_of(self, claims: Mapping[str, object]) -> Principal | None:
        """Return whom claims stand for that were checked, `None` where they name no tenant."""
        tenant = claims.get(self.tenant_claim)
        if not (isinstance(tenant, str) and is_tenant(tenant)):
            return None
        subject = json.dumps([claims["iss"], claims["sub"]])
        digest = hashlib.sha256(subject.encode()).hexdigest()[:_ID_DIGITS]
        # What the token calls its holder is of no use here, and may be a person's name.
        return Principal(
            id=f"oidc:{digest}",
            name=f"oidc:{digest[:8]}",
            tenant=tenant,
            scopes=_scopes(claims.get(self.scope_claim)),
        )


def _scopes(claim: object) -> frozenset[Scope]:
    named = claim.split() if isinstance(claim, str) else claim
    if not isinstance(named, list):
        return frozenset()
    return frozenset(scope for scope in Scope if scope.value in named)
