"""The agents of an assessment: as definitions, as Pydantic AI agents, and what they share."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from pydantic import BaseModel

from ai_psychiatrist.agents.danger_replies import danger_in_part, extract_danger
from ai_psychiatrist.agents.extractors import (
    extract_evidence,
    extract_judge_metric,
    extract_judges,
    extract_meta_review,
    extract_qualitative,
    extract_quantitative,
    judgement_in_part,
    judgements_in_part,
    meta_review_in_part,
    scores_in_part,
)
from ai_psychiatrist.agents.output_models import JudgeMetricOutput
from ai_psychiatrist.agents.output_tools import (
    DANGER_TOOL,
    EVIDENCE_TOOL,
    JUDGE_TOOL,
    JUDGES_TOOL,
    META_REVIEW_TOOL,
    SCORING_TOOL,
)
from ai_psychiatrist.agents.prompts.shared import SYSTEM
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.llm.connections import as_chain
from ai_psychiatrist.llm.definition import AgentDefinition, OutputT
from ai_psychiatrist.llm.endpoints import FallbackChain
from ai_psychiatrist.llm.replies import PartsReader, SimpleChatClient
from ai_psychiatrist.llm.runner import DEFAULT_RETRIES, AgentRunner, create_agent
from ai_psychiatrist.llm.settings import PydanticAISettings

if TYPE_CHECKING:
    from pydantic_ai import Agent

    from ai_psychiatrist.llm.agent_calls import AgentCalls

SettingsT = TypeVar("SettingsT", bound=BaseModel | None)

QUALITATIVE: Final = AgentDefinition(name="qualitative", extract=extract_qualitative, system=SYSTEM)
EVIDENCE: Final = AgentDefinition(
    name="evidence", extract=extract_evidence, system=SYSTEM, tool=EVIDENCE_TOOL
)
QUANTITATIVE: Final = AgentDefinition(
    name="quantitative",
    extract=extract_quantitative,
    system=SYSTEM,
    parts=PartsReader(read=scores_in_part),
    tool=SCORING_TOOL,
)
ABLATION: Final = AgentDefinition(
    name="ablation", extract=extract_quantitative, system=SYSTEM, tool=SCORING_TOOL
)
"""The scoring of a changed transcript."""
RESCORING: Final = AgentDefinition(
    name="rescoring", extract=extract_quantitative, system=SYSTEM, tool=SCORING_TOOL
)
JUDGE: Final = {
    metric: AgentDefinition(
        name=f"judge_{metric.value}",
        extract=extract_judge_metric,
        system=SYSTEM,
        parts=PartsReader(read=judgement_in_part),
        tool=JUDGE_TOOL,
    )
    for metric in Metric
}
JUDGES: Final = AgentDefinition(
    name="judges",
    extract=extract_judges,
    system=SYSTEM,
    parts=PartsReader(read=judgements_in_part),
    tool=JUDGES_TOOL,
)
"""All metrics in one call."""
META_REVIEW: Final = AgentDefinition(
    name="meta_review",
    extract=extract_meta_review,
    system=SYSTEM,
    parts=PartsReader(read=meta_review_in_part),
    tool=META_REVIEW_TOOL,
)
DANGER: Final = AgentDefinition(
    name="danger",
    extract=extract_danger,
    system=SYSTEM,
    parts=PartsReader(read=danger_in_part, takes_cut_off=True),
    tool=DANGER_TOOL,
)
BELIEF_TOKENS: Final = "belief_tokens"
BELIEF_DECISION: Final = "belief_decision"
PROBABILITY_AGENTS: Final = frozenset({BELIEF_TOKENS, BELIEF_DECISION})
"""Asked for probabilities, and for no reply that could be read."""
BELIEF_AGENTS: Final = (RESCORING.name, BELIEF_TOKENS, BELIEF_DECISION)
"""Asked how sure the scores are, where that is set."""
OPTIONAL_AGENTS: Final = frozenset({DANGER.name, ABLATION.name, *BELIEF_AGENTS})
"""Without which an assessment is complete all the same."""
AGENT_ORDER: Final = (
    QUALITATIVE.name,
    EVIDENCE.name,
    JUDGES.name,
    *(definition.name for definition in JUDGE.values()),
    QUANTITATIVE.name,
    ABLATION.name,
    META_REVIEW.name,
    DANGER.name,
    *BELIEF_AGENTS,
)
"""The order in which accounts list the agents, whichever call ended first."""

create_qualitative_agent: Final = partial(create_agent, QUALITATIVE)
"""Return the agent that writes the narrative; it gets `retries`."""
create_evidence_agent: Final = partial(create_agent, EVIDENCE)
"""Return the agent that extracts quotes for each item."""
create_quantitative_agent: Final = partial(create_agent, QUANTITATIVE)
"""Return the agent that scores the items."""
create_meta_review_agent: Final = partial(create_agent, META_REVIEW)
"""Return the agent that reviews everything together."""


def create_judge_metric_agent(
    metric: Metric, *, retries: int = DEFAULT_RETRIES
) -> "Agent[AgentCalls | None, JudgeMetricOutput]":
    """Return the agent that judges the narrative by one metric."""
    return create_agent(JUDGE[metric], retries=retries)


class ModelAgent(Generic[SettingsT]):
    """An agent over a chain of models; built once and used for every assessment."""

    default_settings: Callable[[], SettingsT]
    """Read from the environment where no settings are given."""

    def __init__(
        self,
        models: SimpleChatClient | FallbackChain,
        *,
        pydantic_ai_settings: PydanticAISettings | None = None,
        ollama_base_url: str | None = None,
        settings: SettingsT | None = None,
        temperature: float | None = 0.0,
    ) -> None:
        """`models`: a chain, or the plain client of one Ollama model.

        Without `pydantic_ai_settings` only the plain path is taken. `ollama_base_url`: where a
        single model's server is, for the agent path. `settings`: how quotes are checked, and what
        is done about those that were not said, where an agent gives any.
        """
        self._settings = settings or self.default_settings()
        self._pydantic_ai = pydantic_ai_settings or PydanticAISettings(enabled=False)
        self._temperature = temperature
        self._chain = as_chain(
            models, pydantic_ai_settings=self._pydantic_ai, ollama_base_url=ollama_base_url
        )

    def _runner(
        self,
        definition: AgentDefinition[OutputT],
        create: "Callable[..., Agent[AgentCalls | None, OutputT]] | None" = None,
    ) -> AgentRunner[OutputT]:
        """`create`: makes the agent with so many `retries`."""
        create = create or partial(create_agent, definition)
        return AgentRunner(
            definition,
            partial(create, retries=self._pydantic_ai.retries),
            self._chain,
            self._pydantic_ai,
            temperature=self._temperature,
        )
