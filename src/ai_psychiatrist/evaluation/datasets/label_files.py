"""The label files of a dataset taken together: which rows count, and of which unit each is."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Cost, DataIssue, IssueCode, Labels
from ai_psychiatrist.evaluation.datasets.label_tables import LabelRow, LabelTable, read_label_table
from ai_psychiatrist.evaluation.datasets.labels import (
    OCCASION,
    TRAIT,
    checked_labels,
    is_blank,
    merged,
    missing_codes,
    plain_name,
    seems_coded_from_1,
)
from ai_psychiatrist.evaluation.datasets.names import loose_key
from ai_psychiatrist.evaluation.datasets.options import IdMatch, LabelOptions
from ai_psychiatrist.evaluation.datasets.texts import FileDigest, content_of

CODES_HINT: Final = (
    "say how the answers are coded: --label-codes 1-4 where 1 is `not at all`, else "
    "--label-codes 0-3"
)
_MOST_VALUES: Final = 8
_LONGEST_VALUE: Final = 40


class LabelFiles:
    """What the label files of a dataset say of its units."""

    def __init__(
        self, tables: Sequence[LabelTable], options: LabelOptions, transcripts: Iterable[str]
    ) -> None:
        """`transcripts`: the units of which there is one.

        Raises `InputError` for a column or a value of `--label-row` that no file has.
        """
        self.issues = [issue for table in tables for issue in table.issues]
        self.rows: dict[str, list[LabelRow]] = {}
        """Unit → what is said of it; rows that do not count have no scores."""
        self._options = options
        self._set_aside: set[str] = set()
        tables = of_wanted_rows(tables, options.rows)
        tables = [self._of_known_codes(table) for table in tables]
        tables = self._of_one_occasion(tables)
        spellings = self._spellings(tables, set(transcripts))
        for table in tables:
            for row in table.rows:
                unit_id = spellings.get(row.unit_id, row.unit_id)
                traits = {name: row.cells[name] for name in table.traits}
                kept = replace(row, unit_id=unit_id, cells=traits)
                self.rows.setdefault(unit_id, []).append(kept)
        self._note_repeated(tables, spellings)
        self.missing_hint = missing_hint(
            (row.scores for rows in self.rows.values() for row in rows), options
        )

    def labels_of(self, unit_id: str) -> tuple[Labels | None, list[IssueCode]]:
        """Join what several rows say about one unit; a contradiction is never resolved."""
        rows = self.rows.get(unit_id, ())
        if any(row.is_broken for row in rows):
            return None, [IssueCode.ROW_BROKEN]
        scores = merged(row.scores for row in rows)
        if scores is None:
            return None, [IssueCode.LABELS_DIFFER]
        labels, codes = checked_labels(scores, self._options)
        if labels is None:
            # Why a file's scores do not count is said once, of the file.
            is_told = unit_id in self._set_aside and codes == [IssueCode.LABEL_WITHOUT_SCORES]
            return None, [] if is_told else codes
        names = dict.fromkeys(name for row in rows for name in row.cells)
        said = {name: {row.cells.get(name, "") for row in rows} for name in names}
        given = {
            name: [cell for cell in cells if not is_blank(cell)] for name, cells in said.items()
        }
        columns = {name: cells[0] for name, cells in given.items() if len(cells) == 1}
        return replace(labels, columns=columns), codes

    def _of_known_codes(self, table: LabelTable) -> LabelTable:
        by_unit: dict[str, list[Mapping[str, str]]] = {}
        for row in table.rows:
            by_unit.setdefault(row.unit_id, []).append(row.scores)
        if self._options.codes is not None or not seems_coded_from_1(by_unit):
            return table
        return self._without_scores(table, IssueCode.CODES_UNCLEAR, CODES_HINT)

    def _of_one_occasion(self, tables: Sequence[LabelTable]) -> list[LabelTable]:
        occasions: dict[str, set[tuple[str, ...]]] = {}
        for table in tables:
            for row in table.rows:
                if any(row.occasion) and any(not is_blank(one) for one in row.scores.values()):
                    occasions.setdefault(row.unit_id, set()).add(row.occasion)
        several = {unit_id for unit_id, met in occasions.items() if len(met) > 1}
        return [
            self._without_scores(table, IssueCode.OCCASIONS, _occasions_hint(table))
            if any(row.unit_id in several and any(row.occasion) for row in table.rows)
            else table
            for table in tables
        ]

    def _without_scores(self, table: LabelTable, code: IssueCode, hint: str) -> LabelTable:
        units = {row.unit_id for row in table.rows}
        self._set_aside |= units
        self.issues.append(DataIssue(where=table.where, code=code, count=len(units), hint=hint))
        return replace(table, rows=[replace(row, scores={}) for row in table.rows])

    def _spellings(self, tables: Sequence[LabelTable], transcripts: set[str]) -> dict[str, str]:
        """Return identifier of label files → the one of the transcript that it nearly is."""
        labelled = {row.unit_id for table in tables for row in table.rows}
        keys = {unit_id: loose_key(unit_id) for unit_id in labelled | transcripts}
        texts = Counter(keys[unit_id] for unit_id in transcripts)
        rows = Counter(keys[unit_id] for unit_id in labelled)
        by_key = {keys[unit_id]: unit_id for unit_id in transcripts - labelled}
        near = {
            unit_id: by_key[key]
            for unit_id in sorted(labelled - transcripts)
            if (key := keys[unit_id]) in by_key and texts[key] == rows[key] == 1
        }
        if near and self._options.match_ids is not IdMatch.LOOSE:
            hint = f"--match-ids loose joins {len(near)} of them, each with one transcript"
            code = IssueCode.IDS_NEARLY_MATCH
            self.issues.append(DataIssue(where=".", code=code, count=len(near), hint=hint))
            return {}
        self._set_aside = {near.get(unit_id, unit_id) for unit_id in self._set_aside}
        return near

    def _note_repeated(self, tables: Sequence[LabelTable], spellings: Mapping[str, str]) -> None:
        for table in tables:
            seen: set[str] = set()
            lines: list[int] = []
            for row in table.rows:
                unit_id = spellings.get(row.unit_id, row.unit_id)
                is_repeated = unit_id in seen and row.scores
                if is_repeated and merged(one.scores for one in self.rows[unit_id]) is not None:
                    lines.append(row.line)
                seen.add(unit_id)
            if lines:
                code, count = IssueCode.ROW_REPEATED, len(lines)
                self.issues.append(
                    DataIssue(where=table.where, code=code, line=lines[0], count=count)
                )


def missing_hint(rows: Iterable[Mapping[str, object]], options: LabelOptions) -> str | None:
    """Return what to say of numbers that are no scores and may stand for no answer."""
    numbers = missing_codes(rows, options)
    if not numbers:
        return None
    known = ",".join(map(str, sorted(options.missing.union(numbers))))
    return f"where these numbers mean that there is no answer: --missing={known}"


def of_wanted_rows(tables: Sequence[LabelTable], wanted: Mapping[str, str]) -> list[LabelTable]:
    """Return tables with the rows that `--label-row` names; those without the column as they are.

    Raises `InputError` for a column or a value that no table has.
    """
    kept = list(tables)
    for column, value in wanted.items():
        named = {
            at: next(name for name in table.header.names if plain_name(name) == plain_name(column))
            for at, table in enumerate(kept)
            if plain_name(column) in map(plain_name, table.header.names)
        }
        if not named:
            msg = f"--label-row {column}: no label file has a column of this name"
            raise InputError(msg, field="--label-row")
        values = Counter(row.cells[name] for at, name in named.items() for row in kept[at].rows)
        if value not in values:
            # Values of other columns may be scores, names or words.
            may_be_shown = all(_is_shown(kept[at], name) for at, name in named.items())
            there = f"; there are {_values(values)}" if may_be_shown else ""
            msg = f"--label-row {column}: no row has this value{there}"
            raise InputError(msg, field="--label-row")
        for at, name in named.items():
            rows = [row for row in kept[at].rows if row.cells[name] == value]
            kept[at] = replace(kept[at], rows=rows)
    return kept


def _is_shown(table: LabelTable, name: str) -> bool:
    return table.header.meanings[list(table.header.names).index(name)] in (OCCASION, TRAIT)


def _occasions_hint(table: LabelTable) -> str:
    columns = [
        name
        for name, what in zip(table.header.names, table.header.meanings, strict=True)
        if what == OCCASION and len({row.cells[name] for row in table.rows}) > 1
    ]
    met = {name: _values(Counter(row.cells[name] for row in table.rows)) for name in columns}
    told = (f"--label-row '{name}=VALUE' with one of {values}" for name, values in met.items())
    return f"choose the rows that count: {' and '.join(told)}"


def _values(found: Counter[str]) -> str:
    """Return the most frequent values of a column, unless they are as long as a sentence."""
    short = [one for one, _ in found.most_common() if 0 < len(one) <= _LONGEST_VALUE]
    shown = ", ".join(sorted(short[:_MOST_VALUES]))
    return shown if short else "none that can be shown"


FIELD: Final = "--labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLabels:
    """What a file says of a run's units."""

    name: str
    digest: str
    """SHA-256 over the file and the options of its reading; hexadecimal."""
    labels: Mapping[str, Labels]
    others: int
    """Units of the file that the run does not have."""
    lost: int
    """Units of the run whose labels in the file cannot be used, or in part."""

    def as_json(self) -> dict[str, object]:
        """Return which labels these are and how many."""
        return {
            "file": self.name,
            "digest": self.digest,
            "units": len(self.labels),
            "other_units": self.others,
            "lost": self.lost,
        }

    def __str__(self) -> str:
        """Write it as a sentence."""
        return (
            f"labels of {self.name} (digest {self.digest[:12]}): {len(self.labels)} units, "
            f"{self.lost} with labels that cannot be used as a whole, {self.others} of no unit here"
        )


