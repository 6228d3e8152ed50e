"""The label files of a dataset taken together: which rows count, and of which unit each is."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import DataIssue, IssueCode, Labels
from ai_psychiatrist.evaluation.datasets.label_columns import OCCASION, SCORES, TRAIT, plain_name
from ai_psychiatrist.evaluation.datasets.label_tables import LabelRow, LabelTable
from ai_psychiatrist.evaluation.datasets.labels import (
    are_codes_unclear,
    checked_labels,
    have_items,
    is_blank,
    is_missing_code,
    is_no_answer,
    is_readable,
    merged,
    missing_codes,
    none_among_words,
    unclear_binary,
    unclear_totals,
)
from ai_psychiatrist.evaluation.datasets.names import loose_key
from ai_psychiatrist.evaluation.datasets.options import IdMatch, LabelOptions

CODES_HINT: Final = (
    "say how the answers are coded: --label-codes 1-4 where 1 is `not at all`, else "
    "--label-codes 0-3"
)
_BINARY_HINT: Final = "write phq8_binary as 0, no, or 1, yes"
_TOTALS_HINT: Final = (
    "they may be sums of answers coded from 1: write totals as sums of 0 to 3, or give the items"
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
        self.issues += filter(
            None,
            (none_among_words([row.scores for row in one.rows], where=one.where) for one in tables),
        )
        everybody = _by_unit(row for table in tables for row in table.rows)
        is_unclear = options.codes is None and are_codes_unclear(everybody)
        tables = [self._of_known_codes(table, is_unclear=is_unclear) for table in tables]
        tables = self._of_one_occasion(tables)
        spellings = self._spellings(tables, set(transcripts))
        self._written: dict[str, str] = {}
        """Columns, and column and value, as they were first met, by how they are compared."""
        self._elsewhere: dict[str, list[Mapping[str, str]]] = {}
        """Unit → what rows that do not count say of the person."""
        for table in tables:
            both = zip(table.header.names, table.header.meanings, strict=True)
            own = [name for name, what in both if what == TRAIT and name in table.traits]
            for row in table.passed_over:
                said = {name: row.cells[name] for name in own}
                self._elsewhere.setdefault(spellings.get(row.unit_id, row.unit_id), []).append(said)
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
        self._unreadable = _unreadable_columns(tables, options)

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
        columns, is_clear = self._columns(unit_id)
        codes = codes if is_clear else [*codes, IssueCode.TRAITS_DIFFER]
        return replace(labels, columns=columns), codes

    def hint(self, code: IssueCode) -> str | None:
        """Return what helps where this is odd about a unit."""
        if code is IssueCode.VALUE_OUT_OF_RANGE:
            return self.missing_hint
        if code is IssueCode.VALUE_UNREADABLE and self._unreadable:
            return (
                f"in {', '.join(self._unreadable)}: write the scale's answers or their numbers, "
                "and NA or nothing where there is no answer"
            )
        if code is IssueCode.LABELS_DIFFER:
            return "where rows are of several occasions, choose some: --label-row COLUMN=VALUE"
        return None

    def _columns(self, unit_id: str) -> tuple[dict[str, str], bool]:
        """Return what rows say of the person, and whether none says something else.

        Case tells neither columns nor values apart. Rows that do not count are asked last.
        """
        columns: dict[str, str] = {}
        is_clear = True
        counting = [row.cells for row in self.rows.get(unit_id, ())]
        for rows in (counting, self._elsewhere.get(unit_id, ())):
            said: dict[str, set[str]] = {}
            for name, cell in (one for row in rows for one in row.items()):
                if not is_blank(cell) and not is_missing_code(cell, self._options):
                    column = self._written.setdefault(plain_name(name), name)
                    value = self._written.setdefault(f"{column}={cell.casefold()}", cell)
                    said.setdefault(column, set()).add(value)
            new = {name: cells for name, cells in said.items() if name not in columns}
            columns |= {name: next(iter(cells)) for name, cells in new.items() if len(cells) == 1}
            is_clear &= all(len(cells) == 1 for cells in new.values())
        return columns, is_clear

    def _of_known_codes(self, table: LabelTable, *, is_unclear: bool) -> LabelTable:
        """Set scores aside whose codes are ambiguous.

        `is_unclear`: whether that is so of the items of all tables taken together.
        """
        rows = [row.scores for row in table.rows]
        is_alone = self._options.codes is None and are_codes_unclear(_by_unit(table.rows))
        hint = None
        if (is_unclear or is_alone) and have_items(rows):
            hint = CODES_HINT
        elif unclear_totals(rows, self._options):
            hint = _TOTALS_HINT
        elif unclear_binary(rows):
            hint = _BINARY_HINT
        if hint is None:
            return table
        return self._without_scores(table, IssueCode.CODES_UNCLEAR, hint)

    def _of_one_occasion(self, tables: Sequence[LabelTable]) -> list[LabelTable]:
        occasions: dict[str, set[tuple[str, ...]]] = {}
        for table in tables:
            for row in table.rows:
                if any(row.occasion) and any(not is_no_answer(one) for one in row.scores.values()):
                    occasions.setdefault(row.unit_id, set()).add(row.occasion)
        several = {unit_id for unit_id, met in occasions.items() if len(met) > 1}
        return [
            self._without_scores(table, IssueCode.OCCASIONS, occasions_hint(tables))
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


def _by_unit(rows: Iterable[LabelRow]) -> dict[str, list[Mapping[str, str]]]:
    by_unit: dict[str, list[Mapping[str, str]]] = {}
    for row in rows:
        by_unit.setdefault(row.unit_id, []).append(row.scores)
    return by_unit


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
            others = [row for row in kept[at].rows if row.cells[name] != value]
            passed_over = [*kept[at].passed_over, *others]
            kept[at] = replace(kept[at], rows=rows, passed_over=passed_over)
    return kept


def _is_shown(table: LabelTable, name: str) -> bool:
    return table.header.meanings[list(table.header.names).index(name)] in (OCCASION, TRAIT)


def occasions_hint(tables: Sequence[LabelTable]) -> str:
    """Say which columns tell the rows apart, in whichever of the tables."""
    names: dict[str, str] = {}
    met: dict[str, Counter[str]] = {}
    for table in tables:
        for name, what in zip(table.header.names, table.header.meanings, strict=True):
            if what == OCCASION:
                column = names.setdefault(plain_name(name), name)
                values = Counter(row.cells[name] for row in table.rows)
                met[column] = met.get(column, Counter()) + values
    several = {name: _values(values) for name, values in met.items() if len(values) > 1}
    told = (f"--label-row '{name}=VALUE' with one of {values}" for name, values in several.items())
    return f"choose the rows that count: {' and '.join(told)}"


def _unreadable_columns(tables: Sequence[LabelTable], options: LabelOptions) -> list[str]:
    found = {
        name: None
        for table in tables
        for name, what in zip(table.header.names, table.header.meanings, strict=True)
        if what in SCORES
        and not all(is_readable(what, row.scores.get(what), options) for row in table.rows)
    }
    return [repr(name) for name in found][:_MOST_VALUES]


def _values(found: Counter[str]) -> str:
    """Return the most frequent values of a column, unless they are as long as a sentence."""
    short = [one for one, _ in found.most_common() if 0 < len(one) <= _LONGEST_VALUE]
    shown = ", ".join(sorted(short[:_MOST_VALUES]))
    return shown if short else "none that can be shown"
