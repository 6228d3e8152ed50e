"""What an expression step gives for a unit, in the place of a model's answer."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.validation.checks.refusals import refusal
from ai_psychiatrist.validation.checks.step_config import StepConfig
from ai_psychiatrist.validation.checks.verdict import Verdict
from ai_psychiatrist.validation.expressions import EvaluationFailed

Find: TypeAlias = Callable[[Mapping[str, object], str], dict[str, object] | Verdict]
"""Gives what expressions find for a unit by its context and id, or why they find nothing."""


def finder_of(step: StepConfig, *, seed: int) -> Find | None:
    """Return the expressions of a step, `None` for a step that a model answers.

    Raises `ExpressionRefused` when one of them uses what is not offered.
    """
    if step.expressions is None:
        return None
    procedure = step.expressions.compile()

    def find(context: Mapping[str, object], unit_id: str) -> dict[str, object] | Verdict:
        try:
            return procedure.run(context, seed=seed, step=step.name, unit_id=unit_id)
        except EvaluationFailed as problem:
            return not_found(problem)

    return find


def not_found(problem: EvaluationFailed) -> Verdict:
    """Return the verdict on a unit for which an expression has no value: another try has none."""
    field = problem.field or ""
    message = f"the expression {field!r} {problem.reason}"
    return refusal(FailureStage.PIPELINE_INTERNAL, f"expression_{problem.kind}", message, field)