def read_given_labels(path: Path, units: Collection[str], options: LabelOptions) -> GivenLabels:
    """Read a file of labels, and keep those of some units.

    Raises `InputError` for a file that cannot be used, with the option that helps, and for one that
    names none of the units.
    """
    content, digest = content_of(path), FileDigest()
    digest.add("labels", hashlib.sha256(content).digest())
    table = read_label_table(
        content,
        where=path.name,
        unit_id=lambda written: _unit_of(written, units),
        is_unit=lambda unit_id: unit_id in units,
    )
    files = LabelFiles([table], options, units)
    for issue in files.issues:
        if issue.hint is not None and issue.code.cost is Cost.LABEL:
            msg = f"{path.name!r}: {issue.code.action}; {issue.hint}"
            raise InputError(msg, field=FIELD)
    read = {unit: files.labels_of(unit) for unit in files.rows if unit in units}
    if not any(labels for labels, _ in read.values()):
        hint = f"; {files.missing_hint}" if files.missing_hint else ""
        msg = f"{path.name!r} has no label of a unit of the run{hint}"
        raise InputError(msg, field=FIELD)
    return GivenLabels(
        name=path.name,
        digest=digest.whole(options.digested()),
        labels={unit: labels for unit, (labels, _) in sorted(read.items()) if labels is not None},
        others=len(files.rows.keys() - set(units)),
        lost=sum(any(code.cost is Cost.LABEL for code in codes) for _, codes in read.values()),
    )


def _unit_of(written: str, units: Collection[str]) -> str:
    """Return the unit that an identifier means: its name, that without its ending, its number."""
    name = written.strip()
    spellings = (name, PurePath(name).stem, name.removesuffix("_P"), name.removesuffix(".0"))
    known = (spelling for spelling in spellings if spelling in units)
    return next(known, name)
