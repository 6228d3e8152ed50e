"""Tables of labels as spreadsheets, REDCap, SPSS and Qualtrics write them."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile, islice, takewhile
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import DataIssue, IssueCode, LabelFile
from ai_psychiatrist.evaluation.datasets.label_columns import (
    FILE_ID,
    KNOWN,
    LEAST_ITEMS,
    OCCASION,
    PERSON_ID,
    SCORES,
    SPLIT,
    TRAIT,
    UNKNOWN,
    WANTED_COLUMNS,
    column_meanings,
    column_places,
    plain_name,
    same_meaning,
)
from ai_psychiatrist.evaluation.datasets.labels import is_blank, unquoted
from ai_psychiatrist.evaluation.datasets.names import identifier_of
from ai_psychiatrist.services.transcripts.encoding import decode_text
from ai_psychiatrist.services.transcripts.formats.tables import Meaning, meaning_of
from ai_psychiatrist.services.transcripts.utterances import FileRefused

_SEPARATORS: Final = (",", "\t", ";", "|")
_SEPARATOR_LINE: Final = re.compile(r'"?sep=(.)"?[ \t]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)
_IMPORT_ROW: Final = '{"ImportId"'
_MOST_HEADER_ROWS: Final = 5
_LEAST_COLUMNS: Final = 2
_NO_IDENTIFIERS: Final = frozenset({"nan", "null", "none", "#null!", "na", "n/a"})
_SUMMARIES: Final = re.compile(
    r"(?:mean|average|avg|mittel(?:wert)?|durchschnitt|median|mode)(?:sd)?|sd|se|sem|std(?:dev)?|"
    r"(?:standard|std)(?:deviation|error|abweichung)|var(?:iance)?|n|count|anzahl|(?:grand)?total|"
    r"gesamt|sum(?:me)?|min(?:imum)?|max(?:imum)?|range"
)
_PERCENTILE: Final = re.compile(r"\d{1,2}\s?%")
_SPLIT: Final = re.compile(r"train|dev|test")
_LETTER: Final = re.compile(r"[^\W\d]")
_LONGEST_NAME: Final = 60
_MOST_WORDS: Final = 8
_MOST_NAMED: Final = 8
_LONGEST_TRAIT: Final = 40
_MOST_WORDS_OF_TRAIT: Final = 3
_LEAST_OF_A_GROUP: Final = 10
"""On average, in a column of any name: fewer may be remarks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first rows of a table."""

    names: Sequence[str]
    meanings: Sequence[str]
    separator: str
    rows: int
    """How many rows the header has: Qualtrics writes questions and import ids below the names."""

    @property
    def has_scores(self) -> bool:
        """Whether any column is a score."""
        return not SCORES.isdisjoint(self.meanings)

    @property
    def has_identifiers(self) -> bool:
        """Whether any column can name units."""
        return FILE_ID in self.meanings or PERSON_ID in self.meanings

    @property
    def is_of_labels(self) -> bool:
        """Whether a table of this header says what persons are or have scored."""
        if self.has_identifiers:
            return bool({SPLIT, TRAIT, *SCORES} & {*self.meanings})
        both = zip(self.names, self.meanings, strict=True)
        scores = [plain_name(name) for name, meaning in both if meaning in SCORES]
        return self.has_items or any(name.startswith("phq") for name in scores)

    @property
    def has_items(self) -> bool:
        """Whether so many columns are items that it is no chance."""
        return len({*self.meanings} & {*Item}) >= LEAST_ITEMS


def headers_of(text: str) -> Iterator[Header]:
    """Yield what the first rows of a text may be, by each separator that makes columns of them.

    Raises `csv.Error` for a text of which no columns can be made.
    """
    said = _SEPARATOR_LINE.match(text)
    for separator in _SEPARATORS if said is None else said[1]:
        reader = csv.reader(io.StringIO(_body(text), newline=""), delimiter=separator)
        found = islice(filter(_is_filled, reader), _MOST_HEADER_ROWS)
        # A title may stand above the names of the columns.
        all_rows = list(found)
        rows = list(dropwhile(lambda row: sum(map(bool, row)) < _LEAST_COLUMNS, all_rows))
        if rows:
            count = next((at for at, row in enumerate(rows, 1) if _has_import_ids(row)), 1)
            if count == 1 and len(rows) > 1 and _asks(rows[1]):
                count = 2
            questions = rows[1] if count > 1 else ()
            meanings = column_meanings(rows[0], questions)
            above = len(all_rows) - len(rows)
            yield Header(names=rows[0], meanings=meanings, separator=separator, rows=above + count)


def _body(text: str) -> str:
    said = _SEPARATOR_LINE.match(text)
    return text if said is None else text[said.end() :]


def _is_filled(row: Sequence[str]) -> bool:
    return any(cell.strip() for cell in row)


def _has_import_ids(row: Sequence[str]) -> bool:
    return any(cell.strip().startswith(_IMPORT_ROW) for cell in row)


def _asks(row: Sequence[str]) -> bool:
    """Tell a row of questions from one of answers."""
    return len({meaning for meaning in column_meanings(row) if meaning in list(Item)}) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """One row of a label file."""

    unit_id: str
    participant: str | None
    """Who spoke, where the file says it next to the unit."""
    split: str | None
    scores: Mapping[str, str]
    """By what the columns mean."""
    occasion: tuple[str, ...]
    """The cells of the columns that say which measurement it is."""
    cells: Mapping[str, str] = field(repr=False)
    """All of the row by the names of the columns."""
    line: int
    is_broken: bool
    """Whether it has more or fewer columns than the header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTable:
    """The rows of one label file, and its issues."""

    where: str
    header: Header
    rows: Sequence[LabelRow]
    issues: Sequence[DataIssue]
    traits: Sequence[str]
    """The columns that are kept of each unit."""
    passed_over: Sequence[LabelRow] = ()
    """Rows that do not count; what a person is may stand on them alone."""
    places: Mapping[str, int] = field(default_factory=dict)
    """Identifier, score or split → the place of its column."""

    @property
    def file(self) -> LabelFile:
        """What its columns were taken for."""
        return LabelFile(
            name=self.where,
            columns={meaning: self.header.names[at] for meaning, at in self.places.items()},
            kept=self.traits,
        )


