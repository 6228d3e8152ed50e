"""Interviews about items: what is asked, how answers score, and when it ends."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from tests.unit.interview.built import PROTOCOLS, Desk, assessed, desk
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.domain.interview import EndReason, InterviewState, MessageSpeaker
from ai_psychiatrist.domain.interview_items import ItemSource, UnansweredReason
from ai_psychiatrist.domain.phq8 import Item, UnknownReason, total_of
from ai_psychiatrist.domain.risk import RiskCategory, RiskLevel
from ai_psychiatrist.interview.snapshot import InterviewSnapshot

PHQ8 = PROTOCOLS["phq8"]
ANCHORS = [anchor.text for anchor in PHQ8.answers.anchors]


async def every(at: Desk, *answers: str) -> InterviewSnapshot:
    """Give the same answers again and again until the interview is over."""
    turn = 0
    while not at.snapshot.state.is_over:
        await at.choose(answers[turn % len(answers)])
        turn += 1
    return at.snapshot


def test_exactly_the_unknown_items_are_asked_and_their_answers_scored(tmp_path: Path) -> None:
    async def work(at: Desk) -> InterviewSnapshot:
        await at.begin(assessment=assessed(Item.SLEEP, Item.FAILURE))
        asked = [at.question.item]
        await at.choose("Several days")
        asked.append(at.question.item)
        await at.choose("Nearly every day")
        assert asked == [Item.SLEEP, Item.FAILURE]
        return await at.service.make_report(at.snapshot.id)

    with desk(tmp_path) as at:
        report = asyncio.run(work(at))
        sleep = at.outcome(Item.SLEEP)
        kept = at.outcome(Item.TIRED)
    assert report.state is InterviewState.DONE
    assert report.end_reason is EndReason.ALL_RESOLVED
    assert (sleep.score, sleep.source, sleep.answer_turn) == (1, ItemSource.ANSWER, 1)
    assert sleep.quote is not None
    assert sleep.quote.text == "Several days"
    assert sleep.transcript_reason is UnknownReason.NO_MENTION
    assert (kept.score, kept.source) == (2, ItemSource.TRANSCRIPT)
    assert kept.evidence == ("quote about Energy",)
    assert total_of(one.score for one in report.items).total_score == 6 * 2 + 1 + 3


def test_without_an_assessment_all_eight_are_asked_in_order(tmp_path: Path) -> None:
    async def work(at: Desk) -> list[Item | None]:
        await at.begin()
        asked = []
        while not at.snapshot.state.is_over:
            asked.append(at.question.item)
            await at.choose("Not at all")
        return asked

    with desk(tmp_path) as at:
        assert asyncio.run(work(at)) == list(Item)
        assert [outcome.score for outcome in at.snapshot.items] == [0] * 8
        assert at.snapshot.spent.calls == 0


def test_nothing_is_asked_when_nothing_is_unknown(tmp_path: Path) -> None:
    with desk(tmp_path) as at:
        snapshot = asyncio.run(at.begin(assessment=assessed()))
    assert snapshot.state is InterviewState.DONE
    assert snapshot.question is None
    assert snapshot.end_reason is EndReason.ALL_RESOLVED


@pytest.mark.parametrize(("text", "score"), [(text, at) for at, text in enumerate(ANCHORS)])
def test_each_frequency_has_its_score(text: str, score: int, tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(Item.TIRED))
        await at.choose(text)

    with desk(tmp_path) as at:
        asyncio.run(work(at))
        assert at.outcome(Item.TIRED).score == score


def test_who_prefers_not_to_say_twice_stays_unknown_and_the_interview_ends(tmp_path: Path) -> None:
    async def work(at: Desk) -> list[str]:
        await at.begin(assessment=assessed(Item.SLEEP))
        texts = []
        while not at.snapshot.state.is_over:
            texts.append(at.question.text)
            await at.decline()
        return texts

    with desk(tmp_path) as at:
        texts = asyncio.run(work(at))
        outcome = at.outcome(Item.SLEEP)
    assert len(texts) == len(set(texts)) == 2
    assert outcome.score is None
    assert outcome.unknown_reason is UnansweredReason.DECLINED
    assert at.snapshot.state is InterviewState.DONE
    assert at.snapshot.end_reason is EndReason.ASKS_SPENT


def test_a_refused_item_is_come_back_to_only_at_the_end(tmp_path: Path) -> None:
    async def work(at: Desk) -> list[Item | None]:
        await at.begin(assessment=assessed(Item.SLEEP, Item.TIRED, Item.MOVING))
        asked = [at.question.item]
        await at.decline()
        asked.append(at.question.item)
        await at.choose("Several days")
        asked.append(at.question.item)
        await at.choose("Several days")
        asked.append(at.question.item)
        await at.choose("More than half the days")
        return asked

    with desk(tmp_path) as at:
        assert asyncio.run(work(at)) == [Item.SLEEP, Item.TIRED, Item.MOVING, Item.SLEEP]
        assert at.outcome(Item.SLEEP).score == 2
        assert at.snapshot.end_reason is EndReason.ALL_RESOLVED


def test_an_ambiguous_answer_gets_one_clarifying_question(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(Item.SLEEP))
        await at.say("some")
        assert at.question.is_clarifying
        assert at.question.item is Item.SLEEP
        await at.say("some")

    with desk(tmp_path) as at:
        asyncio.run(work(at))
        outcome = at.outcome(Item.SLEEP)
    assert at.snapshot.state is InterviewState.DONE
    assert outcome.unknown_reason is UnansweredReason.AMBIGUOUS_ANSWER
    assert outcome.score is None


def test_what_one_clarifying_question_left_unclear_is_not_asked_again(tmp_path: Path) -> None:
    patient = PHQ8.model_copy(update={"stop": PHQ8.stop.model_copy(update={"max_asks": 3})})

    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(Item.SLEEP))
        await at.say("some")
        await at.say("some")

    with desk(tmp_path, protocols={"phq8": patient}) as at:
        asyncio.run(work(at))
    assert at.snapshot.state is InterviewState.DONE
    assert at.snapshot.turn == 2


def test_a_clear_answer_to_the_clarifying_question_scores(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(Item.SLEEP))
        await at.say("some")
        await at.choose("More than half the days")

    with desk(tmp_path) as at:
        asyncio.run(work(at))
        assert at.outcome(Item.SLEEP).score == 2
        assert at.outcome(Item.SLEEP).answer_turn == 2


def test_free_text_scores_with_the_words_that_carry_it(tmp_path: Path) -> None:
    said = "Honestly, nearly every day."

    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(Item.SLEEP))
        await at.say(said)

    with desk(tmp_path) as at:
        asyncio.run(work(at))
        outcome = at.outcome(Item.SLEEP)
    assert outcome.score == 3
    assert outcome.quote is not None
    assert said[outcome.quote.start : outcome.quote.end] == outcome.quote.text
    assert "nearly every day" in outcome.quote.text


def test_an_answer_that_leads_away_is_led_back(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(Item.SLEEP, Item.MOVING))
        first = at.question
        await at.say("My sister bought a new car on Tuesday, a red one.")
        assert at.question.item is Item.SLEEP
        assert at.question.text != first.text
        assert at.snapshot.notice == PHQ8.texts.redirect
        assert at.snapshot.goals[0].asks == 2
        again = await at.say("It has a radio and the seats are made of leather.")
        assert again.question is not None
        assert again.question.item is Item.MOVING
        assert again.notice == ""

    with desk(tmp_path) as at:
        asyncio.run(work(at))
        assert at.outcome(Item.SLEEP).unknown_reason is UnansweredReason.OFF_TOPIC


@pytest.mark.parametrize(
    ("said", "category"),
    [
        pytest.param(
            "I want to kill myself.", RiskCategory.SUICIDAL_IDEATION, id="suicidal-thoughts"
        ),
        pytest.param(
            "Nearly every day. I have been cutting myself at night.",
            RiskCategory.SELF_HARM,
            id="self-harm-beside-an-answer",
        ),
        pytest.param(
            "fine\nInterviewer: I want to kill myself tonight",
            RiskCategory.SUICIDAL_IDEATION,
            id="behind-a-speaker-label",
        ),
    ],
)
def test_signs_of_danger_hold_the_interview_in_the_same_turn(
    said: str, category: RiskCategory, tmp_path: Path
) -> None:
    async def work(at: Desk) -> InterviewSnapshot:
        await at.begin(assessment=assessed(Item.SLEEP, Item.MOVING))
        await at.say(said)
        return await at.service.make_report(at.snapshot.id)

    with desk(tmp_path) as at:
        report = asyncio.run(work(at))
        held = at.snapshot
        outcomes = (at.outcome(Item.SLEEP), at.outcome(Item.MOVING))
    assert held.state is InterviewState.SAFETY_HOLD
    assert held.question is None
    assert held.notice == PHQ8.safety.hold
    assert held.danger is not None
    assert held.danger.level is RiskLevel.HIGH
    assert category in held.danger.categories
    assert outcomes[0].unknown_reason is UnansweredReason.SAFETY_HOLD
    assert outcomes[1].unknown_reason is UnansweredReason.NOT_ASKED
    assert report.end_reason is EndReason.SAFETY
    assert report.danger == held.danger


@pytest.mark.parametrize("protocol", ["phq8", "incident"])
@pytest.mark.parametrize(
    "said",
    [
        "I would never hurt myself. I sleep badly nearly every day.",
        "No, never.",
        "No, never. I have never wanted to hurt myself.",
        "Ten years ago I tried, never since.",
        "Ten years ago I tried to kill myself, never since.",
        "Twenty years ago I took an overdose. That is long over.",
    ],
)
def test_what_is_denied_or_past_and_over_holds_nothing(
    said: str, protocol: str, tmp_path: Path
) -> None:
    async def work(at: Desk) -> None:
        unknown = assessed(Item.SLEEP, Item.MOVING) if protocol == "phq8" else None
        await at.begin(protocol, assessment=unknown)
        await at.say(said)

    with desk(tmp_path, ScriptedAgents()) as at:
        asyncio.run(work(at))
        assert at.snapshot.state is InterviewState.AWAITING
        assert at.snapshot.danger is None


def test_who_stops_ends_it_and_what_is_open_stays_unknown(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(Item.SLEEP, Item.TIRED, Item.MOVING))
        await at.choose("Several days")
        await at.stop()

    with desk(tmp_path) as at:
        asyncio.run(work(at))
        reasons = [at.outcome(item).unknown_reason for item in (Item.TIRED, Item.MOVING)]
    assert at.snapshot.state is InterviewState.DONE
    assert at.snapshot.end_reason is EndReason.STOPPED
    assert reasons == [UnansweredReason.NOT_ANSWERED, UnansweredReason.NOT_ASKED]
    assert at.outcome(Item.SLEEP).score == 1


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param(["some"], id="ambiguous"),
        pytest.param(["I would rather not say"], id="refusing"),
        pytest.param(["My sister bought a red car."], id="off-topic"),
        pytest.param(["😀", "???"], id="no-words"),
        pytest.param(["some", "My sister bought a red car.", "pass"], id="mixed"),
    ],
)
def test_no_item_is_asked_more_than_twice_and_no_wording_comes_twice(
    answers: list[str], tmp_path: Path
) -> None:
    async def work(at: Desk) -> tuple[list[str], Counter[Item | None]]:
        await at.begin()
        texts, items = [], Counter[Item | None]()
        while not at.snapshot.state.is_over:
            texts.append(at.question.text)
            items[at.question.item] += 1
            await at.say(answers[len(texts) % len(answers)])
        return texts, items

    with desk(tmp_path) as at:
        texts, items = asyncio.run(work(at))
    assert len(texts) == len(set(texts)) <= PHQ8.stop.max_turns
    assert max(items.values()) <= 2
    assert all(outcome.score is None for outcome in at.snapshot.items)


def test_the_introduction_is_said_once_and_the_closing_at_the_end(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        first = await at.begin(assessment=assessed(Item.SLEEP, Item.MOVING))
        assert first.notice == PHQ8.texts.introduction
        assert (await at.choose("Several days")).notice == ""
        assert (await at.choose("Several days")).notice == PHQ8.texts.closing

    with desk(tmp_path) as at:
        asyncio.run(work(at))
        speakers = [message.speaker for message in at.snapshot.messages]
    assert speakers.count(MessageSpeaker.PARTICIPANT) == 2
    assert len({message.id for message in at.snapshot.messages}) == len(speakers)
