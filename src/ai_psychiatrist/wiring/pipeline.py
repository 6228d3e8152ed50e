"""The pipeline of assessments by the settings: who is asked, and by which agent."""

from dataclasses import dataclass

from ai_psychiatrist.agents.judge import JudgeAgent
from ai_psychiatrist.agents.meta_review import MetaReviewAgent
from ai_psychiatrist.agents.qualitative import QualitativeAssessmentAgent
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.assessment.pipeline import AssessmentPipeline
from ai_psychiatrist.assessment.refinement import FeedbackLoop
from ai_psychiatrist.config import Settings
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.llm.endpoints import FallbackChain
from ai_psychiatrist.services.reader.second_voice import SecondVoice
from ai_psychiatrist.wiring.belief import belief_chains, believer
from ai_psychiatrist.wiring.configured_references import ConfiguredReferences
from ai_psychiatrist.wiring.danger import danger_agent, danger_chain


@dataclass(frozen=True, slots=True, kw_only=True)
class WiredPipeline:
    """The pipeline, and what of it others have to know."""

    pipeline: AssessmentPipeline
    chains: dict[str, FallbackChain]
    """Agent → models that it asks; without the danger agent where that is off."""
    references: ConfiguredReferences | None


def wired_pipeline(settings: Settings, connections: ModelConnections) -> WiredPipeline:
    """Build the agents and their order; raises `ConfigurationError` and `ArtifactMismatch`."""
    chains = _chains(settings, connections)
    quantitative = _quantitative(settings, chains["quantitative"])
    references = _references(settings, connections)
    pipeline = AssessmentPipeline(
        feedback_loop=_feedback_loop(settings, chains),
        quantitative=quantitative,
        meta_review=_meta_review(settings, chains["meta_review"]),
        danger=danger_agent(settings, chains.get("danger", ()), settings.pydantic_ai),
        believer=believer(settings, chains, quantitative),
        references=references,
        second_voice=SecondVoice(is_enabled=settings.reader.enabled),
        max_calls=settings.model.max_calls,
        is_delimited=settings.qualitative.delimit_transcript,
        is_first_ahead=settings.model.first_call_ahead == "always",
    )
    return WiredPipeline(pipeline=pipeline, chains=chains, references=references)


def _chains(settings: Settings, connections: ModelConnections) -> dict[str, FallbackChain]:
    model = settings.model
    chains = {
        name: connections.chain(chosen or model.default)
        for name, chosen in {
            "qualitative": model.qualitative_model,
            "quantitative": model.quantitative_model,
            "judge": model.judge_model,
            "meta_review": model.meta_review_model,
        }.items()
    }
    if danger := danger_chain(settings, connections, model.default):
        chains["danger"] = danger
    return chains | belief_chains(settings, connections, chains["quantitative"])


def _references(settings: Settings, connections: ModelConnections) -> ConfiguredReferences | None:
    if settings.references.dir is None:
        return None
    return ConfiguredReferences(settings.references, connections)


def _feedback_loop(settings: Settings, chains: dict[str, FallbackChain]) -> FeedbackLoop:
    pydantic_ai, base_url = settings.pydantic_ai, settings.ollama.base_url
    qualitative = QualitativeAssessmentAgent(
        chains["qualitative"],
        pydantic_ai_settings=pydantic_ai,
        ollama_base_url=base_url,
        settings=settings.qualitative,
        temperature=settings.model.temperature,
    )
    judge = JudgeAgent(
        chains["judge"],
        pydantic_ai_settings=pydantic_ai,
        ollama_base_url=base_url,
        settings=settings.judge,
        temperature=settings.model.temperature,
    )
    return FeedbackLoop(qualitative=qualitative, judge=judge, settings=settings.feedback)


def _quantitative(settings: Settings, chain: FallbackChain) -> QuantitativeAssessmentAgent:
    return QuantitativeAssessmentAgent(
        chain,
        pydantic_ai_settings=settings.pydantic_ai,
        ollama_base_url=settings.ollama.base_url,
        settings=settings.quantitative,
        temperature=settings.model.temperature,
    )


def _meta_review(settings: Settings, chain: FallbackChain) -> MetaReviewAgent:
    return MetaReviewAgent(
        chain,
        pydantic_ai_settings=settings.pydantic_ai,
        ollama_base_url=settings.ollama.base_url,
        temperature=settings.model.temperature,
    )
