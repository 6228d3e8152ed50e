"""An item that was refused and is asked once more: what refuses again, and what answers it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.unit.interview.built import Desk, assessed, desk
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.domain.interview import EndReason
from ai_psychiatrist.domain.interview_items import ItemOutcome, UnansweredReason
from ai_psychiatrist.domain.phq8 import Item

AGENTS = pytest.mark.parametrize("has_model", [False, True], ids=["rules", "model"])


def outcome_after(
    folder: Path, item: Item, said: Sequence[str | None], *, has_model: bool = False
) -> tuple[Desk, ItemOutcome]:
    """Lead an interview about one item; `None` chooses the refusal that is offered."""

    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(item))
        for text in said:
            await (at.decline() if text is None else at.say(text))

    agents = None
    if has_model:
        agents = ScriptedAgents({"match_frequency": [{"frequency": "not_at_all", "words": "no"}]})
    with desk(folder, agents) as at:
        asyncio.run(work(at))
        return at, at.outcome(item)


@AGENTS
@pytest.mark.parametrize(
    "again",
    [
        "no",
        "No.",
        "NO!",
        "nope",
        "Nah",
        "no no",
        "no thanks",
        "No, thank you.",
        "no, sorry",
        "I said no",
        "I said no.",
        "I already told you no",
        "still no",
        "no, still not",
        "same answer",
        "no, like I said",
        "next",
        "skip",
        "skip it please",
        "no, next",
        "No, I'm good",
        "I'm fine, thanks",
        "no way",
        "no, absolutely not",
        "I don't think so",
        "no means no",
        "uh, nope",
        "no problem",
    ],
)
def test_what_may_refuse_again_is_no_score(tmp_path: Path, again: str, has_model: bool) -> None:
    at, outcome = outcome_after(tmp_path, Item.TIRED, [None, again], has_model=has_model)
    assert (outcome.score, outcome.unknown_reason) == (None, UnansweredReason.DECLINED)
    assert at.snapshot.end_reason is EndReason.ASKS_SPENT
    assert at.snapshot.proposals == ()


@pytest.mark.parametrize("refusal", ["I'd rather not say", "pass", "no, I won't answer that"])
@pytest.mark.parametrize("item", Item)
def test_a_refusal_in_words_is_a_refusal_too(tmp_path: Path, item: Item, refusal: str) -> None:
    _, outcome = outcome_after(tmp_path, item, [refusal, "no"])
    assert (outcome.score, outcome.unknown_reason) == (None, UnansweredReason.DECLINED)


@AGENTS
@pytest.mark.parametrize(
    ("again", "score"),
    [
        ("no, not at all in the last two weeks", 0),
        ("never", 0),
        ("No, never.", 0),
        ("none", 0),
        ("not once", 0),
        ("zero days", 0),
        ("no, not tired", 0),
        ("not tired at all", 0),
        ("three days", 1),
        ("no, fine, three days", None),
        ("most days", 2),
        ("every day", 3),
        ("oh, it was nearly every day", 3),
    ],
)
def test_an_answer_counts(tmp_path: Path, again: str, score: int | None, has_model: bool) -> None:
    _, outcome = outcome_after(tmp_path, Item.TIRED, [None, again], has_model=has_model)
    assert outcome.score == score


def test_the_frequency_that_is_chosen_counts(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(Item.TIRED))
        await at.decline()
        await at.choose("Not at all")

    with desk(tmp_path) as at:
        asyncio.run(work(at))
        assert at.outcome(Item.TIRED).score == 0


def test_a_bare_no_to_another_question_is_still_an_answer(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(Item.SLEEP, Item.TIRED))
        await at.decline()
        await at.say("no")
        await at.say("no")

    with desk(tmp_path) as at:
        asyncio.run(work(at))
        assert at.outcome(Item.TIRED).score == 0
        assert at.outcome(Item.SLEEP).unknown_reason is UnansweredReason.DECLINED
