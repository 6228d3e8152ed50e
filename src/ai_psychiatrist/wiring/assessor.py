"""The agents of assessments by the settings: which models each asks, and how they are built."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.danger import DangerAgent
from ai_psychiatrist.agents.judge import JudgeAgent
from ai_psychiatrist.agents.meta_review import MetaReviewAgent
from ai_psychiatrist.agents.prompts.tasks import TASKS, prompt_digests
from ai_psychiatrist.agents.pydantic_agents import (
    BELIEF_DECISION,
    BELIEF_TOKENS,
    RESCORING,
)
from ai_psychiatrist.agents.qualitative import QualitativeAssessmentAgent
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.agents.references import ReferenceSource
from ai_psychiatrist.assessment.assessor import Assessor
from ai_psychiatrist.assessment.refinement import FeedbackLoop
from ai_psychiatrist.config import Settings
from ai_psychiatrist.distribution.estimator import DistributionEstimator
from ai_psychiatrist.distribution.fit import conditions, load_fit
from ai_psychiatrist.distribution.settings import BeliefSettings
from ai_psychiatrist.distribution.sources import Decision, Rescoring, Source, Tokens
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.llm.endpoints import FallbackChain, ModelEndpoint
from ai_psychiatrist.proof.rule_set import rule_set_digest
from ai_psychiatrist.services.reader.second_voice import SecondVoice

Chains = dict[str, FallbackChain]
"""Agent → the models that it asks, in the order in which they are."""

AgentT = TypeVar("AgentT")


def agent_chains(settings: Settings, connections: ModelConnections) -> Chains:
    """Return the models of each agent; without the danger agent where that is off.

    Raises `ConfigurationError` for a source of distributions that nothing can serve.
    """
    model = settings.model
    chosen = {
        "qualitative": model.qualitative_model,
        "quantitative": model.quantitative_model,
        "judge": model.judge_model,
        "meta_review": model.meta_review_model,
    }
    chains = {name: connections.chain(own or model.default) for name, own in chosen.items()}
    if danger := danger_chain(settings, connections, model.default):
        chains["danger"] = danger
    scorers = without_baseline(chains["quantitative"])
    asked = settings.belief.asked
    if BeliefSource.RESCORING in asked:
        if not settings.pydantic_ai.enabled:
            raise ConfigurationError(
                "BELIEF_SOURCES names rescoring, which needs PYDANTIC_AI_ENABLED=true"
            )
        chains[RESCORING.name] = _required(scorers, BeliefSource.RESCORING)
    if BeliefSource.TOKENS in asked:
        chains[BELIEF_TOKENS] = _required(scorers, BeliefSource.TOKENS)[:1]
    if BeliefSource.DECISION in asked:
        chains[BELIEF_DECISION] = (_decision_endpoint(settings.belief, connections),)
    return chains


def build_assessor(
    settings: Settings, chains: Chains, references: ReferenceSource | None
) -> Assessor:
    """Build the agents and their order; raises `ConfigurationError` and `ArtifactMismatch`."""
    quantitative = _built(
        QuantitativeAssessmentAgent, settings, chains["quantitative"], settings.quantitative
    )
    qualitative = _built(
        QualitativeAssessmentAgent, settings, chains["qualitative"], settings.qualitative
    )
    return Assessor(
        feedback_loop=FeedbackLoop(
            qualitative=qualitative,
            judge=_built(JudgeAgent, settings, chains["judge"], settings.judge),
            settings=settings.feedback,
        ),
        quantitative=quantitative,
        meta_review=_built(MetaReviewAgent, settings, chains["meta_review"]),
        danger=danger_agent(settings, chains.get("danger", ())),
        estimator=_estimator(settings, chains, quantitative),
        references=references,
        second_voice=SecondVoice(is_enabled=settings.reader.enabled),
        max_calls=settings.model.max_calls,
        is_delimited=settings.qualitative.delimit_transcript,
        part_characters=settings.assess.most_characters,
        is_first_ahead=settings.model.first_call_ahead == "always",
        agent_models={agent: names_of(chain) for agent, chain in chains.items()},
        crisis_resources=settings.risk.crisis_resources,
    )


def danger_chain(settings: Settings, connections: ModelConnections, default: str) -> FallbackChain:
    """Return the models that read for danger; the baseline, which is the rules, is left out."""
    if settings.danger.is_off:
        return ()
    return without_baseline(connections.chain(settings.danger.model or default))


def danger_agent(settings: Settings, chain: FallbackChain) -> DangerAgent | None:
    """Return the agent that asks a chain; `None` for an empty one."""
    return _built(DangerAgent, settings, chain) if chain else None


def without_baseline(chain: FallbackChain) -> FallbackChain:
    """Return a chain without the rule baseline."""
    return tuple(one for one in chain if one.name != BASELINE)


def names_of(chain: FallbackChain) -> tuple[str, ...]:
    """Return the names of a chain's models."""
    return tuple(one.name for one in chain)


def _built(
    agent: Callable[..., AgentT], settings: Settings, chain: FallbackChain, own: object = None
) -> AgentT:
    """Build an agent. `own`: its own part of the settings, where it has any."""
    return agent(
        chain,
        pydantic_ai_settings=settings.pydantic_ai,
        ollama_base_url=settings.ollama.base_url,
        settings=own,
        temperature=settings.model.temperature,
    )


def _estimator(
    settings: Settings,
    chains: Mapping[str, FallbackChain],
    quantitative: QuantitativeAssessmentAgent,
) -> DistributionEstimator:
    """Return what estimates how sure the scores are.

    Raises `ConfigurationError` and `ArtifactMismatch` for a fit that cannot be used.
    """
    belief, fit, mode = settings.belief, None, settings.features.default_mode
    sources: list[Source] = []
    if chain := chains.get(RESCORING.name):
        sources.append(
            Rescoring(
                quantitative=quantitative,
                chain=chain,
                settings=belief,
                pydantic_ai=settings.pydantic_ai,
            )
        )
    if chain := chains.get(BELIEF_TOKENS):
        sources.append(Tokens(chain[0]))
    if chain := chains.get(BELIEF_DECISION):
        sources.append(Decision(chain[0]))
    if belief.fit is not None:
        made_by = conditions(
            belief,
            mode=mode,
            models={agent: list(names_of(chain)) for agent, chain in chains.items()},
            prompts=prompt_digests(TASKS, mode),
            rules=rule_set_digest(),
        )
        fit = load_fit(belief.fit, made_by=made_by)
    return DistributionEstimator(settings=belief, sources=tuple(sources), fit=fit, fit_mode=mode)


def _required(models: FallbackChain, source: BeliefSource) -> FallbackChain:
    if not models:
        raise ConfigurationError(
            f"BELIEF_SOURCES names {source.value}, but the items are scored by the rule baseline, "
            "which answers alike each time; set MODEL_QUANTITATIVE_MODEL, or leave it out"
        )
    return models


def _decision_endpoint(belief: BeliefSettings, connections: ModelConnections) -> ModelEndpoint:
    name, url = belief.decision_model, belief.decision_url
    if not name or not url:
        raise ConfigurationError(
            "BELIEF_SOURCES names decision, which needs BELIEF_DECISION_MODEL and _URL"
        )
    key = belief.decision_api_key.get_secret_value()
    return connections.servers.decision_endpoint(name, url, key)
