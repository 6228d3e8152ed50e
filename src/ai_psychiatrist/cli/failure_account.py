"""Why an assessment is not whole, and what to do about it, told on standard error."""

from collections.abc import Sequence

import typer

from ai_psychiatrist.cli.console import plain
from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.llm.reasons import Reason


def tell_causes(status: AssessmentStatus, causes: Sequence[Reason]) -> None:
    """Name the models and addresses that were tried, the codes and the cures; nothing if whole."""
    if status is AssessmentStatus.COMPLETE:
        return
    for cause in causes:
        typer.echo(plain(f"{_tried(cause)}: {_code(cause)}\n  {cause.cure}"), err=True)
    for model in dict.fromkeys(cause.model for cause in causes):
        tell_doctor(model)


def tell_doctor(model: str) -> None:
    """Name the command that looks closer."""
    typer.echo(plain(f"For a closer look: ai-psychiatrist doctor --model {model}"), err=True)


def _tried(cause: Reason) -> str:
    return cause.model if cause.address is None else f"{cause.model} at {cause.address}"


def _code(cause: Reason) -> str:
    status = "" if cause.http_status is None else f", HTTP {cause.http_status}"
    return f"{cause.code.value}{status}"
