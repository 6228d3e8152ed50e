"""One unit at one step: the model calls that are made for it, and the attempts they come to."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

from pydantic import ConfigDict

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode, FailureStage, RejectionCode, stage_of_code
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.llm.calls import CallBudget, CallStore, Judgement
from ai_psychiatrist.llm.endpoints import CallRetries, is_passing, reached_no_model
from ai_psychiatrist.llm.replies import ModelOutput, ReplyRejected
from ai_psychiatrist.pipelines.pipeline_run import StepChecks
from ai_psychiatrist.pipelines.run_folder import read_context
from ai_psychiatrist.store.run_records import AttemptRecord, KeptCall, Origin
from ai_psychiatrist.store.run_writer import RunWriter
from ai_psychiatrist.validation.checks.host_fields import UNIT_ID
from ai_psychiatrist.validation.checks.verdict import Verdict, refusal
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batch_rounds import UnitBatches
    from ai_psychiatrist.llm.batches import BatchCall

_SHOWN_ERRORS: Final = 10
_CODES: Final = {
    FailureStage.SCHEMA_VALIDATION: RejectionCode.SCHEMA_BROKEN,
    FailureStage.VALIDATION: RejectionCode.RULE_BROKEN,
}


class RawReply(ModelOutput):
    """A reply as it came; the check of its unit notes what had to be done to read it."""

    model_config = ConfigDict(frozen=False)

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step that units are taken through."""

    name: str
    checks: StepChecks
    answer: "Callable[[UnitStep], Awaitable[None]]"
    """Notes the attempts at a unit; raises nothing for what a unit or a model does."""
    models: tuple[str, ...] = ()
    """Those that it may ask, in order; none where expressions answer, which find the same again."""


