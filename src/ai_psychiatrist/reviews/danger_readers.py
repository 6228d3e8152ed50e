"""Who has read the statements of danger, as pages and files show it."""

from collections.abc import Iterable, Sequence

from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.acknowledgement import Acknowledgement, Statement
from ai_psychiatrist.domain.risk import RiskReport
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.results.page.views import ReaderView
from ai_psychiatrist.reviews.acknowledging import readers_of
from ai_psychiatrist.store.person_names import PersonNames


def readers_by_place(
    risk: RiskReport,
    rows: Sequence[Acknowledgement],
    principal: Principal | None,
    names: PersonNames,
) -> dict[tuple[int, int], list[ReaderView]]:
    """Return who has read each statement to read now, by its start and end.

    `principal`: the caller, `None` for a file that others may read as well.
    """
    return {
        (signal.start, signal.end): reader_views(readers_of(signal, rows), principal, names)
        for signal in risk.to_read
    }


def readers_in_interview(
    interview: Interview, rows: Sequence[Acknowledgement], names: PersonNames
) -> list[list[ReaderView]]:
    """Return who has read each statement that held an interview, in their order, for a file."""
    places = (place for danger in interview.dangers for place in danger.places)
    found = (Statement(turn=one.turn, start=one.start, end=one.end) for one in places)
    return [reader_views(readers_of(one, rows), None, names) for one in found]


def reader_views(
    rows: Iterable[Acknowledgement], principal: Principal | None, names: PersonNames
) -> list[ReaderView]:
    """Return who has read a statement; `principal`: as `readers_by_place` has it."""
    own = None if principal is None else principal.id
    return [
        ReaderView(
            name="you" if row.reader == own else names.shown(row.reader),
            is_you=row.reader == own,
            day=f"{row.at:%Y-%m-%d %H:%M}",
            note=row.said.note,
        )
        for row in rows
    ]
