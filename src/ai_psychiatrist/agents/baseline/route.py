"""The two ways to ask the rule baseline."""

from ai_psychiatrist.agents.baseline.chat import BaselineChatClient
from ai_psychiatrist.agents.baseline.model import BASELINE, BaselineModel
from ai_psychiatrist.domain.transcript import DEFAULT_LABELS, SpeakerLabels
from ai_psychiatrist.llm.routes import ModelRoute


def baseline_route(
    labels: SpeakerLabels = DEFAULT_LABELS, *, max_reply_bytes: int = 1_048_576
) -> ModelRoute:
    """Return the baseline as a model among others; it runs in this process and calls no tools."""
    return ModelRoute(
        name=BASELINE,
        agent_model=BaselineModel(labels),
        chat=BaselineChatClient(labels),
        max_reply_bytes=max_reply_bytes,
        takes_tools=False,
    )
