"""Who says how sure the scores are, and by which fit."""

from collections.abc import Mapping

from ai_psychiatrist.agents.prompts.tasks import PROMPT_DIGESTS
from ai_psychiatrist.agents.pydantic_agents import BELIEF_DECISION, BELIEF_TOKENS, RESCORING
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.belief.believer import Believer
from ai_psychiatrist.belief.decision import Decision
from ai_psychiatrist.belief.fit import load_fit
from ai_psychiatrist.belief.heard import Source
from ai_psychiatrist.belief.premises import digest_of, premises
from ai_psychiatrist.belief.rescoring import Rescoring
from ai_psychiatrist.belief.settings import BeliefSettings
from ai_psychiatrist.belief.tokens import Tokens
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.llm.endpoints import FallbackChain, ModelEndpoint
from ai_psychiatrist.proof.rule_set import rule_set_digest
from ai_psychiatrist.wiring.danger import of_models


def belief_chains(
    settings: Settings, connections: ModelConnections, scorers: FallbackChain
) -> dict[str, FallbackChain]:
    """Return agent → models that it asks, of the sources that are set and are models.

    `scorers`: those of the items. Raises `ConfigurationError` for a source that nothing can serve.
    """
    belief, models = settings.belief, of_models(scorers)
    chains: dict[str, FallbackChain] = {}
    if BeliefSource.RESCORING in belief.asked:
        if not settings.pydantic_ai.enabled:
            msg = "BELIEF_SOURCES names rescoring, which needs PYDANTIC_AI_ENABLED=true"
            raise ConfigurationError(msg)
        chains[RESCORING.name] = _asked(models, BeliefSource.RESCORING)
    if BeliefSource.TOKENS in belief.asked:
        chains[BELIEF_TOKENS] = _asked(models, BeliefSource.TOKENS)[:1]
    if BeliefSource.DECISION in belief.asked:
        chains[BELIEF_DECISION] = (_decision_route(belief, connections),)
    return chains


def believer(
    settings: Settings,
    chains: Mapping[str, FallbackChain],
    quantitative: QuantitativeAssessmentAgent,
) -> Believer:
    """Return who says how sure the scores are. `chains`: of all agents.

    Raises `ConfigurationError` and `ArtifactMismatch` for a fit that cannot be used.
    """
    sources: list[Source] = []
    if chain := chains.get(RESCORING.name):
        sources.append(Rescoring(quantitative, chain, settings.belief, settings.pydantic_ai))
    if chain := chains.get(BELIEF_TOKENS):
        sources.append(Tokens(chain[0]))
    if chain := chains.get(BELIEF_DECISION):
        sources.append(Decision(chain[0]))
    belief, fit, mode = settings.belief, None, settings.features.default_mode
    if belief.fit is not None:
        made_by = premises(
            belief.asked,
            mode=mode,
            models={agent: [route.name for route in chain] for agent, chain in chains.items()},
            prompts=PROMPT_DIGESTS[mode],
            rules=rule_set_digest(),
            rescorings=belief.rescorings,
            temperature=belief.temperature,
        )
        fit = load_fit(belief.fit, digest=digest_of(made_by), made_by=made_by)
    return Believer(settings=belief, sources=tuple(sources), fit=fit, fit_mode=mode)


def _asked(models: FallbackChain, source: BeliefSource) -> FallbackChain:
    if not models:
        msg = (
            f"BELIEF_SOURCES names {source.value}, but the items are scored by the rule baseline, "
            "which answers alike each time; set MODEL_QUANTITATIVE_MODEL, or leave it out"
        )
        raise ConfigurationError(msg)
    return models


def _decision_route(belief: BeliefSettings, connections: ModelConnections) -> ModelEndpoint:
    name, url = belief.decision_model, belief.decision_url
    if not name or not url:
        msg = "BELIEF_SOURCES names decision, which needs BELIEF_DECISION_MODEL and _URL"
        raise ConfigurationError(msg)
    key = belief.decision_api_key.get_secret_value()
    return connections.servers.decision_endpoint(name, url, key)
