"""The command `revalidate`: rules applied again to the answers of a run."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.console import ExitCode, print_json
from ai_psychiatrist.cli.options import JsonOption
from ai_psychiatrist.cli.run_source import open_run
from ai_psychiatrist.evaluation.measuring import measure_run, report_run
from ai_psychiatrist.evaluation.runs.reply_checkers import checkers_for
from ai_psychiatrist.evaluation.runs.results import write_results
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.pipelines import revalidation
from ai_psychiatrist.pipelines import run as pipeline_run
from ai_psychiatrist.pipelines.pipeline_run import PipelineRun, checks_by_step
from ai_psychiatrist.pipelines.revalidation import StepChanges
from ai_psychiatrist.pipelines.run_folder import KIND, SUMMARY_NAME
from ai_psychiatrist.store.run_records import StepCounts
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.pipeline import load_pipeline

EXAMPLES: Final = """
Examples:

  ai-psychiatrist revalidate runs/first --dry-run

  ai-psychiatrist revalidate runs/first --rules stricter.yaml --step score

Exit status: 0 done, 1 units are unaccounted for, 2 refused: no run, no rules, no answers kept, or
another process works on the run.
"""

_SHOWN_REGRESSIONS: Final = 20


def revalidate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")],
    *,
    rules: Annotated[
        Path | None,
        typer.Option("--rules", help="A pipeline file; else the rules the run was made with."),
    ] = None,
    step: Annotated[
        list[str] | None, typer.Option("--step", help="Only this step; may be repeated.")
    ] = None,
    is_dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
    ] = False,
    demotes: Annotated[
        bool,
        typer.Option("--demote", help="Make valid units that are now rejected failures."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Apply rules again to the stored answers of a run, without a model.

    Units that now pass are valid from now on and queued for the next step. Valid units that are
    now rejected are listed, and stay valid unless --demote is given.
    """
    with open_run(run) as ledger, ledger.lock():
        checked = PipelineRun.of(ledger)
        if rules is not None:
            checked = PipelineRun(store=ledger, config=load_pipeline(rules))
        is_pipeline = ledger.about.get("kind") == KIND
        checks = (
            checks_by_step(checked.config) if is_pipeline else checkers_for(ledger, checked.config)
        )
        changes = revalidation.revalidate(
            checked,
            checks,
            # Some steps of an assessment have no rules of their own.
            steps=step or (None if is_pipeline else tuple(checks)),
            is_dry_run=is_dry_run,
            demotes=demotes,
        )
        changed = 0 if is_dry_run else _write_results(ledger)
        accounts = ledger.counts_by_step()
    words = "\n".join(_lines(changes, accounts, changed, done="would be " if is_dry_run else ""))
    print_json(_document(changes, accounts, changed)) if as_json else typer.echo(words)
    if not all(account.balances for account in accounts.values()):
        raise typer.Exit(ExitCode.PARTIAL)


def _write_results(ledger: RunStore) -> int:
    """Rewrite the result files of a run; returns how many predictions changed.

    Metrics and report go first: whatever happens, none is left that says something else.
    """
    if (ledger.folder / SUMMARY_NAME).exists():
        pipeline_run.write_results(PipelineRun.of(ledger))
        return 0
    folder = RunFolder(ledger.folder)
    if not folder.run.exists():
        return 0
    had_report, had_metrics = folder.report.exists(), folder.metrics.exists()
    folder.report.unlink(missing_ok=True)
    folder.metrics.unlink(missing_ok=True)
    changed = write_results(folder, ledger)
    if had_report:
        report_run(folder.path)
    elif had_metrics:
        measure_run(folder.path)
    return changed


def _lines(
    changes: list[StepChanges], accounts: Mapping[str, StepCounts], changed: int, *, done: str
) -> Iterator[str]:
    for change in changes:
        queued = f", {change.queued} {done}queued for the next step" if change.queued else ""
        yield (
            f"{change.step}: {sum(change.outcomes.values())} answers checked, "
            f"{change.without_answer} units without one; {change.changed} {done}changed, "
            f"{change.promoted} {done}promoted{queued}"
        )
        for (old, new), units in change.outcomes.items():
            yield f"  {old:>18} → {new:<18} {units:>8}"
        if change.regressions:
            fate = f"{change.demoted} made failures" if change.demoted else "left valid"
            yield f"  valid units that are now rejected: {len(change.regressions)} ({fate})"
        for unit_id in change.regressions[:_SHOWN_REGRESSIONS]:
            yield f"    {json.dumps(unit_id)}"
        if len(change.regressions) > _SHOWN_REGRESSIONS:
            yield f"    and {len(change.regressions) - _SHOWN_REGRESSIONS} more; --json lists all"
        if change.changed_outputs:
            yield f"  {change.changed_outputs} valid units would have another object; left as it is"
    for step, account in accounts.items():
        sign = "=" if account.balances else "≠"
        yield (
            f"{step}: {account.requested} requested {sign} {account.valid} valid + "
            f"{account.failed} failed + {account.pending} pending"
        )
    if changed:
        yield f"predictions of {changed} units changed with them"


def _document(
    changes: list[StepChanges], accounts: Mapping[str, StepCounts], changed: int
) -> dict[str, object]:
    return {
        "steps": [
            {
                **asdict(change),
                "outcomes": [
                    {"old": old, "new": new, "units": units}
                    for (old, new), units in change.outcomes.items()
                ],
            }
            for change in changes
        ],
        "changed_predictions": changed,
        "accounts": {
            step: {**asdict(account), "balances": account.balances}
            for step, account in accounts.items()
        },
    }
