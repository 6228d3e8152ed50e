"""The models that are asked how likely each score is: by re-scoring, tokens and decisions."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from random import Random
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.agents.output_models import QuantitativeOutput
from ai_psychiatrist.agents.prompts.belief import ABOUT, HOW_OFTEN, IS_TOLD, LEVELS
from ai_psychiatrist.agents.pydantic_agents import BELIEF_DECISION, BELIEF_TOKENS, RESCORING
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent, scoring_prompt
from ai_psychiatrist.distribution.scores import normalised, possible, shares_of
from ai_psychiatrist.distribution.settings import BeliefSettings
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.evidence import Quote
from ai_psychiatrist.domain.failures import (
    FailureCategory,
    FailureCode,
    FailureSeverity,
    RejectionCode,
)
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.infrastructure.logging import record_failure
from ai_psychiatrist.llm.agent_calls import AgentCalls
from ai_psychiatrist.llm.endpoints import FallbackChain, ModelEndpoint
from ai_psychiatrist.llm.replies import ReplyRejected
from ai_psychiatrist.llm.runner import AgentRunner, create_agent
from ai_psychiatrist.llm.settings import PydanticAISettings

if TYPE_CHECKING:
    from ai_psychiatrist.llm.probabilities import Decisions

SourceVotes: TypeAlias = Mapping[Item, tuple[float, ...]]
"""Item → probabilities of 0 to 3 and not determinable; items that nothing is said of are absent."""

_RETRIES: Final = 1
"""One re-ask of each scoring; a further scoring is worth more than a further try at one."""
_TOKENS: Final = ("0", "1", "2", "3", "N")
_LONGEST_QUESTION: Final = 300
"""In characters, from its end: what was asked last."""


class Source(Protocol):
    """A model that is asked how likely each score is."""

    name: BeliefSource
    agent: str

    @property
    def most_calls(self) -> int:
        """How many calls it makes for one assessment at most."""
        ...

    async def ask(self, case: AssessmentContext, found: PHQ8Assessment) -> SourceVotes:
        """Return what it says of items whose evidence is found; what fails is recorded."""
        ...


def record_silence(agent: str, code: FailureCode, *, items: int) -> None:
    """Record that a source says nothing of so many items, for which the other sources stand."""
    record_failure(
        FailureCategory.AGENT_FAILED,
        FailureSeverity.WARNING,
        "A source of belief said nothing of some items; the other sources are believed.",
        stage=agent,
        code=code,
        items=items,
    )


def _code_of(error: ModelCallFailed | ReplyRejected) -> FailureCode:
    if isinstance(error, ModelCallFailed):
        return error.code
    is_silent = error.code is RejectionCode.NO_PROBABILITIES
    return FailureCode.REQUEST_REFUSED if is_silent else FailureCode.OUTPUT_REJECTED


@dataclass(kw_only=True)
class Rescoring:
    """Scores the same evidence several times, in another order each time.

    Each scoring that is accepted is one vote.
    """

    name = BeliefSource.RESCORING
    agent = RESCORING.name
    quantitative: QuantitativeAssessmentAgent
    """Says which scores of a reply stand on the evidence."""
    chain: FallbackChain
    settings: BeliefSettings
    pydantic_ai: PydanticAISettings

    @cached_property
    def _scorer(self) -> AgentRunner[QuantitativeOutput]:
        return AgentRunner(
            RESCORING,
            partial(create_agent, RESCORING, retries=_RETRIES),
            self.chain,
            self.pydantic_ai.model_copy(update={"retries": _RETRIES}),
            temperature=self.settings.temperature,
            # A plain call knows one temperature alone, and would score alike each time.
            no_plain_call_after=frozenset(FailureCode),
        )

    @property
    def most_calls(self) -> int:
        """A scoring and its re-ask, as often as is set, of each model of the chain."""
        return self.settings.rescorings * (_RETRIES + 1) * len(self.chain)

    async def ask(self, case: AssessmentContext, found: PHQ8Assessment) -> SourceVotes:
        """Return the votes of the scorings as probabilities."""
        with case.apart(self.settings.rescorings) as cases:
            scorings = [self._scored(one, found, number) for number, one in enumerate(cases)]
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(scoring) for scoring in scorings]
        votes = [vote for task in tasks if (vote := task.result()) is not None]
        if not votes:
            record_silence(self.agent, FailureCode.OUTPUT_REJECTED, items=len(Item))
            return {}
        return {item: shares_of(vote[item] for vote in votes) for item in Item}

    async def _scored(
        self, case: AssessmentContext, found: PHQ8Assessment, number: int
    ) -> dict[Item, int | None] | None:
        prompt = scoring_prompt(case, self._shuffled(found, number))
        output = (await self._scorer.run(prompt, case.calls)).output
        return None if output is None else await self.quantitative.standing(case, found, output)

    def _shuffled(self, found: PHQ8Assessment, number: int) -> dict[str, list[str]]:
        """Return the evidence, items and quotes of each in an order of their own."""
        random = Random(f"{self.settings.seed} {number}")  # noqa: S311  nothing secret
        items = list(found.items.values())
        random.shuffle(items)
        texts = {item.item.value: [quote.text for quote in item.evidence] for item in items}
        for quotes in texts.values():
            random.shuffle(quotes)
        return texts


@dataclass
class Tokens:
    """Asks for one character for each item that has evidence, behind the same transcript block.

    How likely the model holds each character is how likely it holds the score.
    """

    name = BeliefSource.TOKENS
    agent = BELIEF_TOKENS
    most_calls = len(Item)
    endpoint: ModelEndpoint

    async def ask(self, case: AssessmentContext, found: PHQ8Assessment) -> SourceVotes:
        """Return the probabilities of the items with evidence.

        The first item is asked alone: the others then find the transcript in the server's cache,
        and a server that tells no probabilities is not asked eight times.
        """
        asked = [item for item in found.items.values() if item.evidence]
        votes: dict[Item, tuple[float, ...]] = {}
        failures: list[FailureCode] = []
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
                    failures.append(answer)
                else:
                    votes[item.item] = answer
            if not votes:
                break
        if failures:
            record_silence(self.agent, failures[0], items=len(asked) - len(votes))
        return votes

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
        question = TokenQuestion(prompt=prompt, answers=_TOKENS)
        try:
            shares = await token_shares(self.endpoint, question, AgentCalls(self.agent, case.calls))
        except (ModelCallFailed, ReplyRejected) as error:
            return _code_of(error)
        return possible([shares[answer] for answer in _TOKENS])


@dataclass
class Decision:
    """Asks one decision model about all items that have evidence, in one call.

    A second rater: it sees the evidence with its questions, and nothing else.
    """

    name = BeliefSource.DECISION
    agent = BELIEF_DECISION
    most_calls = 1
    endpoint: ModelEndpoint

    async def ask(self, case: AssessmentContext, found: PHQ8Assessment) -> SourceVotes:
        """Return the probabilities of the items with evidence.

        How often is asked apart from whether it is told: what is not told is not determinable.
        """
        asked = [item for item in found.items.values() if item.evidence]
        if not asked:
            return {}
        try:
            answer = await self._decided(case, asked)
        except (ModelCallFailed, ReplyRejected) as error:
            record_silence(self.agent, _code_of(error), items=len(asked))
            return {}
        votes = {}
        for item in asked:
            one = answer.subjects[item.item.value]
            levels = normalised(one.levels) if sum(one.levels) > 0 else (0.25,) * len(LEVELS)
            votes[item.item] = possible([*(one.told * share for share in levels), 1 - one.told])
        return votes

    async def _decided(self, case: AssessmentContext, asked: list[ItemAssessment]) -> "Decisions":
        # A library that those without such a model do without.
        from ai_psychiatrist.llm.probabilities import Question, RatedSubject, decide  # noqa: PLC0415

        question = Question(
            state={item.item.value: _said(case.transcript, item) for item in asked},
            subjects={
                item.item.value: RatedSubject(
                    how_much=f"{item.item.value}: {HOW_OFTEN.format(about=ABOUT[item.item])}",
                    levels=LEVELS,
                    is_told=f"{item.item.value}: {IS_TOLD.format(about=ABOUT[item.item])}",
                )
                for item in asked
            },
        )
        return await decide(self.endpoint, question, AgentCalls(self.agent, case.calls))


def _said(transcript: Transcript, item: ItemAssessment) -> list[dict[str, str]]:
    return [
        {"question": _question_before(transcript, quote), "words": quote.text}
        for quote in item.evidence
    ]


def _question_before(transcript: Transcript, quote: Quote) -> str:
    """Return the end of what the interviewer said before a quote; empty without a question."""
    turn = quote.segments[0].turn
    before = transcript.turns[turn - 1] if turn else None
    if before is None or before.speaker is not Speaker.INTERVIEWER:
        return ""
    return transcript.words(before).strip()[-_LONGEST_QUESTION:]
