"""The routes of what belongs to a stored assessment: transcript, evidence, certificate, subject."""

import json
from typing import Final

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from ai_psychiatrist.api.doors_of import PrincipalOf
from ai_psychiatrist.api.jobs_of import JobsOf
from ai_psychiatrist.api.record_part_models import (
    EvidenceResult,
    StoredTranscriptResult,
    SubjectResult,
    transcript_result,
)
from ai_psychiatrist.api.record_routes import ERASING, OF_SCORES, PREFIX, PROBLEMS, SEEING, TAGS
from ai_psychiatrist.api.record_sheet import danger_of
from ai_psychiatrist.api.records_of import RecordId, RecordsOf, SubjectId
from ai_psychiatrist.api.scored_record import scored
from ai_psychiatrist.api.served import ServicesOf, json_of
from ai_psychiatrist.proof.certificate import certificate_of
from ai_psychiatrist.results.account_result import CertificateResult
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.records import Record
from ai_psychiatrist.reviews.archives import Records
from ai_psychiatrist.wiring import Services, erasing

_EVIDENCE: Final = (
    "label",
    "score",
    "unknown_reason",
    "not_examined_cause",
    "unread_answer",
    "evidence",
    "unverified_quotes",
    "frequency",
    "warnings",
)

router = APIRouter(prefix=PREFIX, tags=TAGS, responses=PROBLEMS, dependencies=SEEING)
subjects = APIRouter(prefix="/v1/subjects", tags=TAGS, responses=PROBLEMS, dependencies=ERASING)


@router.get("/{assessment_id}/transcript", response_model=StoredTranscriptResult)
async def read_transcript(
    assessment_id: RecordId, records: RecordsOf, services: ServicesOf
) -> Response:
    """Return the interview: its text, its turns, and the signs of danger in it, never hidden."""
    record = await records.ask(lambda archive: archive.get(assessment_id))
    told = await danger_of(record, services)
    return json_of(transcript_result(record, told.risk))


@router.get("/{assessment_id}/evidence", response_model=EvidenceResult, responses=OF_SCORES)
async def read_evidence(
    assessment_id: RecordId, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Return the quotes that each score stands on, and those that were refused."""
    record = await scored(assessment_id, records, principal)
    items = (json.loads(record.result)["quantitative"] or {}).get("items") or {}
    shown = {
        key: {name: item[name] for name in _EVIDENCE if name in item} for key, item in items.items()
    }
    return JSONResponse({"assessment_id": assessment_id, "items": shown})


@router.get("/{assessment_id}/certificate", response_model=CertificateResult, responses=OF_SCORES)
async def read_certificate(
    assessment_id: RecordId, records: RecordsOf, services: ServicesOf, principal: PrincipalOf
) -> Response:
    """Return the certificate: the one that the result has, or one that is made of it now."""
    record = await scored(assessment_id, records, principal)
    return json_of(await _certificate(record, records, services))


@subjects.get("/{subject_id}", response_model=SubjectResult)
async def read_subject(subject_id: SubjectId, records: RecordsOf) -> Response:
    """Return what a subject was called, and how many assessments of it are stored."""

    def read(archive: Archive) -> SubjectResult:
        name = archive.keys.name(subject_id)
        count = archive.count_of(subject_id)
        return SubjectResult(subject_id=subject_id, subject=name, assessments=count)

    return json_of(await records.ask(read))


@subjects.delete("/{subject_id}", status_code=204)
async def erase_subject(subject_id: SubjectId, records: RecordsOf, jobs: JobsOf) -> Response:
    """Destroy a subject's key: all that is stored of it is unreadable, in copies as well."""
    await erasing.erase_subject(records, jobs.webhooks, subject_id)
    return Response(status_code=204)


async def _certificate(record: Record, records: Records, services: Services) -> CertificateResult:
    def make(_: Archive) -> CertificateResult:
        result = FullResult.model_validate_json(record.result)
        if result.certificate is not None:
            return result.certificate
        return certificate_of(result, record.transcript, signer=services.signer)

    return await records.ask(make)
