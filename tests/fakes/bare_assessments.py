"""Assessments put together by hand: nothing is in them but what a test names."""

from collections.abc import Iterable

from ai_psychiatrist.domain.assessment import Assessment, AssessmentMode, AssessmentStatus
from ai_psychiatrist.domain.evidence import Grounding, Quote, stated_frequency
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment, QuoteGrounding
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.domain.risk import RiskReport
from ai_psychiatrist.domain.transcript import Transcript, account_of

NO_QUOTES = QuoteGrounding(
    grounding=Grounding.CHECKED,
    extracted_count=0,
    validated_count=0,
    rejected_count=0,
    rejected_by_domain={},
    unknown_keys=0,
)
NO_DANGER = RiskReport(signals=(), signal_count=0)


def bare_item(
    item: Item, score: int | None = None, *, evidence: Iterable[Quote] = ()
) -> ItemAssessment:
    """Return an item with a score, or one of which nothing was said."""
    quotes = tuple(evidence)
    return ItemAssessment(
        item=item,
        score=score,
        unknown_reason=UnknownReason.NO_MENTION if score is None else None,
        proposed_score=score,
        evidence=quotes,
        frequency=stated_frequency(quotes),
        unverified_quotes=(),
        reason="",
        confidence=None,
        warnings=(),
        llm_evidence_count=len(quotes),
        llm_evidence_extracted_count=len(quotes),
        llm_evidence_rejected_count=0,
    )


def bare_scores(
    items: Iterable[ItemAssessment], grounding: QuoteGrounding = NO_QUOTES
) -> PHQ8Assessment:
    """Return the scores of these items."""
    return PHQ8Assessment(items={one.item: one for one in items}, grounding=grounding)


def bare_assessment(
    scores: PHQ8Assessment | None,
    transcript: Transcript,
    risk: RiskReport = NO_DANGER,
) -> Assessment:
    """Return an assessment of scores alone."""
    return Assessment(
        assessment_id="an id",
        status=AssessmentStatus.COMPLETE,
        risk=risk,
        participant_id=None,
        mode=AssessmentMode.ZERO_SHOT,
        speakers_assumed=transcript.speakers_assumed,
        transcript=account_of(transcript),
        models={},
        prompts={},
        grounding=None if scores is None else scores.grounding,
        hosts=(),
        attempts=(),
        failures=(),
        transcript_text=None,
        quantitative=scores,
        qualitative=None,
        evaluation=None,
        meta_review=None,
    )
