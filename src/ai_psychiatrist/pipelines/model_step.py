"""A step that a model answers, as an agent whose extractor is the step's own validation."""

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Final, Self

from pydantic import ConfigDict

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode, FailureStage, RejectionCode, stage_of_code
from ai_psychiatrist.ledger.ledger_writer import LedgerWriter
from ai_psychiatrist.ledger.recheck.checker import PipelineChecker
from ai_psychiatrist.ledger.store.records import AttemptRecord
from ai_psychiatrist.llm.calls import CallBudget, CallRecorder, Judgement
from ai_psychiatrist.llm.definition import AgentDefinition, Prompt
from ai_psychiatrist.llm.endpoints import CallRetries, FallbackChain, is_passing
from ai_psychiatrist.llm.replies import ModelOutput, ReplyRejected
from ai_psychiatrist.llm.runner import AgentOutcome, AgentRunner, ReplyAgent, create_agent
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.pipelines.step_turn import StepTurn
from ai_psychiatrist.pipelines.template import NotRendered, StepTemplate
from ai_psychiatrist.pipelines.unit_calls import UnitCalls
from ai_psychiatrist.validation.checks.refusals import refusal
from ai_psychiatrist.validation.checks.verdict import Verdict
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

# The step's name keeps equal prompts of two steps apart, which would be one call.
_SYSTEM: Final = (
    "This is the step {name} of a pipeline. "
    "Reply with one JSON object as the task describes it, and with nothing else."
)
_TOLD_ERRORS: Final = 10
_CODES: Final = {
    FailureStage.SCHEMA_VALIDATION: RejectionCode.SCHEMA_BROKEN,
    FailureStage.VALIDATION: RejectionCode.RULE_BROKEN,
}


