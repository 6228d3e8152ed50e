"""Re-scoring: the scoring call made several times, the evidence in another order each time."""

import asyncio
from functools import cached_property, partial
from random import Random
from typing import Final

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.agents.output_models import QuantitativeOutput
from ai_psychiatrist.agents.pydantic_agents import RESCORING
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent, scoring_prompt
from ai_psychiatrist.belief.heard import Heard, record_silence
from ai_psychiatrist.belief.settings import BeliefSettings
from ai_psychiatrist.belief.votes import shares_of
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.items import PHQ8Assessment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.llm.endpoints import FallbackChain
from ai_psychiatrist.llm.runner import AgentRunner, create_agent
from ai_psychiatrist.llm.settings import PydanticAISettings

_RETRIES: Final = 1
"""One re-ask of each; a further scoring is worth more than a further try at one."""


class Rescoring:
    """Scores the same evidence several times; each scoring that is accepted is one vote."""

    name = BeliefSource.RESCORING
    agent = RESCORING.name

    def __init__(
        self,
        quantitative: QuantitativeAssessmentAgent,
        chain: FallbackChain,
        settings: BeliefSettings,
        pydantic_ai: PydanticAISettings,
    ) -> None:
        """`quantitative`: says which scores of a reply stand on the evidence."""
        self._quantitative = quantitative
        self._chain = chain
        self._settings = settings
        self._pydantic_ai = pydantic_ai.model_copy(update={"retries": _RETRIES})

    @cached_property
    def _scorer(self) -> AgentRunner[QuantitativeOutput]:
        return AgentRunner(
            RESCORING,
            partial(create_agent, RESCORING, retries=_RETRIES),
            self._chain,
            self._pydantic_ai,
            temperature=self._settings.temperature,
            # A plain call knows one temperature alone, and would score alike each time.
            no_plain_call_after=frozenset(FailureCode),
        )

    @property
    def most_calls(self) -> int:
        """A scoring and its re-ask, as often as is set, of each model of the chain."""
        return self._settings.rescorings * (_RETRIES + 1) * len(self._chain)

    async def ask(self, case: AssessmentContext, found: PHQ8Assessment) -> Heard:
        """Return the votes of the scorings as probabilities."""
        with case.apart(self._settings.rescorings) as cases:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._scored(one, found, number))
                    for number, one in enumerate(cases)
                ]
        votes = [task.result() for task in tasks]
        given = [vote for vote in votes if vote is not None]
        if not given:
            record_silence(self.agent, FailureCode.OUTPUT_REJECTED, items=len(Item))
            return {}
        return {item: shares_of(vote[item] for vote in given) for item in Item}

    async def _scored(
        self, case: AssessmentContext, found: PHQ8Assessment, number: int
    ) -> dict[Item, int | None] | None:
        prompt = scoring_prompt(case, self._shuffled(found, number))
        output = (await self._scorer.run(prompt, case.calls)).output
        return None if output is None else await self._quantitative.standing(case, found, output)

    def _shuffled(self, found: PHQ8Assessment, number: int) -> dict[str, list[str]]:
        """Return the evidence, items and quotes of each in an order of their own."""
        random = Random(f"{self._settings.seed} {number}")  # noqa: S311  nothing secret
        items = list(found.items.values())
        random.shuffle(items)
        texts = {item.item.value: [quote.text for quote in item.evidence] for item in items}
        for quotes in texts.values():
            random.shuffle(quotes)
        return texts