def read_label_table(
    content: bytes,
    *,
    where: str,
    unit_id: Callable[[str], str],
    is_unit: Callable[[str], bool],
    needs_scores: bool = True,
) -> LabelTable:
    """Read the rows of one file, and its issues; a file that cannot be used has no rows.

    `unit_id` gives an identifier its one spelling, "" for none; `is_unit` tells whether there is a
    transcript of it. Raises `InputError` for a file that is no table, and for two columns of one
    meaning.
    """
    text, issues = _decoded(content, where)
    try:
        header = _best_header(text)
        reader = csv.reader(io.StringIO(_body(text), newline=""), delimiter=header.separator)
        numbered = [(reader.line_num, row) for row in reader if _is_filled(row)]
    except csv.Error:
        msg = f"the label file {where!r} is no table of separated values"
        raise InputError(msg, field=where) from None
    lines = numbered[header.rows :]
    fault = _fault(header, needs_scores=needs_scores)
    if fault is not None:
        hint = f"its columns are {_listed(header.names)}; wanted are {WANTED_COLUMNS}"
        issues.append(DataIssue(where=where, code=fault, count=len(lines), hint=hint))
        return LabelTable(where=where, header=header, rows=(), issues=issues, traits=())
    named = _identifiers(header, [row for _, row in lines], unit_id, is_unit, where=where)
    places = {**named, **column_places(header.names, header.meanings, where=where)}
    rows: list[LabelRow] = []
    nameless: list[int] = []
    place = named[FILE_ID]
    identified = [
        (line, cells, unquoted(cells[place]) if place < len(cells) else "") for line, cells in lines
    ]
    summaries = [
        *takewhile(
            lambda row: _is_summary(row[2]) and not is_unit(unit_id(row[2])), reversed(identified)
        )
    ][::-1]
    if summaries:
        code, hint = IssueCode.SUMMARY_ROWS, f"named {_listed([name for *_, name in summaries])}"
        line, count = summaries[0][0], len(summaries)
        issues.append(DataIssue(where=where, code=code, line=line, count=count, hint=hint))
    for line, cells, written in identified[: len(identified) - len(summaries)]:
        identifier = identifier_of(unit_id(written))
        if identifier is None or written.casefold() in _NO_IDENTIFIERS:
            nameless.append(line)
        else:
            rows.append(_row(identifier, cells, line, header=header, places=places, where=where))
    if nameless:
        code = IssueCode.ROW_WITHOUT_ID
        issues.append(DataIssue(where=where, code=code, line=nameless[0], count=len(nameless)))
    issues += _column_issues(header, where)
    traits = [name for name in header.names if _is_trait(name, header, rows)]
    return LabelTable(
        where=where, header=header, rows=rows, issues=issues, traits=traits, places=places
    )


def _is_summary(name: str) -> bool:
    """Tell a row of figures of the participants above, which is no participant."""
    is_figure = _SUMMARIES.fullmatch(plain_name(name)) or _PERCENTILE.fullmatch(name)
    return is_figure is not None


def _column_issues(header: Header, where: str) -> Iterator[DataIssue]:
    words = [name for name in header.names if meaning_of(name) is Meaning.WORDS]
    if words:
        hint = f"where each row is an interview: --text-column {_shown(words[0])}"
        yield DataIssue(where=where, code=IssueCode.TEXTS_IN_TABLE, hint=hint)
    both = zip(header.names, header.meanings, strict=True)
    unknown = [name for name, what in both if what == UNKNOWN and name.strip() not in ("", *words)]
    if unknown:
        yield unused(IssueCode.COLUMNS_UNKNOWN, unknown, where=where)


def unused(
    code: IssueCode, names: Sequence[str], *, where: str, line: int | None = None
) -> DataIssue:
    """Return the issue that names columns or fields whose meaning is not known."""
    hint = f"not used as scores: {_listed(names)}; wanted are {WANTED_COLUMNS}"
    return DataIssue(where=where, code=code, line=line, count=len(names), hint=hint)


