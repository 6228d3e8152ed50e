"""The judge: four metrics of the findings, each a call of its own at the same time, or one call."""

import asyncio
from collections.abc import Collection
from functools import cached_property, partial

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.agents.output_models import (
    JudgeMetricOutput,
    JudgesOutput,
    MetricJudgement,
    PartialJudgement,
    PartialJudgements,
)
from ai_psychiatrist.agents.pydantic_agents import (
    JUDGE,
    JUDGES,
    ModelAgent,
    create_judge_metric_agent,
)
from ai_psychiatrist.agents.qualitative import findings_text
from ai_psychiatrist.agents.settings import JudgeSettings
from ai_psychiatrist.domain.narrative import Metric, MetricScore, QualitativeAssessment
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
        return self._runner(JUDGES)

    async def evaluate(
        self, context: AssessmentContext, assessment: QualitativeAssessment
    ) -> dict[Metric, MetricScore]:
        """Return the scores; a metric for which no model gave one is absent.

        Where all are asked for in one call, a metric that cannot be read in the reply is asked for
        in a call of its own, and the others stand.
        """
        findings, together = findings_text(assessment), {}
        if self._settings.is_together:
            together = await self._evaluated_together(context, findings)
            if not together:
                return {}
        missing = [metric for metric in Metric if metric not in together]
        scores = together | await self._evaluated_apart(context, findings, missing)
        return {metric: scores[metric] for metric in Metric if metric in scores}

    async def _evaluated_together(
        self, context: AssessmentContext, findings: str
    ) -> dict[Metric, MetricScore]:
        prompt = context.prompt(context.tasks[JUDGES.name], findings=findings)
        outcome = await self._judge_of_all.run(prompt, context.calls)
        said = outcome.output or outcome.kept
        if not isinstance(said, JudgesOutput | PartialJudgements):
            return {}
        return {metric: _score_of(judged) for metric, judged in said.scores.items()}

    async def _evaluated_apart(
        self, context: AssessmentContext, findings: str, metrics: Collection[Metric]
    ) -> dict[Metric, MetricScore]:
        """Ask for metrics at the same time; each may spend an equal part of the calls left."""
        with context.calls.budget.shared(len(metrics)) as parts:
            async with asyncio.TaskGroup() as group:
                scoring = {
                    metric: group.create_task(self._score(context, findings, metric, part))
                    for metric, part in zip(metrics, parts, strict=True)
                }
        scores = {metric: task.result() for metric, task in scoring.items()}
        return {metric: score for metric, score in scores.items() if score is not None}

    async def _score(
        self, context: AssessmentContext, findings: str, metric: Metric, budget: CallBudget
    ) -> MetricScore | None:
        prompt = context.prompt(context.tasks[JUDGE[metric].name], findings=findings)
        outcome = await self._judges[metric].run(prompt, context.within(budget).calls)
        said = outcome.output or outcome.kept
        return _score_of(said) if isinstance(said, JudgeMetricOutput | PartialJudgement) else None


def _score_of(judged: JudgeMetricOutput | MetricJudgement | PartialJudgement) -> MetricScore:
    unread = judged.unread if isinstance(judged, PartialJudgement) else ()
    return MetricScore(score=judged.score, explanation=judged.explanation, warnings=unread)
