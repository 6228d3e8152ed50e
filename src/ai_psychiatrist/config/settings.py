"""All settings, read from the environment, from `.env` and from a folder of secrets."""

import os
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsError,
)

from ai_psychiatrist.access.settings import AuthSettings
from ai_psychiatrist.agents.settings import (
    DangerSettings,
    FeedbackSettings,
    JudgeSettings,
    LongInterviewSettings,
    QualitativeSettings,
)
from ai_psychiatrist.config.groups import (
    CertificateSettings,
    DataSettings,
    FeatureSettings,
    LogSettings,
    RiskSettings,
)
from ai_psychiatrist.config.names import read_env_file, require_known_names
from ai_psychiatrist.config.server import ApiSettings
from ai_psychiatrist.distribution.settings import BeliefSettings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import expanded
from ai_psychiatrist.infrastructure.options import Options
from ai_psychiatrist.infrastructure.telemetry.settings import TelemetrySettings
from ai_psychiatrist.interview.settings import InterviewSettings
from ai_psychiatrist.jobs.settings import JobSettings, WebhookSettings
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
from ai_psychiatrist.store.settings import DatabaseSettings

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
    assess: LongInterviewSettings = Field(default_factory=LongInterviewSettings)
    reader: ReaderSettings = Field(default_factory=ReaderSettings)
    belief: BeliefSettings = Field(default_factory=BeliefSettings)
    transcript: TranscriptSettings = Field(default_factory=TranscriptSettings)
    data: DataSettings = Field(default_factory=DataSettings)
    references: ReferenceSettings = Field(default_factory=ReferenceSettings)
    database: DatabaseSettings = Field(default_factory=DatabaseSettings)
    certificate: CertificateSettings = Field(default_factory=CertificateSettings)
    interview: InterviewSettings = Field(default_factory=InterviewSettings)
    store: StoreSettings = Field(default_factory=StoreSettings)
    jobs: JobSettings = Field(default_factory=JobSettings)
    jobs_webhook: WebhookSettings = Field(default_factory=WebhookSettings)
    api: ApiSettings = Field(default_factory=ApiSettings)
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

    def text_in(self, sources: Iterable[Mapping[str, str]]) -> str | None:
        """Return what the first of some sources sets it to; `None` where none sets it."""
        return next((one[name] for one in sources for name in self.names if name in one), None)


def variables() -> tuple[Variable, ...]:
    """Return every environment variable in the order of the groups."""
    return tuple(chain.from_iterable(VARIABLES.values()))


VARIABLES: Final = {
    name: tuple(
        Variable(group.variable(field), name, field, info)
        for field, info in group.model_fields.items()
    )
    for name, group in GROUPS.items()
}
"""By group."""


def with_model(settings: Settings, name: str) -> Settings:
    """Return the settings with one model for every agent and interview; fallbacks stay.

    A danger agent that is off stays off.
    """
    models = settings.model.model_copy(
        update={
            "default": name.strip(),
            "qualitative_model": None,
            "quantitative_model": None,
            "judge_model": None,
            "meta_review_model": None,
        }
    )
    update: dict[str, object] = {
        "model": models,
        "interview": settings.interview.model_copy(update={"model": None}),
    }
    if not settings.danger.is_off:
        update["danger"] = settings.danger.model_copy(update={"model": None})
    return settings.model_copy(update=update)


def quiet(settings: Settings) -> Settings:
    """Log errors alone unless a level was asked for: a person, or a program, reads the result."""
    if "level" in settings.log.model_fields_set:
        return settings
    log = settings.log.model_copy(update={"level": "ERROR"})
    return settings.model_copy(update={"log": log})


def _read_groups(
    environment: Mapping[str, str] | None = None, dotenv: Path | None = _ENV_FILE
) -> dict[str, Options]:
    given, file = os.environ if environment is None else environment, read_env_file(dotenv)
    known = dict.fromkeys(name for one in variables() for name in one.names)
    require_known_names(known, given, file)
    filed = {one.key: one.value or "" for one in file if one.key is not None}
    texts = _set_texts(given), _set_texts(filed)
    folder = next((one[_SECRETS_DIR] for one in texts if _SECRETS_DIR in one), None)
    if folder is not None and not expanded(Path(folder), setting=_SECRETS_DIR).is_dir():
        msg = f"{_SECRETS_DIR} is no folder; make it, or leave the setting out"
        raise ConfigurationError(msg)
    read: dict[str, Options] = {}
    problems: dict[str, str] = {}
    for name, group in GROUPS.items():
        values = {
            variable.field: text
            for variable in VARIABLES[name]
            if (text := variable.text_in(texts)) is not None
        }
        sources: list[PydanticBaseSettingsSource] = [InitSettingsSource(group, values)]
        if folder is not None:
            sources.append(SecretsSettingsSource(group, secrets_dir=folder))
        try:
            read[name] = group(_build_sources=(tuple(sources), {}))
        except ValidationError as error:
            problems |= _problems(group, error)
        except SettingsError:
            problems[_SECRETS_DIR] = f"a file of it for a {name.upper()} setting cannot be read"
    if problems:
        lines = (f"{name}: {problem}" for name, problem in problems.items())
        raise ConfigurationError("\n".join(lines)) from None
    return read


def _set_texts(values: Mapping[str, str]) -> dict[str, str]:
    """Return what is set, by names in capitals; an empty text sets only what it is a value of."""
    kept = {group.variable(field) for group in GROUPS.values() for field in group.empty_is_none}
    return {
        name.upper(): text.strip()
        for name, text in values.items()
        if text.strip() or name.upper() in kept
    }


def _problems(group: type[Options], error: ValidationError) -> dict[str, str]:
    """Return variable → what is wrong with its value, the first thing of each."""
    found: dict[str, str] = {}
    for problem in error.errors(include_input=False, include_url=False, include_context=False):
        field = str(problem["loc"][0])
        name = group.variable(field) if field in group.model_fields else field
        found.setdefault(name, problem["msg"].removeprefix(_BEFORE_OUR_WORDS))
    return found
