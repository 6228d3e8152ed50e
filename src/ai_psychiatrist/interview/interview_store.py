"""Interviews as the service stores and finds them: their shape for the rows of the store."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.domain.interview_items import ItemOutcome
from ai_psychiatrist.domain.phq8 import ScoreTotals, total_of
from ai_psychiatrist.interview.danger_statements import (
    DangerStatement,
    danger_statements,
    places_to_read,
)
from ai_psychiatrist.interview.errors import store_full
from ai_psychiatrist.interview.item_outcomes import (
    counts,
    is_about_items,
    item_outcomes,
)
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.interview.serialization import (
    after_turn,
    origin_bytes,
    state_bytes,
    turn_bytes,
    whole,
)
from ai_psychiatrist.interview.snapshot import InterviewListing, InterviewPage
from ai_psychiatrist.store.database import Value
from ai_psychiatrist.store.deliveries import DeliveryEvent, InterviewNotice
from ai_psychiatrist.store.interviews import (
    InterviewListRequest,
    InterviewRows,
    Keyed,
    ListedInterview,
    OpenedInterview,
    StoredInterview,
    id_hash,
)
from ai_psychiatrist.store.moving import refusing_foreign


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """What is stored under an idempotency key."""

    sent: bytes
    after: Interview | None
    """The interview after its turn, `None` while the turn is not done."""


@dataclass(frozen=True, slots=True)
class InterviewStore:
    """Interviews at rest; any thread may call it, and any number of processes.

    Every method may raise `StoreUnusable`; those that read, `ArtifactMismatch`.
    """

    rows: InterviewRows

    def add(self, interview: Interview) -> None:
        """Put down a new interview; raises `StoreUnusable` when there is no room for it."""
        stored = StoredInterview(origin=origin_bytes(interview), state=state_bytes(interview))
        with self.rows.database.writing():
            columns = {**_columns(interview), "record_id": interview.about}
            if not self.rows.add(interview.id, stored, columns):
                raise store_full()
            self._total_again(interview)

    def load(self, interview_id: str) -> Interview:
        """Return an interview; raises `NotFound`."""
        stored = self.rows.load(interview_id)
        return whole(interview_id, origin=stored.origin, state=stored.state)

    def earlier(self, interview: Interview) -> tuple[Interview, ...]:
        """Return the interviews that were begun before about the same assessment and count.

        The newest is first. Of an interview that is not stored yet, it is all there are.
        """
        if interview.about is None:
            return ()
        read = read_all(self.rows.about(interview.about))
        own = next((one for one in read if one.listed.id == interview.id), None)
        earlier = own.earlier if own is not None else [one for one in read if one.is_done]
        return tuple(one.interview for one in earlier)

    def save(
        self,
        interview: Interview,
        *,
        answer: Keyed | None = None,
        finished_key: str | None = None,
        events: Collection[DeliveryEvent] = (),
    ) -> None:
        """Replace an interview by its next version, with what else belongs to the step.

        `answer`: what was sent that the step took; it tells another one under the same key.
        `finished_key`: the key of the answer whose turn the step ends. `events`: what its
        receivers are told of. Raises `RequestConflict`
        when the stored version is not the one before, and `NotFound`; then nothing is written.
        """
        turn = None
        if finished_key is not None:
            grown = turn_bytes(interview)
            turn = Keyed(key=finished_key, number=interview.version, content=grown)
        with self.rows.database.writing():
            self.rows.replace(
                interview.id,
                state_bytes(interview),
                _columns(interview),
                version=interview.version - 1,
                answer=answer,
                turn=turn,
                notices=_notices(interview, events),
            )
            self._total_again(interview)

    def known(self, interview_id: str, key: str) -> KnownAnswer | None:
        """Return what is stored under an idempotency key of an interview."""
        found = self.rows.known(interview_id, key)
        if found is None:
            return None
        sent, turn = found
        if turn is None:
            return KnownAnswer(sent=sent, after=None)
        return KnownAnswer(sent=sent, after=after_turn(self.load(interview_id), turn))

    def delete(self, interview_id: str) -> None:
        """Remove an interview and all that belongs to it; raises `NotFound`."""
        with self.rows.database.writing():
            about = self.rows.delete(id_hash(interview_id))
            if about is not None:
                self._total_all(about)
        self.rows.keys.wipe()

    def list(self) -> tuple[InterviewListing, ...]:
        """Return all interviews, those that are held first, then the latest.

        One that cannot be read is marked.
        """
        return tuple(map(_listing, self.rows.list()))

    def meant_by(self, given: str) -> tuple[InterviewListing, ...]:
        """Return the interviews of an id, an assessment's id or a study id, the newest first."""
        return tuple(map(_listing, self.rows.meant_by(given)))

    def page(self, wanted: InterviewListRequest) -> InterviewPage:
        """Return a part of that list; raises `InputError` for a cursor that no page gave."""
        page = self.rows.page(wanted)
        listed = tuple(map(_listing, page.interviews))
        return InterviewPage(interviews=listed, next=page.next, total=page.total)

    def take_in(self, given: OpenedInterview) -> bool:
        """Store an interview that another store gave; `False` for one that is there already.

        Raises `InputError` for what no store gave, and then nothing of it is stored.
        """
        with refusing_foreign("an interview"):
            found = whole(given.id, origin=given.origin.encode(), state=given.state.encode())
        columns = _columns(found)
        about = self.rows.stored_record(found.about)
        # An earlier version counted no statements.
        counted = {"unread": columns["to_read"], **given.row, **columns, "record_id": about}
        counted.pop("has_danger", None)
        with self.rows.database.writing():
            is_new = self.rows.take_in(replace(given, row=counted))
            self._total_again(replace(found, about=about))
        return is_new

    def _total_again(self, interview: Interview) -> None:
        """Write the totals of all interviews about an assessment once one of them counts."""
        if interview.about is not None and counts(interview):
            self._total_all(interview.about)

    def _total_all(self, record_id: str) -> None:
        """Write the totals of the interviews about an assessment, each with those before it."""
        for one in read_all(self.rows.about(record_id)):
            if one.is_done and one.total is not None:
                bounds = one.total.total_score_min, one.total.total_score_max
                self.rows.write_total(one.listed.row.id_hash, *bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadInterview:
    """A stored interview with its words, and what its answers come to."""

    listed: ListedInterview
    interview: Interview = field(repr=False)
    items: tuple[ItemOutcome, ...] = field(repr=False)
    """The eight items as they stand now, with the answers of interviews before it."""
    total: ScoreTotals | None
    """`None` in an interview about goals, which has no items."""
    earlier: tuple["ReadInterview", ...] = field(default=(), repr=False)
    """Those that count and were begun before about the same assessment, the newest first."""

    def origin(self, outcome: ItemOutcome) -> "ReadInterview":
        """Return the interview that an answer is from: this one, or an earlier one."""
        found = (one for one in self.earlier if one.listed.row.id_hash == outcome.interview)
        return next(found, self)

    @property
    def is_done(self) -> bool:
        """Whether its answers count for the assessment that it is about."""
        return counts(self.interview)

    @property
    def statements(self) -> tuple[DangerStatement, ...]:
        """What was said where danger held it."""
        found = self.interview.dangers
        return tuple(said for one in found for said in danger_statements(self.interview, one))


def read_all(listed: Sequence[ListedInterview]) -> tuple[ReadInterview, ...]:
    """Return interviews of a list with their words, without those that cannot be read.

    `listed`: the newest first; those about one assessment all together, or about none.
    """
    found: list[ReadInterview] = []
    before: dict[str, tuple[ReadInterview, ...]] = {}
    for one in reversed(listed):
        if one.stored is None:
            continue
        with suppress(ArtifactMismatch):
            interview = whole(one.id, origin=one.stored.origin, state=one.stored.state)
            about = one.row.record_id
            earlier = before.get(about, ())
            items = item_outcomes(interview, [each.interview for each in earlier])
            total = total_of(each.score for each in items) if is_about_items(interview) else None
            read = ReadInterview(
                listed=one,
                interview=interview,
                items=() if total is None else items,
                total=total,
                earlier=earlier,
            )
            found.append(read)
            if about is not None and read.is_done:
                before[about] = (read, *earlier)
    return tuple(reversed(found))


def latest_done(read: Iterable[ReadInterview]) -> ReadInterview | None:
    """Return the interview whose answers count for an assessment. `read`: the newest first."""
    return next((one for one in read if one.is_done), None)


def _columns(interview: Interview) -> dict[str, Value]:
    """Return what of an interview can be asked for without its key: nothing that anybody said."""
    danger = interview.danger
    return {
        "version": interview.version,
        "protocol": interview.protocol.id,
        "state": interview.state.value,
        "protocol_version": interview.protocol.version,
        "protocol_digest": interview.protocol.digest,
        "turns": interview.turn,
        "model_calls": interview.spent.calls,
        "end_reason": None if interview.end_reason is None else interview.end_reason.value,
        "danger": None if danger is None else danger.level.rank,
        "to_read": len(places_to_read(interview)),
    }


def _notices(
    interview: Interview, events: Collection[DeliveryEvent]
) -> tuple[InterviewNotice, ...]:
    danger = interview.danger
    data: dict[str, object] = {
        "interview_id": interview.id,
        "protocol": interview.protocol.id,
        "turn": interview.turn,
    }
    details: dict[DeliveryEvent, dict[str, object]] = {
        DeliveryEvent.INTERVIEW_FINISHED: {"end_reason": interview.end_reason}
    }
    if danger is not None:
        details[DeliveryEvent.INTERVIEW_HELD] = {
            "level": danger.level,
            "categories": danger.categories,
        }
    return tuple(
        InterviewNotice(event=event, callback=interview.callback, data=data | details[event])
        for event in events
    )


def state_of(listed: ListedInterview) -> InterviewState:
    """Return where an interview of the list stands; `FAILED` for a state that is not known."""
    is_known = listed.row.state in set(InterviewState)
    return InterviewState(listed.row.state) if is_known else InterviewState.FAILED


def _listing(listed: ListedInterview) -> InterviewListing:
    row = listed.row
    return InterviewListing(
        interview_id=listed.id or None,
        protocol=row.protocol,
        state=state_of(listed),
        version=row.version,
        created_at=row.created_at,
        updated_at=row.updated_at,
        is_readable=listed.is_readable and row.state in set(InterviewState),
        assessment_id=row.record_id,
        subject=listed.subject,
        danger=listed.danger,
        to_read=row.to_read,
        unread=row.unread,
    )
