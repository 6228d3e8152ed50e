"""What a message of the person does, in several registers, and what the interview does then."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.interview.built import OPEN, PROTOCOLS, RIGHT, Desk, assessed, desk, go_on, lead
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.domain.interview import (
    AnswerKind,
    EndReason,
    GivenAnswer,
    InterviewState,
    QuestionPurpose,
)
from ai_psychiatrist.domain.interview_items import Act, UnansweredReason
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.acts import Topic, acts_in, without
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.messages import Message, read_message

PHQ8 = PROTOCOLS["phq8"]
SAYS = PHQ8.conversation

# Of each act formal, colloquial and non-native wordings.
STOP = [
    *("I would like to end the interview here.", "Could we stop now, please?"),
    *("nah I'm done", "ok that's enough lol", "im done with this", "stop"),
    *("I want finish now please", "I no want to continue", "please stop this"),
]
PAUSE = [
    *("May we continue later, please?", "I need a short break.", "Could we continue tomorrow?"),
    *("brb", "gotta go", "hang on a sec", "sorry, doorbell", "phone's ringing", "later", "afk"),
    *("I must go now", "wait a minute please", "one moment please"),
]
FRAGMENT = [
    *("Good morning.", "Dear Sir or Madam", "Hello, how are you?"),
    *("hi", "yo", "hmm", "...", "🤔", "😀", "let me think", "ok so", "well", "I mean"),
]
REFUSAL = [
    *("I would prefer not to answer this question.", "I'd rather not say.", "pass", "skip"),
    *("I don't want to talk about that", "no comment", "next question please", "Can we skip it?"),
]
QUESTION = {
    Topic.MEANING: [
        *("Could you please explain the question?", "What exactly do you mean?"),
        *("huh?", "wdym?", "you mean like tired?", "come again?"),
        *("sorry, I not understand this word", "what means worn out?"),
        *("is that in the body or in the mind?", "whole days?", "tired when I get up or later?"),
    ],
    Topic.OTHER: [
        *("Have you read the news?", "What is the weather like today?", "Who won the match?"),
        *("and what do you think about the president?", "u ever been to paris or rome?"),
    ],
    Topic.CAUSES: [
        *("Does it count if I was ill?", "Should I include days when I had the flu?"),
        *("even if its cuz of my knee?", "does grief count?", "also when I was sick?"),
    ],
    Topic.PURPOSE: [
        *("May I ask what this is for?", "Why do you need to know that?"),
        *("what's the point of this?", "why u asking", "For what is this?"),
    ],
    Topic.READERS: [
        *("Who will read my answers?", "Is this confidential?"),
        *("who sees this", "does my boss get this?", "Who can read this?"),
    ],
    Topic.LENGTH: ["How many questions are left?", "how much longer?"],
    Topic.PERSON: ["Am I talking to a real person?", "are you a bot?", "r u real?"],
    Topic.PERIOD: ["Which two weeks do you mean?", "Does today count?", "since when?"],
}
ANSWERS = [
    *("three days", "not at all", "I stop eating every day", "I never finish anything"),
    *("I want to stop feeling tired", "I can't go on like this", "the bus was late"),
    *("I had to stop working three days", "my phone rings every night"),
    *("most days I have to go to work and it wears me out", "every day I have had enough"),
]


def read(text: str) -> Message:
    return read_message(
        GivenAnswer(question_id="q1", option_id=None, text=text, turn=1), Item.TIRED
    )


@pytest.mark.parametrize(
    ("text", "act", "topic"),
    [
        *((text, Act.STOP, None) for text in STOP),
        *((text, Act.PAUSE, None) for text in PAUSE),
        *((text, Act.FRAGMENT, None) for text in FRAGMENT),
        *((text, Act.QUESTION, topic) for topic, texts in QUESTION.items() for text in texts),
    ],
)
def test_an_act_is_known_in_every_register(text: str, act: Act, topic: Topic | None) -> None:
    message = read(text)
    assert {one.act for one in message.acts} == {act}
    assert message.topic is topic
    assert not message.says_how_often
    assert not message.is_refusal


@pytest.mark.parametrize("text", REFUSAL)
def test_a_refusal_is_one_where_its_object_is_the_question(text: str) -> None:
    assert read(text).is_refusal


@pytest.mark.parametrize("text", ANSWERS)
def test_what_speaks_of_the_difficulty_is_no_act(text: str) -> None:
    message = read(text)
    assert message.acts == ()
    assert not message.is_refusal


@pytest.mark.parametrize(
    ("text", "acts", "rest"),
    [
        ("three days. I want to stop now.", [Act.STOP], "three days."),
        ("most days, gotta go", [Act.PAUSE], "most days,"),
        ("Good morning. Every day.", [Act.FRAGMENT], "Every day."),
        ("hi! who reads this? three days", [Act.FRAGMENT, Act.QUESTION], "three days"),
        ("hang on, three days", [], "hang on, three days"),
    ],
)
def test_of_a_message_that_does_several_things_each_is_known(
    text: str, acts: list[Act], rest: str
) -> None:
    found = acts_in(text)
    assert [one.act for one in found if one.act in acts] == acts
    assert without(text, found).strip() == rest


@given(
    text=st.one_of(
        st.text(min_size=1, max_size=300),
        st.lists(st.sampled_from(STOP + PAUSE), min_size=1).map(" ".join),
    )
)
def test_any_text_has_acts_within_it_and_always_the_same(text: str) -> None:
    found = acts_in(text)
    assert found == acts_in(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert len(without(text, found)) == len(text)


@pytest.mark.parametrize("unit", ["stop ", "um ", "what? ", "i mean, ", "🤔", "hang on. "])
def test_words_again_and_again_are_read_in_little_time(unit: str) -> None:
    assert isinstance(acts_in(unit * (3_990 // len(unit))), tuple)


@pytest.mark.parametrize("has_model", [False, True], ids=["rules", "model"])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hi", SAYS.wait),
        ("🤔", SAYS.wait),
        ("👍", SAYS.wait),
        ("What exactly do you mean?", PHQ8.items[Item.SLEEP].explanation),
        ("does grief count?", SAYS.explanations[Topic.CAUSES]),
        ("what's the point of this?", SAYS.explanations[Topic.PURPOSE]),
        ("who sees this", SAYS.explanations[Topic.READERS]),
        ("Have you read the news?", SAYS.explanations[Topic.OTHER]),
        ("how much longer?", "There are at most 3 questions; this is number 1."),
    ],
)
def test_what_holds_no_answer_costs_no_ask_and_the_question_is_put_again(
    text: str, told: str, has_model: bool, interviews: InterviewStore
) -> None:
    agents = ScriptedAgents()
    at = lead(interviews, *[text] * 4, agents=agents if has_model else None)
    assert at.question.text == PHQ8.items[Item.SLEEP].question
    assert at.snapshot.notice == told
    assert (at.asks(Item.SLEEP), at.snapshot.turn) == (1, 4)
    assert at.scores(*OPEN) == [None] * 3
    assert agents.asked == []
    assert {one.item for one in at.snapshot.acts} == {Item.SLEEP}


def test_talk_about_something_else_costs_an_ask_and_is_led_back(interviews: InterviewStore) -> None:
    at = lead(interviews, "My sister bought a red car.")
    assert (at.question.item, at.asks(Item.SLEEP)) == (Item.SLEEP, 2)
    assert at.question.text == PHQ8.items[Item.SLEEP].second_ask
    assert at.snapshot.notice == PHQ8.texts.redirect
    assert [one.act for one in at.snapshot.acts] == [Act.OFF_TOPIC]
    go_on(at, "It has a radio.")
    assert (at.question.item, at.snapshot.notice) == (Item.TIRED, "")
    assert at.outcome(Item.SLEEP).unknown_reason is UnansweredReason.OFF_TOPIC


def test_a_question_beside_an_answer_is_answered_and_the_answer_taken(
    interviews: InterviewStore,
) -> None:
    at = lead(interviews, "three days. Who reads this?")
    assert at.snapshot.notice == SAYS.explanations[Topic.READERS]
    assert at.question.purpose is QuestionPurpose.READ_BACK


@pytest.mark.parametrize("again", ["yes", "stop", "ok, let's stop", "=Yes"])
def test_a_wish_to_stop_is_confirmed_once_and_ends_the_interview(
    again: str, interviews: InterviewStore
) -> None:
    at = lead(interviews, "=Several days", "nah I'm done")
    assert (at.question.text, at.question.purpose) == (
        SAYS.stop.question,
        QuestionPurpose.CONFIRM_STOP,
    )
    go_on(at, again)
    assert (at.snapshot.state, at.snapshot.end_reason) == (InterviewState.DONE, EndReason.STOPPED)
    assert at.snapshot.notice == PHQ8.texts.closing
    reasons = [at.outcome(item).unknown_reason for item in OPEN]
    assert reasons == [None, UnansweredReason.NOT_ANSWERED, UnansweredReason.NOT_ASKED]


@pytest.mark.parametrize("reply", ["no", "=No", "my cat is asleep"])
def test_without_a_yes_it_goes_on_where_it_stood(reply: str, interviews: InterviewStore) -> None:
    at = lead(interviews, "=Several days", "stop", reply)
    assert at.question.text == PHQ8.items[Item.TIRED].question
    assert (at.asks(Item.TIRED), at.asks(Item.MOVING)) == (1, 0)


def test_an_answer_in_the_place_of_the_yes_is_for_the_question_behind(
    interviews: InterviewStore,
) -> None:
    at = lead(interviews, "=Several days", "stop", "three days", "yes")
    assert at.scores(*OPEN) == [1, 1, None]
    assert at.outcome(Item.TIRED).answer_turn == 3


@pytest.mark.parametrize(
    ("said", "replies", "score"),
    [
        ("three days. I want to stop now.", ["no", "yes"], 1),
        ("three days. I want to stop now.", ["no", "no", "=Nearly every day"], 3),
        ("nearly every day. I want to stop now.", ["no"], 3),
        ("nearly every day. I want to stop now.", ["yes"], 3),
        ("three days. I want to stop now.", ["yes"], None),
        ("most days, gotta go", ["back", "yes"], 2),
        ("most days, gotta go", ["yes"], 2),
        ("nearly every day, gotta go", ["back"], 3),
    ],
)
def test_what_is_answered_beside_a_stop_or_a_pause_is_not_lost_and_not_counted_unread(
    said: str, replies: list[str], score: int | None, interviews: InterviewStore
) -> None:
    at = lead(interviews, said, *replies)
    assert at.outcome(Item.SLEEP).score == score
    first = at.outcome(Item.SLEEP).said[0]
    assert (first.act, said.startswith(first.words)) == (Act.ANSWER, True)
    if not at.snapshot.state.is_over:
        assert (at.question.item, at.asks(Item.TIRED)) == (Item.TIRED, 1)


@pytest.mark.parametrize("text", ["brb", "May we continue later, please?", "I must go now"])
def test_a_pause_keeps_its_place_and_who_comes_back_is_told_where_it_stood(
    text: str, interviews: InterviewStore
) -> None:
    at = lead(interviews, "=Several days", text)
    assert (at.snapshot.state, at.snapshot.notice) == (InterviewState.PAUSED, SAYS.paused)
    go_on(at, "I'm back")
    assert at.snapshot.state is InterviewState.AWAITING
    assert at.snapshot.notice == "Welcome back. We were at question 2 of 3."
    assert at.question.text == PHQ8.items[Item.TIRED].question
    assert at.asks(Item.TIRED) == 1
    at = lead(interviews, "=Several days", text, "=Nearly every day")
    assert at.outcome(Item.TIRED).score == 3


@pytest.mark.parametrize(
    ("before", "purpose"),
    [
        (["three days"], QuestionPurpose.READ_BACK),
        (["=Several days", "three days, sorry"], QuestionPurpose.WHICH_ITEM),
        (["pass", "=Not at all", "=Not at all"], QuestionPurpose.ONCE_MORE),
        (["=Several days"] * 3, QuestionPurpose.REVIEW),
    ],
)
def test_every_question_outlasts_a_pause_a_question_back_and_a_fragment(
    before: list[str], purpose: QuestionPurpose, interviews: InterviewStore
) -> None:
    plain = lead(interviews, *before)
    at = lead(interviews, *before, "brb", "back", "who reads this?", "hi")
    assert at.question.purpose is plain.question.purpose is purpose
    assert at.question.text == plain.question.text
    assert at.question.options == plain.question.options
    assert at.scores(*OPEN) == plain.scores(*OPEN)


@pytest.mark.parametrize("text", ["hi", "who reads this?"])
def test_who_only_asks_back_or_greets_is_asked_to_choose_in_the_end(
    text: str, interviews: InterviewStore
) -> None:
    first, explained, asked = (lead(interviews, *[text] * times) for times in (0, 4, 5))
    assert explained.question.text == first.question.text
    assert asked.question.text != first.question.text
    assert [one.kind for one in asked.question.options].count(AnswerKind.ANCHOR) == 4

    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(*OPEN))
        while not at.snapshot.state.is_over:
            await at.say(text)

    with desk(interviews) as over:
        asyncio.run(work(over))
    assert (over.snapshot.state, over.snapshot.end_reason) == (
        InterviewState.DONE,
        EndReason.ASKS_SPENT,
    )
    assert over.scores(*OPEN) == [None] * len(OPEN)


@pytest.mark.parametrize("text", ["brb", "stop", "sleep three days"])
def test_who_never_answers_comes_to_an_end(text: str, interviews: InterviewStore) -> None:
    replies = {"brb": "back", "stop": "no"}
    said = [text, replies.get(text, text)] * 41

    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(*OPEN))
        await at.answer(*said[:79])
        assert not at.snapshot.state.is_over
        for one in said[79:]:
            if not at.snapshot.state.is_over:
                await at.say(one)

    with desk(interviews) as at:
        asyncio.run(work(at))
    assert (at.snapshot.state, at.snapshot.end_reason) == (
        InterviewState.DONE,
        EndReason.TURNS_SPENT,
    )
    assert at.scores(*OPEN)[1:] == [None, None]


def test_the_report_lists_what_was_said_to_each_item_with_how_it_was_read(
    interviews: InterviewStore,
) -> None:
    at = lead(
        interviews,
        *("hi", "three days", "yes", "My sister bought a red car.", "pass"),
        *("most days", "no", "=Several days", RIGHT),
    )
    said = {item: at.outcome(item).said for item in OPEN}
    assert [(one.turn, one.words, one.act, one.score) for one in said[Item.SLEEP]] == [
        (1, "hi", Act.FRAGMENT, None),
        (2, "three days", Act.ANSWER, 1),
        (3, "yes", Act.CONFIRMATION, None),
    ]
    assert [(one.words, one.act) for one in said[Item.TIRED]] == [
        ("My sister bought a red car.", Act.OFF_TOPIC),
        ("pass", Act.REFUSAL),
    ]
    assert [(one.words, one.act, one.score) for one in said[Item.MOVING]] == [
        ("most days", Act.ANSWER, 2),
        ("no", Act.DENIAL, None),
        ("Several days", Act.ANSWER, 1),
    ]
    assert at.outcome(Item.TIRED).unknown_reason is UnansweredReason.DECLINED
