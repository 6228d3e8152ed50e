"""The result files of a run, made from its ledger alone, and its counts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import orjson

from ai_psychiatrist.infrastructure.private_files import write_whole, writing_to
from ai_psychiatrist.ledger.exchange.export import ExportChoices, export_run
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.ledger.store.records import StepCounts
from ai_psychiatrist.pipelines.run_folder import accumulating, schemas_of
from ai_psychiatrist.validation.config.pipeline import PipelineConfig

RESULTS_FOLDER: Final = "export"
"""As `export` writes it."""
SUMMARY_NAME: Final = "summary.json"
_PRETTY: Final = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineCounts:
    """Where the units of a run are."""

    units: StepCounts
    """As wholes: valid at the last step, failed at any."""
    steps: Mapping[str, StepCounts]
    model_calls: int

    @property
    def unbalanced(self) -> list[str]:
        """Steps of which a unit is in no place, or in two; empty unless something is broken."""
        return [name for name, one in self.steps.items() if not one.balances]

    @property
    def barren(self) -> list[str]:
        """Steps at which units have failed and none is valid."""
        return [name for name, one in self.steps.items() if one.failed and not one.valid]


def counts_of(ledger: Ledger) -> PipelineCounts:
    """Count where the units are, at each step and as wholes."""
    steps = ledger.counts_by_step()
    requested, valid = steps[ledger.steps[0]].requested, steps[ledger.steps[-1]].valid
    by_stage: dict[str, int] = {}
    for one in steps.values():
        for stage, count in one.by_stage.items():
            by_stage[stage] = by_stage.get(stage, 0) + count
    failed = sum(by_stage.values())
    units = StepCounts(
        requested=requested,
        valid=valid,
        failed=failed,
        pending=sum(one.pending for one in steps.values()),
        by_stage=by_stage,
    )
    return PipelineCounts(units=units, steps=steps, model_calls=ledger.calls.made())


def write_results(ledger: Ledger, config: PipelineConfig, *, not_run: Sequence[str]) -> None:
    """Write valid units, failures and queue of each step, and the counts, which hold no words.

    `not_run`: what of the pipeline is left out. Raises `InputError` when they cannot be written.
    """
    choices = ExportChoices(
        limits=config.retry, schemas=schemas_of(config), context_of=accumulating(ledger, config)
    )
    export_run(ledger, ledger.folder / RESULTS_FOLDER, steps=ledger.steps, choices=choices)
    summary = {**asdict(counts_of(ledger)), "not_run": list(not_run)}
    with writing_to(ledger.folder, field="--out"):
        write_whole(ledger.folder / SUMMARY_NAME, [orjson.dumps(summary, option=_PRETTY)])
