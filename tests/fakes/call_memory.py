"""A store of model calls in memory."""

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field

from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.llm.calls import Judgement


@dataclass
class CallMemory:
    """Keeps calls and judgements; `recalled` counts the calls that were found again."""

    kept: dict[tuple[str, int], ModelCall] = field(default_factory=dict)
    judgements: list[Judgement] = field(default_factory=list)
    recalled: int = 0

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:
        """Find a call."""
        call = self.kept.get((digest, occurrence))
        self.recalled += call is not None
        return call

    def admitted(self) -> AbstractAsyncContextManager[None]:
        """Let every call be made."""
        return nullcontext()

    async def keep(self, call: ModelCall) -> None:
        """Keep a call."""
        self.kept[call.digest, call.occurrence] = call

    def judged(self, judgement: Judgement) -> None:
        """Note a judgement."""
        self.judgements.append(judgement)
