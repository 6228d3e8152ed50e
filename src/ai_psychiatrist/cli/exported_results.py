"""Results on the disk, put into the forms that others read."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from ai_psychiatrist.cli.export_wanted import ExportedRows, ExportFormat, ExportWanted
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions
from ai_psychiatrist.evaluation.scores.prediction_rows import prediction_item_rows, prediction_row
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.results.fhir.bundle import bundle_of, bytes_of
from ai_psychiatrist.results.fhir.source import Wanted
from ai_psychiatrist.results.reading import result_of, transcript_sha256_of
from ai_psychiatrist.results.tables import (
    ASSESSMENT_COLUMNS,
    ITEM_COLUMNS,
    ITEM_COLUMNS_WITH_WORDS,
    Row,
    TableFormat,
    assessment_row,
    item_rows,
    written,
)

_FIELD: Final = "PATH"
_MOST_BYTES: Final = 1 << 26


def exported(path: Path, wanted: ExportWanted) -> Iterator[bytes]:
    """Return the bytes of the results at a path: a result's file, a folder of such, or a run.

    Raises `InputError`, at once or when the file that cannot be used is come to.
    """
    if path.is_dir() and RunFolder(path).run.is_file():
        return _of_run(RunFolder(path), wanted)
    if wanted.format is ExportFormat.FHIR:
        return _bundles(path, wanted)
    return _tables(path, wanted, TableFormat(wanted.format.value))


def _bundles(path: Path, wanted: ExportWanted) -> Iterator[bytes]:
    more = Wanted(
        subject=wanted.subject,
        with_words=wanted.with_words,
        questionnaire=wanted.questionnaire,
        is_transaction=wanted.is_transaction,
    )
    if path.is_dir() and wanted.subject is not None:
        msg = "--subject: a folder may be about several people; name a result's file"
        raise InputError(msg, field="--subject")
    for result in _results(path):
        bundle = bundle_of(result, transcript_sha256=transcript_sha256_of(result), wanted=more)
        yield bytes_of(bundle, is_indented=not path.is_dir())


def _tables(path: Path, wanted: ExportWanted, table_format: TableFormat) -> Iterator[bytes]:
    results = _results(path)
    if wanted.rows is ExportedRows.RESULTS:
        return written(map(assessment_row, results), ASSESSMENT_COLUMNS, table_format)
    rows: Callable[[Assessment], Iterable[Row]] = partial(item_rows, with_words=wanted.with_words)
    columns = ITEM_COLUMNS_WITH_WORDS if wanted.with_words else ITEM_COLUMNS
    return written(chain.from_iterable(map(rows, results)), columns, table_format)


def _of_run(run: RunFolder, wanted: ExportWanted) -> Iterator[bytes]:
    if wanted.format is ExportFormat.FHIR:
        problem = (
            "a run keeps scores without what a bundle tells of each assessment; use csv or jsonl, "
            "or assess the interview with `assess FILE --json`"
        )
        raise InputError(f"--format fhir: {problem}", field="--format")
    if wanted.with_words:
        msg = "--with-words: a run keeps no words of the interviews in its predictions"
        raise InputError(msg, field="--with-words")
    table_format = TableFormat(wanted.format.value)
    predictions = read_predictions(run.predictions)
    if wanted.rows is ExportedRows.RESULTS:
        return written(map(prediction_row, predictions), ASSESSMENT_COLUMNS, table_format)
    rows = chain.from_iterable(map(prediction_item_rows, predictions))
    return written(rows, ITEM_COLUMNS, table_format)


def _results(path: Path) -> Iterator[Assessment]:
    paths = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not paths:
        msg = (
            f"{path}: the folder holds no .json files and is no run; write results into it with "
            "`ai-psychiatrist assess FILE --json > FOLDER/NAME.json`"
        )
        raise InputError(msg, field=_FIELD)
    known: dict[str, Path] = {}
    for one in paths:
        result = result_of(_content(one), field=str(one))
        first = known.setdefault(result.assessment_id, one)
        if first != one:
            msg = f"{one}: it is the same assessment as {first.name}; take one of them away"
            raise InputError(msg, field=_FIELD)
        yield result


def _content(path: Path) -> bytes:
    try:
        return read_regular(path, most_bytes=_MOST_BYTES)
    except OSError as error:
        msg = f"{path}: the file cannot be read: {reason_of(error)}"
        raise InputError(msg, field=_FIELD) from None
