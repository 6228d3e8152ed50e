"""Whether a person has read the statements of danger that are to be read now."""

from collections.abc import Collection, Iterable
from typing import Final

from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.acknowledgement import Acknowledgement, Statement, WasRead
from ai_psychiatrist.domain.errors import InputError, RequestConflict
from ai_psychiatrist.domain.risk import RiskReport, RiskSignal
from ai_psychiatrist.interview.danger_statements import places_to_read
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.store.store import Store

MOST_NOTE: Final = 2_000
"""Characters of what a reader notes."""


def acknowledge(
    store: Store,
    record_id: str,
    reader: Principal,
    risk: RiskReport,
    *,
    statements: Collection[Statement] | None = None,
    note: str = "",
) -> None:
    """Record that a person has read statements of danger; several people may read each.

    `risk`: the danger of that record. `statements`: some of those to be read now, `None`: all.
    Raises `RequestConflict` while the assessment is being made, for its danger is not known whole
    before, and `InputError` for what is not to be read now.
    """
    chosen = _chosen(map(_place_of, risk.to_read), statements)
    with store.database.writing():
        if not store.summary(record_id).state.is_last:
            raise RequestConflict("assessment_running")
        unread = _unread(risk, store.acknowledgements.of(record_id)) - chosen
        said = WasRead(statements=tuple(sorted(chosen)), note=note)
        store.acknowledgements.add(record_id, reader.id, said, unread=len(unread))


def acknowledge_interview(
    store: Store,
    interview: Interview,
    reader: Principal,
    *,
    statements: Collection[Statement] | None = None,
    note: str = "",
) -> None:
    """Record that a person has read what held an interview, as of an assessment.

    Raises `NotFound`, and `InputError` for what is no such statement.
    """
    chosen = _chosen(places_to_read(interview), statements)
    with store.database.writing():
        new = chosen - were_read(store.interviews.acknowledged(interview.id))
        said = WasRead(statements=tuple(sorted(chosen)), note=note)
        store.interviews.acknowledge(interview.id, reader.id, said, newly_read=len(new))


def were_read(rows: Iterable[Acknowledgement]) -> set[Statement]:
    """Return the statements that somebody has read."""
    return {one for row in rows for one in row.said.statements}


def _chosen(
    to_read: Iterable[Statement], statements: Collection[Statement] | None
) -> set[Statement]:
    found = set(to_read)
    chosen = found if statements is None else set(statements)
    if not chosen or not chosen <= found:
        msg = (
            "statements are those to be read now, each by its place as it is listed"
            if found
            else "there is no statement of danger that is to be read now"
        )
        raise InputError(msg, field="statements")
    return chosen


def unread_count(risk: RiskReport, rows: Iterable[Acknowledgement]) -> int:
    """Return how many statements to read now have no confirmation."""
    return len(_unread(risk, rows))


def readers_of(
    statement: RiskSignal | Statement, rows: Iterable[Acknowledgement]
) -> list[Acknowledgement]:
    """Return who has read a statement, the first one first."""
    place = statement if isinstance(statement, Statement) else _place_of(statement)
    return [row for row in rows if place in row.said.statements]


def _unread(risk: RiskReport, rows: Iterable[Acknowledgement]) -> set[Statement]:
    return {_place_of(signal) for signal in risk.to_read} - were_read(rows)


def _place_of(signal: RiskSignal) -> Statement:
    return Statement(start=signal.start, end=signal.end)
