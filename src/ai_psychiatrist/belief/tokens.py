"""Token probabilities: how likely the model holds each one-character answer about an item."""

import asyncio
import json
from typing import Final

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.agents.prompts.belief import ABOUT
from ai_psychiatrist.agents.pydantic_agents import BELIEF_TOKENS
from ai_psychiatrist.belief.heard import Heard, possible, record_silence
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode, RejectionCode
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.llm.agent_calls import AgentCalls
from ai_psychiatrist.llm.endpoints import ModelEndpoint
from ai_psychiatrist.llm.replies import ReplyRejected

ANSWERS: Final = ("0", "1", "2", "3", "N")


class Tokens:
    """Asks for one character for each item that has evidence, behind the same transcript block."""

    name = BeliefSource.TOKENS
    agent = BELIEF_TOKENS

    def __init__(self, route: ModelEndpoint) -> None:
        self._route = route

    @property
    def most_calls(self) -> int:
        """One for each item."""
        return len(Item)

    async def ask(self, case: AssessmentContext, found: PHQ8Assessment) -> Heard:
        """Return the probabilities of the items with evidence.

        The first item is asked alone: the others then find the transcript in the server's cache,
        and a server that tells no probabilities is not asked eight times.
        """
        asked = [item for item in found.items.values() if item.evidence]
        heard: dict[Item, tuple[float, ...]] = {}
        codes: list[FailureCode] = []
        for batch in (asked[:1], asked[1:]):
            with case.apart(len(batch)) as cases:
                async with asyncio.TaskGroup() as group:
                    tasks = [
                        group.create_task(self._asked(own, item))
                        for own, item in zip(cases, batch, strict=True)
                    ]
            for item, task in zip(batch, tasks, strict=True):
                answer = task.result()
                if isinstance(answer, FailureCode):
                    codes.append(answer)
                else:
                    heard[item.item] = answer
            if not heard:
                break
        if len(heard) < len(asked):
            record_silence(self.agent, codes[0], items=len(asked) - len(heard))
        return heard

    async def _asked(
        self, case: AssessmentContext, item: ItemAssessment
    ) -> tuple[float, ...] | FailureCode:
        # A library that those without a server do without.
        from ai_psychiatrist.llm.probabilities import TokenQuestion, token_shares  # noqa: PLC0415

        prompt = case.prompt(
            case.tasks[self.agent],
            item=f"{item.item.value}: {ABOUT[item.item]}",
            evidence=json.dumps([quote.text for quote in item.evidence], ensure_ascii=False),
        )
        question = TokenQuestion(prompt=prompt, answers=ANSWERS)
        try:
            shares = await token_shares(self._route, question, AgentCalls(self.agent, case.calls))
        except ModelCallFailed as failure:
            return failure.code
        except ReplyRejected as rejection:
            is_silent = rejection.code is RejectionCode.NO_PROBABILITIES
            return FailureCode.REQUEST_REFUSED if is_silent else FailureCode.OUTPUT_REJECTED
        return possible([shares[answer] for answer in ANSWERS])
