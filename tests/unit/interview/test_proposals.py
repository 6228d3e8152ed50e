"""Answers in words: what is read of them, by rules or by a model, is read back before it counts."""

import asyncio
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from tests.unit.interview.built import PROTOCOLS, RIGHT, Desk, assessed, desk, go_on, lead
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import AnswerKind, EndReason, InterviewState, QuestionPurpose
from ai_psychiatrist.domain.interview_items import (
    Act,
    Proposal,
    ProposalOutcome,
    ProposalSource,
    UnansweredReason,
    Unclear,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.phq8.free_answers import ReadingKind, read_answer
from ai_psychiatrist.interview.service import InterviewLimits

PHQ8 = PROTOCOLS["phq8"]
BY_RULES: Final = "Well, it was most days."
BY_MODEL: Final = "I was worn to the bone, as good as ever."
TAKEN: Final = {"frequency": "more_than_half_the_days", "words": "worn to the bone"}
ODD: Final = tomllib.loads(
    (Path(__file__).parents[2] / "data" / "odd_answers.toml").read_text(encoding="utf-8")
)
SOURCES = pytest.mark.parametrize("said", [BY_RULES, BY_MODEL], ids=["rules", "model"])


def about_energy(
    interviews: InterviewStore,
    *said: str,
    replies: tuple[object, ...] = (TAKEN,),
    agents: ScriptedAgents | None = None,
    limits: InterviewLimits | None = None,
) -> tuple[Desk, ScriptedAgents]:
    """Lead an interview whose only open item is energy."""
    asked = agents or ScriptedAgents({"match_frequency": replies})
    return lead(interviews, *said, unknown=(Item.TIRED,), agents=asked, limits=limits), asked


def only_proposal(at: Desk) -> Proposal:
    (proposal,) = at.snapshot.proposals
    return proposal


@SOURCES
def test_what_is_read_is_read_back_in_the_words_of_the_protocol(
    said: str, interviews: InterviewStore
) -> None:
    at, agents = about_energy(interviews, said)
    words = "worn to the bone" if said == BY_MODEL else "it was most days"
    assert at.question.text == (
        f"You said “{words}”. For tiredness I noted: More than half the days. Is that right?"
    )
    assert at.question.purpose is QuestionPurpose.READ_BACK
    assert [(option.text, option.kind) for option in at.question.options] == [
        ("Yes, that is right", AnswerKind.CONFIRM),
        ("No, that is not right", AnswerKind.REJECT),
        ("Not at all", AnswerKind.ANCHOR),
        ("Several days", AnswerKind.ANCHOR),
        ("Nearly every day", AnswerKind.ANCHOR),
        ("I prefer not to say", AnswerKind.DECLINE),
    ]
    assert at.outcome(Item.TIRED).score is None
    proposal, is_model = only_proposal(at), said == BY_MODEL
    assert (proposal.outcome, proposal.score, proposal.turn) == (ProposalOutcome.OPEN, 2, 1)
    assert proposal.source is (ProposalSource.MODEL if is_model else ProposalSource.RULES)
    assert at.snapshot.spent.calls == agents.count("match_frequency") == is_model
    assert at.outcome(Item.TIRED).said[0].source is proposal.source


def test_the_likeliest_score_of_an_unclear_answer_is_read_back_and_counts_after_a_yes(
    interviews: InterviewStore,
) -> None:
    said = "every day, same as ever"
    assert read_answer(Item.TIRED, said).kind is ReadingKind.UNCLEAR
    at, _ = about_energy(interviews, said, replies=({"frequency": "unclear", "words": ""},))
    assert at.question.text.endswith("For tiredness I noted: Nearly every day. Is that right?")
    assert at.outcome(Item.TIRED).score is None
    assert at.outcome(Item.TIRED).said[0].unclear is Unclear.COMPARISON
    go_on(at, "yes")
    assert at.outcome(Item.TIRED).score == 3


@pytest.mark.parametrize(
    ("said", "score", "quoted"),
    [
        ("well I had four good days, the rest was bad", 2, None),
        ("about as often as everybody else, so several days I think", 1, None),
        ("same as my wife really. more than half the days I'd say", 2, None),
        (
            "hang on. three days. " + "I work at the mill and the mill is loud. " * 5,
            1,
            "three days",
        ),
    ],
)
def test_a_short_message_is_quoted_whole_and_a_long_one_by_its_sentence(
    said: str, score: int, quoted: str | None, interviews: InterviewStore
) -> None:
    at = lead(interviews, said, "yes", unknown=(Item.TIRED,))
    assert at.outcome(Item.TIRED).score == score
    assert getattr(at.outcome(Item.TIRED).quote, "text", None) == (quoted or said)


@SOURCES
@pytest.mark.parametrize(
    "reply",
    [
        *(
            "=Yes, that is right",
            "Yes",
            "yes.",
            "Yeah, that's right",
            "Yes please",
            "correct",
            "ok",
            "sure",
        ),
        *("yh", "👍", "exactly", "yes, more than half the days", "That is correct.", "most days"),
    ],
)
def test_a_yes_counts_with_the_words_of_the_answer_and_stands_beside_it(
    said: str, reply: str, interviews: InterviewStore
) -> None:
    at, _ = about_energy(interviews, said, reply)
    outcome = at.outcome(Item.TIRED)
    assert (outcome.score, outcome.answer_turn, outcome.confirmed_turn) == (2, 1, 2)
    assert outcome.quote is not None
    assert said[outcome.quote.start : outcome.quote.end] == outcome.quote.text
    assert (only_proposal(at).outcome, only_proposal(at).settled_turn) == (
        ProposalOutcome.CONFIRMED,
        2,
    )
    assert at.question.purpose is QuestionPurpose.REVIEW


@SOURCES
@pytest.mark.parametrize(
    "reply",
    [
        *(
            "=No, that is not right",
            "No",
            "no.",
            "nope",
            "👎",
            "that's wrong",
            "yes and no",
            "Yes, but I guess less",
            "yes " * 400,
        ),
    ],
)
def test_a_no_or_half_a_yes_asks_for_one_of_the_four(
    said: str, reply: str, interviews: InterviewStore
) -> None:
    at, agents = about_energy(interviews, said, reply)
    assert at.outcome(Item.TIRED).score is None
    assert only_proposal(at).outcome is ProposalOutcome.NOT_CONFIRMED
    assert at.question.text == PHQ8.conversation.choose
    kinds = [option.kind for option in at.question.options]
    assert kinds == [AnswerKind.ANCHOR] * 4 + [AnswerKind.DECLINE]
    assert agents.count("match_frequency") == (said == BY_MODEL)
    go_on(at, "=Several days", RIGHT)
    assert (at.outcome(Item.TIRED).score, at.snapshot.end_reason) == (1, EndReason.ALL_RESOLVED)


@SOURCES
@pytest.mark.parametrize("reply", ["whatever you think", "ja", "the kettle is on"])
def test_a_reply_that_is_neither_yes_nor_no_has_it_read_back_once_more(
    said: str, reply: str, interviews: InterviewStore
) -> None:
    once, _ = about_energy(interviews, said, reply)
    assert once.outcome(Item.TIRED).score is None
    assert once.question.purpose is QuestionPurpose.READ_BACK
    confirmed, _ = about_energy(interviews, said, reply, "yes")
    assert confirmed.outcome(Item.TIRED).score == 2
    twice, _ = about_energy(interviews, said, reply, reply)
    assert only_proposal(twice).outcome is ProposalOutcome.NOT_CONFIRMED
    assert twice.question.text == PHQ8.conversation.choose


@pytest.mark.parametrize("reply", ["You have it exactly.", "period", "yhh", "You've got it."])
def test_a_yes_in_other_words_counts(reply: str, interviews: InterviewStore) -> None:
    at = lead(interviews, "three nights", reply)
    assert at.scores(Item.SLEEP) == [1]


def test_who_names_nothing_to_change_is_asked_which_once(interviews: InterviewStore) -> None:
    said = ["=Not at all", "yes", "yes"]
    at = lead(interviews, *said[:2], unknown=(Item.SLEEP,))
    assert PHQ8.conversation.review is not None
    assert at.question.text == PHQ8.conversation.review.which
    assert lead(interviews, *said, unknown=(Item.SLEEP,)).snapshot.question is None


def test_a_person_who_denies_again_and_again_is_asked_for_one_of_the_four_once(
    interviews: InterviewStore,
) -> None:
    at = lead(interviews, *["most days", "no"] * 2, unknown=(Item.TIRED, Item.MOVING))
    assert at.question.text != PHQ8.conversation.choose
    assert at.scores(Item.TIRED) == [None]


@SOURCES
@pytest.mark.parametrize(
    ("reply", "score", "turn"),
    [
        ("=Nearly every day", 3, 2),
        ("nearly every day", 3, 2),
        ("no, several days", 1, 2),
        ("three days", None, None),
        ("=I prefer not to say", None, 2),
        ("nearly every day?", None, None),
    ],
)
def test_another_answer_replaces_it_and_is_read_back_itself_where_it_is_read(
    said: str, reply: str, score: int | None, turn: int | None, interviews: InterviewStore
) -> None:
    at, _ = about_energy(interviews, said, reply)
    outcome = at.outcome(Item.TIRED)
    assert (outcome.score, outcome.confirmed_turn) == (score, None)
    if turn is not None:
        assert outcome.answer_turn == turn
    assert at.snapshot.proposals[0].outcome is not ProposalOutcome.OPEN
    if reply == "three days":
        assert at.question.text == (
            "You said “three days”. For tiredness I noted: Several days. Is that right?"
        )
        at, _ = about_energy(interviews, said, reply, "yes")
        assert (at.outcome(Item.TIRED).score, at.outcome(Item.TIRED).answer_turn) == (1, 2)


def test_danger_in_the_reply_holds_the_interview_and_counts_nothing(
    interviews: InterviewStore,
) -> None:
    at, _ = about_energy(interviews, BY_MODEL, "Yes, and I want to kill myself.")
    assert at.snapshot.state is InterviewState.SAFETY_HOLD
    assert at.outcome(Item.TIRED).score is None
    assert only_proposal(at).outcome is ProposalOutcome.OPEN


@pytest.mark.parametrize(
    ("reply", "outcome", "failure"),
    [
        ({"frequency": "unclear", "words": ""}, ProposalOutcome.UNCLEAR, None),
        (TAKEN | {"words": "about ten days"}, ProposalOutcome.NOT_GROUNDED, None),
        (TAKEN | {"words": "on how many days"}, ProposalOutcome.NOT_GROUNDED, None),
        (TAKEN | {"words": ""}, ProposalOutcome.NOT_GROUNDED, None),
        (TAKEN | {"words": "nine " * 1_500}, ProposalOutcome.NOT_GROUNDED, None),
        (FailureCode.REQUEST_REFUSED, ProposalOutcome.FAILED, FailureCode.REQUEST_REFUSED),
        (FailureCode.OUTPUT_REJECTED, ProposalOutcome.FAILED, FailureCode.OUTPUT_REJECTED),
    ],
)
def test_without_a_grounded_reading_it_goes_on_as_without_a_model(
    reply: object, outcome: ProposalOutcome, failure: FailureCode | None, interviews: InterviewStore
) -> None:
    at, agents = about_energy(interviews, BY_MODEL, replies=(reply, TAKEN))
    alone = lead(interviews, BY_MODEL, unknown=(Item.TIRED,))
    found = only_proposal(at)
    assert (found.outcome, found.failure, found.quote) == (outcome, failure, None)
    assert agents.count("match_frequency") == at.snapshot.spent.calls == 1
    assert at.snapshot.messages == alone.snapshot.messages
    assert at.question == alone.question
    assert at.outcome(Item.TIRED) == alone.outcome(Item.TIRED)


@pytest.mark.parametrize(
    ("act", "purpose", "asks", "reason"),
    [
        ("stop", QuestionPurpose.CONFIRM_STOP, 1, UnansweredReason.NOT_ANSWERED),
        ("question", QuestionPurpose.ASK, 1, UnansweredReason.NOT_ANSWERED),
        ("nothing_yet", QuestionPurpose.ASK, 1, UnansweredReason.NOT_ANSWERED),
        ("pause", QuestionPurpose.ASK, 1, UnansweredReason.NOT_ANSWERED),
        ("refusal", QuestionPurpose.ONCE_MORE, 1, UnansweredReason.DECLINED),
    ],
)
def test_what_a_model_takes_a_message_for_is_done_and_recorded(
    act: str,
    purpose: QuestionPurpose,
    asks: int,
    reason: UnansweredReason,
    interviews: InterviewStore,
) -> None:
    reply = {"frequency": "unclear", "words": "", "act": act}
    at, _ = about_energy(interviews, "Blimey, the kettle is on.", replies=(reply,))
    assert (at.question.purpose, at.asks(Item.TIRED)) == (purpose, asks)
    assert at.outcome(Item.TIRED).unknown_reason is reason
    assert (at.snapshot.state is InterviewState.PAUSED) is (act == "pause")
    (spoken,) = at.snapshot.acts
    assert spoken.act is (Act.FRAGMENT if act == "nothing_yet" else Act(act))
    assert spoken.source is ProposalSource.MODEL


def test_spent_budget_asks_no_model(interviews: InterviewStore) -> None:
    at, _ = about_energy(interviews, BY_MODEL, limits=InterviewLimits(max_calls=0))
    assert only_proposal(at).failure is FailureCode.CALL_BUDGET_SPENT
    assert at.snapshot.spent.calls == 0
    assert at.question.purpose is QuestionPurpose.ASK


def test_late_model_is_not_waited_for(
    interviews: InterviewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop's clock jumps an hour once the model was asked: nothing here is a wait."""

    class Late(ScriptedAgents):
        async def match_frequency(self, *_: object) -> Any:
            loop = asyncio.get_running_loop()
            clock = loop.time
            monkeypatch.setattr(loop, "time", lambda: clock() + 3600)
            await asyncio.Event().wait()

    limits = InterviewLimits(turn_timeout_seconds=60)
    at, _ = about_energy(interviews, BY_MODEL, agents=Late(), limits=limits)
    assert only_proposal(at).failure is FailureCode.DEADLINE_EXCEEDED
    assert at.question.purpose is QuestionPurpose.ASK


@pytest.mark.parametrize(
    "answer",
    [
        *("nearly every day", "four days", "pass", "no", "=Several days", "I want to die."),
        *("hi", "brb", "stop", "who reads this?", "👍"),
    ],
)
def test_what_the_rules_read_asks_no_model(answer: str, interviews: InterviewStore) -> None:
    _, agents = about_energy(interviews, answer)
    assert agents.asked == []


def test_one_item_is_asked_of_a_model_once_and_each_item_may_be(interviews: InterviewStore) -> None:
    agents = ScriptedAgents({"match_frequency": [FailureCode.REQUEST_REFUSED] + [TAKEN] * 7})

    async def work(at: Desk) -> None:
        await at.begin()
        while not at.snapshot.state.is_over:
            await at.say(BY_MODEL)

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert agents.count("match_frequency") == at.snapshot.spent.calls == 8
    of_model = [one.item for one in at.snapshot.proposals if one.source is ProposalSource.MODEL]
    assert of_model == list(Item)
    assert at.scores(*Item) == [None] * 8


@pytest.mark.parametrize("said", ODD["instructions"])
@pytest.mark.parametrize("is_whole", [True, False])
def test_words_that_tell_a_reader_what_to_do_are_never_put_to_the_person(
    said: str, is_whole: bool, interviews: InterviewStore
) -> None:
    words = said if is_whole else " ".join(said.split()[-3:])
    reply = {"frequency": "nearly_every_day", "words": words}
    at, _ = about_energy(interviews, said, replies=(reply,))
    assert all(one.outcome is not ProposalOutcome.OPEN for one in at.snapshot.proposals)
    if at.snapshot.question is not None:
        assert at.question.purpose is not QuestionPurpose.READ_BACK


@pytest.mark.parametrize("words", ["", "nearly every day"])
def test_odd_answers_and_an_insisting_model_give_no_score_unless_confirmed(
    words: str, interviews: InterviewStore
) -> None:
    """The model names the whole answer or words of its own; the person denies what is read back."""
    scored: list[int | None] = []

    async def work(at: Desk, agents: ScriptedAgents) -> None:
        for said in (*ODD["odd"], *ODD["instructions"]):
            agents.queue(
                "match_frequency", {"frequency": "nearly_every_day", "words": words or said}
            )
            await at.begin(assessment=assessed(Item.TIRED))
            while not at.snapshot.state.is_over:
                is_read_back = at.question.purpose is QuestionPurpose.READ_BACK
                await at.say("no" if is_read_back else said)
            is_anchor = read_answer(Item.TIRED, said).kind is ReadingKind.ANCHOR
            scored.append(None if is_anchor else at.outcome(Item.TIRED).score)

    agents = ScriptedAgents()
    with desk(interviews, agents) as at:
        asyncio.run(work(at, agents))
    assert len(scored) >= 100
    assert set(scored) == {None}
