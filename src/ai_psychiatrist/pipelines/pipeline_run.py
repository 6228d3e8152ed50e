"""A pipeline's run: what a step is asked about, by what answers are judged, what is recorded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.pipelines.run_folder import KIND, kept_pipeline, read_context, write_context
from ai_psychiatrist.store.errors import LedgerUnusable
from ai_psychiatrist.store.run_records import AttemptRecord
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.checks.host_fields import UNIT_ID, accumulated
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.checks.verdict import Verdict
from ai_psychiatrist.validation.config.pipeline import PipelineConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class StepChecks:
    """The rules that the answers of a step are judged by."""

    check: Callable[[str, str, bytes | None], Verdict]
    """Returns the verdict on a unit's answer: unit id, the answer's text, the step's context."""
    ruleset_digest: str
    schema_digest: str

    @classmethod
    def of(cls, validator: StepValidator) -> Self:
        """Return the rules of a pipeline's step; the unit that an answer names does not count."""

        def check(unit_id: str, raw: str, context: bytes | None) -> Verdict:
            known = read_context(context) or {}
            return validator.check_text(raw, context=known, meta={UNIT_ID: unit_id})

        return cls(
            check=check,
            ruleset_digest=validator.ruleset_digest,
            schema_digest=validator.schema_digest,
        )

    def judged(self, attempt: AttemptRecord, verdict: Verdict) -> AttemptRecord:
        """Return an attempt with its verdict; the object is kept when it passed."""
        return replace(
            attempt,
            stage=None if verdict.stage is None else verdict.stage.value,
            errors=[error.note for error in verdict.errors],
            warnings=[warning.note for warning in verdict.warnings],
            coercions=[coercion.note for coercion in verdict.coercions],
            output=verdict.value if verdict.is_valid else None,
            ruleset_digest=self.ruleset_digest,
            schema_digest=self.schema_digest,
        )


def checks_by_step(config: PipelineConfig) -> dict[str, StepChecks]:
    """Return the rules of every step that has some, and none for expressions without any."""
    return {
        step.name: StepChecks.of(StepValidator(step))
        for step in config.steps
        if step.expressions is not None or (step.rules is not None and step.schema is not None)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineRun:
    """A run, and the steps that are declared for it.

    In runs of other kinds the steps stand side by side: each is asked about its unit, and none
    follows another.
    """

    store: RunStore
    config: PipelineConfig

    @classmethod
    def of(cls, store: RunStore) -> Self:
        """Return a run with the pipeline that it was made, or last resumed, with."""
        return cls(store=store, config=kept_pipeline(store.folder))

    def checks(self, step: str) -> StepChecks:
        """Return the rules of a step; raises `ConfigurationError` when it has none."""
        return StepChecks.of(StepValidator(self.config.step(step)))

    def following(self, step: str) -> str | None:
        """Return the step that valid units are asked for after this one."""
        steps = self.store.steps[self.store.steps.index(step) + 1 :] if self.is_in_order else ()
        return next(iter(steps), None)

    def before(self, unit_id: str, step: str) -> dict[str, object] | None:
        """Return what is known before a step gets an input of its own.

        It is made of inputs and valid answers, and not kept twice. `None` when that is nothing: the
        run has neither input nor valid answer of the unit there.
        """
        known: dict[str, object] | None = None
        for earlier in self.store.steps[: self.store.steps.index(step)]:
            given = self._input(unit_id, earlier)
            row = self.store.last(unit_id, earlier)
            if given is not None:
                known = {**(known or {}), **given}
            if row is not None and row.is_valid:
                known = accumulated(known or {}, row.record.output or {}, protected=self.protected)
        return known

    def context(self, unit_id: str, step: str) -> bytes | None:
        """Return all that a step is asked about, as a run keeps contexts."""
        if not self.is_in_order:
            return self.store.units.step_context(unit_id, step)
        known, given = self.before(unit_id, step), self._input(unit_id, step)
        return write_context(known if given is None else {**(known or {}), **given})

    def record(self, attempts: Sequence[AttemptRecord]) -> None:
        """Append attempts at a unit and, where the last one passed, ask for the step after it."""
        self.store.record(attempts)
        last = attempts[-1]
        following = self.following(last.step)
        if last.is_valid and following is not None:
            self.store.request(last.unit_id, following, round=last.round)

    @property
    def protected(self) -> set[str]:
        """Names to which no answer gives another value than the unit's input or an earlier step."""
        return {name for one in self.config.steps if one.rules for name in one.rules.protected}

    @property
    def is_in_order(self) -> bool:
        """Whether its steps follow one another."""
        return self.store.about.get("kind") == KIND

    def _input(self, unit_id: str, step: str) -> dict[str, object] | None:
        try:
            return read_context(self.store.units.step_context(unit_id, step))
        except LedgerUnusable:
            raise
        except InputError:
            # The run does not know the unit yet.
            return None
