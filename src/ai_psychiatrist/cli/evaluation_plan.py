"""What a wanted run will take, told before anything is asked of a model; nothing is written."""

import asyncio
from dataclasses import replace
from pathlib import Path

from ai_psychiatrist.agents.prompts.tasks import TASKS, Tasks
from ai_psychiatrist.cli.evaluation_options import print_json
from ai_psychiatrist.cli.evaluation_run import WantedRun, variants_of_run
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.assessment import WantedScoring
from ai_psychiatrist.evaluation.pricing.plan import RunPlan, together
from ai_psychiatrist.evaluation.runs.cost_file import read_cost
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.shards import Shard
from ai_psychiatrist.interface.dataset_costs import price_list
from ai_psychiatrist.interface.dataset_plan import for_planning, measured_units, planned_run
from ai_psychiatrist.wiring import Services, bootstrap


def tell_plan(settings: Settings, wanted: WantedRun, *, before: Path | None, as_json: bool) -> None:
    """Print what a run, or all of several, will take; raises as a run does for bad input.

    `before`: the folder of the run, where one was begun that tells how good the estimate is.
    """
    plan = asyncio.run(_planned(settings, _of_same_shard(wanted, before)))
    cost = None if before is None else read_cost(RunFolder(before))
    document = plan.as_json()
    if as_json:
        so_far = None if cost is None else {"planned": cost.planned, "used": cost.used}
        print_json(document | ({} if so_far is None else {"so_far": so_far}))
        return
    from ai_psychiatrist.cli.cost_table import print_plan  # noqa: PLC0415  draws tables

    print_plan(document, cost)


def _of_same_shard(wanted: WantedRun, before: Path | None) -> WantedRun:
    """Return what is wanted of the shard that was begun, unless another one is named."""
    if before is None or wanted.start.shard is not None or not RunFolder(before).run.exists():
        return wanted
    begun = RunFolder(before).require_run().get("shard")
    shard = None if begun is None else Shard.read(str(begun))
    return replace(wanted, start=replace(wanted.start, shard=shard))


async def _planned(settings: Settings, wanted: WantedRun) -> RunPlan:
    async with bootstrap(for_planning(settings), keeps_key=False) as services:
        dataset = wanted.dataset.opened()
        measured = await asyncio.to_thread(measured_units, dataset, wanted.start)
        prices = price_list(services, wanted.options)
        mode = wanted.mode or settings.features.default_mode
        scoring = WantedScoring(mode=mode, ablates=wanted.ablates)
        plans = [
            planned_run(services, measured, prices, scoring=scoring, tasks=tasks)
            for tasks in _wordings(services, wanted)
        ]
        return together(plans)


def _wordings(services: Services, wanted: WantedRun) -> list[Tasks]:
    if not wanted.is_several:
        return [TASKS]
    return [variant.tasks for variant in variants_of_run(services, wanted)]
