"""Pydantic AI agents whose output is what an extractor makes of the reply, in every mode."""

from typing import Final

from pydantic_ai import (
    Agent,
    NativeOutput,
    RunContext,
    StructuredDict,
    TextOutput,
    ToolOutput,
)

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
from ai_psychiatrist.agents.output_mode import OutputMode
from ai_psychiatrist.agents.output_models import (
    EvidenceOutput,
    JudgeMetricOutput,
    MetaReviewOutput,
    QualitativeOutput,
    QuantitativeOutput,
)
from ai_psychiatrist.domain.assessment import Metric

DEFAULT_RETRIES: Final = 3


def create_agent(
    definition: AgentDefinition[OutputT],
    *,
    retries: int = DEFAULT_RETRIES,
    mode: OutputMode = OutputMode.TEXT,
) -> Agent[CallAccount, OutputT]:
    """Return an agent without a model: each run names its own.

    Raises `ValueError` when the mode needs a schema and the definition has none.
    """
    return Agent(
        deps_type=CallAccount,
        output_type=_output(definition, mode),
        instructions=definition.system,
        name=definition.name,
        retries={"output": retries, "tools": 0},
    )


def _output(
    definition: AgentDefinition[OutputT], mode: OutputMode
) -> TextOutput[OutputT] | ToolOutput[OutputT] | NativeOutput[OutputT]:
    async def extract(context: RunContext[CallAccount], text: str) -> OutputT:
        return await context.deps.judge(definition.extract, text)

    if mode is OutputMode.TEXT:
        return TextOutput(extract)
    tool = definition.tool
    if tool is None:
        msg = f"agent {definition.name!r} has no schema to send"
        raise ValueError(msg)
    reply_type = StructuredDict(dict(tool.schema))

    # The library reads arguments more leniently than text (the last of two equal keys wins, NaN is
    # a number), so the model's own characters are judged, by the one extractor of all modes.
    async def extract_reply(context: RunContext[CallAccount], _: object) -> OutputT:
        return await context.deps.judge(definition.extract, context.deps.reply_text)

    extract_reply.__annotations__["_"] = reply_type
    if mode is OutputMode.TOOL:
        return ToolOutput(extract_reply, name=tool.name, description=tool.description)
    return NativeOutput(extract_reply, name=tool.name, description=tool.description)


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
