"""A run and its pipeline: what each step is asked about, which follows it, what is recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.pipelines.checker import PipelineChecker, read_context, write_context
from ai_psychiatrist.pipelines.run_folder import KIND, kept_pipeline
from ai_psychiatrist.store.errors import LedgerUnusable
from ai_psychiatrist.store.run_records import AttemptRecord
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.checks.host_fields import accumulated
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.config.pipeline import PipelineConfig


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

    def checker(self, step: str) -> PipelineChecker:
        """Return the rules of a step; raises `ConfigurationError` when it has none."""
        return PipelineChecker(validator=StepValidator(self.config.step(step)))

    def following(self, step: str) -> str | None:
        """Return the step that valid units are asked for after this one."""
        steps = self.store.steps[self.store.steps.index(step) + 1 :] if self._is_in_order else ()
        return next(iter(steps), None)

    def before(self, unit_id: str, step: str) -> dict[str, object] | None:
        """Return what is known before a step gets an input of its own.

        It is made of inputs and valid answers, and not kept twice. `None` when that is nothing: the
        run has neither input nor valid answer of the unit there.
        """
        known: dict[str, object] | None = None
        blocks = [one.rules for one in self.config.steps if one.rules is not None]
        protected = {name for block in blocks for name in block.protected}
        for earlier in self.store.steps[: self.store.steps.index(step)]:
            given = self._input(unit_id, earlier)
            row = self.store.last(unit_id, earlier)
            if given is not None:
                known = {**(known or {}), **given}
            if row is not None and row.is_valid:
                found = row.record.output or {}
                known = accumulated(known or {}, found, protected=protected)
        return known

    def context(self, unit_id: str, step: str) -> bytes | None:
        """Return all that a step is asked about, as a run keeps contexts."""
        if not self._is_in_order:
            return self.store.units.step_context(unit_id, step)
        known, given = self.before(unit_id, step), self._input(unit_id, step)
        if known is None and given is None:
            return None
        return write_context({**(known or {}), **(given or {})})

    def record(self, attempts: Sequence[AttemptRecord]) -> None:
        """Append attempts at a unit and, where the last one passed, ask for the step after it."""
        self.store.record(attempts)
        last = attempts[-1]
        following = self.following(last.step)
        if last.is_valid and following is not None:
            self.store.request(last.unit_id, following, round=last.round)

    @property
    def _is_in_order(self) -> bool:
        return self.store.about.get("kind") == KIND

    def _input(self, unit_id: str, step: str) -> dict[str, object] | None:
        try:
            return read_context(self.store.units.step_context(unit_id, step))
        except LedgerUnusable:
            raise
        except InputError:
            # The run does not know the unit yet.
            return None
