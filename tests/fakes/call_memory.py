"""A store of model calls in memory."""

from dataclasses import dataclass, field

from ai_psychiatrist.llm.call_store import CallRequest, Judgement, KeptReply


@dataclass
class CallMemory:
    """Keeps calls and judgements; `recalled` counts the calls that were found again."""

    kept: dict[CallRequest, KeptReply] = field(default_factory=dict)
    judgements: list[Judgement] = field(default_factory=list)
    recalled: int = 0

    async def recall(self, request: CallRequest) -> KeptReply | None:
        """Find a call."""
        reply = self.kept.get(request)
        self.recalled += reply is not None
        return reply

    async def keep(self, request: CallRequest, reply: KeptReply) -> None:
        """Keep a call."""
        self.kept[request] = reply

    def judged(self, judgement: Judgement) -> None:
        """Note a judgement."""
        self.judgements.append(judgement)
