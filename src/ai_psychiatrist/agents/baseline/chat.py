"""The rule baseline as a plain chat client."""

import asyncio
from typing import Final

from ai_psychiatrist.agents.baseline.answers import answer
from ai_psychiatrist.domain.transcript import DEFAULT_LABELS, SpeakerLabels
from ai_psychiatrist.llm.chat import ChatReply


class BaselineChatClient:
    """Answers every task by fixed rules; no language model and no clinical instrument."""

    model: Final = "baseline"

    def __init__(self, labels: SpeakerLabels = DEFAULT_LABELS) -> None:
        self._labels = labels

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:  # noqa: ARG002
        """Answer the task of the user's text."""
        return ChatReply(text=await asyncio.to_thread(answer, user_prompt, labels=self._labels))
