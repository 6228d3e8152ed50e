"""The judge: four metrics of the findings, each a call of its own at the same time, or one call."""

import asyncio
from collections.abc import Collection
from functools import cached_property, partial

from ai_psychiatrist.agents.case import Case
from ai_psychiatrist.agents.definition import JUDGE, JUDGES
from ai_psychiatrist.agents.model_agent import ModelAgent
from ai_psychiatrist.agents.output_models import (
    JudgeMetricOutput,
    JudgesOutput,
    PartialJudgement,
    PartialJudgements,
)
from ai_psychiatrist.agents.prompts.findings import findings_text
from ai_psychiatrist.agents.pydantic_agents import create_judge_metric_agent, create_judges_agent
from ai_psychiatrist.agents.settings import JudgeSettings
from ai_psychiatrist.domain.assessment import Metric, MetricScore, QualitativeAssessment
from ai_psychiatrist.llm.calls import CallBudget
from ai_psychiatrist.llm.runner import AgentRunner


class JudgeAgent(ModelAgent[JudgeSettings]):
    """Scores findings by coherence, completeness, specificity and accuracy."""

    default_settings = JudgeSettings

    @cached_property
    def _judges(self) -> dict[Metric, AgentRunner[JudgeMetricOutput]]:
        return {
            metric: self._runner(JUDGE[metric], partial(create_judge_metric_agent, metric))
            for metric in Metric
        }

    @cached_property
    def _judge_of_all(self) -> AgentRunner[JudgesOutput]:
        return self._runner(JUDGES, create_judges_agent)

    async def evaluate(
        self, case: Case, findings: QualitativeAssessment
    ) -> dict[Metric, MetricScore]:
        """Return the scores; a metric for which no model gave one is absent.

        Where all are asked for in one call, a metric that cannot be read in the reply is asked for
        in a call of its own, and the others stand.
        """
        text = findings_text(findings)
        if not self._settings.is_together:
            return await self._evaluated_apart(case, text, tuple(Metric))
        together = await self._evaluated_together(case, text)
        missing = [metric for metric in Metric if metric not in together]
        if not together or not missing:
            return together
        apart = await self._evaluated_apart(case, text, missing)
        return {
            metric: (together | apart)[metric] for metric in Metric if metric in together | apart
        }

    async def _evaluated_together(self, case: Case, findings: str) -> dict[Metric, MetricScore]:
        prompt = case.prompt(case.tasks[JUDGES.name], findings=findings)
        outcome = await self._judge_of_all.run(prompt, case.calls)
        if outcome.output is not None:
            return {
                metric: MetricScore(score=judged.score, explanation=judged.explanation)
                for metric, judged in outcome.output.scores.items()
            }
        if isinstance(outcome.kept, PartialJudgements):
            return {metric: _in_part(judged) for metric, judged in outcome.kept.scores.items()}
        return {}

    async def _evaluated_apart(
        self, case: Case, findings: str, metrics: Collection[Metric]
    ) -> dict[Metric, MetricScore]:
        """Ask for metrics at the same time.

        Each may spend an equal part of the calls that are left, so that none of them depends on how
        fast the others are.
        """
        budget = case.calls.budget
        parts = budget.in_parts(len(metrics))
        try:
            async with asyncio.TaskGroup() as group:
                scoring = {
                    metric: group.create_task(self._score(case, findings, metric, part))
                    for metric, part in zip(metrics, parts, strict=True)
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
        outcome = await self._judges[metric].run(prompt, case.within(budget).calls)
        if outcome.output is not None:
            judged = outcome.output
            return MetricScore(score=judged.score, explanation=judged.explanation)
        return _in_part(outcome.kept) if isinstance(outcome.kept, PartialJudgement) else None


def _in_part(judged: PartialJudgement) -> MetricScore:
    return MetricScore(
        score=judged.score, explanation=judged.explanation, warnings=tuple(judged.unread)
    )