@dataclass(slots=True, kw_only=True)
class UnitStep(CallStore):
    """A unit at a step, and the store of the model calls that are made for it.

    Work that was cut short before its end finds its calls again.
    """

    unit_id: str
    step: Step
    context: bytes = field(repr=False)
    """Of the step, as runs keep it."""
    seed: int
    """What the run's expressions draw by."""
    limits: RetryLimits
    """What is left of the unit's attempts."""
    writer: RunWriter
    budget: CallBudget
    """Calls that the run may still make."""
    attempt: int
    """Number of the first attempt, from 1."""
    calls: Sequence[ModelCall] = field(repr=False)
    """Made for this attempt and the next ones before the work was cut short, in order."""
    batches: "UnitBatches | None" = None
    """What answers the calls that are not kept; `None` where models are asked live."""
    records: list[AttemptRecord] = field(default_factory=list)
    """The attempts; empty while nothing is decided."""
    left_for: str = ""
    """Why nothing is decided: the last call's failure code or HTTP status; else empty."""
    _counts: Counter[str] = field(init=False, default_factory=Counter)
    """How many calls of each digest were found or kept; those that reached no model are neither."""
    _digest: str = field(init=False, default="")
    """Of the call that is made."""
    _batched: "BatchCall | None" = field(init=False, default=None)
    """The call that is sent next, where a batch answers it."""
    _unreached: int = field(init=False, default=0)
    _verdict: Verdict | None = field(init=False, repr=False, default=None)

    @property
    def known(self) -> dict[str, object]:
        """The step's context: the unit's own fields and what earlier steps found."""
        return {**(read_context(self.context) or {}), UNIT_ID: self.unit_id}

    @property
    def answers(self) -> int:
        """How many answers a model may give: what is left, and no fewer than are paid for."""
        replies = Counter(call.model for call in self.calls if call.code is None)
        return max(self.limits.validation_attempts, *replies.values(), 1)

    def retries(self, waits_seconds: tuple[float, ...]) -> CallRetries:
        """Return when a call that gave no reply is made again."""
        tries = 2 * len(waits_seconds) + len(self.calls)
        if self.batches is not None:
            # The next batch is the wait.
            waits_seconds, tries = (), tries + self.batches.submissions
        # Calls that reach no model come on top of those that fail, and kept ones wait for nothing.
        longest = waits_seconds[-1:] or (0.0,)
        return CallRetries(
            waits_seconds=(*waits_seconds, *longest * tries), applies_to=self._may_be_called_again
        )

    async def review(self, reply: ModelOutput) -> None:
        """Check a reply; raises `ReplyRejected` when another one may pass."""
        if not isinstance(reply, RawReply):
            msg = "a step has replies of its own alone"
            raise TypeError(msg)
        verdict = self._verdict = await self.check(reply.text)
        if verdict.stage is not None and verdict.stage.is_retryable:
            raise ReplyRejected(_code(verdict), _feedback(verdict))
        reply.repaired, reply.coercions = verdict.repaired, len(verdict.coercions)

    async def check(self, raw: str) -> Verdict:
        """Return the verdict of the step's rules on an answer."""
        check = self.step.checks.check
        return await asyncio.to_thread(check, self.unit_id, raw, self.context)

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:  # noqa: ARG002
        """Return the next call of this digest that was made before."""
        self._digest, self._batched = digest, None
        kept = self._kept
        if kept is not None:
            self._counts[digest] += 1
        elif self.batches is not None:
            self._batched = self.batches.expect(digest, self._counts[digest])
        return kept

    def admitted(self) -> AbstractAsyncContextManager[None]:
        """Take a call from the run's budget; raises `ModelCallFailed` when none is left.

        What was in a batch was taken before, and stays taken until a batch answers it.
        """
        if self._batched is None or not self._batched.is_submitted:
            self.budget.spend()
        return nullcontext()

    async def keep(self, call: ModelCall) -> None:
        """Put a call on disk, unless it reached no model: it is to be made when the run resumes."""
        if not self._reached_no_model(call.code, call.http_status):
            kept = replace(call, occurrence=self._counts[call.digest])
            self._counts[call.digest] += 1
            await self.writer.write(KeptCall(self.unit_id, self.attempt, kept))
        elif self._batched is None:
            self.budget.give_back()

    def judged(self, judgement: Judgement) -> None:
        """Note a reply, or a call without one; a call that reached no model is no attempt."""
        called = judgement.attempt
        if self._reached_no_model(called.code, called.http_status):
            self._unreached += 1
            self.left_for = str(called.http_status or called.code)
            return
        self.left_for = ""
        self.note(judgement.text, self._verdict or _without_answer(judgement))
        self._verdict = None

    def note(self, raw: str | None, verdict: Verdict) -> None:
        """Add an attempt."""
        record = AttemptRecord(
            unit_id=self.unit_id,
            step=self.step.name,
            attempt=self.attempt + len(self.records),
            origin=Origin.MODEL,
            raw=raw,
        )
        self.records.append(self.step.checks.judged(record, verdict))

    def end(self, failure: FailureCode | None) -> None:
        """Note why the models gave no answer, where no call says so."""
        if failure is FailureCode.CALL_BUDGET_SPENT:
            self.left_for = failure.value
        stage = None if failure is None or self.left_for else stage_of_code(failure)
        is_noted = bool(self.records) and stage in (FailureStage.PROVIDER, self.records[-1].stage)
        if failure is not None and stage is not None and not is_noted:
            self.note(None, refusal(stage, failure.value, "the call failed in the program"))

    @property
    def _kept(self) -> ModelCall | None:
        """The call that is made, where it is on disk."""
        place = self._digest, self._counts[self._digest]
        return next((one for one in self.calls if (one.digest, one.occurrence) == place), None)

    def _may_be_called_again(self, failure: ModelCallFailed) -> bool:
        if self._kept is not None or not is_passing(failure):
            return self._kept is not None
        if not self._reached_no_model(failure.code, failure.http_status):
            failures = sum(one.stage == FailureStage.PROVIDER for one in self.records)
            return failures < self.limits.provider_attempts
        if self._batched is not None:
            return not self._batched.is_given_up
        return self._unreached < self.limits.provider_attempts

    def _reached_no_model(self, code: Enum | None, http_status: int | None) -> bool:
        """Return whether the call that ended so is no attempt; no batch made one given up."""
        is_given_up = self._batched is not None and self._batched.is_given_up
        return is_given_up or reached_no_model(code, http_status)


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
    shown = [f"- {error.path}: {error.message}" for error in verdict.errors[:_SHOWN_ERRORS]]
    if len(verdict.errors) > len(shown):
        shown.append(f"- and {len(verdict.errors) - len(shown)} more")
    return "\n".join(
        ["The reply was not accepted:", *shown, "Reply again with the whole JSON object."]
    )
