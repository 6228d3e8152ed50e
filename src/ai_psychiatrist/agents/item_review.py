"""What becomes of a scoring reply that the clinical rules speak against: it is sent back once."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ai_psychiatrist.agents.output_models import QuantitativeOutput
from ai_psychiatrist.domain.assessment import ItemAssessment
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.llm.replies import ModelOutput, ReplyRejected


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedItem:
    """An item and what the rules say about the reply that it comes from."""

    assessment: ItemAssessment
    errors: tuple[str, ...]
    """In words for the model."""


class SentBackOnce:
    """Has scores that the clinical rules speak against sent back to the model, a single time.

    If it insists, the evidence decides: what it does not carry becomes unknown with that reason.
    Asking on would only wear the model down.
    """

    def __init__(
        self,
        judge: Callable[[QuantitativeOutput], Awaitable[tuple[JudgedItem, ...]]],
        *,
        is_checked: bool,
    ) -> None:
        self.sent_back: QuantitativeOutput | None = None
        self._judge = judge
        self._is_checked = is_checked
        self._known: tuple[QuantitativeOutput, tuple[JudgedItem, ...]] | None = None

    async def __call__(self, output: ModelOutput) -> None:
        if not self._is_checked or not isinstance(output, QuantitativeOutput):
            return
        judged = await self.judged(output)
        objections = [error for item in judged for error in item.errors]
        if objections and self.sent_back is None:
            self.sent_back = output
            raise ReplyRejected(
                RejectionCode.RULE_BROKEN,
                f"{'. '.join(objections)}. Give all eight items again, these mended.",
            )

    async def judged(self, output: QuantitativeOutput) -> tuple[JudgedItem, ...]:
        """Return the items of an output; those of the last one are remembered."""
        if self._known is None or self._known[0] is not output:
            self._known = (output, await self._judge(output))
        return self._known[1]