def _decoded(content: bytes, where: str) -> tuple[str, list[DataIssue]]:
    try:
        decoded = decode_text(content)
    except FileRefused:
        msg = f"the label file {where!r} is not text; save it as CSV in UTF-8"
        raise InputError(msg, field=where) from None
    assumed = DataIssue(where=where, code=IssueCode.ENCODING_ASSUMED)
    return decoded.text, [assumed] if decoded.is_assumed else []


def _best_header(text: str) -> Header:
    """Return the header under the separator by which most columns are known."""
    found = list(headers_of(text))
    if not found:
        raise csv.Error
    return max(found, key=lambda one: (one.has_identifiers, _known(one), len(one.names)))


def _known(header: Header) -> int:
    return sum(meaning != UNKNOWN for meaning in header.meanings)


def _fault(header: Header, *, needs_scores: bool) -> IssueCode | None:
    if not header.has_identifiers:
        return IssueCode.IDENTIFIER_MISSING if header.has_scores else IssueCode.SCORES_UNKNOWN
    is_about_scores = header.has_scores or {SPLIT, TRAIT} & {*header.meanings}
    is_unclear = {UNKNOWN, KNOWN} & {*header.meanings} and not is_about_scores
    return IssueCode.SCORES_UNKNOWN if needs_scores and is_unclear else None


def _identifiers(
    header: Header,
    rows: Sequence[Sequence[str]],
    unit_id: Callable[[str], str],
    is_unit: Callable[[str], bool],
    *,
    where: str,
) -> Mapping[str, int]:
    """Return which column names the units, and which the persons next to it.

    Of several columns the one that names most transcripts counts; of equal ones, what names
    interviews before what names persons.
    """
    places = [at for at, what in enumerate(header.meanings) if what in (FILE_ID, PERSON_ID)]
    spelt: dict[str, int] = {}
    for at in places:
        first = spelt.setdefault(plain_name(header.names[at]), at)
        if first != at:
            raise same_meaning(where, header.names[first], header.names[at])

    def rank(at: int) -> tuple[int, bool, int]:
        cells = {unquoted(row[at]) for row in rows if at < len(row)}
        met = sum(is_unit(unit_id(cell)) for cell in cells)
        return met, header.meanings[at] == FILE_ID, -at

    unit = max(places, key=rank)
    persons = [at for at in places if header.meanings[at] == PERSON_ID and at != unit]
    has_own = header.meanings[unit] == FILE_ID and persons
    return {FILE_ID: unit, PERSON_ID: persons[0]} if has_own else {FILE_ID: unit}


def _row(
    unit_id: str,
    cells: Sequence[str],
    line: int,
    *,
    header: Header,
    places: Mapping[str, int],
    where: str,
) -> LabelRow:
    width = len(header.names)
    padded = [cell.strip() for cell in [*cells[:width], *[""] * (width - len(cells))]]
    found = {meaning: padded[at] for meaning, at in places.items()}
    both = zip(padded, header.meanings, strict=True)
    return LabelRow(
        unit_id=unit_id,
        participant=identifier_of(found.get(PERSON_ID, "")),
        split=split_of(found.get(SPLIT, "")) or split_of(where),
        scores={name: cell for name, cell in found.items() if name in SCORES},
        occasion=tuple(cell for cell, meaning in both if meaning == OCCASION),
        cells=dict(zip(header.names, padded, strict=True)),
        line=line,
        is_broken=len(cells) < width or any(cell.strip() for cell in cells[width:]),
    )


def split_of(name: str) -> str | None:
    """Return the split that a file's or a cell's name says; `None` for none and for several."""
    named = set(_SPLIT.findall(name.rpartition("/")[2].casefold()))
    return named.pop() if len(named) == 1 else None


def _is_trait(name: str, header: Header, rows: Sequence[LabelRow]) -> bool:
    """Tell a column of groups of people, which holds no free text and no names of persons."""
    meaning = header.meanings[list(header.names).index(name)]
    cells = [row.cells[name] for row in rows if not is_blank(row.cells[name])]
    if meaning not in (TRAIT, OCCASION, KNOWN, UNKNOWN) or not cells or not name.strip():
        return False
    most_words = _MOST_WORDS_OF_TRAIT if meaning == TRAIT else 1
    if not all(cell.isprintable() and len(cell) <= _LONGEST_TRAIT for cell in cells):
        return False
    if any(len(cell.split()) > most_words for cell in cells):
        return False
    groups = len(set(cells))
    return meaning == TRAIT or _LEAST_OF_A_GROUP * groups <= len(cells)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(_shown, names[:_MOST_NAMED]))
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _shown(name: str) -> str:
    """Return the name of a column, unless it is a number or a sentence: a file may have none."""
    is_name = _LETTER.search(name) and name.isprintable() and len(name) <= _LONGEST_NAME
    return repr(name.strip()) if is_name and len(name.split()) <= _MOST_WORDS else "(no name)"
