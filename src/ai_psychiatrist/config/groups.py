"""All settings as frozen groups; each lives beside the code that reads it, or here."""

from pathlib import Path
from typing import Final

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from ai_psychiatrist.access.limits.settings import LimitSettings
from ai_psychiatrist.access.settings import AuthSettings
from ai_psychiatrist.agents.settings import DangerSettings, JudgeSettings, QualitativeSettings
from ai_psychiatrist.assessment.settings import FeedbackSettings
from ai_psychiatrist.belief.settings import BeliefSettings
from ai_psychiatrist.config.server import ApiSettings
from ai_psychiatrist.config.telemetry import TelemetrySettings
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.infrastructure.logging import LogFormat, LogLevel
from ai_psychiatrist.jobs.settings import JobSettings
from ai_psychiatrist.jobs.webhooks.settings import WebhookSettings
from ai_psychiatrist.llm.settings import (
    AnthropicSettings,
    BatchSettings,
    GoogleSettings,
    ModelCallSettings,
    OllamaSettings,
    OpenAISettings,
    Options,
    OutputModeSetting,
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

    participant_labels: tuple[str, ...] = Field(
        default=(), description="Further labels of the participant."
    )
    interviewer_labels: tuple[str, ...] = Field(
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

    transcripts_dir: Path | None = Field(
        default=None,
        description="DAIC-WOZ folder of transcripts, for requests by participant_id.",
    )
    state_dir: Path = Field(
        default=Path("~/.local/state/ai-psychiatrist"),
        description="Folder of interviews, stored assessments, their keys, and the key of digests.",
    )


class LedgerSettings(Options):
    """How the ledgers of runs are kept."""

    key_file: Path | None = Field(
        default=None,
        description="File of 32 bytes in hexadecimal; encrypts ledgers and what is stored anew.",
    )


class CertificateSettings(Options):
    """How certificates of results are signed."""

    key_file: Path | None = Field(
        default=None,
        description="File of an Ed25519 key, 32 bytes in hexadecimal, that signs certificates.",
    )


class InterviewSettings(Options):
    """How interviews are held, and where they are kept."""

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
    protocols: tuple[Path, ...] = Field(
        default=(),
        description="Folders of protocols beside phq8 and incident.",
    )


class RiskSettings(Options):
    """What is shown beside signs of danger."""

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

    level: LogLevel = Field(default="INFO", description="DEBUG, INFO, WARNING, ERROR or CRITICAL.")
    format: LogFormat = Field(
        default="console", description="`console` for people, `json` for machines."
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


class Settings(BaseSettings):
    """All settings, one frozen group for each part of the program."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    model: ModelCallSettings = ModelCallSettings()
    openai: OpenAISettings = OpenAISettings()
    anthropic: AnthropicSettings = AnthropicSettings()
    google: GoogleSettings = GoogleSettings()
    ollama: OllamaSettings = OllamaSettings()
    pydantic_ai: PydanticAISettings = PydanticAISettings()
    batch: BatchSettings = BatchSettings()
    quantitative: QuantitativeSettings = QuantitativeSettings()
    qualitative: QualitativeSettings = QualitativeSettings()
    judge: JudgeSettings = JudgeSettings()
    feedback: FeedbackSettings = FeedbackSettings()
    danger: DangerSettings = DangerSettings()
    reader: ReaderSettings = ReaderSettings()
    belief: BeliefSettings = BeliefSettings()
    transcript: TranscriptSettings = TranscriptSettings()
    data: DataSettings = DataSettings()
    references: ReferenceSettings = ReferenceSettings()
    ledger: LedgerSettings = LedgerSettings()
    certificate: CertificateSettings = CertificateSettings()
    interview: InterviewSettings = InterviewSettings()
    store: StoreSettings = StoreSettings()
    jobs: JobSettings = JobSettings()
    jobs_webhook: WebhookSettings = WebhookSettings()
    api: ApiSettings = ApiSettings()
    limit: LimitSettings = LimitSettings()
    auth: AuthSettings = AuthSettings()
    risk: RiskSettings = RiskSettings()
    log: LogSettings = LogSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    features: FeatureSettings = FeatureSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  the signature is the library's
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take values from `load_settings` alone.

        The library's own reader lets misspelt names pass and prints values in its errors.
        """
        return (init_settings,)
