"""What settings cannot mean together, or on this machine; found before anything starts."""

from ai_psychiatrist.access.oidc.issuer_settings import refuse_unusable_issuer
from ai_psychiatrist.config.groups import Settings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.jobs.webhooks.signing import signing_keys
from ai_psychiatrist.ledger.keys.cipher import load_cipher
from ai_psychiatrist.proof.signing import signer_of
from ai_psychiatrist.services.evidence_validation.similarity import similarity_package


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
            "TELEMETRY_WORKER_PORT gives away counts that nobody makes: set "
            "TELEMETRY_METRICS=true, or the port to 0"
        )
        raise ConfigurationError(msg)
    folder = settings.data.transcripts_dir
    if folder is not None and not folder.is_dir():
        msg = "DATA_TRANSCRIPTS_DIR is no folder; make it, or leave the setting out"
        raise ConfigurationError(msg)
    if settings.ledger.key_file is not None:
        load_cipher(settings.ledger.key_file)
    signing_keys(settings.jobs_webhook)
    signer_of(settings.certificate.key_file)
    refuse_unusable_issuer(settings.auth)
