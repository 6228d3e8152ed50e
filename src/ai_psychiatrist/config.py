"""The one reader of the environment: names, defaults, checks, and the example file made from them.

Values are never shown, not even in errors: some of them are keys.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_origin

from dotenv import dotenv_values
from pydantic import BaseModel, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from ai_psychiatrist.agents.settings import (
    FROZEN,
    FeedbackSettings,
    ModelSettings,
    OllamaSettings,
    OpenAISettings,
    PydanticAISettings,
    QualitativeSettings,
)
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.transcript import INTERVIEWER_LABELS, PARTICIPANT_LABELS, SpeakerLabels
from ai_psychiatrist.infrastructure.logging import LogFormat, LogLevel, get_logger
from ai_psychiatrist.services.evidence_settings import QuantitativeSettings

__all__ = [
    "ApiSettings",
    "PydanticAISettings",
    "QuantitativeSettings",
    "Settings",
    "env_example",
    "load_settings",
    "settings_tables",
]

logger = get_logger(__name__)

_TYPO_DISTANCE: Final = 2


class TranscriptSettings(BaseModel):
    """Speaker labels beyond the built-in ones."""

    model_config = FROZEN

    participant_labels: tuple[str, ...] = ()
    """Further labels of the participant, separated by commas."""
    interviewer_labels: tuple[str, ...] = ()
    """Further labels of the interviewer, separated by commas."""

    @property
    def labels(self) -> SpeakerLabels:
        """All labels that start a turn."""
        return SpeakerLabels(
            interviewer=INTERVIEWER_LABELS + self.interviewer_labels,
            participant=PARTICIPANT_LABELS + self.participant_labels,
        )


class DataSettings(BaseModel):
    """Where files are read and kept."""

    model_config = FROZEN

    transcripts_dir: Path | None = None
    """Folder of stored transcripts in DAIC-WOZ layout, for requests by participant_id."""
    state_dir: Path = Path("~/.local/state/ai-psychiatrist")
    """Folder of the key under which patient text is digested in logs."""


class ApiSettings(BaseModel):
    """The HTTP server and its limits."""

    model_config = FROZEN

    host: str = "127.0.0.1"
    """Address to listen on; there is no authentication, so think before opening it."""
    port: int = Field(default=8000, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""
    max_body_bytes: int = Field(default=4_194_304, ge=1024)
    """Largest request body."""
    max_transcript_chars: int = Field(default=400_000, ge=1)
    """Longest transcript, in characters."""
    request_timeout_seconds: float = Field(default=900.0, gt=0)
    """Deadline of one request; what has finished by then is returned."""
    max_concurrency: int = Field(default=64, ge=1)
    """Most assessments under way; further requests get 503 and Retry-After."""
    cors_origins: tuple[str, ...] = ()
    """Origins of web pages that may call the API, separated by commas."""


class LogSettings(BaseModel):
    """What is logged to standard error."""

    model_config = FROZEN

    level: LogLevel = "INFO"
    """DEBUG, INFO, WARNING, ERROR or CRITICAL."""
    format: LogFormat = "console"
    """`console` for people, `json` for machines."""


class FeatureSettings(BaseModel):
    """What is switched on."""

    model_config = FROZEN

    enable_few_shot: bool = False
    """Score with examples of other participants when a request names no mode; not available yet."""


class Settings(BaseSettings):
    """All settings, one frozen group for each part of the program."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    model: ModelSettings = ModelSettings()
    openai: OpenAISettings = OpenAISettings()
    ollama: OllamaSettings = OllamaSettings()
    pydantic_ai: PydanticAISettings = PydanticAISettings()
    quantitative: QuantitativeSettings = QuantitativeSettings()
    qualitative: QualitativeSettings = QualitativeSettings()
    feedback: FeedbackSettings = FeedbackSettings()
    transcript: TranscriptSettings = TranscriptSettings()
    data: DataSettings = DataSettings()
    api: ApiSettings = ApiSettings()
    log: LogSettings = LogSettings()
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One environment variable and the field it sets."""

    name: str
    group: str
    field: str
    info: FieldInfo

    def read(self, text: str) -> str | list[str]:
        """Return the value as the field's type reads it; lists are separated by commas."""
        if get_origin(self.info.annotation) is tuple:
            return [part.strip() for part in text.split(",") if part.strip()]
        return text.strip()


def variables() -> Iterator[Variable]:
    """Yield every environment variable in the order of the groups."""
    for group, info in Settings.model_fields.items():
        prefix = "" if group == "features" else f"{group.upper()}_"
        model = info.annotation
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            continue
        for field, field_info in model.model_fields.items():
            yield Variable(
                name=f"{prefix}{field.upper()}", group=group, field=field, info=field_info
            )


