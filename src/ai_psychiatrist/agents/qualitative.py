"""The qualitative agent: findings as a narrative, with quotes that are checked."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from ai_psychiatrist.agents.case import Case
from ai_psychiatrist.agents.definition import QUALITATIVE
from ai_psychiatrist.agents.model_agent import ModelAgent
from ai_psychiatrist.agents.output_models import QualitativeOutput
from ai_psychiatrist.agents.prompts import qualitative as prompts
from ai_psychiatrist.agents.prompts.findings import feedback_text, findings_text
from ai_psychiatrist.agents.pydantic_agents import create_qualitative_agent
from ai_psychiatrist.agents.settings import QualitativeSettings
from ai_psychiatrist.domain.assessment import Metric, MetricScore, QualitativeAssessment
from ai_psychiatrist.domain.evidence import Quote, UnverifiedQuote
from ai_psychiatrist.llm.definition import Prompt
from ai_psychiatrist.llm.runner import AgentRunner


class QualitativeAssessmentAgent(ModelAgent[QualitativeSettings]):
    """Writes findings and refines them."""

    default_settings = QualitativeSettings

    @cached_property
    def _writer(self) -> AgentRunner[QualitativeOutput]:
        return self._runner(QUALITATIVE, create_qualitative_agent)

    async def assess(self, case: Case) -> QualitativeAssessment | None:
        """Return the first findings, or `None` when no model gave acceptable ones."""
        return await self._findings(case, case.tasks[QUALITATIVE.name])

    async def refine(
        self,
        case: Case,
        findings: QualitativeAssessment,
        weaknesses: Mapping[Metric, MetricScore],
    ) -> QualitativeAssessment | None:
        """Return findings that mend the weaknesses, or `None` when no model gave any."""
        return await self._findings(
            case,
            case.tasks["qualitative_refine"],
            findings=findings_text(findings),
            feedback=feedback_text(weaknesses),
        )

    async def _findings(self, case: Case, task: str, **blocks: str) -> QualitativeAssessment | None:
        output = (await self._writer.run(case.prompt(task, **blocks), case.calls)).output
        if output is None:
            return None
        findings = await _checked(case, output)
        if not self._settings.validate_quotes:
            return findings
        prompt = case.prompt(task + prompts.ONLY_VERBATIM, **blocks)
        return _without_unverified(await self._with_fewer_unverified(case, prompt, findings))

    async def _with_fewer_unverified(
        self, case: Case, prompt: Prompt, findings: QualitativeAssessment
    ) -> QualitativeAssessment:
        """Ask again while too many quotes are not the participant's words; the best is kept."""
        for _ in range(self._settings.quote_retry_max_attempts):
            if len(_unverified(findings)) <= self._settings.max_unverified_quotes:
                break
            again = (await self._writer.run(prompt, case.calls)).output
            if again is None:
                break
            other = await _checked(case, again)
            findings = min(findings, other, key=lambda one: len(_unverified(one)))
        return findings


async def _checked(case: Case, output: QualitativeOutput) -> QualitativeAssessment:
    await case.look_up(output.exact_quotes)
    return QualitativeAssessment(
        overall=output.assessment,
        phq8_symptoms=output.phq8_symptoms,
        social_factors=output.social_factors,
        biological_factors=output.biological_factors,
        risk_factors=output.risk_factors,
        supporting_quotes=tuple(_grounded(case, quote) for quote in output.exact_quotes),
    )


def _grounded(case: Case, quote: str) -> Quote | UnverifiedQuote:
    found = case.index.ground(quote)
    return case.reader.for_narrative(found) if isinstance(found, Quote) else found


def _unverified(findings: QualitativeAssessment) -> list[UnverifiedQuote]:
    return [quote for quote in findings.supporting_quotes if isinstance(quote, UnverifiedQuote)]


def _without_unverified(findings: QualitativeAssessment) -> QualitativeAssessment:
    kept = tuple(quote for quote in findings.supporting_quotes if isinstance(quote, Quote))
    return replace(
        findings,
        supporting_quotes=kept,
        dropped_quotes=len(findings.supporting_quotes) - len(kept),
    )
