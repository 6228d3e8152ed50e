"""Everything that somebody may have of what is stored, one assessment after another."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from ai_psychiatrist.api.export_query import ExportedAs, ExportedThing, ExportInQuery
from ai_psychiatrist.api.fhir_answers import bundle_bytes
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewRow
from ai_psychiatrist.results.fhir.source import Wanted
from ai_psychiatrist.results.reading import result_of
from ai_psychiatrist.results.tables.rows import (
    ASSESSMENT_COLUMNS,
    ITEM_COLUMNS,
    ITEM_COLUMNS_WITH_WORDS,
    assessment_row,
    item_rows,
)
from ai_psychiatrist.results.tables.writing import Row, csv_line, jsonl_line
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.errors import RecordNotFound, StillBlind
from ai_psychiatrist.reviews.archive.pages import PageWanted, Rated, RecordPage
from ai_psychiatrist.reviews.archive.records import Record
from ai_psychiatrist.reviews.archives import Records
from ai_psychiatrist.reviews.blindness import give_scores, hidden_phases
from ai_psychiatrist.reviews.rating_rows import RATING_COLUMNS, rating_rows

_PAGE: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """One assessment with what is to be told of it."""

    record: Record
    rows: tuple[ReviewRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What is exported, and for whom."""

    query: ExportInQuery
    records: Records
    principal: Principal

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the lines of each assessment, after the header where there is one."""
        header = csv_line(self._columns) if self.query.format is ExportedAs.CSV else b""
        async for record_id in self._ids():
            exported = await self.records.ask(partial(self._read, record_id))
            if exported is not None:
                yield header + await asyncio.to_thread(self._written, exported)
                header = b""
        yield header

    async def left_out(self) -> int:
        """Return how many assessments are not given out, since they are to be rated blind."""
        wanted = self._page(None)
        return await self.records.ask(lambda archive: archive.lists.hidden(wanted))

    async def _ids(self) -> AsyncIterator[str]:
        cursor: str | None = None
        while True:
            page = await self.records.ask(partial(_page_of, self._page(cursor)))
            for line in page.records:
                if not line.is_hidden:
                    yield line.summary.id
            cursor = page.next
            if cursor is None:
                return

    def _page(self, cursor: str | None) -> PageWanted:
        rated = None
        hidden = hidden_phases(self.principal)
        if self.query.what is ExportedThing.RATINGS:
            rated = Rated.ANY if self._is_of_all else Rated.MINE
        return PageWanted(
            rater=self.principal.id,
            limit=_PAGE,
            cursor=cursor,
            state=RecordState.FINISHED,
            rated=rated,
            hidden=hidden,
        )

    @property
    def _is_of_all(self) -> bool:
        return Scope.ADMIN in self.principal.scopes

    def _read(self, record_id: str, archive: Archive) -> Exported | None:
        """Return what may be had, `None` of what was removed or begun blind in the meantime."""
        try:
            give_scores(archive, record_id, self.principal)
            rows: tuple[ReviewRow, ...] = ()
            if self.query.what is ExportedThing.RATINGS:
                rows = self._visible(archive.reviews.of(record_id))
            return Exported(record=archive.get(record_id), rows=rows)
        except (RecordNotFound, StillBlind):
            return None

    def _visible(self, rows: tuple[ReviewRow, ...]) -> tuple[ReviewRow, ...]:
        return tuple(row for row in rows if self._is_of_all or row.rater == self.principal.id)

    def _written(self, exported: Exported) -> bytes:
        if self.query.format is ExportedAs.FHIR:
            return b"".join(self._bundles(exported))
        rows = self._rows(exported)
        if self.query.format is ExportedAs.JSONL:
            return b"".join(map(jsonl_line, rows))
        return b"".join(csv_line([row[name] for name in self._columns]) for row in rows)

    def _bundles(self, exported: Exported) -> Iterator[bytes]:
        wanted = Wanted(
            made_at=exported.record.created_at,
            with_words=self.query.with_words,
            questionnaire=self.query.questionnaire,
        )
        if self.query.what is ExportedThing.RESULTS:
            yield bundle_bytes(exported.record, (), wanted)
        for rater in dict.fromkeys(row.rater for row in exported.rows):
            own = [row for row in exported.rows if row.rater == rater]
            yield bundle_bytes(exported.record, own, wanted)

    def _rows(self, exported: Exported) -> Iterator[Row]:
        record = exported.record
        if self.query.what is ExportedThing.RATINGS:
            return rating_rows(record.id, exported.rows)
        result = result_of(record.result, field="assessment_id")
        if self.query.what is ExportedThing.ITEMS:
            return item_rows(result, with_words=self.query.with_words)
        return iter([assessment_row(result, made_at=record.created_at)])

    @property
    def _columns(self) -> Sequence[str]:
        match self.query.what:
            case ExportedThing.RESULTS:
                return ASSESSMENT_COLUMNS
            case ExportedThing.RATINGS:
                return RATING_COLUMNS
            case ExportedThing.ITEMS:
                return ITEM_COLUMNS_WITH_WORDS if self.query.with_words else ITEM_COLUMNS


def _page_of(wanted: PageWanted, archive: Archive) -> RecordPage:
    return archive.lists.page(wanted)
