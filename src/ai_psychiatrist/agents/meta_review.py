"""The meta-review: one severity from transcript, findings and item scores together."""

import json
from functools import cached_property
from types import NoneType

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.agents.output_models import (
    NOT_EXAMINED,
    NOT_READ,
    MetaReviewOutput,
    PartialMetaReview,
)
from ai_psychiatrist.agents.pydantic_agents import (
    META_REVIEW,
    ModelAgent,
    create_meta_review_agent,
)
from ai_psychiatrist.agents.qualitative import findings_text
from ai_psychiatrist.domain.items import PHQ8Assessment
from ai_psychiatrist.domain.narrative import MetaReview, QualitativeAssessment
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
        context: AssessmentContext,
        findings: QualitativeAssessment | None,
        quantitative: PHQ8Assessment,
    ) -> MetaReview | None:
        """Return the severity, or `None` when no model gave anything that can be read."""
        scores = {
            key.value: {"score": item.score, "reason": item.reason or item.unknown_reason}
            for key, item in quantitative.items.items()
        }
        prompt = context.prompt(
            context.tasks[META_REVIEW.name],
            findings=_NO_FINDINGS if findings is None else findings_text(findings),
            scores=json.dumps(scores, ensure_ascii=False, indent=1),
        )
        outcome = await self._reviewer.run(prompt, context.calls)
        said = outcome.output or outcome.kept
        if not isinstance(said, MetaReviewOutput | PartialMetaReview):
            return None
        is_whole = isinstance(said, MetaReviewOutput)
        is_open = is_whole and said.explanation in {NOT_EXAMINED, NOT_READ}
        severity = None if is_open or said.severity is None else Severity(said.severity)
        return MetaReview(
            severity=severity,
            explanation=said.explanation,
            contradicts_item_scores=severity is not None
            and not quantitative.severity_lower_bound
            <= severity
            <= quantitative.severity_upper_bound,
            warnings=() if isinstance(said, MetaReviewOutput) else said.unread,
        )
