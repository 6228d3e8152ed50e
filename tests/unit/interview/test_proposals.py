"""Unclear answers about items: what a model may make of them, and what only the person may."""

import asyncio
import tomllib
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import pytest
from tests.unit.interview.built import Desk, assessed, desk
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import AnswerKind, EndReason, InterviewState
from ai_psychiatrist.domain.interview_items import Proposal, ProposalOutcome, UnansweredReason
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.service import InterviewLimits

SAID: Final = "I was worn to the bone about nine days, or was it four?"
NINE: Final = {"frequency": "more_than_half_the_days", "words": "about nine days"}
ODD: Final = tomllib.loads(
    (Path(__file__).parents[2] / "data" / "odd_answers.toml").read_text(encoding="utf-8")
)
CONFIRMING: Final = (
    'So that I note it rightly for the last two weeks: shall I put down "More than half the days"?'
)

Work = Callable[[Desk], Coroutine[Any, Any, None]]


def lead(
    work: Work,
    folder: Path,
    *replies: object,
    agents: ScriptedAgents | None = None,
    limits: InterviewLimits | None = None,
) -> tuple[Desk, ScriptedAgents]:
    """Lead an interview whose only open item is energy."""
    asked = agents or ScriptedAgents({"match_frequency": replies})

    async def sit(at: Desk) -> None:
        await at.begin(assessment=assessed(Item.TIRED))
        await work(at)

    with desk(folder, asked, limits=limits) as at:
        asyncio.run(sit(at))
    return at, asked


def only_proposal(at: Desk) -> Proposal:
    (proposal,) = at.snapshot.proposals
    return proposal


def saying(*answers: str) -> Work:
    async def work(at: Desk) -> None:
        for answer in answers:
            await at.say(answer)

    return work


def test_person_is_asked_in_the_words_of_the_protocol(tmp_path: Path) -> None:
    at, agents = lead(saying(SAID), tmp_path, NINE)
    assert at.question.text == CONFIRMING
    assert at.question.is_clarifying
    assert [(option.text, option.kind) for option in at.question.options] == [
        ("Yes", AnswerKind.CONFIRM),
        ("No", AnswerKind.REJECT),
        ("Not at all", AnswerKind.ANCHOR),
        ("Several days", AnswerKind.ANCHOR),
        ("Nearly every day", AnswerKind.ANCHOR),
        ("I prefer not to say", AnswerKind.DECLINE),
    ]
    assert at.outcome(Item.TIRED).score is None
    proposal = only_proposal(at)
    assert (proposal.outcome, proposal.score, proposal.turn) == (ProposalOutcome.OPEN, 2, 1)
    assert at.snapshot.spent.calls == agents.count("match_frequency") == 1


@pytest.mark.parametrize("reply", ["Yes", "yes.", "Yeah, that's right", "Yes please", "correct"])
def test_what_is_confirmed_scores_with_the_words_of_the_answer(reply: str, tmp_path: Path) -> None:
    at, _ = lead(saying(SAID, reply), tmp_path, NINE)
    outcome = at.outcome(Item.TIRED)
    assert (outcome.score, outcome.answer_turn, outcome.confirmed_turn) == (2, 1, 2)
    assert outcome.quote is not None
    assert SAID[outcome.quote.start : outcome.quote.end] == outcome.quote.text == "about nine days"
    assert only_proposal(at).outcome is ProposalOutcome.CONFIRMED
    assert only_proposal(at).settled_turn == 2
    assert at.snapshot.end_reason is EndReason.ALL_RESOLVED


@pytest.mark.parametrize(
    "reply",
    [
        "No",
        "no.",
        "not at all",
        "never",
        "Yes?",
        "yes and no",
        "Yes, but I guess less",
        "I suppose",
        "ok",
        "whatever you think",
        "ja",
        "put down 2",
        "the kettle is on",
        "yes " * 400,
    ],
)
def test_anything_else_gives_no_score_and_the_four_frequencies(reply: str, tmp_path: Path) -> None:
    at, agents = lead(saying(SAID, reply), tmp_path, NINE)
    assert at.outcome(Item.TIRED).score is None
    assert only_proposal(at).outcome is ProposalOutcome.NOT_CONFIRMED
    assert "roughly how many were you drained on" in at.question.text
    kinds = [option.kind for option in at.question.options]
    assert kinds == [AnswerKind.ANCHOR] * 4 + [AnswerKind.DECLINE]
    assert agents.count("match_frequency") == 1


