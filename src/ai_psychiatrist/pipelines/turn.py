"""A step, and one unit's turn at it: what is known, which calls are kept, and what comes of it."""

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
from ai_psychiatrist.pipelines.checker import PipelineChecker, judged, read_context
from ai_psychiatrist.store.run_records import AttemptRecord, KeptCall, Origin
from ai_psychiatrist.store.run_writer import RunWriter
from ai_psychiatrist.validation.checks.host_fields import UNIT_ID
from ai_psychiatrist.validation.checks.refusals import refusal
from ai_psychiatrist.validation.checks.verdict import Verdict
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batch_rounds import UnitBatches
    from ai_psychiatrist.llm.batches import BatchCall

_TOLD_ERRORS: Final = 10
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
    checker: PipelineChecker
    answer: "Callable[[Turn], Awaitable[None]]"
    """Notes in a turn what comes of it; raises nothing for what a unit or a model does."""
    models: tuple[str, ...] = ()
    """Whom it may ask, in order; none where expressions answer, which find the same each time."""


@dataclass(slots=True, kw_only=True)
class Turn(CallStore):
    """One unit at one step, and the store of the model calls that are made for it.

    A turn that was cut short before its end finds its calls again.
    """

    unit_id: str
    step: Step
    context: bytes = field(repr=False)
    """Of the step, as ledgers keep it."""
    seed: int
    """What the run's expressions draw by."""
    limits: RetryLimits
    writer: RunWriter
    budget: CallBudget
    """Calls that the run may still make."""
    attempt: int
    """Number of the turn's first attempt, from 1."""
    provider_failures: int
    other_failures: int
    """Before this turn."""
    calls: Sequence[ModelCall] = field(repr=False)
    """Made in this turn before it was cut short, in order."""
    batches: "UnitBatches | None" = None
    """What answers the calls that are not kept; `None` where models are asked live."""
    records: list[AttemptRecord] = field(default_factory=list)
    """What came of the turn; empty while nothing did."""
    left_for: str = ""
    """Why nothing is decided: the last call's failure code or HTTP status; else empty."""
    _known: dict[tuple[str, int], ModelCall] = field(init=False, repr=False)
    """By digest and number; calls that reached no model have none."""
    _numbers: Counter[str] = field(init=False, default_factory=Counter)
    """Of the next call of each digest."""
    _place: tuple[str, int] = field(init=False, default=("", 0))
    """Digest and number of the call that is made."""
    _batched: "BatchCall | None" = field(init=False, default=None)
    """The call that is sent next, where a batch answers it."""
    _skipped: Counter[tuple[str, int]] = field(init=False, default_factory=Counter)
    """How many answers of batches said that no model was reached, by digest and number."""
    _unreached: int = field(init=False, default=0)
    _verdict: Verdict | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        self._known = {(call.digest, call.occurrence): call for call in self.calls}

    @property
    def known(self) -> dict[str, object]:
        """The step's context: the unit's own fields and what earlier steps found."""
        return {**(read_context(self.context) or {}), UNIT_ID: self.unit_id}

    @property
    def answers(self) -> int:
        """How many answers a model may give: what is left, and no fewer than are paid for."""
        replies = Counter(call.model for call in self.calls if call.code is None)
        left = self.limits.validation_attempts - self.other_failures
        return max(left, *replies.values(), 1)

    def retries(self, waits_seconds: tuple[float, ...]) -> CallRetries:
        """Return when a call that gave no reply is made again."""
        known = len(self.calls)
        if self.batches is not None:
            # The next batch is the wait.
            waits_seconds, known = (0.0,) * len(waits_seconds), known + self.batches.submissions
        longest = waits_seconds[-1:] or (0.0,)
        # Calls that reach no model come on top of those that fail, and kept ones wait for nothing.
        more = longest * (len(waits_seconds) + known)
        return CallRetries(
            waits_seconds=(*waits_seconds, *more), applies_to=self._may_be_called_again
        )

    def check(self, raw: str) -> Verdict:
        """Return what becomes of an answer under the step's rules."""
        return self.step.checker.check(self.unit_id, raw, self.context)

    async def review(self, reply: ModelOutput) -> None:
        """Check a reply; raises `ReplyRejected` when another one may pass."""
        if not isinstance(reply, RawReply):
            msg = "a step has replies of its own alone"
            raise TypeError(msg)
        verdict = self._verdict = await asyncio.to_thread(self.check, reply.text)
        if verdict.stage is not None and verdict.stage.is_retryable:
            raise ReplyRejected(_code(verdict), _feedback(verdict))
        reply.repaired, reply.coercions = verdict.repaired, len(verdict.coercions)

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:  # noqa: ARG002
        """Return the next call of this digest that was made before."""
        place = self._place = digest, self._numbers[digest]
        self._batched = None
        kept = self._known.get(place)
        if kept is not None:
            self._numbers[digest] += 1
        elif self.batches is not None:
            self._batched = self.batches.expect(*place, skipped=self._skipped[place])
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
        if self._reached_no_model(call.code, call.http_status):
            if self._batched is None:
                self.budget.give_back()
            self._skipped[self._place] += 1
            return
        digest, number = self._place
        self._numbers[digest] += 1
        kept = replace(call, occurrence=number)
        await self.writer.write(KeptCall(self.unit_id, self.attempt, kept))

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
        self.records.append(judged(record, verdict, self.step.checker))
        self.provider_failures += verdict.stage is FailureStage.PROVIDER

    def end(self, failure: FailureCode | None) -> None:
        """Note why the models gave no answer, where no call says so."""
        if failure is FailureCode.CALL_BUDGET_SPENT:
            self.left_for = failure.value
        if failure is None or self.left_for:
            return
        stage = stage_of_code(failure)
        is_told = bool(self.records) and stage in (FailureStage.PROVIDER, self.records[-1].stage)
        if stage is not None and not is_told:
            self.note(None, refusal(stage, failure.value, "the call failed in the program"))

    def _may_be_called_again(self, failure: ModelCallFailed) -> bool:
        digest, _ = self._place
        if (digest, self._numbers[digest]) in self._known:
            return True
        if not is_passing(failure):
            return False
        if not self._reached_no_model(failure.code, failure.http_status):
            return self.provider_failures < self.limits.provider_attempts
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
    told = [f"- {error.path}: {error.message}" for error in verdict.errors[:_TOLD_ERRORS]]
    if len(verdict.errors) > len(told):
        told.append(f"- and {len(verdict.errors) - len(told)} more")
    return "\n".join(
        ["The reply was not accepted:", *told, "Reply again with the whole JSON object."]
    )
