"""Assessments that are stored: made while the caller waits, or after the caller has gone."""

from dataclasses import dataclass

from fastapi import Request

from ai_psychiatrist.api.audit_trail import note_record
from ai_psychiatrist.api.doors_of import principal_of
from ai_psychiatrist.api.query_options import ScoringInQuery
from ai_psychiatrist.api.records_of import records_of
from ai_psychiatrist.api.requests import KeptAssessmentRequest
from ai_psychiatrist.api.wanted_assessment import Assessed, assess_wanted, reading_to_score
from ai_psychiatrist.assessment.parts import FULL
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.columns import figures_of
from ai_psychiatrist.reviews.archive.idempotency import IdempotencyKey
from ai_psychiatrist.reviews.archive.records import NewRecord
from ai_psychiatrist.reviews.archives import Records
from ai_psychiatrist.wiring import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request for an assessment that is to be stored."""

    body: KeptAssessmentRequest
    query: ScoringInQuery
    request: Request
    services: Services
    records: Records


async def make_and_keep(asked: Asked, key: IdempotencyKey | None = None) -> FullResult:
    """Assess, store, and return the result; raises `Refusal` when nothing finished."""
    body, query, services = asked.body, asked.query, asked.services
    await asked.records.ask(Archive.refuse_full)
    async with reading_to_score(body, query, asked.request, services) as found:
        assessed = await assess_wanted(found.wanted, asked.request, services, FULL, found.scoring)
    result = await services.result_of(
        assessed.assessment, assessed.id, is_certified=query.certificate
    )
    await keep(asked.records, assessed, result, subject=body.subject, key=key)
    return result


async def refuse_without_room(request: Request, services: Services) -> None:
    """Raise `ArchiveFull` where an assessment that nobody asked to store would find no room."""
    if services.settings.store.assessments:
        await records_of(request, principal_of(request)).ask(Archive.refuse_full)


async def keep_where_set(assessed: Assessed, request: Request, services: Services) -> None:
    """Store an assessment where the settings say so; whoever asked for it is given its scores."""
    if not services.settings.store.assessments:
        return
    principal = principal_of(request)
    records = records_of(request, principal)
    note_record(request, assessed.id)
    await keep(records, assessed, await services.result_of(assessed.assessment, assessed.id))
    await records.ask(lambda archive: archive.reviews.note_shown(principal.id, (assessed.id,)))


async def keep(
    records: Records,
    assessed: Assessed,
    result: FullResult,
    *,
    subject: str | None = None,
    key: IdempotencyKey | None = None,
) -> None:
    """Store an assessment under its own id."""
    new = NewRecord(
        id=assessed.id,
        transcript=assessed.assessment.transcript,
        subject=subject,
        result=result.model_dump_json().encode(),
        figures=figures_of(result),
    )
    await records.ask(lambda archive: archive.add(new, key=key))
