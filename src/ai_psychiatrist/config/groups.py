"""All settings as frozen groups; each lives beside the code that reads it, or here."""

import re
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from pydantic import Field, field_validator

from ai_psychiatrist.agents.settings import DangerSettings, QualitativeSettings
from ai_psychiatrist.assessment.settings import FeedbackSettings
from ai_psychiatrist.infrastructure.logging import LogFormat, LogLevel
from ai_psychiatrist.llm.output_mode import OutputModeSetting
from ai_psychiatrist.llm.settings import (
    AnthropicSettings,
    GoogleSettings,
    ModelSettings,
    OllamaSettings,
    OpenAISettings,
    Options,
    PydanticAISettings,
)
from ai_psychiatrist.services.evidence_validation.settings import QuantitativeSettings
from ai_psychiatrist.services.transcripts.labels import SpeakerLabels

_HOST_NAME: Final = re.compile(r"\*|[\w.-]+|\[?[\da-f]*:[\da-f.:]*:[\da-f.:]*\]?", re.ASCII)
_ORIGIN: Final = re.compile(r"https?://(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d+)?", re.ASCII)

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

    participant_labels: tuple[str, ...] = ()
    """Further labels of the participant, separated by commas."""
    interviewer_labels: tuple[str, ...] = ()
    """Further labels of the interviewer, separated by commas."""

    @property
    def labels(self) -> SpeakerLabels:
        """All labels that start a turn."""
        return SpeakerLabels(
            interviewer=self.interviewer_labels, participant=self.participant_labels
        )


class DataSettings(Options):
    """Where files are read and kept."""

    transcripts_dir: Path | None = None
    """Folder of stored transcripts in DAIC-WOZ layout, for requests by participant_id."""
    state_dir: Path = Path("~/.local/state/ai-psychiatrist")
    """Folder of the interviews, of their key, and of the key of the digests in logs."""


class LedgerSettings(Options):
    """How the ledgers of runs are kept."""

    key_file: Path | None = None
    """File with 32 bytes in hexadecimal: encrypts ledgers, and the interviews of a new file."""


class InterviewSettings(Options):
    """How interviews are held, and where they are kept."""

    model: str | None = None
    """Model of the interview's agents; empty means the default. The baseline holds phq8 alone."""
    output_mode: OutputModeSetting = "auto"
    """How schemas are enforced: `tool`, `native` or `text`; `auto` takes what the model can do."""
    combined_digest: bool = False
    """Find facts, drift and goals of an answer in one call instead of three at the same time."""
    max_calls: int = Field(default=200, ge=1)
    """Most model calls of one interview."""
    call_timeout_seconds: float = Field(default=20.0, gt=0)
    """Longest wait for one model call of an interview."""
    turn_timeout_seconds: float = Field(default=90.0, gt=0)
    """Longest wait for one turn; the answer is kept, and the turn can be taken up again."""
    store_file: Path | None = None
    """Database of the interviews, encrypted; empty: interviews.sqlite in DATA_STATE_DIR."""
    keep_days: int = Field(default=30, ge=1, le=36_500)
    """Days that an interview is kept after its last change; then it is removed."""
    max_stored: int = Field(default=10_000, ge=1)
    """Most interviews that are kept at a time; no further one is begun."""
    max_stored_bytes: int = Field(default=1_073_741_824, ge=1_048_576)
    """Most bytes that their file may have for a further one to be begun."""
    protocols: tuple[Path, ...] = ()
    """Folders of further protocols beside phq8 and incident, separated by commas."""