class _Reply(ModelOutput):
    """A reply as it came; the check of its unit notes what had to be done to read it."""

    model_config = ConfigDict(frozen=False)

    text: str

    @classmethod
    def of(cls, text: str) -> Self:
        """Return a reply that is still to be checked."""
        return cls(text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStep:
    """A step of scope `llm`."""

    asks_models: ClassVar[bool] = True

    name: str
    template: StepTemplate
    checker: PipelineChecker
    chain: FallbackChain
    limits: RetryLimits
    waits_seconds: tuple[float, ...]
    """Before each further call, after one that failed."""
    pydantic_ai: PydanticAISettings
    temperature: float | None
    max_tokens: int | None = None
    agents: "dict[int, ReplyAgent[_Reply]]" = field(default_factory=dict, repr=False)
    """By how often they ask again; building one takes as long as a call."""

    async def take(
        self, turn: StepTurn, writer: LedgerWriter, budget: CallBudget
    ) -> list[AttemptRecord] | None:
        """Ask until an answer passes or the step's attempts are used up.

        Returns `None` when the calls ran out before: nothing is decided then.
        """
        try:
            text = self.template.render(turn.known)
        except NotRendered as error:
            verdict = refusal(FailureStage.PIPELINE_INTERNAL, error.code, str(error))
            return [turn.attempt(0, None, verdict, self.checker)]
        asking = _Asking(step=self, turn=turn, calls=turn.store(writer))
        outcome = await asking.runner().run(
            Prompt(system=self.definition.system, user=text),
            CallRecorder(budget=_TurnBudget(len(turn.calls), budget), store=asking.calls),
            review=asking.review,
        )
        if outcome.failure is FailureCode.CALL_BUDGET_SPENT:
            return None
        return asking.attempts(outcome)

    @property
    def definition(self) -> AgentDefinition[_Reply]:
        """The step as an agent."""
        return AgentDefinition(
            name=self.name, extract=_Reply.of, system=_SYSTEM.format(name=self.name)
        )

    def agent(self, retries: int) -> "ReplyAgent[_Reply]":
        """Return the agent that asks again so often."""
        if retries not in self.agents:
            self.agents[retries] = create_agent(self.definition, retries=retries)
        return self.agents[retries]


class _TurnBudget(CallBudget):
    """Calls that are found again, and after them those of the run."""

    def __init__(self, found: int, run: CallBudget) -> None:
        super().__init__(found)
        self._run = run

    def spend(self) -> None:
        """Take one call; raises `ModelCallFailed` when the run has none left."""
        if self.left > 0:
            super().spend()
        else:
            self._run.spend()

    def give_back(self) -> None:
        """Give nothing back: a run's ceiling is one of calls, whatever they brought."""


@dataclass(slots=True, kw_only=True)
class _Asking:
    """What is asked for one unit, within what is left of its attempts."""

    step: ModelStep
    turn: StepTurn
    calls: UnitCalls
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    """By the position of the judgement that each belongs to."""

    def runner(self) -> AgentRunner[_Reply]:
        """Return what asks the step's models."""
        step = self.step
        retries = CallRetries(
            waits_seconds=step.waits_seconds, applies_to=self._may_be_called_again
        )
        left = step.limits.validation_attempts - self.turn.other_failures
        return AgentRunner(
            step.definition,
            partial(step.agent, max(left - 1, 0)),
            # Without plain calls, which would come on top of the step's attempts.
            tuple(replace(route, chat=None, retries=retries) for route in step.chain),
            step.pydantic_ai,
            temperature=step.temperature,
            max_tokens=step.max_tokens,
        )

    async def review(self, reply: ModelOutput) -> None:
        """Check a reply; raises `ReplyRejected` when another one may pass."""
        if not isinstance(reply, _Reply):
            msg = "a step has replies of its own alone"
            raise TypeError(msg)
        check, turn = self.step.checker.check, self.turn
        verdict = await asyncio.to_thread(check, turn.unit_id, reply.text, turn.content)
        self.verdicts[len(self.calls.judgements)] = verdict
        if verdict.stage is not None and verdict.stage.is_retryable:
            raise ReplyRejected(_code(verdict), _feedback(verdict))
        reply.repaired, reply.coercions = verdict.repaired, len(verdict.coercions)

    def attempts(self, outcome: AgentOutcome[_Reply]) -> list[AttemptRecord]:
        """Return a record of each reply and of each call without one."""
        found = [
            (judgement.text, self.verdicts.get(number) or _without_answer(judgement))
            for number, judgement in enumerate(self.calls.judgements)
        ]
        is_told = bool(found) and found[-1][1].stage is FailureStage.PIPELINE_INTERNAL
        if outcome.failure is FailureCode.INTERNAL_ERROR and not is_told:
            verdict = refusal(
                FailureStage.PIPELINE_INTERNAL,
                outcome.failure.value,
                "the call failed in the program",
            )
            found.append((None, verdict))
        return [
            self.turn.attempt(number, raw, verdict, self.step.checker)
            for number, (raw, verdict) in enumerate(found)
        ]

    def _may_be_called_again(self, failure: ModelCallFailed) -> bool:
        failures = self.turn.provider_failures + sum(
            stage_of_code(judgement.attempt.code) is FailureStage.PROVIDER
            for judgement in self.calls.judgements
        )
        return is_passing(failure) and failures < self.step.limits.provider_attempts


def _without_answer(judgement: Judgement) -> Verdict:
    """Return the verdict on a reply that was not read, or on a call that gave none."""
    attempt = judgement.attempt
    code = attempt.code or FailureCode.INTERNAL_ERROR
    stage = stage_of_code(code) or FailureStage.PIPELINE_INTERNAL
    name = str(attempt.http_status or code.value)
    rule = name if stage is FailureStage.PIPELINE_INTERNAL else f"{stage.value}_{name}"
    return refusal(stage, rule, judgement.feedback or "the call gave no reply")


def _code(verdict: Verdict) -> RejectionCode:
    if verdict.stage in _CODES:
        return _CODES[verdict.stage]
    rule = next((error.rule.removeprefix("parse_") for error in verdict.errors), "")
    return RejectionCode(rule) if rule in set(RejectionCode) else RejectionCode.UNREPAIRABLE


def _feedback(verdict: Verdict) -> str:
    told = [f"- {error.path}: {error.message}" for error in verdict.errors[:_TOLD_ERRORS]]
    if len(verdict.errors) > len(told):
        told.append(f"- and {len(verdict.errors) - len(told)} more")
    return "\n".join(
        ["The reply was not accepted:", *told, "Reply again with the whole JSON object."]
    )
