"""Groups of settings that several packages read, or none but wiring."""

from pathlib import Path
from typing import Final

from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.infrastructure.given_files import expanded
from ai_psychiatrist.infrastructure.logging import LogFormat, LogLevel
from ai_psychiatrist.infrastructure.options import Options

GENERAL_RESOURCES: Final = (
    "If you or somebody else may come to harm, call the local emergency number. Go to somebody "
    "near you, or to a doctor, and tell them."
)
"""Where to turn where no crisis line is set."""
CRISIS_LINE_CURE: Final = (
    "Set RISK_CRISIS_RESOURCES to the crisis line of your place, in the words that a person in "
    "danger is to read."
)


class DataSettings(Options):
    """Where files are read and stored."""

    model_config = SettingsConfigDict(env_prefix="DATA_")

    transcripts_dir: Path | None = Field(
        default=None,
        description="Folder of DAIC-WOZ transcripts, for requests with participant_id.",
    )
    transcripts_tenant: str = Field(
        default="",
        description=(
            "Tenant whose keys may use participant_id if AUTH_REQUIRED is set; empty: none may."
        ),
    )
    state_dir: Path = Field(
        default=Path("~/.local/state/ai-psychiatrist"),
        description=(
            "Folder of stored assessments, interviews, their keys and the installation's key."
        ),
    )
    key_file: Path | None = Field(
        default=None,
        description=(
            "File with 32 bytes in hexadecimal, the same on every machine, that encrypts "
            "stored data and the folders of runs; without it a key in DATA_STATE_DIR "
            "encrypts stored data."
        ),
    )
    secrets_dir: Path | None = Field(
        default=None,
        description=(
            "Folder of files named like settings, each with its value, such as "
            "/run/secrets; the environment and .env have priority."
        ),
    )

    @property
    def state_folder(self) -> Path:
        """The folder of the state; raises `ConfigurationError` where its `~` leads nowhere."""
        return expanded(self.state_dir, setting="DATA_STATE_DIR")


class CertificateSettings(Options):
    """How certificates of results are signed."""

    model_config = SettingsConfigDict(env_prefix="CERTIFICATE_")

    key_file: Path | None = Field(
        default=None,
        description="File with an Ed25519 key, 32 bytes in hexadecimal, that signs certificates.",
    )


class RiskSettings(Options):
    """What is shown with signs of danger."""

    model_config = SettingsConfigDict(env_prefix="RISK_")

    crisis_resources: str = Field(
        default=GENERAL_RESOURCES,
        description=(
            "Where people find help in a crisis at your place: the crisis line and its hours."
        ),
    )

    @field_validator("crisis_resources")
    @classmethod
    def _are_never_blank(cls, resources: str) -> str:
        return resources if resources.strip() else GENERAL_RESOURCES

    @property
    def is_crisis_line_set(self) -> bool:
        """Whether the words are of this place, and not the general ones."""
        return self.crisis_resources != GENERAL_RESOURCES


class LogSettings(Options):
    """What is logged to standard error."""

    model_config = SettingsConfigDict(env_prefix="LOG_")

    level: LogLevel = Field(default="INFO", description="DEBUG, INFO, WARNING, ERROR or CRITICAL.")
    format: LogFormat = Field(
        default="console", description="`console` for people, `json` for machines."
    )


class FeatureSettings(Options):
    """What is enabled."""

    enable_few_shot: bool = Field(
        default=False,
        description="Score in mode few_shot if no mode is named; needs REFERENCES_DIR.",
    )

    @property
    def default_mode(self) -> AssessmentMode:
        """How items are scored where the request does not say."""
        return AssessmentMode.FEW_SHOT if self.enable_few_shot else AssessmentMode.ZERO_SHOT