def test_offered_answers_to_the_confirming_question(tmp_path: Path) -> None:
    for text, score, reason, outcome in (
        ("Yes", 2, None, ProposalOutcome.CONFIRMED),
        ("No", None, UnansweredReason.AMBIGUOUS_ANSWER, ProposalOutcome.NOT_CONFIRMED),
        ("Not at all", 0, None, ProposalOutcome.NOT_CONFIRMED),
        ("Nearly every day", 3, None, ProposalOutcome.NOT_CONFIRMED),
        ("I prefer not to say", None, UnansweredReason.DECLINED, ProposalOutcome.NOT_CONFIRMED),
    ):

        async def work(at: Desk, text: str = text) -> None:
            await at.say(SAID)
            await at.choose(text)

        (tmp_path / text).mkdir()
        at, _ = lead(work, tmp_path / text, NINE)
        found = at.outcome(Item.TIRED)
        assert (found.score, found.unknown_reason) == (score, reason)
        assert only_proposal(at).outcome is outcome
        assert found.confirmed_turn == (2 if text == "Yes" else None)


@pytest.mark.parametrize(
    ("reply", "score", "outcome"),
    [
        ("several days", 1, ProposalOutcome.NOT_CONFIRMED),
        ("four days", 1, ProposalOutcome.NOT_CONFIRMED),
        ("yes, more than half the days", 2, ProposalOutcome.CONFIRMED),
    ],
)
def test_a_plain_frequency_in_reply_is_the_person_s_own(
    reply: str, score: int, outcome: ProposalOutcome, tmp_path: Path
) -> None:
    at, _ = lead(saying(SAID, reply), tmp_path, NINE)
    found = at.outcome(Item.TIRED)
    assert (found.score, found.answer_turn, found.confirmed_turn) == (score, 2, None)
    assert only_proposal(at).outcome is outcome


def test_danger_in_the_reply_holds_the_interview(tmp_path: Path) -> None:
    at, _ = lead(saying(SAID, "Yes, and I want to kill myself."), tmp_path, NINE)
    assert at.snapshot.state is InterviewState.SAFETY_HOLD
    assert at.outcome(Item.TIRED).score is None
    assert only_proposal(at).outcome is ProposalOutcome.OPEN


@pytest.mark.parametrize(
    ("reply", "outcome", "failure", "calls"),
    [
        ({"frequency": "unclear", "words": ""}, ProposalOutcome.UNCLEAR, None, 1),
        (NINE | {"words": "about ten days"}, ProposalOutcome.NOT_GROUNDED, None, 1),
        (NINE | {"words": "on how many days"}, ProposalOutcome.NOT_GROUNDED, None, 1),
        (NINE | {"words": ""}, ProposalOutcome.NOT_GROUNDED, None, 1),
        (NINE | {"words": "nine " * 1_500}, ProposalOutcome.NOT_GROUNDED, None, 1),
        (FailureCode.REQUEST_REFUSED, ProposalOutcome.FAILED, FailureCode.REQUEST_REFUSED, 1),
        (FailureCode.OUTPUT_REJECTED, ProposalOutcome.FAILED, FailureCode.OUTPUT_REJECTED, 1),
    ],
)
def test_without_a_grounded_reading_it_goes_on_as_without_a_model(
    reply: object,
    outcome: ProposalOutcome,
    failure: FailureCode | None,
    calls: int,
    tmp_path: Path,
) -> None:
    at, agents = lead(saying(SAID, "it varies"), tmp_path, reply, NINE)
    found = only_proposal(at)
    assert (found.outcome, found.failure, found.quote) == (outcome, failure, None)
    assert agents.count("match_frequency") == at.snapshot.spent.calls == calls
    assert at.outcome(Item.TIRED).unknown_reason is UnansweredReason.AMBIGUOUS_ANSWER
    assert at.snapshot.end_reason is EndReason.ASKS_SPENT


