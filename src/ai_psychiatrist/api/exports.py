"""The route that exports what is stored, as JSON lines, CSV, a workbook or FHIR."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Annotated, Final, TypeAlias

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from ai_psychiatrist.api.authorization import PrincipalOf, requires_one_of
from ai_psychiatrist.api.dependencies import RecordsOf
from ai_psychiatrist.api.limits import renew_deadline
from ai_psychiatrist.api.records import bundle_bytes
from ai_psychiatrist.api.requests import InQuery
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.acknowledgement import Acknowledgement
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import InputError, NotFound, RequestConflict
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewRow
from ai_psychiatrist.interview.interview_store import read_all
from ai_psychiatrist.results import interview_table
from ai_psychiatrist.results.column_meanings import COLUMN_MEANINGS, DATE_COLUMNS
from ai_psychiatrist.results.fhir.source import BundleOptions
from ai_psychiatrist.results.interview_table import interview_rows, item_cells, result_cells
from ai_psychiatrist.results.reading import result_of
from ai_psychiatrist.results.tables import (
    ASSESSMENT_COLUMNS,
    ITEM_COLUMNS,
    ITEM_COLUMNS_WITH_WORDS,
    Row,
    assessment_row,
    csv_line,
    item_rows,
    jsonl_line,
)
from ai_psychiatrist.results.workbook import MEDIA_TYPE as WORKBOOK_TYPE
from ai_psychiatrist.results.workbook import Workbook
from ai_psychiatrist.reviews.adjudication import committed_scores
from ai_psychiatrist.reviews.blindness import give_scores, hidden_phases
from ai_psychiatrist.reviews.rating_rows import (
    ACKNOWLEDGEMENT_COLUMNS,
    RATING_COLUMNS,
    acknowledgement_rows,
    rating_rows,
)
from ai_psychiatrist.store.interviews import InterviewListRequest, ListedInterview, ListedPage
from ai_psychiatrist.store.listing import Rated, RecordListRequest, RecordPage
from ai_psychiatrist.store.person_names import PersonNames
from ai_psychiatrist.store.records import Record
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Records

_PAGE: Final = 100
MOST_CHOSEN: Final = 500
"""Assessments that are named one by one."""
LEFT_OUT: Final = "X-Left-Out"
_SUBJECT: Final = "subject"
"""The column of study ids."""
_UNREAD: Final = "danger_unread"
"""The column of how many statements to read now nobody has read, those in interviews as well."""


class ExportedThing(StrEnum):
    """What is exported."""

    RESULTS = "results"
    """Assessments, one a row."""
    ITEMS = "items"
    """Their items, one a row."""
    RATINGS = "ratings"
    """What raters said."""
    ACKNOWLEDGEMENTS = "acknowledgements"
    """Who has read which statements of danger."""
    INTERVIEWS = "interviews"
    """Interviews with people, one a row."""


class ExportedAs(StrEnum):
    """In which form."""

    JSONL = "jsonl"
    CSV = "csv"
    XLSX = "xlsx"
    FHIR = "fhir"
    """One bundle a line."""


_MEDIA_TYPES: Final = {
    ExportedAs.JSONL: "application/jsonl",
    ExportedAs.CSV: "text/csv; charset=utf-8; header=present",
    ExportedAs.XLSX: WORKBOOK_TYPE,
    ExportedAs.FHIR: "application/fhir+ndjson",
}
_SUFFIXES: Final = {one: one.value for one in ExportedAs} | {ExportedAs.FHIR: "ndjson"}
_BYTE_ORDER_MARK: Final = "\ufeff".encode()


class ExportInQuery(InQuery):
    """What is wanted, and how."""

    what: ExportedThing = Field(
        default=ExportedThing.RESULTS,
        description="Assessments, their items, what raters said (of others for admins only), "
        "who has read which statements of danger, or interviews.",
    )
    format: ExportedAs = Field(
        default=ExportedAs.JSONL,
        description="JSON lines, CSV, a workbook, or one FHIR bundle a line.",
    )
    bom: bool = Field(
        default=False,
        description="Begin a csv with a byte order mark, by which Excel knows that it is UTF-8.",
    )
    assessment_id: list[str] = Field(
        default=[],
        max_length=MOST_CHOSEN,
        description="Only these assessments; all where none is named.",
    )
    with_words: bool = Field(
        default=False,
        description="Also words: those that carry scores, of items or of results as fhir, the "
        "notes of acknowledgements, and the reasons of gold scores.",
    )
    questionnaire: bool = Field(
        default=False, description="In fhir also a QuestionnaireResponse of each assessment."
    )
    transaction: bool = Field(
        default=False, description="In fhir bundles of type transaction, to be posted to a server."
    )

    def checked(self) -> "ExportInQuery":
        """Return it; raises `InputError` for what does not go together."""
        is_fhir = self.format is ExportedAs.FHIR
        has_notes = self.what in {ExportedThing.ITEMS, ExportedThing.ACKNOWLEDGEMENTS}
        has_no_bundle = has_notes or self.what is ExportedThing.INTERVIEWS
        of_words = ExportedThing.RESULTS if is_fhir else ExportedThing.RATINGS
        has_words = has_notes or self.what is of_words
        refusals = {
            "what": (
                is_fhir and has_no_bundle,
                "a bundle holds all items: ask for results, or for csv, xlsx or jsonl",
            ),
            "with_words": (
                self.with_words and not has_words,
                "ask for items, acknowledgements, ratings, or results as fhir: others hold none",
            ),
            "bom": (
                self.bom and self.format is not ExportedAs.CSV,
                "only csv has a byte order mark: ask for format=csv, or leave it out",
            ),
            "questionnaire": (
                self.questionnaire and not is_fhir,
                "only fhir has a questionnaire: ask for format=fhir, or leave it out",
            ),
            "transaction": (
                self.transaction and not is_fhir,
                "only fhir has transactions: ask for format=fhir, or leave it out",
            ),
        }
        for name, (is_refused, msg) in refusals.items():
            if is_refused:
                raise InputError(msg, field=name)
        return self


ExportOfQuery: TypeAlias = Annotated[ExportInQuery, Query()]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A record, and what of it the caller may have."""

    record_id: str | None
    record: Record | None
    """`None` where no row needs it, and of interviews without an assessment."""
    subject: str | None = field(repr=False)
    """The study id."""
    ratings: tuple[ReviewRow, ...] = ()
    interviews: tuple[ListedInterview, ...] = ()
    """Those about it, the newest first."""
    acknowledged: Mapping[str | None, Sequence[Acknowledgement]] = field(default_factory=dict)
    """By the interview's hash; `None`: in the transcript."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What is exported, and for whom."""

    query: ExportInQuery
    records: Records
    principal: Principal

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the lines of each assessment, after the header where there is one."""
        is_book = self.query.format is ExportedAs.XLSX
        names = await self.records.ask(lambda store: store.person_names())
        with self._workbook() if is_book else nullcontext() as book:
            head = self._head if book is None else book.begin()
            async for found in self._found():
                yield head + await asyncio.to_thread(self._written, found, names, book)
                head = b""
            yield head if book is None else head + book.end()

    def _workbook(self) -> Workbook:
        meanings = COLUMN_MEANINGS[self.query.what]
        return Workbook(self.query.what, self._columns, dates=DATE_COLUMNS, meanings=meanings)

    async def left_out(self) -> int:
        """Return how many assessments are not given out, since they are to be rated blind.

        Of those that are named also how many have nothing to be given out. Raises `NotFound` for
        one that is not stored.
        """

        def count(store: Store) -> int:
            wanted, named = self._page(None), frozenset(self.query.assessment_id)
            for record_id in named:
                store.summary(record_id)
            without = len(named) - store.lists.page(wanted).total if named else 0
            if self.query.what is ExportedThing.INTERVIEWS:
                without = sum(not store.interviews.about(one) for one in named)
            return store.lists.hidden(wanted) + without

        return await self.records.ask(count)

    async def _ids(self) -> AsyncIterator[str]:
        cursor: str | None = None
        while True:
            wanted = self._page(cursor)
            page = await self.records.ask(partial(_page_of, wanted))
            for line in page.records:
                if not line.is_hidden:
                    yield line.summary.id
            cursor = page.next
            if cursor is None:
                return

    async def _found(self) -> AsyncIterator[_Found]:
        async for record_id in self._ids():
            found = await self.records.ask(partial(self._read, record_id))
            if found is not None:
                yield found
        if not self._has_interviews or self.query.assessment_id:
            return
        cursor: str | None = None
        while Scope.READ in self.principal.scopes:
            wanted = InterviewListRequest(limit=_PAGE, cursor=cursor, is_apart=True)
            page, apart = await self.records.ask(partial(self._apart, wanted))
            yield apart
            cursor = page.next
            if cursor is None:
                return

    def _apart(self, wanted: InterviewListRequest, store: Store) -> tuple[ListedPage, _Found]:
        """Return interviews about no assessment."""
        page = store.interviews.page(wanted)
        said = self._said_of(store, page.interviews)
        found = _Found(
            record_id=None,
            record=None,
            subject=None,
            interviews=page.interviews,
            acknowledged=said,
        )
        return page, found

    def _said_of(
        self, store: Store, interviews: Iterable[ListedInterview]
    ) -> dict[str | None, Sequence[Acknowledgement]]:
        """Return who has read danger in interviews, where that is exported."""
        has_danger = [one for one in interviews if one.is_readable and one.danger is not None]
        read = has_danger if self._is_of_danger else []
        return {str(one.row.id_hash): store.interviews.acknowledged(one.id) for one in read}

    def _page(self, cursor: str | None) -> RecordListRequest:
        rated = None
        if self.query.what is ExportedThing.RATINGS:
            rated = Rated.ANY if Scope.ADMIN in self.principal.scopes else Rated.MINE
        return RecordListRequest(
            rater=self.principal.id,
            limit=_PAGE,
            cursor=cursor,
            only=frozenset(self.query.assessment_id),
            state=None if self._is_of_danger else RecordState.FINISHED,
            rated=rated,
            # What is said of danger is never hidden.
            hidden=frozenset() if self._is_of_danger else hidden_phases(self.principal),
        )

    @property
    def _is_of_danger(self) -> bool:
        return self.query.what is ExportedThing.ACKNOWLEDGEMENTS

    @property
    def _has_interviews(self) -> bool:
        """Whether interviews without an assessment have rows as well."""
        return self._is_of_danger or self.query.what is ExportedThing.INTERVIEWS

    @property
    def _needs_result(self) -> bool:
        """Whether what is stored of the assessment itself is exported."""
        has_result = self.query.what in {ExportedThing.RESULTS, ExportedThing.ITEMS}
        return has_result or self.query.format is ExportedAs.FHIR

    @property
    def _needs_interviews(self) -> bool:
        """Whether interviews about an assessment add to what is exported of it."""
        is_of_ratings = self.query.what is ExportedThing.RATINGS
        return not is_of_ratings or self.query.format is ExportedAs.FHIR

    def _read(self, record_id: str, store: Store) -> _Found | None:
        """Return a record and what was said of it that the caller may have.

        `None` for one that was removed or begun blind in the meantime.
        """
        try:
            subject = store.subject_of(record_id)
            about = store.interviews.about(record_id) if self._needs_interviews else ()
            if self._is_of_danger:
                said = {None: store.acknowledgements.of(record_id), **self._said_of(store, about)}
                return _Found(record_id=record_id, record=None, subject=subject, acknowledged=said)
            give_scores(store, record_id, self.principal)
            rows: tuple[ReviewRow, ...] = ()
            if self.query.what is ExportedThing.RATINGS:
                rows = store.reviews.of(record_id)
            if Scope.ADMIN not in self.principal.scopes:
                rows = tuple(row for row in rows if row.rater == self.principal.id)
            return _Found(
                record_id=record_id,
                record=store.get(record_id) if self._needs_result else None,
                subject=subject,
                ratings=rows,
                interviews=about,
            )
        except (NotFound, RequestConflict):
            return None

    @property
    def _head(self) -> bytes:
        if self.query.format is not ExportedAs.CSV:
            return b""
        mark = _BYTE_ORDER_MARK if self.query.bom else b""
        return mark + csv_line(self._columns)

    def _written(self, found: _Found, names: PersonNames, book: Workbook | None) -> bytes:
        if self.query.format is ExportedAs.FHIR:
            return b"".join(() if found.record is None else self._bundles(found, found.record))
        named = ({**row, _SUBJECT: found.subject} for row in self._rows(found, names))
        rows = ({name: row[name] for name in self._columns} for row in named)
        if self.query.format is ExportedAs.JSONL:
            return b"".join(map(jsonl_line, rows))
        cells = (list(row.values()) for row in rows)
        return b"".join(map(csv_line, cells)) if book is None else book.add(cells)

    def _bundles(self, found: _Found, record: Record) -> Iterator[bytes]:
        ratings = found.ratings
        wanted = BundleOptions(
            made_at=record.summary.created_at,
            study_id=found.subject,
            with_words=self.query.with_words,
            questionnaire=self.query.questionnaire,
            is_transaction=self.query.transaction,
            interviews=read_all(found.interviews),
        )
        if self.query.what is ExportedThing.RESULTS:
            yield bundle_bytes(record, (), wanted)
        for rater in committed_scores(ratings):
            own = [row for row in ratings if row.rater == rater]
            yield bundle_bytes(record, own, wanted)

    def _rows(self, found: _Found, names: PersonNames) -> Iterator[Row]:
        record, with_words = found.record, self.query.with_words
        if self.query.what is ExportedThing.INTERVIEWS:
            yield from interview_rows(found.interviews)
        for interview, said in found.acknowledged.items():
            yield from acknowledgement_rows(
                found.record_id, said, names, interview=interview, with_words=with_words
            )
        if found.record_id is not None and self.query.what is ExportedThing.RATINGS:
            yield from rating_rows(found.record_id, found.ratings, names, with_words=with_words)
        if record is None:
            return
        if self.query.what is ExportedThing.ITEMS:
            result, asked = _result_in(record), item_cells(found.interviews)
            empty = dict.fromkeys(interview_table.ITEM_COLUMNS_WITH_WORDS)
            for row in item_rows(result, with_words=with_words):
                yield {**row, **asked.get(str(row["item"]), empty)}
        if self.query.what is ExportedThing.RESULTS:
            row = assessment_row(_result_in(record), made_at=record.summary.created_at)
            in_interviews = sum(one.row.unread for one in found.interviews)
            unread = {_UNREAD: record.summary.unread_with(in_interviews)}
            yield {**row, **result_cells(found.interviews), **unread}

    @property
    def _columns(self) -> Sequence[str]:
        """The id of the assessment, its study id, and all the others."""
        match self.query.what:
            case ExportedThing.RESULTS:
                first, *others = (*ASSESSMENT_COLUMNS, *interview_table.RESULT_COLUMNS, _UNREAD)
            case ExportedThing.RATINGS:
                first, *others = RATING_COLUMNS
            case ExportedThing.ACKNOWLEDGEMENTS:
                first, *others = ACKNOWLEDGEMENT_COLUMNS
            case ExportedThing.ITEMS:
                with_words = (*ITEM_COLUMNS_WITH_WORDS, *interview_table.ITEM_COLUMNS_WITH_WORDS)
                without = (*ITEM_COLUMNS, *interview_table.ITEM_COLUMNS)
                first, *others = with_words if self.query.with_words else without
            case ExportedThing.INTERVIEWS:
                first, *others = interview_table.INTERVIEW_COLUMNS
        return (first, _SUBJECT, *others)


def _result_in(record: Record) -> Assessment:
    return result_of(record.result, field="assessment_id")


def _page_of(wanted: RecordListRequest, store: Store) -> RecordPage:
    return store.lists.page(wanted)


router = APIRouter(
    prefix="/v1/export",
    tags=["stored assessments"],
    dependencies=[requires_one_of(Scope.READ, Scope.REVIEW)],
)


@router.get(
    "",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "One assessment after another, the newest first.",
            "headers": {
                LEFT_OUT: {
                    "description": "How many you are not given, because you have not rated them "
                    "yet; of those that you name also how many have nothing to be given.",
                    "schema": {"type": "integer"},
                }
            },
            "content": {
                one.partition(";")[0]: {"schema": {"type": "string"}}
                for one in _MEDIA_TYPES.values()
            },
        },
        404: {"description": "There is no stored assessment with one of these ids."},
        409: {"description": "The first of what is stored cannot be read."},
        422: {"description": "The query names something unknown, or what does not go together."},
        503: {"description": "Stored assessments cannot be read now."},
    },
)
async def export_records(
    query: ExportOfQuery, request: Request, records: RecordsOf, principal: PrincipalOf
) -> StreamingResponse:
    """Give out all assessments or ratings that you may have: JSON lines, CSV, a workbook, or FHIR.

    Rows name the study id as `subject`, bundles as an identifier of the subject.
    Whoever is given scores rates those assessments blind no more. Those that you are rating blind
    are left out, and X-Left-Out says how many. What others rated is for admins alone.
    """
    export = Export(query=query.checked(), records=records, principal=principal)
    left_out = await export.left_out()
    chunks = export.chunks()
    # An error of the first one still has a status of its own.
    first = await anext(chunks, b"")
    return StreamingResponse(
        _after(first, chunks, request),
        media_type=_MEDIA_TYPES[query.format],
        headers={
            "Content-Disposition": f'attachment; filename="{query.what}.{_SUFFIXES[query.format]}"',
            LEFT_OUT: str(left_out),
        },
    )


async def _after(
    first: bytes, chunks: AsyncIterator[bytes], request: Request
) -> AsyncIterator[bytes]:
    yield first
    async for chunk in chunks:
        # How long it takes depends on how much is stored.
        renew_deadline(request.scope)
        yield chunk
