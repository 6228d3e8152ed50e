"""All settings as frozen groups; each lives beside the code that reads it, or here."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.access.limits.settings import LimitSettings
from ai_psychiatrist.access.settings import AuthSettings
from ai_psychiatrist.agents.settings import DangerSettings, JudgeSettings, QualitativeSettings
from ai_psychiatrist.assessment.settings import FeedbackSettings
from ai_psychiatrist.belief.settings import BeliefSettings
from ai_psychiatrist.config.reader import ENV_FILE, Variable, read_groups, variables_of
from ai_psychiatrist.config.server import ApiSettings
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.infrastructure.logging import LogFormat, LogLevel
from ai_psychiatrist.infrastructure.options import CommaList, Options, WebAddress
from ai_psychiatrist.jobs.settings import JobSettings
from ai_psychiatrist.jobs.webhooks.settings import WebhookSettings
from ai_psychiatrist.llm.batches.settings import BatchSettings
from ai_psychiatrist.llm.output_mode import OutputModeSetting
from ai_psychiatrist.llm.settings import (
    AnthropicSettings,
    GoogleSettings,
    ModelCallSettings,
    OllamaSettings,
    OpenAISettings,
    PydanticAISettings,
)
from ai_psychiatrist.reviews.settings import StoreSettings
from ai_psychiatrist.services.evidence_validation.settings import QuantitativeSettings
from ai_psychiatrist.services.reader.settings import ReaderSettings
from ai_psychiatrist.services.retrieval.settings import ReferenceSettings
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels

GENERAL_RESOURCES: Final = (
    "If you or somebody else may come to harm, call the local emergency number. Go to somebody "
    "near you, or to a doctor, and tell them."
)
"""Where to turn where no crisis line is set."""
CRISIS_LINE_CURE: Final = (
    "Set RISK_CRISIS_RESOURCES to the crisis line of your place, in the words that a person in "
    "danger is to read."
)


class TranscriptSettings(Options):
    """Speaker labels beyond the built-in ones."""

    model_config = SettingsConfigDict(env_prefix="TRANSCRIPT_")

    participant_labels: CommaList[str] = Field(
        default=(), description="Further labels of the participant."
    )
    interviewer_labels: CommaList[str] = Field(
        default=(), description="Further labels of the interviewer."
    )

    @property
    def labels(self) -> SpeakerLabels:
        """All labels that start a turn."""
        return SpeakerLabels(
            interviewer=self.interviewer_labels, participant=self.participant_labels
        )


class DataSettings(Options):
    """Where files are read and kept."""

    model_config = SettingsConfigDict(env_prefix="DATA_")

    transcripts_dir: Path | None = Field(
        default=None,
        description="DAIC-WOZ folder of transcripts, for requests by participant_id.",
    )
    state_dir: Path = Field(
        default=Path("~/.local/state/ai-psychiatrist"),
        description="Folder of interviews, stored assessments, their keys, and the key of digests.",
    )
    secrets_dir: Path | None = Field(
        default=None,
        description="Folder of files named after settings, each with its value, such as "
        "/run/secrets; the environment and .env go before it.",
    )


class LedgerSettings(Options):
    """How the ledgers of runs are kept."""

    model_config = SettingsConfigDict(env_prefix="LEDGER_")

    key_file: Path | None = Field(
        default=None,
        description="File of 32 bytes in hexadecimal; encrypts ledgers and what is stored anew.",
    )


class CertificateSettings(Options):
    """How certificates of results are signed."""

    model_config = SettingsConfigDict(env_prefix="CERTIFICATE_")

    key_file: Path | None = Field(
        default=None,
        description="File of an Ed25519 key, 32 bytes in hexadecimal, that signs certificates.",
    )


class InterviewSettings(Options):
    """How interviews are held, and where they are kept."""

    model_config = SettingsConfigDict(env_prefix="INTERVIEW_")

    model: str | None = Field(
        default=None,
        description="Model of its agents; empty: the default. `baseline` holds phq8 alone.",
    )
    output_mode: OutputModeSetting = Field(
        default="auto",
        description="How schemas are enforced: `tool`, `native`, `text`; `auto`: as it can.",
    )
    combined_digest: bool = Field(
        default=False,
        description="Find facts, drift and goals of an answer in one call, not three.",
    )
    max_calls: int = Field(default=200, ge=1, description="Most model calls of one interview.")
    call_timeout_seconds: float = Field(
        default=20.0, gt=0, description="Longest wait for one model call of an interview."
    )
    turn_timeout_seconds: float = Field(
        default=90.0,
        gt=0,
        description="Longest wait for one turn; the answer is kept for a later try.",
    )
    store_file: Path | None = Field(
        default=None,
        description="Their encrypted database; empty: interviews.sqlite in DATA_STATE_DIR.",
    )
    keep_days: int = Field(
        default=30,
        ge=1,
        le=36_500,
        description="Days that an interview is kept after its last change; then it is removed.",
    )
    max_stored: int = Field(
        default=10_000,
        ge=1,
        description="Most interviews that are kept at a time; no further one is begun.",
    )
    max_stored_bytes: int = Field(
        default=1_073_741_824,
        ge=1_048_576,
        description="Most bytes that their file may have for a further one to be begun.",
    )
    protocols: CommaList[Path] = Field(
        default=(),
        description="Folders of protocols beside phq8 and incident.",
    )


class RiskSettings(Options):
    """What is shown beside signs of danger."""

    model_config = SettingsConfigDict(env_prefix="RISK_")

    crisis_resources: str = Field(
        default=GENERAL_RESOURCES,
        description="Where to turn in a crisis, at your place: its line, when it answers.",
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


class TelemetrySettings(Options):
    """What is seen of the program from outside; never a word of an interview."""

    model_config = SettingsConfigDict(env_prefix="TELEMETRY_")

    export: bool = Field(
        default=False,
        description="Send OpenTelemetry spans and metrics to a collector; extra `telemetry`.",
    )
    endpoint: WebAddress | None = Field(
        default=None,
        description="Its address for OTLP over HTTP; empty: as OTEL_EXPORTER_OTLP_ENDPOINT says.",
    )
    metrics: bool = Field(
        default=False, description="Answer /metrics for Prometheus; extra `telemetry`."
    )
    worker_port: int = Field(
        default=0,
        ge=0,
        le=65_535,
        description="Port of a worker for Prometheus, which asks for no key; 0: none.",
    )
    worker_address: str = Field(
        default="127.0.0.1",
        description="Address of that port; another one only on a network of its own.",
    )


class FeatureSettings(Options):
    """What is switched on."""

    enable_few_shot: bool = Field(
        default=False,
        description="Score in mode few_shot where no mode is named; needs REFERENCES_DIR.",
    )

    @property
    def default_mode(self) -> AssessmentMode:
        """How items are scored where nobody says."""
        return AssessmentMode.FEW_SHOT if self.enable_few_shot else AssessmentMode.ZERO_SHOT


class Settings(BaseModel):
    """All settings, one frozen group for each part of the program.

    Constructing them reads the groups that are not given as `load_settings` does.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    model: ModelCallSettings = Field(default_factory=ModelCallSettings)
    openai: OpenAISettings = Field(default_factory=OpenAISettings)
    anthropic: AnthropicSettings = Field(default_factory=AnthropicSettings)
    google: GoogleSettings = Field(default_factory=GoogleSettings)
    ollama: OllamaSettings = Field(default_factory=OllamaSettings)
    pydantic_ai: PydanticAISettings = Field(default_factory=PydanticAISettings)
    batch: BatchSettings = Field(default_factory=BatchSettings)
    quantitative: QuantitativeSettings = Field(default_factory=QuantitativeSettings)
    qualitative: QualitativeSettings = Field(default_factory=QualitativeSettings)
    judge: JudgeSettings = Field(default_factory=JudgeSettings)
    feedback: FeedbackSettings = Field(default_factory=FeedbackSettings)
    danger: DangerSettings = Field(default_factory=DangerSettings)
    reader: ReaderSettings = Field(default_factory=ReaderSettings)
    belief: BeliefSettings = Field(default_factory=BeliefSettings)
    transcript: TranscriptSettings = Field(default_factory=TranscriptSettings)
    data: DataSettings = Field(default_factory=DataSettings)
    references: ReferenceSettings = Field(default_factory=ReferenceSettings)
    ledger: LedgerSettings = Field(default_factory=LedgerSettings)
    certificate: CertificateSettings = Field(default_factory=CertificateSettings)
    interview: InterviewSettings = Field(default_factory=InterviewSettings)
    store: StoreSettings = Field(default_factory=StoreSettings)
    jobs: JobSettings = Field(default_factory=JobSettings)
    jobs_webhook: WebhookSettings = Field(default_factory=WebhookSettings)
    api: ApiSettings = Field(default_factory=ApiSettings)
    limit: LimitSettings = Field(default_factory=LimitSettings)
    auth: AuthSettings = Field(default_factory=AuthSettings)
    risk: RiskSettings = Field(default_factory=RiskSettings)
    log: LogSettings = Field(default_factory=LogSettings)
    telemetry: TelemetrySettings = Field(default_factory=TelemetrySettings)
    features: FeatureSettings = Field(default_factory=FeatureSettings)

    @model_validator(mode="before")
    @classmethod
    def _read_what_is_not_given(cls, given: dict[str, object]) -> dict[str, object]:
        return given if given.keys() >= GROUPS.keys() else {**read_groups(GROUPS), **given}


GROUPS: Final = {
    name: info.annotation
    for name, info in Settings.model_fields.items()
    if isinstance(info.annotation, type) and issubclass(info.annotation, Options)
}


def load_settings(
    environment: Mapping[str, str] | None = None, dotenv: Path | None = ENV_FILE
) -> Settings:
    """Read the settings from the environment, which goes before the file `.env`.

    An empty value counts as not set. Raises `ConfigurationError` for a misspelt name or a value
    that does not fit, naming the variable and never the value.
    """
    return Settings.model_validate(read_groups(GROUPS, environment, dotenv))


def variables() -> Iterator[Variable]:
    """Yield every environment variable in the order of the groups."""
    yield from variables_of(GROUPS)
