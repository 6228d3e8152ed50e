"""Make steps that can be run of what a pipeline file declares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.ledger.recheck.checker import PipelineChecker
from ai_psychiatrist.llm.endpoints import FallbackChain
from ai_psychiatrist.llm.settings import ModelCallSettings, PydanticAISettings
from ai_psychiatrist.pipelines.expression_step import ExpressionStep
from ai_psychiatrist.pipelines.model_step import ModelStep
from ai_psychiatrist.pipelines.step_turn import RunnableStep
from ai_psychiatrist.pipelines.template import StepTemplate
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.config.pipeline import PipelineConfig, StepConfig
from ai_psychiatrist.validation.config.pipeline_file import StepEntry

_RUNNABLE_SCOPES: Final = frozenset({"llm", "expression"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Whom the steps ask."""

    settings: ModelCallSettings
    pydantic_ai: PydanticAISettings
    chain: Callable[[str], FallbackChain]
    """Gives a model by name with those to ask after it; raises `ConfigurationError`."""
    only: str | None = None
    """The one model of all steps, whatever the file names."""


def runnable_steps(config: PipelineConfig) -> list[StepConfig]:
    """Return the steps that a run does, in order.

    Raises `ConfigurationError` for a pipeline with a step that asks about parts of a unit.
    """
    for step in config.steps:
        if step.scope == "fan_out":
            msg = (
                f"step {step.name!r} has the scope 'fan_out', which is not run here: make its "
                "elements units of their own"
            )
            raise ConfigurationError(msg)
    return [step for step in config.steps if step.scope in _RUNNABLE_SCOPES]


def left_out(config: PipelineConfig) -> list[str]:
    """Return what of a pipeline a run does not do, as it is told."""
    steps = [f"step {step.name} (scope run)" for step in config.steps if step.scope == "run"]
    scripts = config.file.post_process
    return [*steps, f"post_process ({len(scripts)})"] if isinstance(scripts, list) else steps


def chains_of(config: PipelineConfig, models: Models) -> dict[str, FallbackChain]:
    """Return model step → whom it asks, in order.

    Raises `ConfigurationError` for a step without a model that can answer it.
    """
    if not models.pydantic_ai.enabled:
        msg = "pipelines ask through Pydantic AI alone: unset PYDANTIC_AI_ENABLED"
        raise ConfigurationError(msg)
    own = {step.name: step for step in config.file.pipeline.steps}
    chains = {}
    for step in runnable_steps(config):
        if step.scope == "llm":
            name = models.only or own[step.name].model_name or config.file.api.model_name
            chains[step.name] = _without_baseline(models, step.name, name)
    return chains


def _without_baseline(models: Models, step: str, name: str | None) -> FallbackChain:
    chain = models.chain(name or models.settings.default)
    if chain[0].name == BASELINE:
        msg = (
            f"step {step!r} has no model that can answer it: name one with --model, `model` in the "
            "step or under `api`, or MODEL_DEFAULT (the baseline knows assessments alone)"
        )
        raise ConfigurationError(msg)
    return tuple(route for route in chain if route.name != BASELINE)


def make_steps(
    config: PipelineConfig, *, chains: Mapping[str, FallbackChain], models: Models
) -> list[RunnableStep]:
    """Return the steps of a pipeline; raises `ConfigurationError` for one that cannot be run."""
    own = {step.name: step for step in config.file.pipeline.steps}
    return [
        ExpressionStep(name=step.name, procedure=step.expressions.compile(), checker=_checker(step))
        if step.expressions is not None
        else _asking(step, own[step.name], config, chains[step.name], models)
        for step in runnable_steps(config)
    ]


def _checker(step: StepConfig) -> PipelineChecker:
    return PipelineChecker(validator=StepValidator(step))


def _asking(
    step: StepConfig, own: StepEntry, config: PipelineConfig, chain: FallbackChain, models: Models
) -> ModelStep:
    if step.template is None:
        msg = f"step {step.name!r} has no template"
        raise ConfigurationError(msg)
    api = config.file.api
    written = own.temperature if own.temperature is not None else api.temperature
    return ModelStep(
        name=step.name,
        template=StepTemplate(step.template),
        checker=_checker(step),
        chain=chain,
        limits=config.retry,
        waits_seconds=api.retry.waits_seconds,
        pydantic_ai=models.pydantic_ai,
        temperature=models.settings.temperature if written is None else written,
        max_tokens=own.max_tokens if own.max_tokens is not None else api.max_tokens,
    )
