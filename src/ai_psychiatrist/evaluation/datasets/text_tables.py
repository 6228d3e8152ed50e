"""Opens a table with an interview in each row, its labels in the other columns."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import (
    DataIssue,
    Dataset,
    DatasetKind,
    DatasetUnit,
    IssueCode,
)
from ai_psychiatrist.evaluation.datasets.label_columns import plain_name
from ai_psychiatrist.evaluation.datasets.label_files import (
    LabelFiles,
    occasions_hint,
    of_wanted_rows,
)
from ai_psychiatrist.evaluation.datasets.label_tables import LabelRow, read_label_table
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions
from ai_psychiatrist.evaluation.datasets.texts import Texts, TextSource, check_of, content_of

_FIELD: Final = "--text-column"
_OF_OTHER_COLUMNS: Final = frozenset({IssueCode.TEXTS_IN_TABLE, IssueCode.COLUMNS_UNKNOWN})
_ID_OF_A_ROW: Final = "write a column of identifiers, such as record_id or unit_id, into it"


def open_text_table(path: Path, options: ReadingOptions, *, column: str) -> Dataset:
    """Open a table; raises `InputError` for one without identifiers or without the column."""
    texts = Texts(options)
    table = read_label_table(
        content_of(path),
        where=path.name,
        unit_id=str,
        is_unit=lambda _: False,
        needs_scores=False,
    )
    names = [name for name in table.header.names if plain_name(name) == plain_name(column)]
    if len(names) != 1 or not plain_name(column):
        msg = f"{_FIELD}: {path.name!r} has {len(names)} columns of this name, and needs one"
        raise InputError(msg, field=_FIELD)
    if not table.header.has_identifiers:
        msg = f"{path.name!r} does not say which interview is which: {_ID_OF_A_ROW}"
        raise InputError(msg, field="PATH")
    (table,) = of_wanted_rows([table], options.scores.rows)
    texts.issues += [one for one in table.issues if one.code not in _OF_OTHER_COLUMNS]
    rows: dict[str, LabelRow] = {}
    for row in table.rows:
        if row.unit_id in rows:
            is_later = any(row.occasion) and row.occasion != rows[row.unit_id].occasion
            code, hint = IssueCode.ID_REPEATED, occasions_hint([table]) if is_later else None
            texts.issues.append(DataIssue(where=row.unit_id, code=code, line=row.line, hint=hint))
        else:
            rows[row.unit_id] = row
            _add_text(row, names[0], path, texts)
        options.on_progress(len(rows), len(table.rows))
    traits = [name for name in table.traits if name != names[0]]
    kept = replace(table, rows=[*rows.values()], issues=(), traits=traits)
    labels = LabelFiles([kept], replace(options.scores, rows={}), rows)
    texts.issues += labels.issues
    texts.label_files.append(kept.file)
    units = [_unit(row, labels, texts) for row in rows.values()]
    if not any(unit.labels for unit in units):
        texts.issues = [one for one in texts.issues if one.code != IssueCode.LABEL_WITHOUT_SCORES]
        texts.note(".", IssueCode.NO_LABELS, count=len(units))
    return texts.dataset(path, DatasetKind.TABLE, units)


def _add_text(row: LabelRow, column: str, path: Path, texts: Texts) -> None:
    content = row.cells[column].encode()
    texts.digest.add(row.unit_id, content)
    if row.is_broken:
        texts.sources[row.unit_id] = None
        texts.note(row.unit_id, IssueCode.BROKEN_ROW, line=row.line)
    else:
        source = TextSource(path=path, check=check_of(content), cell=content)
        reading = texts.reading(source, content)
        texts.add(row.unit_id, source, reading, where=row.unit_id, line=row.line)


def _unit(row: LabelRow, labels: LabelFiles, texts: Texts) -> DatasetUnit:
    found, codes = labels.labels_of(row.unit_id)
    said = {name: row.cells[name] for name in labels.rows[row.unit_id][0].cells}
    written = json.dumps([row.scores, said, row.split], sort_keys=True)
    texts.labels_digest.add(row.unit_id, written.encode())
    for code in codes:
        hint = labels.hint(code)
        texts.issues.append(DataIssue(where=row.unit_id, code=code, line=row.line, hint=hint))
    return DatasetUnit(
        unit_id=row.unit_id, labels=found, participant_id=row.participant, split=row.split
    )
