"""The agents of an assessment as values, and the order in which accounts list them."""

from typing import Final

from ai_psychiatrist.agents.danger_signs import danger_in_part, extract_danger
from ai_psychiatrist.agents.extractors import (
    extract_evidence,
    extract_judge_metric,
    extract_judges,
    extract_meta_review,
    extract_qualitative,
    extract_quantitative,
)
from ai_psychiatrist.agents.prompts.shared import SYSTEM
from ai_psychiatrist.agents.replies.judgement import judgement_in_part, judgements_in_part
from ai_psychiatrist.agents.replies.meta_review import meta_review_in_part
from ai_psychiatrist.agents.replies.scores import scores_in_part
from ai_psychiatrist.domain.assessment import Metric
from ai_psychiatrist.llm.definition import AgentDefinition
from ai_psychiatrist.llm.replies import PartsReader

QUALITATIVE: Final = AgentDefinition(name="qualitative", extract=extract_qualitative, system=SYSTEM)
EVIDENCE: Final = AgentDefinition(name="evidence", extract=extract_evidence, system=SYSTEM)
QUANTITATIVE: Final = AgentDefinition(
    name="quantitative",
    extract=extract_quantitative,
    system=SYSTEM,
    parts=PartsReader(read=scores_in_part),
)
ABLATION: Final = AgentDefinition(name="ablation", extract=extract_quantitative, system=SYSTEM)
"""The scoring of a changed transcript."""
JUDGE: Final = {
    metric: AgentDefinition(
        name=f"judge_{metric.value}",
        extract=extract_judge_metric,
        system=SYSTEM,
        parts=PartsReader(read=judgement_in_part),
    )
    for metric in Metric
}
JUDGES: Final = AgentDefinition(
    name="judges",
    extract=extract_judges,
    system=SYSTEM,
    parts=PartsReader(read=judgements_in_part),
)
"""All metrics in one call."""
META_REVIEW: Final = AgentDefinition(
    name="meta_review",
    extract=extract_meta_review,
    system=SYSTEM,
    parts=PartsReader(read=meta_review_in_part),
)
DANGER: Final = AgentDefinition(
    name="danger",
    extract=extract_danger,
    system=SYSTEM,
    parts=PartsReader(read=danger_in_part, takes_cut_off=True),
)
RESCORING: Final = AgentDefinition(name="rescoring", extract=extract_quantitative, system=SYSTEM)
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
