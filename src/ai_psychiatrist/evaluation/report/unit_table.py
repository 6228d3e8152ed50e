"""The results of a run as a table, one row a unit: scores, labels and codes, no words."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.datasets.splits import separated
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.run_list import name_of
from ai_psychiatrist.evaluation.runs.units_file import RunUnit, read_kept_labels, read_units
from ai_psychiatrist.evaluation.scores.prediction import (
    ItemPrediction,
    SetPrediction,
    UnitPrediction,
)
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions
from ai_psychiatrist.infrastructure.private_files import write_whole, writing_to
from ai_psychiatrist.results.tables import (
    ASSESSMENT_COLUMNS,
    ITEM_COLUMNS,
    NOT_SCORED,
    Row,
    as_row,
    inert,
    probability_cells,
    score_cells,
)
from ai_psychiatrist.results.workbook import Workbook

Cell: TypeAlias = str | int | float | None

_HEADER: Final = (
    *("unit_id", "participant_id", "split", "status"),
    *(item.value for item in Item),
    *(f"{item.value}_unknown_reason" for item in Item),
    *("total", "total_min", "total_max", "severity", "risk_level"),
    *(f"label_{item.value}" for item in Item),
    *("label_total", "label_binary", "failures", "changes"),
    *(f"belief_{item.value}_{answer}" for item in Item for answer in (*range(4), "unknown")),
    *(f"set_{item.value}" for item in Item),
    *(f"{item.value}_drive" for item in Item),
)


_RUN_HEADER: Final = ("run", "model", "mode", "prompts", "prompts_digest", "repeat")


def write_table(folder: Path, out: Path) -> None:
    """Write the table as CSV, or as a workbook where the name ends in `.xlsx`.

    Of a folder of runs it has all of them, one below the other, each row with the name of its run.
    In a workbook ids stay as they are, in CSV what could be taken for a formula is inert. Raises
    `InputError` for a folder without a run and a file that cannot be written.
    """
    runs = RunFolder(folder).runs()
    header: Sequence[str] = _HEADER
    rows: list[Sequence[Cell]]
    if runs[0].path == folder:
        rows = list(_rows(runs[0]))
    else:
        named = ((_name_cells(run), row) for run in runs for row in _rows(run))
        header, rows = (*_RUN_HEADER, *_HEADER), [(*name, *row) for name, row in named]
    if out.suffix.casefold() == ".xlsx":
        with Workbook("units", header) as book:
            content = book.begin() + book.add(rows) + book.end()
    else:
        content = separated([list(map(_plain, row)) for row in (header, *rows)])
    with writing_to(out, field="--out"):
        write_whole(out, [content])


def _name_cells(run: RunFolder) -> Sequence[Cell]:
    name = name_of(run)
    return (
        name.folder,
        name.model,
        name.mode,
        name.variant,
        name.prompts,
        name.repeat,
    )


def _rows(folder: RunFolder) -> Iterator[Sequence[Cell]]:
    units, labels = read_units(folder.units), read_kept_labels(folder)
    for prediction in read_predictions(folder.predictions):
        unit_id = prediction.unit_id
        yield _row(prediction, units.get(unit_id), labels.get(unit_id))


def _row(unit: UnitPrediction, known: RunUnit | None, labels: Labels | None) -> Sequence[Cell]:
    failures = dict.fromkeys(failure.code or failure.category for failure in unit.failures)
    total, items = unit.range, [unit.items.get(item) for item in Item]
    beliefs = [None if one is None else one.belief for one in items]
    binary = None if labels is None or labels.binary is None else int(labels.binary)
    return (
        unit.unit_id,
        None if known is None else known.participant_id,
        None if known is None else known.split,
        unit.status.value,
        *(unit.score(item) for item in Item),
        *(unit.unknown_reason(item) for item in Item),
        *(total.total_score, total.total_score_min, total.total_score_max),
        None if total.severity is None else total.severity.label,
        None if unit.risk_level is None else unit.risk_level.value,
        *(None if labels is None else labels.items.get(item) for item in Item),
        None if labels is None else labels.total,
        binary,
        " ".join(code.value for code in failures),
        unit.changes,
        *(share for one in beliefs for share in (one.probabilities if one else [None] * 5)),
        *(None if one is None or one.set is None else _scores_of(one.set) for one in beliefs),
        *(None if one is None or one.drive is None else one.drive.verdict.value for one in items),
    )


def _scores_of(chosen: SetPrediction) -> str:
    """Return the scores of a set, separated by blanks, such as `1 2 unknown`."""
    scores = () if chosen.low is None else range(chosen.low, (chosen.high or 0) + 1)
    return " ".join([*map(str, scores), *(["unknown"] if chosen.not_determinable else [])])


def _plain(cell: Cell) -> Cell:
    """Return text that no spreadsheet takes for a formula; names of enumerations become text."""
    return inert(str(cell)) if isinstance(cell, str) else cell


def prediction_row(prediction: UnitPrediction) -> Row:
    """Return the row of one unit; its name stands for the assessment's."""
    scores = {item: prediction.score(item) for item in Item}
    answered = {attempt.model for attempt in prediction.attempts if attempt.code is None}
    return as_row(
        ASSESSMENT_COLUMNS,
        assessment_id=prediction.unit_id,
        status=prediction.status,
        mode=prediction.mode,
        danger=prediction.risk_level,
        danger_read_now=prediction.signs_to_read,
        turns_not_examined=prediction.turns_not_examined,
        models=tuple(sorted(answered)),
        **(score_cells(prediction.range, scores) if prediction.items else {}),
    )


def prediction_item_rows(prediction: UnitPrediction) -> Iterator[Row]:
    """Yield the eight rows of one unit."""
    for item in Item:
        found = prediction.items.get(item)
        cells = NOT_SCORED if found is None else _cells(found)
        yield as_row(ITEM_COLUMNS, assessment_id=prediction.unit_id, item=item, **cells)


def _cells(found: ItemPrediction) -> Row:
    belief = found.belief
    return {
        "score": found.score,
        "unknown_reason": found.unknown_reason,
        "not_examined_cause": found.not_examined_cause,
        "unread_turn": found.unread_turn,
        "proposed_score": found.proposed_score,
        "confidence": found.confidence,
        "frequency": found.signals.frequency,
        "evidence": found.signals.llm_evidence_count,
        "evidence_rejected": found.signals.llm_evidence_rejected_count,
        **(probability_cells(belief.probabilities, calibrated=belief.calibrated) if belief else {}),
        "warnings": found.warnings,
    }
