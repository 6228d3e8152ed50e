"""The agents of an assessment as Pydantic AI agents; all take how many `retries` they get."""

from functools import partial
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.agents.definition import (
    ABLATION,
    DANGER,
    EVIDENCE,
    JUDGE,
    JUDGES,
    META_REVIEW,
    QUALITATIVE,
    QUANTITATIVE,
)
from ai_psychiatrist.agents.output_models import JudgeMetricOutput
from ai_psychiatrist.domain.assessment import Metric
from ai_psychiatrist.llm.agent_calls import AgentCalls
from ai_psychiatrist.llm.runner import DEFAULT_RETRIES, create_agent

if TYPE_CHECKING:
    from pydantic_ai import Agent

create_qualitative_agent: Final = partial(create_agent, QUALITATIVE)
"""Return the agent that writes the narrative."""
create_evidence_agent: Final = partial(create_agent, EVIDENCE)
"""Return the agent that extracts quotes for each item."""
create_quantitative_agent: Final = partial(create_agent, QUANTITATIVE)
"""Return the agent that scores the items."""
create_ablation_agent: Final = partial(create_agent, ABLATION)
"""Return the agent that scores the items of a changed transcript."""
create_judges_agent: Final = partial(create_agent, JUDGES)
"""Return the agent that judges the narrative by all metrics in one call."""
create_meta_review_agent: Final = partial(create_agent, META_REVIEW)
"""Return the agent that reviews everything together."""
create_danger_agent: Final = partial(create_agent, DANGER)
"""Return the agent that reads for danger alone."""


def create_judge_metric_agent(
    metric: Metric, *, retries: int = DEFAULT_RETRIES
) -> "Agent[AgentCalls | None, JudgeMetricOutput]":
    """Return the agent that judges the narrative by one metric."""
    return create_agent(JUDGE[metric], retries=retries)
