"""What a step of a run is asked about: its inputs, and what earlier steps found."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self, TypeAlias

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.store.errors import LedgerUnusable, refusing_damage
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.checks.host_fields import accumulated
from ai_psychiatrist.validation.config.pipeline import PipelineConfig

ContextOf: TypeAlias = Callable[[str, str], bytes | None]
"""Gives what a step was asked about for a unit, by their names; `None` when that is not known."""


def write_context(context: Mapping[str, object] | None) -> bytes | None:
    """Return a context as a run keeps it, equal for equal contexts."""
    if context is None:
        return None
    text = json.dumps(context, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def read_context(content: bytes | None) -> dict[str, object] | None:
    """Return a context that `write_context` wrote; raises `LedgerUnusable` for another."""
    if content is None:
        return None
    with refusing_damage():
        return dict(json.loads(content.decode("utf-8", "surrogatepass")).items())


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatedContexts:
    """The contexts of a run's units, made anew of inputs and valid answers; none is kept twice."""

    ledger: RunStore
    protected: frozenset[str]
    """Names that no step's answer overrides."""

    @classmethod
    def of(cls, ledger: RunStore, config: PipelineConfig) -> Self:
        """Return the contexts of a run of a pipeline."""
        blocks = [step.rules for step in config.steps if step.rules is not None]
        names = frozenset(name for block in blocks for name in block.protected)
        return cls(ledger=ledger, protected=names)

    def before(self, unit_id: str, step: str) -> dict[str, object] | None:
        """Return what is known before a step gets an input of its own.

        `None` when that is nothing: the run has neither input nor valid answer of the unit there.
        """
        known: dict[str, object] | None = None
        for earlier in self.ledger.steps[: self.ledger.steps.index(step)]:
            given = self._input(unit_id, earlier)
            row = self.ledger.last(unit_id, earlier)
            if given is not None:
                known = {**(known or {}), **given}
            if row is not None and row.is_valid:
                found = row.record.output or {}
                known = accumulated(known or {}, found, protected=self.protected)
        return known

    def at(self, unit_id: str, step: str) -> bytes | None:
        """Return all that a step is asked about, as a run keeps contexts."""
        known, given = self.before(unit_id, step), self._input(unit_id, step)
        if known is None and given is None:
            return None
        return write_context({**(known or {}), **(given or {})})

    def _input(self, unit_id: str, step: str) -> dict[str, object] | None:
        try:
            return read_context(self.ledger.units.step_context(unit_id, step))
        except LedgerUnusable:
            raise
        except InputError:
            # The run does not know the unit yet.
            return None
