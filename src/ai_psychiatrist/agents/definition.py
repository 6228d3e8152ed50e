"""Each agent as a value: its name and how a reply becomes its output."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from ai_psychiatrist.agents.extractors import (
    extract_evidence,
    extract_judge_metric,
    extract_meta_review,
    extract_qualitative,
    extract_quantitative,
)
from ai_psychiatrist.agents.output_mode import OutputTool
from ai_psychiatrist.agents.output_models import ModelOutput
from ai_psychiatrist.agents.prompts.shared import SYSTEM
from ai_psychiatrist.domain.assessment import Metric

OutputT = TypeVar("OutputT", bound=ModelOutput)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition(Generic[OutputT]):
    """What the runner has to know about an agent."""

    name: str
    """Names the agent in accounts and logs."""
    extract: Callable[[str], OutputT]
    """Reads a reply's text, or raises `ReplyRejected`."""
    system: str = SYSTEM
    """What all calls of the agent begin with."""
    tool: OutputTool | None = None
    """The schema of the output; `None` for an agent whose format is part of its task."""


QUALITATIVE: Final = AgentDefinition(name="qualitative", extract=extract_qualitative)
EVIDENCE: Final = AgentDefinition(name="evidence", extract=extract_evidence)
QUANTITATIVE: Final = AgentDefinition(name="quantitative", extract=extract_quantitative)
JUDGE: Final = {
    metric: AgentDefinition(name=f"judge_{metric.value}", extract=extract_judge_metric)
    for metric in Metric
}
META_REVIEW: Final = AgentDefinition(name="meta_review", extract=extract_meta_review)

AGENT_ORDER: Final = (
    QUALITATIVE.name,
    EVIDENCE.name,
    *(definition.name for definition in JUDGE.values()),
    QUANTITATIVE.name,
    META_REVIEW.name,
)
"""The order in which accounts list the agents, whichever call ended first."""
