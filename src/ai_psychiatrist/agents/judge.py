"""The judge: four metrics of the findings, each a call of its own, all at the same time."""

import asyncio
from functools import cached_property, partial

from ai_psychiatrist.agents.case import Case
from ai_psychiatrist.agents.definition import JUDGE
from ai_psychiatrist.agents.model_agent import ModelAgent
from ai_psychiatrist.agents.output_models import JudgeMetricOutput
from ai_psychiatrist.agents.prompts.findings import findings_text
from ai_psychiatrist.agents.pydantic_agents import create_judge_metric_agent
from ai_psychiatrist.domain.assessment import Metric, MetricScore, QualitativeAssessment
from ai_psychiatrist.llm.call_log import CallBudget
from ai_psychiatrist.llm.runner import AgentRunner


class JudgeAgent(ModelAgent[None]):
    """Scores findings by coherence, completeness, specificity and accuracy."""

    default_settings = None

    @cached_property
    def _judges(self) -> dict[Metric, AgentRunner[JudgeMetricOutput]]:
        return {
            metric: self._runner(JUDGE[metric], partial(create_judge_metric_agent, metric))
            for metric in Metric
        }

    async def evaluate(
        self, case: Case, findings: QualitativeAssessment
    ) -> dict[Metric, MetricScore]:
        """Return the scores; a metric for which no model gave one is absent.

        Each metric may spend an equal part of the calls that are left, so that none of them
        depends on how fast the others are.
        """
        text = findings_text(findings)
        budget = case.calls.budget
        parts = budget.in_parts(len(Metric))
        try:
            async with asyncio.TaskGroup() as group:
                scoring = {
                    metric: group.create_task(self._score(case, text, metric, part))
                    for metric, part in zip(Metric, parts, strict=True)
                }
        finally:
            for part in parts:
                budget.take_back(part)
        scores = {metric: task.result() for metric, task in scoring.items()}
        return {metric: score for metric, score in scores.items() if score is not None}

    async def _score(
        self, case: Case, findings: str, metric: Metric, budget: CallBudget
    ) -> MetricScore | None:
        prompt = case.prompt(case.tasks[JUDGE[metric].name], findings=findings)
        output = (await self._judges[metric].run(prompt, case.within(budget).calls)).output
        if output is None:
            return None
        return MetricScore(score=output.score, explanation=output.explanation)
