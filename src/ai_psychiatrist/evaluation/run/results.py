"""The result files of a run, made from its ledger alone, so that no sitting leaves a trace."""

from collections.abc import Iterator

import orjson

from ai_psychiatrist.evaluation.run.folder import RunFolder
from ai_psychiatrist.evaluation.run.stages import ASSESSMENT_STEP
from ai_psychiatrist.infrastructure.private_files import write_whole
from ai_psychiatrist.ledger.ledger import Ledger

_LINE = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


def write_results(folder: RunFolder, ledger: Ledger) -> None:
    """Write predictions and failures of what has finished, in the order of the dataset."""
    write_whole(folder.predictions, _predictions(ledger))
    write_whole(folder.failures, _failures(ledger))


def _predictions(ledger: Ledger) -> Iterator[bytes]:
    for row in ledger.current(ASSESSMENT_STEP):
        if row.record.output is not None:
            yield orjson.dumps(row.record.output, option=_LINE)


def _failures(ledger: Ledger) -> Iterator[bytes]:
    for step in (ASSESSMENT_STEP, *(step for step in ledger.steps if step != ASSESSMENT_STEP)):
        for row in ledger.current(step):
            if row.record.stage is not None:
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
