"""The rule baseline as a model among others; it runs in this process."""

from typing import Final

from ai_psychiatrist.agents.baseline.answers import answer
from ai_psychiatrist.agents.baseline.model import BASELINE
from ai_psychiatrist.llm.endpoints import DEFAULT_MAX_REPLY_BYTES, ModelEndpoint
from ai_psychiatrist.llm.replies import ChatReply


class BaselineChatClient:
    """Answers every task by fixed rules; no language model and no clinical instrument."""

    model: Final = BASELINE

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:  # noqa: ARG002
        """Answer the task of the user's text."""
        return ChatReply(text=await answer(user_prompt))


def baseline_route(*, max_reply_bytes: int = DEFAULT_MAX_REPLY_BYTES) -> ModelEndpoint:
    """Return the baseline as a model among others; it calls no tools."""
    return ModelEndpoint(
        name=BASELINE,
        agent_model=None,
        chat=BaselineChatClient(),
        max_reply_bytes=max_reply_bytes,
        takes_tools=False,
        is_local=True,
    )
