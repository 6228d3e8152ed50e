"""The judge: four metrics of the findings, each a call of its own, all at the same time."""

import asyncio

from ai_psychiatrist.agents.case import Case
from ai_psychiatrist.agents.definition import JUDGE
from ai_psychiatrist.agents.prompts import judge as prompts
from ai_psychiatrist.agents.prompts.findings import findings_text
from ai_psychiatrist.agents.pydantic_agents import create_judge_metric_agent
from ai_psychiatrist.domain.assessment import Metric, MetricScore, QualitativeAssessment
from ai_psychiatrist.llm.chat import SimpleChatClient
from ai_psychiatrist.llm.routes import ModelChain, as_chain
from ai_psychiatrist.llm.runner import AgentRunner
from ai_psychiatrist.llm.settings import PydanticAISettings


class JudgeAgent:
    """Scores findings by coherence, completeness, specificity and accuracy."""

    def __init__(
        self,
        models: SimpleChatClient | ModelChain,
        *,
        pydantic_ai_settings: PydanticAISettings | None = None,
        ollama_base_url: str | None = None,
        temperature: float = 0.0,
    ) -> None:
        """Arguments as for the qualitative agent."""
        pydantic_ai = pydantic_ai_settings or PydanticAISettings(enabled=False)
        chain = as_chain(models, pydantic_ai_settings=pydantic_ai, ollama_base_url=ollama_base_url)
        self._runners = {
            metric: AgentRunner(
                JUDGE[metric],
                create_judge_metric_agent(metric, retries=pydantic_ai.retries),
                chain,
                pydantic_ai,
                temperature=temperature,
            )
            for metric in Metric
        }

    async def evaluate(
        self, case: Case, findings: QualitativeAssessment
    ) -> dict[Metric, MetricScore]:
        """Return the scores; a metric for which no model gave one is absent."""
        text = findings_text(findings)
        scores = await asyncio.gather(*(self._score(case, text, metric) for metric in Metric))
        return {
            metric: score for metric, score in zip(Metric, scores, strict=True) if score is not None
        }

    async def _score(self, case: Case, findings: str, metric: Metric) -> MetricScore | None:
        prompt = case.prompt(prompts.JUDGE[metric], findings=findings)
        output = (await self._runners[metric].run(prompt, case.calls)).output
        if output is None:
            return None
        return MetricScore(score=output.score, explanation=output.explanation)
