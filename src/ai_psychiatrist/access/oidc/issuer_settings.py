"""Settings of the identity provider that cannot be followed."""

from importlib.util import find_spec

from ai_psychiatrist.access.settings import AuthSettings
from ai_psychiatrist.domain.errors import ConfigurationError


def refuse_unusable_issuer(settings: AuthSettings) -> None:
    """Raise `ConfigurationError`, naming the variable, where tokens could never be checked."""
    problem = _problem(settings)
    if problem is not None:
        raise ConfigurationError(problem)
    if settings.oidc_jwks_file is not None:
        from ai_psychiatrist.access.oidc.key_sources import keys_in_file  # noqa: PLC0415

        keys_in_file(settings.oidc_jwks_file)


def _problem(settings: AuthSettings) -> str | None:
    sources = (settings.oidc_jwks_file, settings.oidc_jwks_url)
    has_more = settings.oidc_audience is not None or sources != (None, None)
    if settings.oidc_issuer is None:
        alone = "set AUTH_OIDC_ISSUER as well, or leave out the other AUTH_OIDC_ settings"
        return alone if has_more else None
    faults = {
        "AUTH_REQUIRED=true: without it no token is looked at": not settings.required,
        "AUTH_OIDC_AUDIENCE: what a token has to be made for": settings.oidc_audience is None,
        "either AUTH_OIDC_JWKS_FILE or AUTH_OIDC_JWKS_URL": sum(map(bool, sources)) != 1,
        "the extra: pip install 'ai-psychiatrist[oidc]'": find_spec("joserfc") is None,
    }
    needed = next((cure for cure, is_wrong in faults.items() if is_wrong), None)
    return None if needed is None else f"AUTH_OIDC_ISSUER needs {needed}"
