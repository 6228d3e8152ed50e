"""Pydantic AI agents whose output is what an extractor makes of the reply's text."""

from typing import Final

from pydantic_ai import Agent, RunContext, TextOutput

from ai_psychiatrist.agents.account import CallAccount
from ai_psychiatrist.agents.definition import (
    EVIDENCE,
    JUDGE,
    META_REVIEW,
    QUALITATIVE,
    QUANTITATIVE,
    AgentDefinition,
    OutputT,
)
from ai_psychiatrist.agents.output_models import (
    EvidenceOutput,
    JudgeMetricOutput,
    MetaReviewOutput,
    QualitativeOutput,
    QuantitativeOutput,
)
from ai_psychiatrist.agents.prompts.shared import SYSTEM
from ai_psychiatrist.domain.assessment import Metric

DEFAULT_RETRIES: Final = 3


def create_agent(
    definition: AgentDefinition[OutputT], *, retries: int = DEFAULT_RETRIES
) -> Agent[CallAccount, OutputT]:
    """Return an agent without a model: each run names its own."""

    async def extract(context: RunContext[CallAccount], text: str) -> OutputT:
        return await context.deps.judge(definition.extract, text)

    output_type: TextOutput[OutputT] = TextOutput(extract)
    return Agent(
        deps_type=CallAccount,
        output_type=output_type,
        instructions=SYSTEM,
        name=definition.name,
        retries={"output": retries, "tools": 0},
    )


def create_qualitative_agent(
    *, retries: int = DEFAULT_RETRIES
) -> Agent[CallAccount, QualitativeOutput]:
    """Return the agent that writes the narrative."""
    return create_agent(QUALITATIVE, retries=retries)


def create_evidence_agent(*, retries: int = DEFAULT_RETRIES) -> Agent[CallAccount, EvidenceOutput]:
    """Return the agent that extracts quotes for each item."""
    return create_agent(EVIDENCE, retries=retries)


def create_quantitative_agent(
    *, retries: int = DEFAULT_RETRIES
) -> Agent[CallAccount, QuantitativeOutput]:
    """Return the agent that scores the items."""
    return create_agent(QUANTITATIVE, retries=retries)


def create_judge_metric_agent(
    metric: Metric, *, retries: int = DEFAULT_RETRIES
) -> Agent[CallAccount, JudgeMetricOutput]:
    """Return the agent that judges the narrative by one metric."""
    return create_agent(JUDGE[metric], retries=retries)


def create_meta_review_agent(
    *, retries: int = DEFAULT_RETRIES
) -> Agent[CallAccount, MetaReviewOutput]:
    """Return the agent that reviews everything together."""
    return create_agent(META_REVIEW, retries=retries)
