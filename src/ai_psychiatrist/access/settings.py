"""Settings of who may come in."""

from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import (
    CommaList,
    Options,
    WebAddress,
    is_of_this_machine,
)

_ALGORITHMS: Final = tuple(
    f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)
)


def _safe_address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "https" and not is_of_this_machine(parts.hostname or ""):
        msg = "keys are accepted over https only, except from this machine"
        raise ValueError(msg)
    if parts.username or parts.password or parts.fragment:
        msg = "the address of the keys holds no user, no password and no fragment"
        raise ValueError(msg)
    return url


def _some_of(known: tuple[str, ...], otherwise: str) -> AfterValidator:
    """Return what takes some of the values that are known, and says `otherwise` of any other."""

    def check(values: tuple[str, ...]) -> tuple[str, ...]:
        if not values or not set(values) <= set(known):
            raise ValueError(otherwise)
        return values

    return AfterValidator(check)


class AuthSettings(Options):
    """Who has access."""

    model_config = SettingsConfigDict(env_prefix="AUTH_")

    required: bool = Field(
        default=False,
        description="Require a key of every caller; `ai-psychiatrist keys create` makes one.",
    )
    oidc_issuer: str | None = Field(
        default=None,
        description="Also accept bearer tokens of this identity provider (`iss`).",
    )
    oidc_audience: str | None = Field(
        default=None, description="The `aud` that such a token has to contain: this service."
    )
    oidc_jwks_url: Annotated[WebAddress, AfterValidator(_safe_address)] | None = Field(
        default=None, description="Address of the provider's keys; https."
    )
    oidc_jwks_file: Path | None = Field(
        default=None, description="File with the provider's keys, instead of their address."
    )
    oidc_algorithms: Annotated[
        CommaList[str],
        _some_of(
            _ALGORITHMS,
            f"the algorithms are {', '.join(_ALGORITHMS)}; none and HS256 prove nothing",
        ),
    ] = Field(default=("RS256", "ES256"), description="Accepted signature algorithms.")
    oidc_token_types: Annotated[
        CommaList[Annotated[str, AfterValidator(str.casefold)]],
        _some_of(("at+jwt", "jwt"), "the types of access tokens are at+jwt and JWT"),
    ] = Field(
        default=("at+jwt",),
        description="Accepted types of tokens (`typ`); some providers need JWT as well.",
    )
    oidc_tenant_claim: str = Field(
        default="tenant", description="Claim with the tenant of the holder."
    )
    oidc_scope_claim: str = Field(
        default="scope",
        description="Claim with the scopes: assess, read, review, admin and metrics.",
    )
