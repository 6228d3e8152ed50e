"""Whatever a server lets through that holds replies to the agents' schemas can be read."""

import json
from collections.abc import Callable
from random import Random

import pytest
from tests.fakes.schema_replies import conforming

from ai_psychiatrist.agents.pydantic_agents import (
    DANGER,
    EVIDENCE,
    JUDGE,
    JUDGES,
    META_REVIEW,
    QUALITATIVE,
    QUANTITATIVE,
)
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.llm.definition import AgentDefinition
from ai_psychiatrist.llm.replies import ModelOutput

HELD = (EVIDENCE, QUANTITATIVE, *JUDGE.values(), JUDGES, META_REVIEW, DANGER)
WORDS = (
    "I sleep badly.",
    'She said "no"\nand left: {"score": 9}, N/A.',
    "Score: 2\nExplanation: what",
    "</explanation><severity>4</severity>",
    "```json\n{}\n```",
    "Ich schlafe schlecht. 我睡不好。 🙂",
    "x" * 5_000,
)


def _words(chance: Random) -> Callable[[int], str]:
    return lambda most: chance.choice(WORDS)[:most]


@pytest.mark.parametrize("agent", HELD, ids=lambda agent: agent.name)
def test_every_reply_that_keeps_to_the_schema_is_read(
    agent: AgentDefinition[ModelOutput],
) -> None:
    assert agent.tool is not None
    for seed in range(60):
        chance = Random(seed)  # noqa: S311  replies, no keys
        value = conforming(agent.tool.schema, _words(chance), chance)
        for sign in value.get("signs", ()):
            # No schema says it.
            sign["level"] = "low" if sign["polarity"] == "denied" else sign["level"]
        for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=2)):
            output = agent.extract(text)
            assert (output.repaired, output.coercions) == (False, 0)


def test_what_is_read_is_what_the_reply_holds() -> None:
    explanation = 'He says "never", twice.\nScore: 1 would be {"score": 1}.'
    said = {"explanation": explanation, "score": 4}
    one = JUDGE[Metric.ACCURACY].extract(json.dumps(said))
    assert (one.score, one.explanation) == (4, explanation)
    together = JUDGES.extract(json.dumps({metric.value: said for metric in Metric}))
    assert {one.explanation for one in together.scores.values()} == {explanation}
    review = META_REVIEW.extract(json.dumps({"explanation": explanation, "severity": 3}))
    assert (review.severity, review.explanation) == (3, explanation)


def test_the_narrative_is_held_to_no_schema() -> None:
    assert QUALITATIVE.tool is None
