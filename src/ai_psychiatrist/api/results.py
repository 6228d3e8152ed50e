"""Put an assessment into the form that callers get."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.agents.baseline.model import BASELINE
from ai_psychiatrist.agents.prompts.digests import PROMPT_DIGESTS
from ai_psychiatrist.api.result_models import (
    BASELINE_NOTICE,
    NOTICE,
    AgentModels,
    Envelope,
    EvaluationPart,
    FailureResult,
    FullResult,
    GroundingResult,
    ItemResult,
    MetaReviewPart,
    MetricResult,
    QualitativePart,
    QualitativeResult,
    QuantitativePart,
    QuantitativeResult,
    QuoteResult,
    RiskResult,
    RiskSignalResult,
    RoundResult,
    SegmentResult,
    SupportingQuoteResult,
    UnverifiedQuoteResult,
)
from ai_psychiatrist.domain.assessment import (
    Assessment,
    ItemAssessment,
    JudgedRound,
    MetaReview,
    Metric,
    Narrative,
    PHQ8Assessment,
    QualitativeAssessment,
)
from ai_psychiatrist.domain.evidence import Quote, UnverifiedQuote
from ai_psychiatrist.domain.failures import Attempt, AttemptOutcome

_GROUP_OF_AGENT: Final = {
    "qualitative": "qualitative",
    "evidence": "quantitative",
    "quantitative": "quantitative",
    "meta_review": "meta_review",
    **{f"judge_{metric.value}": "judge" for metric in Metric},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a result says beyond the assessment itself."""

    assessment_id: str
    chains: Mapping[str, tuple[str, ...]]
    """Agent → the models it may ask."""
    crisis_resources: str


def full_result(assessment: Assessment, *, about: About) -> FullResult:
    """Return a whole assessment."""
    narrative, scores, review = (
        assessment.narrative,
        assessment.quantitative,
        assessment.meta_review,
    )
    return FullResult(
        **dict(_envelope(assessment, about)),
        quantitative=None if scores is None else _quantitative(scores),
        qualitative=None if narrative is None else _qualitative(narrative.best.findings),
        evaluation=None if narrative is None else _evaluation(narrative),
        meta_review=None if review is None else _meta_review(review),
    )


def quantitative_result(assessment: Assessment, *, about: About) -> QuantitativeResult:
    """Return the item scores of an assessment."""
    scores = assessment.quantitative
    part = QuantitativePart() if scores is None else _quantitative(scores)
    return QuantitativeResult(**dict(_envelope(assessment, about)), **dict(part))


def qualitative_result(assessment: Assessment, *, about: About) -> QualitativeResult:
    """Return the narrative of an assessment."""
    narrative = assessment.narrative
    part = QualitativePart() if narrative is None else _qualitative(narrative.best.findings)
    return QualitativeResult(**dict(_envelope(assessment, about)), **dict(part))


def _envelope(assessment: Assessment, about: About) -> Envelope:
    models = _models(assessment.attempts, about.chains)
    has_baseline = any(model.rule_baseline for model in models.values())
    return Envelope(
        assessment_id=about.assessment_id,
        status=assessment.status,
        risk=risk_result(assessment, crisis_resources=about.crisis_resources),
        notice=f"{NOTICE} {BASELINE_NOTICE}" if has_baseline else NOTICE,
        participant_id=assessment.participant_id,
        mode=assessment.mode.value,
        speakers_assumed=assessment.transcript.speakers_assumed,
        models=models,
        prompts=PROMPT_DIGESTS,
        grounding=_grounding(assessment.quantitative),
        attempts=assessment.attempts,
        failures=tuple(FailureResult.model_validate(failure) for failure in assessment.failures),
        transcript_text=(None if assessment.participant_id is None else assessment.transcript.text),
    )


def risk_result(assessment: Assessment, *, crisis_resources: str) -> RiskResult:
    """Return the signs of danger in an assessment's transcript, with their words."""
    text = assessment.transcript.text
    return RiskResult(
        level=assessment.risk.level,
        signals=tuple(
            RiskSignalResult(
                category=signal.category,
                polarity=signal.polarity,
                level=signal.level,
                text=text[signal.start : signal.end],
                turn=signal.turn,
                start=signal.start,
                end=signal.end,
            )
            for signal in assessment.risk.signals
        ),
        resources=crisis_resources,
    )


