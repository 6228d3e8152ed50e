"""Put interviews into the form that callers get."""

from typing import Final

from ai_psychiatrist.api.interview_models import (
    DangerResult,
    InterviewReportResult,
    InterviewResult,
    OperatorResult,
)
from ai_psychiatrist.domain.interview_items import ItemReport
from ai_psychiatrist.domain.risk import RiskSource
from ai_psychiatrist.interview.record import Danger
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from ai_psychiatrist.results.risk_result import (
    RISK_STATEMENT,
    RISK_STATEMENT_WITH_MODEL,
    RiskResult,
)

_STATEMENTS: Final = {
    RiskSource.RULES: RISK_STATEMENT,
    RiskSource.MODEL: RISK_STATEMENT_WITH_MODEL,
}


def interview_result(
    snapshot: InterviewSnapshot,
    *,
    crisis_resources: str,
    transcript_risk: RiskResult | None = None,
) -> InterviewResult:
    """Return an interview as it stands."""
    return InterviewResult(
        interview_id=snapshot.id,
        protocol=snapshot.protocol.id,
        protocol_version=snapshot.protocol.version,
        kind=snapshot.kind,
        title=snapshot.title,
        state=snapshot.state,
        version=snapshot.version,
        turn=snapshot.turn,
        spoken=spoken_words(snapshot, crisis_resources=crisis_resources),
        question=snapshot.question,
        messages=snapshot.messages,
        end_reason=snapshot.end_reason,
        failure=snapshot.failure,
        is_resumable=snapshot.is_resumable,
        state_hash=snapshot.state_hash,
        operator=OperatorResult(
            goals=snapshot.goals,
            items=snapshot.items or None,
            proposals=snapshot.proposals,
            unknown_goal_updates=snapshot.unknown_updates,
            total=ItemReport(items=snapshot.items) if snapshot.items else None,
            danger=_danger(snapshot.danger, crisis_resources),
            not_examined=snapshot.not_examined,
            danger_readings=snapshot.danger_readings,
            transcript_risk=transcript_risk,
            model_calls=snapshot.spent.calls,
        ),
    )


def spoken_words(snapshot: InterviewSnapshot, *, crisis_resources: str) -> str:
    """Return what is said to the person beside the questions; in danger, where to turn."""
    if snapshot.danger is None:
        return snapshot.notice
    return f"{snapshot.notice}\n{crisis_resources}"


def interview_report(report: InterviewSnapshot, *, crisis_resources: str) -> InterviewReportResult:
    """Return what came out of an interview."""
    return InterviewReportResult(
        interview_id=report.id,
        protocol=report.protocol.id,
        protocol_version=report.protocol.version,
        kind=report.kind,
        state=report.state,
        end_reason=report.end_reason,
        items=report.items or None,
        proposals=report.proposals,
        unknown_goal_updates=report.unknown_updates,
        total=ItemReport(items=report.items) if report.items else None,
        analysis=report.analysis,
        goals=report.goals,
        facts=report.facts,
        danger=_danger(report.danger, crisis_resources),
        not_examined=report.not_examined,
        danger_readings=report.danger_readings,
        inputs_hash=report.inputs_hash,
    )


def _danger(danger: Danger | None, crisis_resources: str) -> DangerResult | None:
    if danger is None:
        return None
    return DangerResult(
        level=danger.level,
        categories=danger.categories,
        places=danger.places,
        source=danger.source,
        statement=_STATEMENTS[danger.source],
        resources=crisis_resources,
    )
