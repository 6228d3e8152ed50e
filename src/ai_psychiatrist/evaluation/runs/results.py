"""The result files of a run, made from its ledger alone: when it was stopped leaves no trace."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import orjson

from ai_psychiatrist.evaluation.reading_list import ReadingList, UnitDanger, reading_list
from ai_psychiatrist.evaluation.runs.reconciling import reconcile_predictions
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.evaluation.scores.prediction import signs_to_read
from ai_psychiatrist.infrastructure.private_files import write_whole
from ai_psychiatrist.store.runs import RunStore

_LINE = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


def write_results(folder: RunFolder, ledger: RunStore) -> int:
    """Write predictions and failures of what has finished, in the order of the dataset.

    Returns how many predictions were brought in line with verdicts before.
    """
    changed = reconcile_predictions(ledger)
    write_whole(folder.predictions, _predictions(ledger))
    write_whole(folder.failures, _failures(ledger))
    return changed


@dataclass(slots=True)
class CarriedFailures:
    """What went wrong in units that are complete all the same."""

    units: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    """Category → units, the most frequent first when they are listed."""


def carried_failures(ledger: RunStore) -> CarriedFailures:
    """Count what the complete units carry, such as quotes that nobody said."""
    carried = CarriedFailures()
    for row in ledger.current(ASSESSMENT_STEP):
        output = row.record.output if row.is_valid else None
        failures = output.get("failures") if output is not None else None
        if isinstance(failures, list) and failures:
            carried.units += 1
            carried.kinds.update({str(failure["category"]) for failure in failures})
    return carried


def readings(ledger: RunStore) -> ReadingList:
    """Return which interviews a person has to read, of all that the run is asked for."""
    outputs = (row.record.output for row in ledger.current(ASSESSMENT_STEP))
    units = (_danger(output) for output in outputs if output is not None)
    return reading_list(units, requested=ledger.counts(ASSESSMENT_STEP).requested)


def _danger(prediction: Mapping[str, object]) -> UnitDanger:
    counted, level = prediction.get("signs_to_read"), prediction.get("risk_level")
    unread = prediction.get("turns_not_examined")
    return UnitDanger(
        unit_id=str(prediction["unit_id"]),
        signs_to_read=signs_to_read(
            counted if isinstance(counted, int) else None, level if isinstance(level, str) else None
        ),
        turns_not_examined=unread if isinstance(unread, int) else None,
    )


def _predictions(ledger: RunStore) -> Iterator[bytes]:
    for row in ledger.current(ASSESSMENT_STEP):
        if row.record.output is not None:
            yield orjson.dumps(row.record.output, option=_LINE)


def _failures(ledger: RunStore) -> Iterator[bytes]:
    for step in (ASSESSMENT_STEP, *(step for step in ledger.steps if step != ASSESSMENT_STEP)):
        for row in ledger.current(step, is_failed=True):
            yield orjson.dumps(
                {
                    "unit_id": row.record.unit_id,
                    "step": step,
                    "round": row.record.round,
                    "failure_stage": row.record.stage,
                    "codes": sorted({str(error["rule"]) for error in row.record.errors}),
                    "attempts": row.attempts,
                    "is_retryable": row.is_retryable,
                },
                option=_LINE,
            )