def _models(
    attempts: tuple[Attempt, ...], chains: Mapping[str, tuple[str, ...]]
) -> dict[str, AgentModels]:
    answered: dict[str, dict[str, None]] = {agent: {} for agent in chains}
    for attempt in attempts:
        if attempt.outcome is AttemptOutcome.ACCEPTED:
            answered[_GROUP_OF_AGENT[attempt.agent]][attempt.model] = None
    return {
        agent: AgentModels(
            chain=chain,
            answered_by=tuple(answered[agent]),
            rule_baseline=BASELINE in answered[agent],
        )
        for agent, chain in chains.items()
    }


def _grounding(scores: PHQ8Assessment | None) -> GroundingResult | None:
    if scores is None:
        return None
    return GroundingResult(
        grounding=scores.grounding,
        extracted_count=scores.extracted_count,
        validated_count=scores.validated_count,
        rejected_count=scores.rejected_count,
        rejected_by_domain={
            item.item.value: item.llm_evidence_rejected_count for item in scores.items
        },
        unknown_keys=scores.unknown_keys,
    )


def _quantitative(scores: PHQ8Assessment) -> QuantitativePart:
    total = scores.total
    return QuantitativePart(
        total_score=total.exact,
        total_score_min=total.minimum,
        total_score_max=total.maximum,
        severity=total.severity,
        severity_label=None if total.severity is None else total.severity.label,
        severity_lower_bound=total.severity_lower_bound,
        severity_upper_bound=total.severity_upper_bound,
        na_count=scores.na_count,
        accepted=scores.is_accepted,
        items={item.item.value: _item(item) for item in scores.items},
    )


def _item(item: ItemAssessment) -> ItemResult:
    return ItemResult(
        label=item.item.label,
        score=item.score,
        unknown_reason=item.unknown_reason,
        proposed_score=item.proposed_score,
        frequency=item.frequency,
        evidence=tuple(QuoteResult.model_validate(quote) for quote in item.quotes),
        unverified_quotes=tuple(
            UnverifiedQuoteResult.model_validate(quote) for quote in item.unverified_quotes
        ),
        reason=item.reason,
        confidence=item.confidence,
        warnings=item.warnings,
        llm_evidence_count=item.llm_evidence_count,
        llm_evidence_extracted_count=item.llm_evidence_extracted_count,
        llm_evidence_rejected_count=item.llm_evidence_rejected_count,
    )


def _qualitative(findings: QualitativeAssessment) -> QualitativePart:
    return QualitativePart(
        overall=findings.overall,
        phq8_symptoms=findings.phq8_symptoms,
        social_factors=findings.social_factors,
        biological_factors=findings.biological_factors,
        risk_factors=findings.risk_factors,
        supporting_quotes=tuple(map(_supporting_quote, findings.supporting_quotes)),
        dropped_quotes=findings.dropped_quotes,
    )


def _supporting_quote(quote: Quote | UnverifiedQuote) -> SupportingQuoteResult:
    if isinstance(quote, UnverifiedQuote):
        return SupportingQuoteResult(text=quote.text, verified=False, reason=quote.reason)
    return SupportingQuoteResult(
        text=quote.text,
        verified=True,
        match=quote.match,
        polarity=quote.polarity,
        frequency=quote.frequency,
        timeframe=quote.timeframe,
        segments=tuple(SegmentResult.model_validate(segment) for segment in quote.segments),
    )


def _evaluation(narrative: Narrative) -> EvaluationPart:
    best = narrative.best
    scores = {metric: MetricResult.model_validate(score) for metric, score in best.scores.items()}
    return EvaluationPart(
        coherence=scores.get(Metric.COHERENCE),
        completeness=scores.get(Metric.COMPLETENESS),
        specificity=scores.get(Metric.SPECIFICITY),
        accuracy=scores.get(Metric.ACCURACY),
        average_score=best.average,
        iteration=best.round,
        rounds=tuple(map(_round, narrative.rounds)),
    )


def _round(judged: JudgedRound) -> RoundResult:
    return RoundResult(
        round=judged.round,
        scores={
            metric: MetricResult.model_validate(score) for metric, score in judged.scores.items()
        },
        average_score=judged.average,
        qualitative=_qualitative(judged.findings),
    )


def _meta_review(review: MetaReview) -> MetaReviewPart:
    return MetaReviewPart(
        severity=review.severity,
        severity_label=review.severity.label,
        explanation=review.explanation,
        is_mdd=review.is_mdd,
        contradicts_item_scores=review.contradicts_item_scores,
    )
