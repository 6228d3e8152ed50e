"""Which calls a unit costs: each agent's, with what it is sent beside the transcript."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.agents.prompts.shared import SYSTEM
from ai_psychiatrist.agents.prompts.tasks import SCORING_TASKS, Tasks
from ai_psychiatrist.agents.pydantic_agents import (
    ABLATION,
    BELIEF_DECISION,
    BELIEF_TOKENS,
    DANGER,
    EVIDENCE,
    JUDGE,
    JUDGES,
    META_REVIEW,
    QUALITATIVE,
    QUANTITATIVE,
    RESCORING,
)
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.pricing.tokens import REPLY_TOKENS, tokens_of

ASKED_AGAIN: Final = 0.05
"""Share of calls that are made anew, because a reply is refused or none comes."""
REFINED: Final = 0.5
"""How often the findings of a unit are refined, on average."""
ABLATED: Final = 10
"""Scorings of changed transcripts, where the run makes them."""
ASSUMED: Final = (
    f"expected: {ASKED_AGAIN:.0%} of the calls are made again and every second unit's findings are "
    "refined once; least: every first reply passes; most: as MODEL_MAX_CALLS allows"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What decides which calls are made."""

    models: Mapping[str, tuple[str, ...]]
    """Agent → chain of models, of which the first is counted on."""
    tasks: Tasks
    mode: AssessmentMode
    is_judged_together: bool
    is_refined: bool
    ablates: bool
    rescorings: int
    reference_tokens: int
    """Of examples of other participants in one scoring, at most; 0 in a mode that shows none."""
    max_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The calls of one agent for one unit."""

    agent: str
    model: str
    least: int
    expected: float
    beside_tokens: float
    """What one call sends beside the transcript."""
    reply_tokens: int
    is_first: bool = False
    """Whether it begins with the unit, at the same time as others."""

    @property
    def is_judge(self) -> bool:
        """Whether it is one of four that begin at the same time."""
        return self.agent in _FOUR_JUDGES


_FOUR_JUDGES: Final = frozenset(judge.name for judge in JUDGE.values())


def steps_of(choices: Choices) -> list[Step]:
    """Return the steps of a unit whose models answer as they should."""
    again = 1 + ASKED_AGAIN
    return [
        Step(
            agent=one.agent,
            model=one.model,
            least=one.least,
            expected=one.expected * again,
            beside_tokens=one.beside_tokens + tokens_of(SYSTEM),
            reply_tokens=one.reply_tokens,
            is_first=one.is_first,
        )
        for one in (*_narrative(choices), *_scores(choices), *_others(choices))
        if one is not None
    ]


def _narrative(choices: Choices) -> Iterator[Step | None]:
    refined = REFINED if choices.is_refined else 0.0
    findings = REPLY_TOKENS["qualitative"]
    yield _step(choices, QUALITATIVE.name, "qualitative", is_first=True)
    if refined:
        feedback = findings + REPLY_TOKENS["judges"]
        yield _step(choices, QUALITATIVE.name, "qualitative_refine", 0, refined, beside=feedback)
    if choices.is_judged_together:
        yield _step(choices, JUDGES.name, "judges", 1, 1 + refined, beside=findings)
        return
    for judge in JUDGE.values():
        yield _step(choices, judge.name, judge.name, 1, 1 + refined, beside=findings)


def _scores(choices: Choices) -> Iterator[Step | None]:
    scoring = SCORING_TASKS[choices.mode]
    beside = REPLY_TOKENS["evidence"] + choices.reference_tokens
    yield _step(choices, EVIDENCE.name, "evidence", is_first=True)
    yield _step(choices, QUANTITATIVE.name, scoring, beside=beside)
    if choices.ablates:
        yield _step(choices, ABLATION.name, scoring, 0, ABLATED, beside=beside)
    if RESCORING.name in choices.models:
        yield _step(choices, RESCORING.name, scoring, 0, choices.rescorings, beside=beside)
    for agent in (BELIEF_TOKENS, BELIEF_DECISION):
        if agent in choices.models:
            yield _step(choices, agent, "belief_tokens", 0, len(Item), beside=100)


def _others(choices: Choices) -> Iterator[Step | None]:
    beside = REPLY_TOKENS["qualitative"] + REPLY_TOKENS["quantitative"]
    yield _step(choices, META_REVIEW.name, "meta_review", beside=beside)
    if DANGER.name in choices.models:
        yield _step(choices, DANGER.name, "danger", is_first=True)


_CHAINS: Final = {
    EVIDENCE.name: QUANTITATIVE.name,
    ABLATION.name: QUANTITATIVE.name,
    JUDGES.name: "judge",
    **{judge.name: "judge" for judge in JUDGE.values()},
}
"""Agents that ask another one's models."""


def _step(
    choices: Choices,
    agent: str,
    task: str,
    least: int = 1,
    expected: float = 1.0,
    *,
    beside: float = 0.0,
    is_first: bool = False,
) -> Step | None:
    """Return a step, `None` for an agent that has no model in this run."""
    chain = choices.models.get(_CHAINS.get(agent, agent))
    if not chain:
        return None
    replies = REPLY_TOKENS.get(agent, REPLY_TOKENS["judge"])
    return Step(
        agent=agent,
        model=chain[0],
        least=least,
        expected=expected,
        beside_tokens=tokens_of(choices.tasks[task]) + beside,
        reply_tokens=replies,
        is_first=is_first,
    )
