"""The agents of an assessment as Pydantic AI agents."""

from pydantic_ai import Agent

from ai_psychiatrist.agents.definition import (
    EVIDENCE,
    JUDGE,
    META_REVIEW,
    QUALITATIVE,
    QUANTITATIVE,
)
from ai_psychiatrist.agents.output_models import (
    EvidenceOutput,
    JudgeMetricOutput,
    MetaReviewOutput,
    QualitativeOutput,
    QuantitativeOutput,
)
from ai_psychiatrist.domain.assessment import Metric
from ai_psychiatrist.llm.agent import DEFAULT_RETRIES, create_agent
from ai_psychiatrist.llm.agent_calls import AgentCalls


def create_qualitative_agent(
    *, retries: int = DEFAULT_RETRIES
) -> Agent[AgentCalls, QualitativeOutput]:
    """Return the agent that writes the narrative."""
    return create_agent(QUALITATIVE, retries=retries)


def create_evidence_agent(*, retries: int = DEFAULT_RETRIES) -> Agent[AgentCalls, EvidenceOutput]:
    """Return the agent that extracts quotes for each item."""
    return create_agent(EVIDENCE, retries=retries)


def create_quantitative_agent(
    *, retries: int = DEFAULT_RETRIES
) -> Agent[AgentCalls, QuantitativeOutput]:
    """Return the agent that scores the items."""
    return create_agent(QUANTITATIVE, retries=retries)


def create_judge_metric_agent(
    metric: Metric, *, retries: int = DEFAULT_RETRIES
) -> Agent[AgentCalls, JudgeMetricOutput]:
    """Return the agent that judges the narrative by one metric."""
    return create_agent(JUDGE[metric], retries=retries)


def create_meta_review_agent(
    *, retries: int = DEFAULT_RETRIES
) -> Agent[AgentCalls, MetaReviewOutput]:
    """Return the agent that reviews everything together."""
    return create_agent(META_REVIEW, retries=retries)
