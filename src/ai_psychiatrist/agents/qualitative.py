"""The qualitative agent: an assessment in words, with quotes that are checked."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.agents.output_models import QualitativeOutput
from ai_psychiatrist.agents.prompts.qualitative import ONLY_VERBATIM
from ai_psychiatrist.agents.pydantic_agents import (
    QUALITATIVE,
    ModelAgent,
    create_qualitative_agent,
)
from ai_psychiatrist.agents.settings import QualitativeSettings
from ai_psychiatrist.domain.evidence import Quote
from ai_psychiatrist.domain.failures import FailureCategory, FailureCode, FailureSeverity
from ai_psychiatrist.domain.narrative import (
    Metric,
    MetricScore,
    NarrativeQuote,
    QualitativeAssessment,
)
from ai_psychiatrist.infrastructure.logging import record_failure
from ai_psychiatrist.llm.definition import Prompt
from ai_psychiatrist.llm.runner import AgentRunner


class QualitativeAssessmentAgent(ModelAgent[QualitativeSettings]):
    """Writes the qualitative assessment and refines it."""

    default_settings = QualitativeSettings

    @cached_property
    def _writer(self) -> AgentRunner[QualitativeOutput]:
        return self._runner(QUALITATIVE, create_qualitative_agent)

    @property
    def most_calls(self) -> int:
        """How many calls one narrative, or the notes on one part, may cost."""
        return self._writer.most_calls

    async def notes(self, context: AssessmentContext) -> list[str | None]:
        """Return notes on each part of a long interview, in the tags of a narrative.

        `None` for a part on which no model gave any. Of their quotes those that were said are kept.
        """
        return await context.of_parts(self._noted)

    async def _noted(self, context: AssessmentContext) -> str | None:
        notes = await self._asked(context, context.prompt(context.tasks[QUALITATIVE.name]))
        if notes is None:
            return None
        said = _without_unverified(notes)
        if said.dropped_quotes:
            record_failure(
                FailureCategory.EVIDENCE_HALLUCINATION,
                FailureSeverity.WARNING,
                "Quotes that the participant did not say were left out of the notes on a part.",
                participant_id=context.participant_id,
                stage=QUALITATIVE.name,
                code=FailureCode.UNGROUNDED_EVIDENCE,
                count=said.dropped_quotes,
            )
        return findings_text(said)

    async def assess(self, context: AssessmentContext) -> QualitativeAssessment | None:
        """Return the first assessment, or `None` when no model gave an acceptable one."""
        return await self._written(context, context.tasks[QUALITATIVE.name])

    async def refine(
        self,
        context: AssessmentContext,
        assessment: QualitativeAssessment,
        weaknesses: Mapping[Metric, MetricScore],
    ) -> QualitativeAssessment | None:
        """Return an assessment without the weaknesses, or `None` when no model gave any."""
        feedback = "\n".join(
            f"{metric.value}: {score.score} of 5. {score.explanation}"
            for metric, score in weaknesses.items()
        )
        task, findings = context.tasks["qualitative_refine"], findings_text(assessment)
        return await self._written(context, task, findings=findings, feedback=feedback)

    async def _written(
        self, context: AssessmentContext, task: str, **blocks: str
    ) -> QualitativeAssessment | None:
        assessment = await self._asked(context, context.prompt(task, **blocks))
        if assessment is None or not self._settings.validate_quotes:
            return assessment
        again = context.prompt(task + ONLY_VERBATIM, **blocks)
        for _ in range(self._settings.quote_retry_max_attempts):
            if _unverified_count(assessment) <= self._settings.max_unverified_quotes:
                break
            other = await self._asked(context, again)
            if other is None:
                break
            assessment = min(assessment, other, key=_unverified_count)
        return _without_unverified(assessment)

    async def _asked(
        self, context: AssessmentContext, prompt: Prompt
    ) -> QualitativeAssessment | None:
        output = (await self._writer.run(prompt, context.calls)).output
        if output is None:
            return None
        await context.look_up(output.exact_quotes)
        return QualitativeAssessment(
            overall=output.assessment,
            phq8_symptoms=output.phq8_symptoms,
            social_factors=output.social_factors,
            biological_factors=output.biological_factors,
            risk_factors=output.risk_factors,
            supporting_quotes=tuple(_grounded(context, quote) for quote in output.exact_quotes),
        )


def _grounded(context: AssessmentContext, quote: str) -> NarrativeQuote:
    found = context.index.ground(quote)
    if isinstance(found, Quote):
        found = context.assertions.for_narrative(found)
    return NarrativeQuote.of(found)


def _without_unverified(assessment: QualitativeAssessment) -> QualitativeAssessment:
    kept = tuple(one for one in assessment.supporting_quotes if one.verified)
    dropped = _unverified_count(assessment)
    return replace(assessment, supporting_quotes=kept, dropped_quotes=dropped)


def _unverified_count(assessment: QualitativeAssessment) -> int:
    return sum(not quote.verified for quote in assessment.supporting_quotes)


def findings_text(assessment: QualitativeAssessment) -> str:
    """Render an assessment for other agents, in the tags in which it was written."""
    quotes = "\n".join(f"- {quote.text}" for quote in assessment.supporting_quotes)
    sections = {
        "assessment": assessment.overall,
        "PHQ8_symptoms": assessment.phq8_symptoms,
        "social_factors": assessment.social_factors,
        "biological_factors": assessment.biological_factors,
        "risk_factors": assessment.risk_factors,
        "exact_quotes": quotes,
    }
    return "\n".join(f"<{tag}>\n{text}\n</{tag}>" for tag, text in sections.items())
