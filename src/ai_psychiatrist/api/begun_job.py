"""Jobs that are begun: their transcripts are read while the caller waits, then they are stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fastapi import Request

from ai_psychiatrist.api.callbacks import destinations, expect_callbacks
from ai_psychiatrist.api.jobs_of import jobs_of
from ai_psychiatrist.api.kept_assessment import Asked
from ai_psychiatrist.api.limits import charge_characters
from ai_psychiatrist.api.wanted_assessment import Scorable, reading_to_score
from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.log_ids import begin_assessment
from ai_psychiatrist.jobs.webhooks.places import Destination
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.idempotency import IdempotencyKey
from ai_psychiatrist.reviews.archive.jobs import NewJob
from ai_psychiatrist.reviews.archive.records import Figures, NewRecord, Record
from ai_psychiatrist.reviews.archives import Records
from ai_psychiatrist.wiring.job_request import JobRequest


async def begin_job(asked: Asked, principal: Principal, key: IdempotencyKey | None = None) -> str:
    """Return the id of a job that is stored, and done whatever becomes of its caller.

    What is wrong with the request is raised here, before anything is stored.
    """
    told = destinations([asked.body], asked.request)
    await asked.records.ask(Archive.refuse_full)
    async with reading_to_score(asked.body, asked.query, asked.request, asked.services) as found:
        job = new_job(found, asked, principal)
    await store_jobs([job], told, asked, key)
    return job.record.id


def new_job(
    found: Scorable,
    asked: Asked,
    principal: Principal,
    *,
    batch_id: str | None = None,
    place: int | None = None,
) -> NewJob:
    """Return a job for a transcript that was read."""
    wanted = found.wanted
    request = JobRequest(
        mode=found.scoring.mode,
        ablates=found.scoring.ablates,
        is_certified=asked.query.certificate,
        participant_id=wanted.participant_id,
    )
    return NewJob(
        record=NewRecord(
            id=begin_assessment(),
            transcript=wanted.transcript,
            subject=asked.body.subject,
            figures=Figures(danger=wanted.risk.report.level),
        ),
        request=request.written(),
        asked_by=principal.id,
        batch_id=batch_id,
        place=place,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    """A job without a result, as it was stored."""

    record: Record
    request: bytes = field(repr=False)
    subject: str | None = field(repr=False)


async def begin_again(
    record_id: str, records: Records, request: Request, principal: Principal
) -> str | None:
    """Return the id of a job that assesses a stored text again, with the options of the first.

    `None` where the first has a result, or is still to have one. Raises `RecordNotFound`.
    """

    def read(archive: Archive) -> _Ended | None:
        archive.refuse_full()
        record = archive.get(record_id)
        if record.summary.state not in {RecordState.FAILED, RecordState.CANCELLED}:
            return None
        return _Ended(
            record=record,
            request=archive.jobs.request(record_id),
            subject=archive.subject_name(record.subject_id),
        )

    found = await records.ask(read)
    if found is None:
        return None
    first = found.record
    await charge_characters(request, len(first.transcript.text))
    again = NewJob(
        record=NewRecord(
            id=begin_assessment(),
            transcript=first.transcript,
            subject=found.subject,
            figures=Figures(danger=first.summary.figures.danger),
        ),
        request=found.request,
        asked_by=principal.id,
    )
    await records.ask(lambda archive: archive.add_jobs([again]))
    jobs_of(request).submissions.add(records.tenant, [again.record.id])
    return again.record.id


async def store_jobs(
    new: Sequence[NewJob],
    told: Sequence[Destination | None],
    asked: Asked,
    key: IdempotencyKey | None,
) -> None:
    """Store jobs, all or none, and have them done.

    `told`: where the end of each is told.
    """
    # Before the jobs: a job is never stored whose end would go untold.
    await expect_callbacks(new, told, asked.records.tenant, asked.request)
    await asked.records.ask(lambda archive: archive.add_jobs(new, key=key))
    ids = (job.record.id for job in new)
    jobs_of(asked.request).submissions.add(asked.records.tenant, ids)
