"""The meta-review: one severity from transcript, findings and item scores together."""

import json
from collections.abc import Sequence
from functools import cached_property
from types import NoneType

from ai_psychiatrist.agents.case import Case
from ai_psychiatrist.agents.definition import META_REVIEW
from ai_psychiatrist.agents.model_agent import ModelAgent
from ai_psychiatrist.agents.output_models import (
    NOT_EXAMINED,
    NOT_READ,
    MetaReviewOutput,
    PartialMetaReview,
)
from ai_psychiatrist.agents.prompts.findings import findings_text
from ai_psychiatrist.agents.pydantic_agents import create_meta_review_agent
from ai_psychiatrist.domain.assessment import MetaReview, PHQ8Assessment, QualitativeAssessment
from ai_psychiatrist.domain.failures import UnreadPart
from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.llm.runner import AgentRunner

_NO_FINDINGS = "There is no qualitative assessment."


class MetaReviewAgent(ModelAgent[None]):
    """Reads the severity, and notes when it contradicts the item scores."""

    default_settings = NoneType

    @cached_property
    def _reviewer(self) -> AgentRunner[MetaReviewOutput]:
        return self._runner(META_REVIEW, create_meta_review_agent)

    @property
    def most_calls(self) -> int:
        """How many calls a review may cost."""
        return self._reviewer.most_calls

    async def review(
        self,
        case: Case,
        findings: QualitativeAssessment | None,
        quantitative: PHQ8Assessment,
    ) -> MetaReview | None:
        """Return the severity, or `None` when no model gave anything that can be read."""
        prompt = case.prompt(
            case.tasks[META_REVIEW.name],
            findings=_NO_FINDINGS if findings is None else findings_text(findings),
            scores=_scores_text(quantitative),
        )
        outcome = await self._reviewer.run(prompt, case.calls)
        output = outcome.output
        if output is not None:
            is_open = output.explanation in {NOT_EXAMINED, NOT_READ}
            severity = None if is_open else Severity(output.severity)
            return _review(severity, output.explanation, quantitative)
        if isinstance(outcome.kept, PartialMetaReview):
            kept = outcome.kept
            severity = None if kept.severity is None else Severity(kept.severity)
            return _review(severity, kept.explanation, quantitative, kept.unread)
        return None


def _review(
    severity: Severity | None,
    explanation: str,
    quantitative: PHQ8Assessment,
    unread: Sequence[UnreadPart] = (),
) -> MetaReview:
    total = quantitative.total
    return MetaReview(
        severity=severity,
        explanation=explanation,
        contradicts_item_scores=severity is not None
        and not total.severity_lower_bound <= severity <= total.severity_upper_bound,
        warnings=tuple(unread),
    )


def _scores_text(quantitative: PHQ8Assessment) -> str:
    scores = {
        item.item.value: {"score": item.score, "reason": item.reason or item.unknown_reason}
        for item in quantitative.items
    }
    return json.dumps(scores, ensure_ascii=False, indent=1)
