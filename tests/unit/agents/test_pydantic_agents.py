"""The factories' agents by themselves: no account of calls, only a model and a prompt."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from tests.fakes.replies import good_text

from ai_psychiatrist.agents.extractors import extract_judge_metric
from ai_psychiatrist.agents.output_models import (
    EvidenceOutput,
    JudgeMetricOutput,
    MetaReviewOutput,
    QualitativeOutput,
    QuantitativeOutput,
)
from ai_psychiatrist.agents.pydantic_agents import (
    create_evidence_agent,
    create_judge_metric_agent,
    create_meta_review_agent,
    create_qualitative_agent,
    create_quantitative_agent,
)
from ai_psychiatrist.domain.narrative import Metric

SAID = "I wake up at four every night."
FACTORIES = [
    pytest.param(create_qualitative_agent, "qualitative", QualitativeOutput, id="qualitative"),
    pytest.param(create_evidence_agent, "evidence", EvidenceOutput, id="evidence"),
    pytest.param(create_quantitative_agent, "scoring", QuantitativeOutput, id="quantitative"),
    pytest.param(
        partial(create_judge_metric_agent, Metric.ACCURACY),
        "judge_accuracy",
        JudgeMetricOutput,
        id="judge",
    ),
    pytest.param(create_meta_review_agent, "meta_review", MetaReviewOutput, id="meta_review"),
]


def scripted(*texts: str) -> tuple[FunctionModel, list[str]]:
    """Return a model that gives these replies, and those that it has not given yet."""
    replies = list(texts)

    def reply(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(replies.pop(0))])

    return FunctionModel(reply), replies


@pytest.mark.parametrize(("create", "task", "output"), FACTORIES)
def test_agent_runs_with_a_model_and_nothing_else(
    create: Callable[..., Agent[Any, Any]], task: str, output: type[object]
) -> None:
    model, replies = scripted("prose", good_text(task, [SAID]))
    result = asyncio.run(create(retries=1).run(f"Participant: {SAID}", model=model))
    assert isinstance(result.output, output)
    assert not replies


def test_agent_gives_up_after_its_retries() -> None:
    good = good_text("meta_review", [SAID])
    model, replies = scripted("prose", "prose", good)
    with pytest.raises(UnexpectedModelBehavior):
        asyncio.run(create_meta_review_agent(retries=1).run(f"Participant: {SAID}", model=model))
    assert replies == [good]


def test_extractor_raises_the_retry_of_the_library() -> None:
    with pytest.raises(ModelRetry, match="No score was found"):
        extract_judge_metric("prose")
