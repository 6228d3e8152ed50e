"""All settings, read from the environment, from `.env` and from a folder of secrets."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import EnvSettingsSource, SecretsSettingsSource, SettingsError

from ai_psychiatrist.access.limits.settings import LimitSettings
from ai_psychiatrist.access.settings import AuthSettings
from ai_psychiatrist.agents.settings import (
    DangerSettings,
    FeedbackSettings,
    JudgeSettings,
    QualitativeSettings,
)
from ai_psychiatrist.belief.settings import BeliefSettings
from ai_psychiatrist.config.groups import (
    CertificateSettings,
    DataSettings,
    FeatureSettings,
    LedgerSettings,
    LogSettings,
    RiskSettings,
)
from ai_psychiatrist.config.names import read_env_file, require_known_names
from ai_psychiatrist.config.server import ApiSettings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.options import Options
from ai_psychiatrist.infrastructure.telemetry.settings import TelemetrySettings
from ai_psychiatrist.interview.settings import InterviewSettings
from ai_psychiatrist.jobs.settings import JobSettings
from ai_psychiatrist.jobs.webhooks.settings import WebhookSettings
from ai_psychiatrist.llm.settings import (
    AnthropicSettings,
    BatchSettings,
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
from ai_psychiatrist.services.transcripts.settings import TranscriptSettings

_ENV_FILE: Final = Path(".env")
_SECRETS_DIR: Final = "DATA_SECRETS_DIR"
_BEFORE_OUR_WORDS: Final = "Value error, "
"""What Pydantic puts before the message of a validator."""


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
        return given if given.keys() >= GROUPS.keys() else {**_read_groups(), **given}


GROUPS: Final = {
    name: info.annotation
    for name, info in Settings.model_fields.items()
    if isinstance(info.annotation, type) and issubclass(info.annotation, Options)
}


def load_settings(
    environment: Mapping[str, str] | None = None, dotenv: Path | None = _ENV_FILE
) -> Settings:
    """Read the settings from the environment, which goes before the file `.env`.

    An empty value counts as not set. Raises `ConfigurationError` for a misspelt or retired name and
    for values that do not fit, naming each variable and never a value.
    """
    return Settings.model_validate(_read_groups(environment, dotenv))


class Variable(NamedTuple):
    """One environment variable and the field it sets."""

    name: str
    group: str
    field: str
    info: FieldInfo

    @property
    def meaning(self) -> str:
        """What the field says of itself, in a sentence."""
        return self.info.description or ""

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, and those under which the library of a provider reads it."""
        alias = self.info.validation_alias
        others = alias.choices if isinstance(alias, AliasChoices) else ()
        return tuple(dict.fromkeys((self.name, *map(str, others))))


def variables() -> Iterator[Variable]:
    """Yield every environment variable in the order of the groups."""
    for name, group in GROUPS.items():
        for field, info in group.model_fields.items():
            yield Variable(group.variable(field), name, field, info)


def _read_groups(
    environment: Mapping[str, str] | None = None, dotenv: Path | None = _ENV_FILE
) -> dict[str, Options]:
    given, file = os.environ if environment is None else environment, read_env_file(dotenv)
    require_known_names([name for one in variables() for name in one.names], given, file)
    filed = {one.key: one.value or "" for one in file if one.key is not None}
    texts = _set_texts(given), _set_texts(filed)
    secrets_dir = next((one[key] for one in texts if (key := _SECRETS_DIR.lower()) in one), None)
    if secrets_dir is not None and not Path(secrets_dir).expanduser().is_dir():
        msg = f"{_SECRETS_DIR} is no folder; make it, or leave the setting out"
        raise ConfigurationError(msg)
    read: dict[str, Options] = {}
    problems: dict[str, str] = {}
    for name, group in GROUPS.items():
        sources = (
            *(_source(group, one) for one in texts),
            SecretsSettingsSource(group, secrets_dir=secrets_dir),
        )
        try:
            read[name] = group(_build_sources=(sources, {}))
        except ValidationError as error:
            problems |= _problems(group, error)
        except SettingsError:
            problems[_SECRETS_DIR] = f"a file of it for a {name.upper()} setting cannot be read"
    if problems:
        lines = (f"{name}: {problem}" for name, problem in problems.items())
        raise ConfigurationError("\n".join(lines)) from None
    return read


def _set_texts(values: Mapping[str, str]) -> dict[str, str]:
    """Return what is set, under names as the library looks for them."""
    kept = {group.variable(field) for group in GROUPS.values() for field in group.empty_is_none}
    return {
        name.lower(): text.strip()
        for name, text in values.items()
        if text.strip() or name.upper() in kept
    }


def _source(group: type[Options], texts: Mapping[str, str]) -> EnvSettingsSource:
    source = EnvSettingsSource(group)
    source.env_vars = texts
    return source


def _problems(group: type[Options], error: ValidationError) -> dict[str, str]:
    """Return variable → what is wrong with its value, the first thing of each."""
    found: dict[str, str] = {}
    for problem in error.errors(include_input=False, include_url=False, include_context=False):
        field = str(problem["loc"][0])
        name = group.variable(field) if field in group.model_fields else field
        found.setdefault(name, problem["msg"].removeprefix(_BEFORE_OUR_WORDS))
    return found