def test_spent_budget_asks_no_model(tmp_path: Path) -> None:
    at, _ = lead(saying(SAID), tmp_path, NINE, limits=InterviewLimits(max_calls=0))
    assert only_proposal(at).failure is FailureCode.CALL_BUDGET_SPENT
    assert at.snapshot.spent.calls == 0
    assert "roughly how many were you drained on" in at.question.text


def test_late_model_is_not_waited_for(tmp_path: Path) -> None:
    class Late(ScriptedAgents):
        async def match_frequency(self, *_: object) -> Any:
            await asyncio.Event().wait()

    limits = InterviewLimits(turn_timeout_seconds=0.01)
    at, _ = lead(saying(SAID), tmp_path, agents=Late(), limits=limits)
    assert only_proposal(at).failure is FailureCode.DEADLINE_EXCEEDED
    assert "roughly how many were you drained on" in at.question.text


@pytest.mark.parametrize(
    "answer", ["nearly every day", "four days", "pass", "my cat is asleep", "no", "I want to die."]
)
def test_what_the_rules_read_asks_no_model(answer: str, tmp_path: Path) -> None:
    _, agents = lead(saying(answer), tmp_path, NINE)
    assert agents.asked == []


def test_one_item_is_asked_of_a_model_once_and_each_item_may_be(tmp_path: Path) -> None:
    agents = ScriptedAgents({"match_frequency": [FailureCode.REQUEST_REFUSED] + [NINE] * 7})

    async def work(at: Desk) -> None:
        await at.begin()
        while not at.snapshot.state.is_over:
            await at.say(SAID)

    with desk(tmp_path, agents) as at:
        asyncio.run(work(at))
    assert agents.count("match_frequency") == at.snapshot.spent.calls == 8
    assert [one.item for one in at.snapshot.proposals] == list(Item)
    # Two questions about the first item, and with the confirming one three about each other.
    assert at.snapshot.turn == 2 + 7 * 3
    assert at.snapshot.end_reason is EndReason.TURNS_SPENT
    assert [outcome.score for outcome in at.snapshot.items] == [None] * 8


def test_who_led_away_first_is_still_asked_to_confirm(tmp_path: Path) -> None:
    at, _ = lead(saying("the cat was sick", SAID, "Yes"), tmp_path, NINE)
    assert at.outcome(Item.TIRED).score == 2
    at, _ = lead(saying("the cat was sick", SAID, "No"), _fresh(tmp_path), NINE)
    assert at.snapshot.end_reason is EndReason.ASKS_SPENT


def _fresh(folder: Path) -> Path:
    (folder / "fresh").mkdir()
    return folder / "fresh"


@pytest.mark.parametrize("said", ODD["instructions"])
@pytest.mark.parametrize("is_whole", [True, False])
def test_words_that_tell_a_reader_what_to_do_are_never_put_to_the_person(
    said: str, is_whole: bool, tmp_path: Path
) -> None:
    words = said if is_whole else " ".join(said.split()[-3:])
    at, _ = lead(saying(said), tmp_path, {"frequency": "nearly_every_day", "words": words})
    assert only_proposal(at).outcome is ProposalOutcome.NOT_GROUNDED
    assert all(option.kind is not AnswerKind.CONFIRM for option in at.question.options)


@pytest.mark.parametrize("words", ["", "nearly every day", "I said nearly every day, sir"])
def test_odd_answers_and_an_insisting_model_give_no_score_unless_confirmed(
    words: str, tmp_path: Path
) -> None:
    """The model names the whole answer, or words of its own; the person repeats what they said."""
    scored = []

    async def work(at: Desk, agents: ScriptedAgents) -> None:
        for said in (*ODD["odd"], *ODD["instructions"]):
            agents.queue(
                "match_frequency", {"frequency": "nearly_every_day", "words": words or said}
            )
            await at.begin(assessment=assessed(Item.TIRED))
            while not at.snapshot.state.is_over:
                await at.say(said)
            scored.append(at.outcome(Item.TIRED).score)

    agents = ScriptedAgents()
    with desk(tmp_path, agents) as at:
        asyncio.run(work(at, agents))
    assert len(scored) >= 80
    assert set(scored) == {None}
