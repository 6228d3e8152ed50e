"""A decision model as a second rater: it sees the evidence with its questions, and nothing else."""

from typing import TYPE_CHECKING

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.agents.prompts.belief import ABOUT, HOW_OFTEN, IS_TOLD, LEVELS
from ai_psychiatrist.agents.pydantic_agents import BELIEF_DECISION
from ai_psychiatrist.belief.heard import Heard, possible, record_silence
from ai_psychiatrist.belief.pooling import normalised
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.evidence import Quote
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.llm.agent_calls import AgentCalls
from ai_psychiatrist.llm.endpoints import ModelEndpoint
from ai_psychiatrist.llm.replies import ReplyRejected

if TYPE_CHECKING:
    from ai_psychiatrist.llm.probabilities import Decisions

_LONGEST_QUESTION = 300
"""In characters, from its end: what was asked last."""


class Decision:
    """Asks one decision model about all items that have evidence, in one call."""

    name = BeliefSource.DECISION
    agent = BELIEF_DECISION

    def __init__(self, route: ModelEndpoint) -> None:
        self._route = route

    @property
    def most_calls(self) -> int:
        """All items are asked for at once."""
        return 1

    async def ask(self, case: AssessmentContext, found: PHQ8Assessment) -> Heard:
        """Return the probabilities of the items with evidence.

        How often is asked apart from whether it is told: what is not told is not determinable.
        """
        asked = [item for item in found.items.values() if item.evidence]
        if not asked:
            return {}
        try:
            answer = await self._decided(case, asked)
        except ModelCallFailed as failure:
            record_silence(self.agent, failure.code, items=len(asked))
            return {}
        except ReplyRejected:
            record_silence(self.agent, FailureCode.OUTPUT_REJECTED, items=len(asked))
            return {}
        heard = {}
        for item in asked:
            one = answer.subjects[item.item.value]
            levels = normalised(one.levels) if sum(one.levels) > 0 else (0.25,) * len(LEVELS)
            heard[item.item] = possible([*(one.told * share for share in levels), 1 - one.told])
        return heard

    async def _decided(self, case: AssessmentContext, asked: list[ItemAssessment]) -> "Decisions":
        # A library that those without such a model do without.
        from ai_psychiatrist.llm.probabilities import Question, RatedSubject, decide  # noqa: PLC0415

        return await decide(
            self._route,
            Question(
                state={item.item.value: _said(case.transcript, item) for item in asked},
                subjects={
                    item.item.value: RatedSubject(
                        how_much=f"{item.item.value}: {HOW_OFTEN.format(about=ABOUT[item.item])}",
                        levels=LEVELS,
                        is_told=f"{item.item.value}: {IS_TOLD.format(about=ABOUT[item.item])}",
                    )
                    for item in asked
                },
            ),
            AgentCalls(self.agent, case.calls),
        )


def _said(transcript: Transcript, item: ItemAssessment) -> list[dict[str, str]]:
    return [
        {"question": _question_before(transcript, quote), "words": quote.text}
        for quote in item.evidence
    ]


def _question_before(transcript: Transcript, quote: Quote) -> str:
    """Return the end of what the interviewer said before a quote; empty where nobody asked."""
    turn = quote.segments[0].turn
    before = transcript.turns[turn - 1] if turn else None
    if before is None or before.speaker is not Speaker.INTERVIEWER:
        return ""
    return transcript.words(before).strip()[-_LONGEST_QUESTION:]
