"""The rules that answers of a step are judged by, and the attempt that a verdict leaves."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from ai_psychiatrist.store.errors import refusing_damage
from ai_psychiatrist.store.run_records import AttemptRecord
from ai_psychiatrist.validation.checks.host_fields import UNIT_ID
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.checks.verdict import Verdict
from ai_psychiatrist.validation.config.pipeline import PipelineConfig


class Checker(Protocol):
    """The rules of one step."""

    @property
    def ruleset_digest(self) -> str:
        """Digest of the rules."""
        ...

    @property
    def schema_digest(self) -> str:
        """Digest of the schema."""
        ...

    def check(self, unit_id: str, raw: str, context: bytes | None) -> Verdict:
        """Return what becomes of an answer under these rules."""
        ...


class PipelineChecker:
    """The rules of a pipeline's step, for answers that are there."""

    def __init__(self, *, validator: StepValidator) -> None:
        self.validator = validator
        self.ruleset_digest = validator.ruleset_digest
        self.schema_digest = validator.schema_digest

    def check(self, unit_id: str, raw: str, context: bytes | None) -> Verdict:
        """Return what becomes of an answer; the unit it names itself does not count."""
        return self.validator.check_text(
            raw, context=read_context(context) or {}, meta={UNIT_ID: unit_id}
        )


def judged(attempt: AttemptRecord, verdict: Verdict, checker: Checker) -> AttemptRecord:
    """Return an attempt with the verdict of some rules; the object is kept when it passed."""
    return replace(
        attempt,
        stage=None if verdict.stage is None else verdict.stage.value,
        errors=[error.note for error in verdict.errors],
        warnings=[warning.note for warning in verdict.warnings],
        coercions=[coercion.note for coercion in verdict.coercions],
        output=verdict.value if verdict.is_valid else None,
        ruleset_digest=checker.ruleset_digest,
        schema_digest=checker.schema_digest,
    )


def pipeline_checkers(config: PipelineConfig) -> dict[str, PipelineChecker]:
    """Return the rules of every step that has some, and none for expressions without any."""
    return {
        step.name: PipelineChecker(validator=StepValidator(step))
        for step in config.steps
        if step.expressions is not None or (step.rules is not None and step.schema is not None)
    }


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
