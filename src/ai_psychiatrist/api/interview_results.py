"""Put interviews into the form that callers get."""

from ai_psychiatrist.api.interview_models import (
    AnalysisResult,
    AnswerQuoteResult,
    DangerResult,
    FactResult,
    GoalResult,
    InterviewReportResult,
    InterviewResult,
    ItemOutcomeResult,
    MessageResult,
    QuestionResult,
    TotalResult,
)
from ai_psychiatrist.api.result_models import RiskResult
from ai_psychiatrist.domain.interview import ItemOutcome, ItemReport
from ai_psychiatrist.interview.snapshot import Danger, InterviewReport, InterviewSnapshot


def interview_result(
    snapshot: InterviewSnapshot,
    *,
    crisis_resources: str,
    transcript_risk: RiskResult | None = None,
) -> InterviewResult:
    """Return an interview as it stands."""
    report = ItemReport(items=snapshot.items) if snapshot.items else None
    question = snapshot.question
    return InterviewResult(
        interview_id=snapshot.id,
        protocol=snapshot.protocol_id,
        protocol_version=snapshot.protocol_version,
        kind=snapshot.kind,
        title=snapshot.title,
        state=snapshot.state,
        version=snapshot.version,
        turn=snapshot.turn,
        spoken=snapshot.notice,
        question=None if question is None else QuestionResult.model_validate(question),
        goals=tuple(map(GoalResult.model_validate, snapshot.goals)),
        items=_items(report),
        total=_total(report),
        messages=tuple(map(MessageResult.model_validate, snapshot.messages)),
        end_reason=snapshot.end_reason,
        danger=_danger(snapshot.danger, crisis_resources),
        transcript_risk=transcript_risk,
        failure=snapshot.failure,
        is_resumable=snapshot.is_resumable,
        model_calls=snapshot.model_calls,
        state_hash=snapshot.state_hash,
    )


def interview_report(report: InterviewReport, *, crisis_resources: str) -> InterviewReportResult:
    """Return what came out of an interview."""
    analysis = report.analysis
    return InterviewReportResult(
        interview_id=report.interview_id,
        protocol=report.protocol_id,
        protocol_version=report.protocol_version,
        kind=report.kind,
        state=report.state,
        end_reason=report.end_reason,
        items=_items(report.items),
        total=_total(report.items),
        analysis=None if analysis is None else AnalysisResult.model_validate(analysis),
        goals=tuple(map(GoalResult.model_validate, report.goals)),
        facts=tuple(map(FactResult.model_validate, report.facts)),
        danger=_danger(report.danger, crisis_resources),
        inputs_hash=report.inputs_hash,
    )


def _items(report: ItemReport | None) -> dict[str, ItemOutcomeResult] | None:
    if report is None:
        return None
    return {outcome.item.value: _item(outcome) for outcome in report.items}


def _item(outcome: ItemOutcome) -> ItemOutcomeResult:
    quote = outcome.quote
    return ItemOutcomeResult(
        label=outcome.item.label,
        score=outcome.score,
        source=outcome.source,
        answer_turn=outcome.answer_turn,
        quote=None if quote is None else AnswerQuoteResult.model_validate(quote),
        evidence=outcome.evidence,
        unknown_reason=outcome.unknown_reason,
        transcript_reason=outcome.transcript_reason,
    )


def _total(report: ItemReport | None) -> TotalResult | None:
    if report is None:
        return None
    total = report.total
    return TotalResult(
        total_score=total.exact,
        total_score_min=total.minimum,
        total_score_max=total.maximum,
        severity=total.severity,
        severity_label=None if total.severity is None else total.severity.label,
        severity_lower_bound=total.severity_lower_bound,
        severity_upper_bound=total.severity_upper_bound,
        na_count=len(report.unknown),
    )


def _danger(danger: Danger | None, crisis_resources: str) -> DangerResult | None:
    if danger is None:
        return None
    return DangerResult(
        level=danger.level, categories=danger.categories, resources=crisis_resources
    )
