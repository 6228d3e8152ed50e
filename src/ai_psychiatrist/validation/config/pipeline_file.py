"""The model of a pipeline file."""

from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from ai_psychiatrist.validation.checks.step_config import (
    STEP_NAME,
    RuleBlock,
    StepExpressions,
    StepScope,
)
from ai_psychiatrist.validation.file_model import (
    Count,
    FileModel,
    Flag,
    Names,
    Number,
    Text,
    invalid,
    otherwise,
)

NO_RULES: Final = "none"
"""What is written instead of a block to say that the schema is enough."""

NotNegative: TypeAlias = Annotated[Number, Field(ge=0)]


class _Section(FileModel):
    """A part of the file that other programs may have settings in."""

    is_shared: ClassVar[bool] = True


class Sampling(_Section):
    """Which model is asked and how; what a step leaves open is as `api` says."""

    provider: Text | None = None
    model: Text | None = None
    temperature: Annotated[Number, Field(ge=0, le=2)] | None = None
    max_tokens: Count | None = None

    @property
    def model_name(self) -> str | None:
        """The model as settings name it, such as `ollama:gemma3`."""
        is_whole = self.model is None or self.provider is None or ":" in self.model
        return self.model if is_whole else f"{self.provider}:{self.model}"


class Retry(_Section):
    """How often something is tried, and how long a call that failed waits before the next."""

    max_attempts: Count = 3
    initial_delay_seconds: NotNegative = 1.0
    backoff_multiplier: Annotated[Number, Field(ge=1)] = 2.0
    max_delay_seconds: NotNegative = 60.0

    @property
    def waits_seconds(self) -> tuple[float, ...]:
        """The wait before each attempt but the first."""
        return tuple(
            min(
                self.initial_delay_seconds * self.backoff_multiplier**number, self.max_delay_seconds
            )
            for number in range(self.max_attempts - 1)
        )


def _deadline(seconds: float) -> float:
    if seconds <= 0:
        raise invalid("deadline", "the deadline has to be longer than 0 seconds")
    return float(seconds)


class Api(Sampling):
    """How models are asked."""

    retry: Retry = Retry()
    subprocess_timeout_seconds: Annotated[Number, AfterValidator(_deadline)] = 600.0
    """How long the validation of one step may take."""
    poll_interval_seconds: object = None
    realtime: object = None


class Prompts(_Section):
    """The templates by step."""

    template_dir: Text = "templates"
    templates: dict[str, Text] = Field(default_factory=dict)


class Schemas(_Section):
    """The JSON Schemas by step."""

    schema_dir: Text = "schemas"
    files: dict[str, Text] = Field(default_factory=dict)
    check_formats: Flag = True
    """Whether `format` in schemas is asserted."""


class Items(_Section):
    """Where units come from."""

    source: Text | None = None
    """A YAML file beside the pipeline's."""
    key: Text | None = None
    """The list of that file that units are made of."""
    name_field: Text = "id"
    """The field that a unit's id is made of."""


class Position(_Section):
    """One factor of a cross product: its name, and the list that it goes through."""

    name: Text
    source_key: Text


class Processing(_Section):
    """What units there are, and how they are gone through."""

    strategy: Literal["direct", "cross_product"] = "direct"
    chunk_size: Count = 100
    repeat: Count = 1
    items: Items = Items()
    positions: tuple[Position, ...] = ()
    validation_retry: Retry = Retry()
    inputs: Names = ()
    """Names that the context brings with it; where they are given, there are no others."""


def _step_name(name: str) -> str:
    if not STEP_NAME.match(name):
        cure = "use letters, digits, '_', '-' and '.', at most 100"
        raise invalid("step_name", f"{name!r} cannot name a step: files are named after it; {cure}")
    return name


def _scope(given: object) -> object:
    return "llm" if given == "chunk" else given


class StepEntry(Sampling, StepExpressions):
    """A step as the list of steps has it."""

    name: Annotated[Text, AfterValidator(_step_name)]
    scope: Annotated[
        StepScope,
        BeforeValidator(_scope),
        otherwise("unknown_scope", "a step's scope is one of llm, chunk, expression, run, fan_out"),
    ] = "llm"
    description: object = None
    prompt_template: object = None
    """The template again; it has to be that of `prompts`."""
    fan_out: object = None
    script: object = None


class StepList(_Section):
    """The steps in the order in which they run."""

    steps: tuple[StepEntry, ...] = ()
    name: object = None
    description: object = None


def _block(given: object) -> object:
    if given == NO_RULES:
        return RuleBlock()
    if not isinstance(given, dict) or not given:
        raise invalid(
            "empty_block",
            "the block says nothing; list what is to be checked, "
            f"or write {NO_RULES!r} where the schema is enough",
        )
    return given


class PipelineFile(_Section):
    """A pipeline file."""

    key_kind: ClassVar[str] = "section"

    pipeline: StepList = StepList()
    prompts: Prompts = Prompts()
    schemas: Schemas = Schemas()
    api: Api = Api()
    processing: Processing = Processing()
    validation: dict[str, Annotated[RuleBlock, BeforeValidator(_block)]] = Field(
        default_factory=dict
    )
    post_process: object = None
    name: object = None
    description: object = None
    version: object = None

    @field_validator("pipeline", "prompts", "schemas", "api", "processing", mode="before")
    @classmethod
    def _says_something(cls, section: object) -> object:
        if section is None:
            raise invalid("empty_section", "the section is empty; write {} if nothing is to be set")
        return section

    @field_validator("validation", mode="before")
    @classmethod
    def _may_be_empty(cls, blocks: object) -> object:
        return {} if blocks is None else blocks