class ApiSettings(Options):
    """The HTTP server and its limits."""

    host: str = "127.0.0.1"
    """Address to listen on; there is no authentication, so think before opening it."""
    port: int = Field(default=8000, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""
    max_body_bytes: int = Field(default=4_194_304, ge=1024)
    """Largest request body."""
    max_transcript_chars: int = Field(default=400_000, ge=1)
    """Longest transcript, in characters, for commands as well."""
    max_total_chars: int = Field(default=2_000_000, ge=1)
    """Most characters of transcripts worked on at the same time; others wait for their turn."""
    request_timeout_seconds: float = Field(default=900.0, gt=0)
    """Deadline of one request from its arrival; what has finished by then is returned."""
    shutdown_seconds: float = Field(default=20.0, gt=0, le=3600)
    """Time of running requests when the server is told to stop; what has finished is returned."""
    max_concurrency: int = Field(default=64, ge=1)
    """Most assessments under way; further requests get 503 and Retry-After."""
    max_connections: int = Field(default=1000, ge=16)
    """Most open connections of `serve`, as far as file descriptors suffice."""
    header_timeout_seconds: float = Field(default=10.0, gt=0)
    """Longest wait of `serve` for a whole request header."""
    body_timeout_seconds: float = Field(default=30.0, gt=0)
    """Longest wait for a whole request body; then 408."""
    answer_timeout_seconds: float = Field(default=60.0, gt=0)
    """How long `serve` holds an answer for a caller who does not read it."""
    idle_timeout_seconds: int = Field(default=5, ge=1)
    """How long `serve` keeps a connection open for the next request."""
    allowed_hosts: tuple[str, ...] = ()
    """Names beside API_HOST and this machine's own that callers may use, by commas; `*`: any."""
    cors_origins: tuple[str, ...] = ()
    """Origins of web pages that may call the API, separated by commas."""
    docs: bool = True
    """Show /docs, /redoc and /openapi.json; false for production."""

    @property
    def is_for_this_machine(self) -> bool:
        """Whether only programs of this machine can call."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host.casefold() == "localhost"

    @field_validator("allowed_hosts")
    @classmethod
    def _are_hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        if any(not _HOST_NAME.fullmatch(host) for host in hosts):
            msg = "write names or addresses alone, such as notes.example, without scheme and port"
            raise ValueError(msg)
        return hosts

    @field_validator("cors_origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if "*" in origin or origin == "null":
                msg = "name each origin; * and null would let every page in"
            elif not origin.startswith(("http://", "https://")):
                msg = "an origin begins with https:// or http://, such as https://notes.example"
            elif origin.endswith("/"):
                msg = "write each origin without the slash at its end; browsers send none"
            elif not _ORIGIN.fullmatch(origin):
                msg = "an origin is scheme, name and port without path, query and user"
            else:
                continue
            raise ValueError(msg)
        return origins


class RiskSettings(Options):
    """What is shown beside signs of danger."""

    crisis_resources: str = GENERAL_RESOURCES
    """Where to turn in a crisis, in the words of your place: its line and when it answers."""

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

    level: LogLevel = "INFO"
    """DEBUG, INFO, WARNING, ERROR or CRITICAL."""
    format: LogFormat = "console"
    """`console` for people, `json` for machines."""


class FeatureSettings(Options):
    """What is switched on."""

    enable_few_shot: bool = False
    """Score with examples of other participants; there are none yet, so true is refused."""


class Settings(Options):
    """All settings, one frozen group for each part of the program."""

    model: ModelSettings = ModelSettings()
    openai: OpenAISettings = OpenAISettings()
    anthropic: AnthropicSettings = AnthropicSettings()
    google: GoogleSettings = GoogleSettings()
    ollama: OllamaSettings = OllamaSettings()
    pydantic_ai: PydanticAISettings = PydanticAISettings()
    quantitative: QuantitativeSettings = QuantitativeSettings()
    qualitative: QualitativeSettings = QualitativeSettings()
    feedback: FeedbackSettings = FeedbackSettings()
    danger: DangerSettings = DangerSettings()
    transcript: TranscriptSettings = TranscriptSettings()
    data: DataSettings = DataSettings()
    ledger: LedgerSettings = LedgerSettings()
    interview: InterviewSettings = InterviewSettings()
    api: ApiSettings = ApiSettings()
    risk: RiskSettings = RiskSettings()
    log: LogSettings = LogSettings()
    features: FeatureSettings = FeatureSettings()
