"""What settings cannot mean together, or on this machine; found before anything starts."""

from importlib.util import find_spec

from ai_psychiatrist.access.settings import AuthSettings
from ai_psychiatrist.config.settings import Settings
from ai_psychiatrist.domain.access import TENANT_CURE, is_tenant
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.jobs.settings import danger_callback, signing_keys
from ai_psychiatrist.proof.signing import signer_of
from ai_psychiatrist.services.evidence_validation.quote_search import similarity_package
from ai_psychiatrist.store.cipher import load_cipher


def refuse_contradictions(settings: Settings) -> None:
    """Raise `ConfigurationError`, naming the variable, for settings that nothing can follow."""
    if settings.features.enable_few_shot and settings.references.dir is None:
        msg = (
            "ENABLE_FEW_SHOT=true cannot be followed without references: set REFERENCES_DIR to a "
            "folder that `ai-psychiatrist references build` made, or ENABLE_FEW_SHOT to false"
        )
        raise ConfigurationError(msg)
    if settings.quantitative.evidence_quote_validation_mode == "fuzzy":
        similarity_package()
    if settings.telemetry.worker_port and not settings.telemetry.metrics:
        msg = (
            "TELEMETRY_WORKER_PORT publishes metrics that are not collected: set "
            "TELEMETRY_METRICS=true, or the port to 0"
        )
        raise ConfigurationError(msg)
    folder = settings.data.transcripts_dir
    if folder is not None and not folder.is_dir():
        msg = "DATA_TRANSCRIPTS_DIR is no folder; make it, or leave the setting out"
        raise ConfigurationError(msg)
    tenant = settings.data.transcripts_tenant
    if tenant and not is_tenant(tenant):
        msg = f"DATA_TRANSCRIPTS_TENANT names no tenant: {TENANT_CURE}"
        raise ConfigurationError(msg)
    if settings.data.key_file is not None:
        load_cipher(settings.data.key_file)
    if settings.model.local_only:
        _refuse_other_machines(settings)
    signing_keys(settings.jobs_webhook)
    danger_callback(settings.danger.callback_url, settings.jobs_webhook)
    signer_of(settings.certificate.key_file)
    _refuse_unusable_issuer(settings.auth)


def _refuse_other_machines(settings: Settings) -> None:
    """Refuse what models are not: they are looked at when their chains are built."""
    # Its client takes a tenth of a second, which only servers of models are worth.
    from ai_psychiatrist.llm.local_only import require_local, require_local_embedder  # noqa: PLC0415

    models, embedder = settings.model, settings.references.embedder
    require_local_embedder(embedder, models, ollama=settings.ollama, openai=settings.openai)
    if models.http_proxy is not None:
        require_local(models, "the proxy", models.http_proxy, setting="MODEL_HTTP_PROXY")


def _refuse_unusable_issuer(auth: AuthSettings) -> None:
    """Refuse an identity provider whose tokens could never be checked."""
    sources = (auth.oidc_jwks_file, auth.oidc_jwks_url)
    if auth.oidc_issuer is None:
        if auth.oidc_audience is not None or sources != (None, None):
            msg = "set AUTH_OIDC_ISSUER as well, or leave out the other AUTH_OIDC_ settings"
            raise ConfigurationError(msg)
        return
    faults = {
        "AUTH_REQUIRED=true: without it no token is looked at": not auth.required,
        "AUTH_OIDC_AUDIENCE: what a token has to be made for": auth.oidc_audience is None,
        "either AUTH_OIDC_JWKS_FILE or AUTH_OIDC_JWKS_URL": sum(map(bool, sources)) != 1,
        "the extra: pip install 'ai-psychiatrist[oidc]'": find_spec("joserfc") is None,
    }
    for needed, is_missing in faults.items():
        if is_missing:
            msg = f"AUTH_OIDC_ISSUER needs {needed}"
            raise ConfigurationError(msg)
    # It takes a tenth of a second, which a server shall not wait for at its first token.
    from ai_psychiatrist.access.oidc import read_keys  # noqa: PLC0415

    if auth.oidc_jwks_file is not None:
        read_keys(auth.oidc_jwks_file)