def load_settings(
    environment: Mapping[str, str] | None = None, dotenv: Path | None = Path(".env")
) -> Settings:
    """Read the settings from the environment, which goes before the file `.env`.

    An empty value counts as not set. Raises `ConfigurationError` for a misspelt name or a value
    that does not fit, naming the variable and never the value.
    """
    given = dict(os.environ if environment is None else environment)
    filed = _read_file(dotenv)
    known = {variable.name: variable for variable in variables()}
    _refuse_misspelt(known, [*given, *filed])
    for name in sorted(name for name in filed if name.upper() not in known):
        logger.warning("setting_ignored", name=name, reason="unknown_name_in_env_file")
    values: dict[str, dict[str, str | list[str]]] = {}
    for name, text in {**_not_empty(filed), **_not_empty(given)}.items():
        if name in known:
            variable = known[name]
            values.setdefault(variable.group, {})[variable.field] = variable.read(text)
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(_explain(error)) from None


def _read_file(dotenv: Path | None) -> dict[str, str]:
    if dotenv is None or not dotenv.is_file():
        return {}
    try:
        values = dotenv_values(dotenv, interpolate=False)
    except (OSError, UnicodeDecodeError):
        msg = f"{dotenv} cannot be read; it has to be a text file in UTF-8"
        raise ConfigurationError(msg) from None
    return {name: text or "" for name, text in values.items()}


def _not_empty(values: Mapping[str, str]) -> dict[str, str]:
    return {name.upper(): text for name, text in values.items() if text.strip()}


def _refuse_misspelt(known: Mapping[str, Variable], names: list[str]) -> None:
    problems = [
        f"{name} is not a setting; did you mean {nearest}?"
        for name in dict.fromkeys(names)
        if name.upper() not in known and (nearest := _nearest(name.upper(), known)) is not None
    ]
    if problems:
        raise ConfigurationError("\n".join(problems))


def _nearest(name: str, known: Mapping[str, Variable]) -> str | None:
    close = [
        (distance, other)
        for other in known
        if abs(len(other) - len(name)) <= _TYPO_DISTANCE
        and (distance := _edit_distance(name, other)) <= _TYPO_DISTANCE
    ]
    return min(close)[1] if close else None


def _edit_distance(one: str, other: str) -> int:
    """Return the Levenshtein distance (Wagner and Fischer 1974)."""
    previous = list(range(len(other) + 1))
    for row, left in enumerate(one, start=1):
        current = [row]
        for column, right in enumerate(other, start=1):
            current.append(
                min(previous[column], current[-1], previous[column - 1] - (left == right)) + 1
            )
        previous = current
    return previous[-1]


def _explain(error: ValidationError) -> str:
    names = {(variable.group, variable.field): variable.name for variable in variables()}
    lines = []
    for problem in error.errors(include_input=False, include_url=False, include_context=False):
        place = tuple(map(str, problem["loc"]))
        name = names.get((place[0], place[1])) if len(place) > 1 else None
        lines.append(f"{name or '.'.join(place)}: {problem['msg']}")
    return "\n".join(lines)


def env_example() -> str:
    """Return the text of `.env.example`: every variable with its meaning and default."""
    lines = ["# Every setting with its default. Copy this file to .env and change what you need."]
    group = ""
    for variable in variables():
        if variable.group != group:
            group = variable.group
            model = Settings.model_fields[group].annotation
            lines += ["", f"## {(model.__doc__ or '').strip()}" if model else ""]
        lines.append(f"# {variable.info.description}")
        lines.append(f"# {variable.name}={default_text(variable)}")
    return "\n".join(lines) + "\n"


def settings_tables() -> str:
    """Return every variable as Markdown tables, one for each group."""
    lines: list[str] = []
    group = ""
    for variable in variables():
        if variable.group != group:
            group = variable.group
            model = Settings.model_fields[group].annotation
            prefix = "" if group == "features" else f"{group.upper()}_"
            lines += ["", f"### `{prefix}`" if prefix else "### Others", ""]
            lines += [(model.__doc__ or "").strip() if model else "", ""]
            lines += ["| name | default | meaning |", "| --- | --- | --- |"]
        default = default_text(variable)
        shown = f"`{default}`" if default else "empty"
        lines.append(f"| `{variable.name}` | {shown} | {variable.info.description} |")
    return "\n".join(lines).strip() + "\n"


def default_text(variable: Variable) -> str:
    """Return a default as it would stand in a file."""
    default = variable.info.default
    match default:
        case None | SecretStr():
            return ""
        case bool():
            return str(default).lower()
        case tuple():
            return ",".join(map(str, default))
        case _:
            return str(default)
