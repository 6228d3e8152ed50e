"""What a step of a pipeline's run knows of a unit: its inputs, and what earlier steps found."""

from dataclasses import dataclass
from typing import Self

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.ledger.store.contexts import read_context, write_context
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.store.errors import LedgerUnusable
from ai_psychiatrist.validation.checks.host_fields import accumulated
from ai_psychiatrist.validation.config.pipeline import PipelineConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatedContexts:
    """The contexts of a run's units, made anew of inputs and valid answers; none is kept twice."""

    ledger: Ledger
    protected: frozenset[str]
    """Names that no step's answer overrides."""

    @classmethod
    def of(cls, ledger: Ledger, config: PipelineConfig) -> Self:
        """Return the contexts of a run of a pipeline."""
        blocks = [step.rules for step in config.steps if step.rules is not None]
        names = frozenset(name for block in blocks for name in block.protected)
        return cls(ledger=ledger, protected=names)

    def before(self, unit_id: str, step: str, *, round: int = 0) -> dict[str, object] | None:  # noqa: A002
        """Return what is known before a step gets an input of its own.

        `None` when that is nothing: the run has neither input nor valid answer of the unit there.
        """
        known: dict[str, object] | None = None
        for earlier in self.ledger.steps[: self.ledger.steps.index(step)]:
            given = self._input(unit_id, earlier, round)
            row = self.ledger.last(unit_id, earlier, round=round)
            if given is not None:
                known = {**(known or {}), **given}
            if row is not None and row.is_valid:
                found = row.record.output or {}
                known = accumulated(known or {}, found, protected=self.protected)
        return known

    def at(self, unit_id: str, step: str, *, round: int = 0) -> bytes | None:  # noqa: A002
        """Return all that a step is asked about, as a ledger keeps contexts."""
        known, given = self.before(unit_id, step, round=round), self._input(unit_id, step, round)
        if known is None and given is None:
            return None
        return write_context({**(known or {}), **(given or {})})

    def _input(self, unit_id: str, step: str, round: int) -> dict[str, object] | None:  # noqa: A002
        try:
            return read_context(self.ledger.units.step_context(unit_id, step, round=round))
        except LedgerUnusable:
            raise
        except InputError:
            # The run does not know the unit yet.
            return None
