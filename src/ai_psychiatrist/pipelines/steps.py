"""The steps of a run, made of what a pipeline file declares: models or expressions answer them."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Final

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.infrastructure.given_files import read_regular
from ai_psychiatrist.llm.calls import CallBudget, CallRecorder
from ai_psychiatrist.llm.definition import AgentDefinition, Prompt
from ai_psychiatrist.llm.endpoints import FallbackChain
from ai_psychiatrist.llm.runner import AgentRunner, create_agent
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.pipelines.pipeline_run import StepChecks, checks_by_step
from ai_psychiatrist.pipelines.unit_step import RawReply, Step, UnitStep
from ai_psychiatrist.validation.checks.step_config import Find, finder_of
from ai_psychiatrist.validation.checks.verdict import Verdict, refusal
from ai_psychiatrist.validation.config.document import MOST_TEMPLATE_BYTES
from ai_psychiatrist.validation.config.pipeline import PipelineConfig
from ai_psychiatrist.validation.config.pipeline_file import StepEntry
from ai_psychiatrist.validation.config.templates import (
    PromptTemplate,
    TemplateFailed,
    TemplateUnusable,
)

# The step's name keeps equal prompts of two steps apart, which would be one call.
_SYSTEM: Final = (
    "This is the step {name} of a pipeline. "
    "Reply with one JSON object as the task describes it, and with nothing else."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Whom the steps ask, and how."""

    chain: Callable[[str | None], FallbackChain]
    """Gives the models to ask, in order, by the name that the pipeline has, if any; raises
    `ConfigurationError`."""
    pydantic_ai: PydanticAISettings
    temperature: float | None
    """Where the pipeline has none."""


def make_steps(config: PipelineConfig, models: Models) -> list[Step]:
    """Return the steps that a run takes units through, in order.

    Raises `ConfigurationError` for one that cannot be run, or has no model that can answer it.
    """
    for step in config.steps:
        if step.scope == "fan_out":
            msg = (
                f"step {step.name!r} has the scope 'fan_out', which is not run here: make its "
                "elements units of their own"
            )
            raise ConfigurationError(msg)
    if not models.pydantic_ai.enabled:
        msg = "pipelines ask only through Pydantic AI: unset PYDANTIC_AI_ENABLED"
        raise ConfigurationError(msg)
    checks = checks_by_step(config)
    entries = {entry.name: entry for entry in config.file.pipeline.steps}
    return [
        Step(name=step.name, checks=checks[step.name], answer=partial(_find, find))
        if (find := finder_of(step)) is not None
        else _model_step(entries[step.name], step.template, checks[step.name], config, models)
        for step in config.steps
        if step.scope != "run"
    ]


async def _find(find: Find, unit: UnitStep) -> None:
    """Note what expressions find, checked like an answer."""
    found = await asyncio.to_thread(find, unit.known, unit.unit_id, seed=unit.seed)
    if isinstance(found, Verdict):
        unit.note(None, found)
    else:
        raw = json.dumps(found, ensure_ascii=False)
        unit.note(raw, await unit.check(raw))


def _model_step(
    entry: StepEntry,
    path: Path | None,
    checks: StepChecks,
    config: PipelineConfig,
    models: Models,
) -> Step:
    api = config.file.api
    chain = models.chain(entry.model_name or api.model_name)
    if chain[0].name == BASELINE:
        msg = (
            f"step {entry.name!r} has no model that can answer it: name one with --model, `model` "
            "in the step or under `api`, or MODEL_DEFAULT (the baseline knows only assessments)"
        )
        raise ConfigurationError(msg)
    if path is None:
        msg = f"step {entry.name!r} has no template"
        raise ConfigurationError(msg)
    # Without plain calls, which would come on top of the step's attempts.
    chain = tuple(replace(route, chat=None) for route in chain if route.name != BASELINE)
    temperatures = (entry.temperature, api.temperature, models.temperature)
    temperature = next((one for one in temperatures if one is not None), None)
    max_tokens = api.max_tokens if entry.max_tokens is None else entry.max_tokens
    render, waits_seconds = _compiled(path), api.retry.waits_seconds
    system = _SYSTEM.format(name=entry.name)
    definition = AgentDefinition(
        name=entry.name, extract=lambda text: RawReply(text=text), system=system
    )
    # Building one takes as long as a call.
    agent = cache(lambda retries: create_agent(definition, retries=retries))

    async def ask(unit: UnitStep) -> None:
        text = render(unit.known)
        if isinstance(text, Verdict):
            unit.note(None, text)
            return
        retries = unit.retries(waits_seconds)
        runner = AgentRunner(
            definition,
            partial(agent, unit.answers - 1),
            tuple(replace(route, retries=retries) for route in chain),
            models.pydantic_ai,
            temperature=temperature,
            max_tokens=max_tokens,
        )
        # The unit takes from the run's budget what is made, and not what is found again.
        recorder = CallRecorder(budget=CallBudget(sys.maxsize), store=unit)
        outcome = await runner.run(Prompt(system=system, user=text), recorder, review=unit.review)
        unit.end(outcome.failure)

    models_asked = tuple(route.name for route in chain)
    return Step(name=entry.name, checks=checks, answer=ask, models=models_asked)


def _compiled(path: Path) -> Callable[[Mapping[str, object]], str | Verdict]:
    """Return what writes a template for a unit, in the sandbox of Jinja2, or says why it cannot.

    Raises `ConfigurationError` when it is none or includes others.
    """
    text = read_regular(path, most_bytes=MOST_TEMPLATE_BYTES).decode("utf-8-sig")
    try:
        template = PromptTemplate(text)
        template.compile()
    except TemplateUnusable as error:
        msg = f"the template {path.name!r} cannot be used: {error}"
        raise ConfigurationError(msg) from None
    if template.includes:
        msg = f"the template {path.name!r} includes another: write it in one file"
        raise ConfigurationError(msg)

    def render(known: Mapping[str, object]) -> str | Verdict:
        try:
            return template.render(known)
        except TemplateFailed as failed:
            message = str(failed)
            if failed.code == "template_too_large":
                message = f"{path.name}: {message}"
            return refusal(FailureStage.PIPELINE_INTERNAL, failed.code, message)

    return render
