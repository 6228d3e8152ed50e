"""What a pipeline file says about running it, beside what its answers are checked by."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import read_regular
from ai_psychiatrist.validation.config.lint.problem import Problems
from ai_psychiatrist.validation.config.lint.step_files import MOST_BYTES, FileUnusable, decoded
from ai_psychiatrist.validation.config.lint.yaml_document import read_document

Name = Annotated[str, Field(min_length=1)]


class _Section(BaseModel):
    """A part of the file; what only other programs read is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class Sampling(_Section):
    """Which model is asked and how; what a step leaves open is as `api` says."""

    provider: Name | None = None
    model: Name | None = None
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    max_tokens: int | None = Field(default=None, ge=1)

    @property
    def model_name(self) -> str | None:
        """The model as settings name it, such as `ollama:gemma3`."""
        is_whole = self.model is None or self.provider is None or ":" in self.model
        return self.model if is_whole else f"{self.provider}:{self.model}"


class Retry(_Section):
    """How long a call that failed waits before it is made again."""

    initial_delay_seconds: float = Field(default=1.0, ge=0.0)
    backoff_multiplier: float = Field(default=2.0, ge=1.0)
    max_delay_seconds: float = Field(default=60.0, ge=0.0)

    def waits_seconds(self, attempts: int) -> tuple[float, ...]:
        """Return the wait before each attempt but the first."""
        return tuple(
            min(
                self.initial_delay_seconds * self.backoff_multiplier**number, self.max_delay_seconds
            )
            for number in range(attempts - 1)
        )


class Api(Sampling):
    """The section `api`."""

    retry: Retry = Retry()


class Items(_Section):
    """Where units come from."""

    source: Name | None = None
    """A YAML file beside the pipeline's."""
    key: Name | None = None
    """The list of that file that units are made of."""
    name_field: Name = "id"
    """The field that a unit's id is made of."""


class Position(_Section):
    """One factor of a cross product: its name, and the list that it goes through."""

    name: Name
    source_key: Name


class Processing(_Section):
    """The section `processing`."""

    strategy: Literal["direct", "cross_product"] = "direct"
    chunk_size: int = Field(default=100, ge=1)
    repeat: int = Field(default=1, ge=1)
    items: Items = Items()
    positions: tuple[Position, ...] = ()


class StepSettings(Sampling):
    """A step's own entries."""

    name: str


class _Pipeline(_Section):
    steps: tuple[StepSettings, ...]


class RunSettings(_Section):
    """All that a run reads of a pipeline file beside the checks."""

    pipeline: _Pipeline
    api: Api = Api()
    processing: Processing = Processing()
    post_process: tuple[object, ...] = ()


def read_run_settings(path: Path) -> RunSettings:
    """Read the file; raises `ConfigurationError` with the places that have to be mended."""
    try:
        return RunSettings.model_validate(read_yaml(path))
    except ValidationError as error:
        lines = [
            f"  {'.'.join(map(str, found['loc']))}: {found['msg']}"
            for found in error.errors(include_input=False, include_url=False)
        ]
        msg = "\n".join([f"the pipeline {path.name} cannot be run", *lines])
        raise ConfigurationError(msg) from None


def read_yaml(path: Path) -> object:
    """Return what a YAML file holds; raises `ConfigurationError` where it cannot be read."""
    problems = Problems()
    try:
        document = read_document(decoded(read_regular(path, most_bytes=MOST_BYTES)), problems)
    except (FileUnusable, OSError) as error:
        msg = f"{path.name!r} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise ConfigurationError(msg) from None
    errors = [problem for problem in problems.in_order() if problem.is_error]
    if document is None or errors:
        place = errors[0].place_in(path.name) if errors else path.name
        msg = f"{place}: {errors[0].message if errors else 'it is empty'}"
        raise ConfigurationError(msg)
    return document.value
