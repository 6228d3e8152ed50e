"""A correction: of an item that it names, of the one just answered, or asked for where unclear."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.interview.built import OPEN, PROTOCOLS, Desk, assessed, desk, go_on, lead
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.domain.interview import AnswerKind, InterviewState, QuestionPurpose
from ai_psychiatrist.domain.interview_items import Act, UnansweredReason
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.phq8.corrections import item_meant, named_items, taken_back
from ai_psychiatrist.interview.protocol import leading_words
from ai_psychiatrist.interview.protocol.records import CorrectionPolicy

PHQ8 = PROTOCOLS["phq8"]
OF_THE_LAST = [
    ("wait, three days", 1),
    ("I misspoke: most days.", 2),
    ("actually no, more like every day", 3),
    ("sorry, I meant most days", 2),
    ("oops, every day", 3),
    ("Scratch that. Most days.", 2),
    ("my mistake, it was three days", 1),
    ("sorry my English, I mean three days", 1),
]
NAMED = [
    ("about sleep, I said most days, that was wrong. It was three days.", 1),
    ("I would like to correct my answer about sleep: it was three days.", 1),
    ("wait, sleep was every day", 3),
    ("sorry, about the sleep question: three days", 1),
]
NAMES = [
    *[("interest", Item.NO_INTEREST), ("pleasure", Item.NO_INTEREST), ("mood", Item.DEPRESSED)],
    *[("sleep", Item.SLEEP), ("energy", Item.TIRED), ("tiredness", Item.TIRED)],
    *[("appetite", Item.APPETITE), ("eating", Item.APPETITE), ("self-worth", Item.FAILURE)],
    *[("feeling bad about myself", Item.FAILURE), ("concentration", Item.CONCENTRATING)],
    *[("moving", Item.MOVING), ("restlessness", Item.MOVING)],
]
AT_HEAD = [
    ("yes, but about {}, it was nearly every day", 3),
    ("about {}, it was nearly every day", 3),
    ("wait, about {}, it was nearly every day", 3),
    ("about {}, that was wrong, it was ten days", 2),
]
WITHDRAWN = [
    *("I was wrong about sleep", "i got the sleep one wrong", "I lied about sleep, sorry"),
    *("What I said about sleep isn't right.", "Can I change my answer about sleep?"),
    *("about sleep, I said most days, that was wrong.", "I want to go back to the sleep question"),
    *("my answer on sleep was too high", "I'm afraid I was not honest about how I slept"),
]
NOT_CLEAR = [
    *("three days, sorry", "every day, I meant", "five days, not three", "I take that back"),
    *("no, most days", "*three days", "most days for the one before", "I mean three days"),
]
OWN = [
    *("three days", "no, not at all", "a few days... no wait, more like most days", "most days"),
    *("twelve, as I said", "I should say eight days in all", "no trouble. Wait, three days."),
    *("no, one day at most", "wait, my energy was low every day", "I'm not sorry, three days"),
]


@pytest.mark.parametrize("has_model", [False, True], ids=["rules", "model"])
@pytest.mark.parametrize(("said", "score"), [*OF_THE_LAST, *NAMED])
def test_what_is_corrected_is_read_back_and_never_scored_for_the_next_item(
    said: str, score: int, has_model: bool, interviews: InterviewStore
) -> None:
    agents = ScriptedAgents()
    at = lead(interviews, "=Not at all", said, agents=agents if has_model else None)
    assert at.question.purpose is QuestionPurpose.READ_BACK
    assert at.question.text.partition("For trouble with sleep I noted: ")[1]
    assert at.scores(*OPEN) == [None] * 3
    assert agents.asked == []
    go_on(at, "yes")
    sleep = at.outcome(Item.SLEEP)
    assert (sleep.score, sleep.answer_turn, sleep.confirmed_turn) == (score, 2, 3)
    assert sleep.quote is not None
    assert said[sleep.quote.start : sleep.quote.end] == sleep.quote.text
    assert [one.act for one in sleep.said] == [Act.ANSWER, Act.CORRECTION, Act.CONFIRMATION]
    assert (at.question.text, at.asks(Item.TIRED)) == (PHQ8.items[Item.TIRED].question, 1)
    assert Act.ANSWER not in {one.act for one in at.outcome(Item.TIRED).said}


@pytest.mark.parametrize(
    ("before", "name", "item"),
    [
        *(([], name, item) for name, item in NAMES),
        *((["it varied a lot"], *NAMES[at]) for at in (0, 3, 9)),
        *((["three days"], *NAMES[at]) for at in (0, 3, 9)),
    ],
)
@pytest.mark.parametrize(("form", "score"), AT_HEAD)
def test_an_item_named_at_the_head_is_read_back_before_the_question_that_waits(
    form: str, score: int, before: list[str], name: str, item: Item, interviews: InterviewStore
) -> None:
    every = list(Item)
    place = every.index(item) + 1
    waiting = every[place] if place < len(every) else None
    said = ["=Several days"] * place + (before if waiting else [])
    at = lead(interviews, *said, form.format(name), unknown=tuple(Item))
    assert (at.question.item, at.question.purpose) == (item, QuestionPurpose.READ_BACK)
    go_on(at, "yes")
    assert at.scores(item) == [score]
    if waiting is None:
        assert at.question.purpose is QuestionPurpose.REVIEW
    elif before == ["three days"] and form.startswith("yes"):
        assert at.scores(waiting) == [1]
    else:
        assert at.question.item is waiting


@pytest.mark.parametrize(
    ("replies", "scores"),
    [
        (["no", "=Nearly every day"], [3, None]),
        (["every day", "yes"], [3, None]),
        (["=Nearly every day"], [3, None]),
        (["yes", "every day", "yes"], [1, 3]),
    ],
)
def test_what_is_read_back_of_a_correction_may_be_denied_or_replaced(
    replies: list[str], scores: list[int | None], interviews: InterviewStore
) -> None:
    at = lead(interviews, "=Not at all", "wait, three days", *replies)
    assert at.scores(Item.SLEEP, Item.TIRED) == scores


@pytest.mark.parametrize("said", WITHDRAWN)
def test_an_answer_that_was_wrong_is_asked_for_again_and_unknown_until_then(
    said: str, interviews: InterviewStore
) -> None:
    at = lead(interviews, "=Not at all", said)
    assert (at.question.item, at.question.purpose) == (Item.SLEEP, QuestionPurpose.ASK)
    assert at.snapshot.notice == "Let us go back to one question: trouble with sleep."
    assert at.outcome(Item.SLEEP).unknown_reason is UnansweredReason.AMBIGUOUS_ANSWER
    assert at.outcome(Item.SLEEP).said[-1].act is Act.CORRECTION
    go_on(at, "=Nearly every day", "=Several days")
    assert at.scores(*OPEN) == [3, 1, None]
    assert at.asks(Item.TIRED) == 1


@pytest.mark.parametrize(
    "said",
    [
        "three days, but I was wrong about sleep",
        "I got the sleep question wrong. I was tired three days.",
        "three days\nhang on, the one before should be nearly every day",
        "The first question I understood badly, ask me again. As to energy, three days.",
        "about sleep, I told you none, which was in error. Tired on three days.",
    ],
)
def test_the_answer_beside_an_answer_that_was_wrong_is_kept(
    said: str, interviews: InterviewStore
) -> None:
    at = lead(interviews, "=Not at all", said, "=Nearly every day")
    assert at.question.text.endswith("For tiredness I noted: Several days. Is that right?")
    go_on(at, "yes")
    assert at.scores(*OPEN) == [3, 1, None]


@pytest.mark.parametrize(
    ("reply", "scores"),
    [("yes, but I was wrong about sleep", 1), ("I was wrong about sleep", None)],
)
def test_an_answer_that_was_wrong_may_be_named_while_another_is_read_back(
    reply: str, scores: int | None, interviews: InterviewStore
) -> None:
    at = lead(interviews, "=Not at all", "three days", reply)
    assert at.question.item is Item.SLEEP
    assert at.scores(Item.SLEEP, Item.TIRED) == [None, scores]
    go_on(at, "=Nearly every day", "yes", "none")
    assert at.scores(Item.SLEEP, Item.TIRED) == [3, 1]


@pytest.mark.parametrize(
    "said",
    [
        "I was wrong about my energy",
        "my sleep was not right",
        "wrong",
        "as I said about sleep, none. Tired on three days",
    ],
)
def test_what_takes_no_answer_of_another_item_back_opens_none(
    said: str, interviews: InterviewStore
) -> None:
    at = lead(interviews, "=Not at all", said)
    assert at.outcome(Item.SLEEP).score == 0
    assert at.question.item is Item.TIRED


@pytest.mark.parametrize(
    ("reply", "then", "scores"),
    [
        ("wait, about sleep, it was every night", ["yes", "yes"], [3, 1]),
        ("wait, about sleep, it was every night", ["no", "=Not at all", "no"], [0, None]),
        ("no, sleep was every night", ["yes", "yes"], [3, 1]),
        ("yes, but about sleep, it was every night", ["yes"], [3, 1]),
        ("yes. And sleep was every night.", ["yes"], [3, 1]),
        ("yes, but about sleep, I was wrong", ["=Nearly every day"], [3, 1]),
        ("the one before was every night", ["=Nearly every day", "yes"], [3, 1]),
        ("correct my sleep answer, it was every night", ["yes", "yes"], [3, 1]),
        ("I'd rather not say about sleep", ["I'd rather not say", "yes"], [None, 1]),
        ("I was wrong about sleep", ["I'd rather not say", "yes"], [None, 1]),
        ("I'd rather not talk about moving", ["yes"], [0, 1]),
        ("I'd rather not say, as to sleep", ["yes"], [None, 1]),
        ("about moving, I was restless every day", ["yes", "yes"], [0, 1]),
    ],
)
def test_what_is_said_of_another_item_leaves_what_is_read_back_to_be_confirmed(
    reply: str, then: list[str], scores: list[int | None], interviews: InterviewStore
) -> None:
    at = lead(interviews, "=Not at all", "three days", reply, *then)
    assert at.scores(Item.SLEEP, Item.TIRED) == scores


@pytest.mark.parametrize("reply", ["sleep", "the sleep one", "about sleep", "wait, about sleep"])
def test_the_name_of_an_earlier_item_opens_it_and_what_is_read_back_waits(
    reply: str, interviews: InterviewStore
) -> None:
    said = ["=Not at all", "three days", reply]
    at = lead(interviews, *said)
    assert (at.question.item, at.question.purpose) == (Item.SLEEP, QuestionPurpose.ASK)
    go_on(at, "=Nearly every day")
    assert (at.question.item, at.question.purpose) == (Item.TIRED, QuestionPurpose.READ_BACK)
    go_on(at, "yes")
    assert at.scores(Item.SLEEP, Item.TIRED) == [3, 1]


@pytest.mark.parametrize("reply", ["sleep", "energy", "about energy", "Tiredness."])
def test_the_name_of_the_item_or_of_a_later_one_has_it_read_back_again(
    reply: str, interviews: InterviewStore
) -> None:
    at = lead(interviews, "three nights", reply, reply)
    assert (at.question.item, at.question.purpose) == (Item.SLEEP, QuestionPurpose.READ_BACK)
    assert lead(interviews, "three nights", reply, reply, "yes").scores(Item.SLEEP) == [1]


@pytest.mark.parametrize(
    "reply", ["about energy, two days", "energy, two days", "energy: two days", "tired: two days"]
)
def test_a_later_item_that_is_answered_with_its_name_alone_is_kept_and_the_answer_waits(
    reply: str, interviews: InterviewStore
) -> None:
    at = lead(interviews, "seven nights", reply)
    assert (at.question.item, at.question.purpose) == (Item.SLEEP, QuestionPurpose.READ_BACK)
    go_on(at, "yes")
    assert (at.question.item, at.question.purpose) == (Item.TIRED, QuestionPurpose.READ_BACK)
    go_on(at, "yes")
    assert at.scores(Item.SLEEP, Item.TIRED) == [2, 1]


def test_another_item_may_be_corrected_where_a_refused_one_is_offered_again(
    interviews: InterviewStore,
) -> None:
    said = ["pass", "=Not at all", "=Not at all", "no, but I was tired every day"]
    at = lead(interviews, *said)
    assert at.question.text.endswith("For tiredness I noted: Nearly every day. Is that right?")


def test_an_item_further_back_may_be_named(interviews: InterviewStore) -> None:
    said = ["=Not at all", "=Not at all", "sorry, for sleep: every day"]
    at = lead(interviews, *said, "yes", "=Several days")
    assert at.scores(*OPEN) == [3, 0, 1]


def test_the_rest_of_a_message_answers_the_present_question(interviews: InterviewStore) -> None:
    said = "three days. Sleep was every day."
    at = lead(interviews, "=Not at all", said)
    assert at.question.purpose is QuestionPurpose.READ_BACK
    go_on(at, "yes", "yes")
    assert at.scores(*OPEN) == [3, 1, None]
    assert at.outcome(Item.SLEEP).answer_turn == at.outcome(Item.TIRED).answer_turn == 2


def test_what_is_said_of_an_item_before_its_turn_is_kept_and_read_back_then(
    interviews: InterviewStore,
) -> None:
    said = "three days. My energy was low every day."
    at = lead(interviews, said, "yes")
    assert at.question.text == (
        "You said “My energy was low every day”. "
        "For tiredness I noted: Nearly every day. Is that right?"
    )
    assert at.scores(*OPEN) == [1, None, None]
    go_on(at, "yes")
    quote = at.outcome(Item.TIRED).quote
    assert at.scores(*OPEN) == [1, 3, None]
    assert quote is not None
    assert said[quote.start : quote.end] == quote.text
    at = lead(interviews, said, "stop", "yes")
    assert at.scores(*OPEN) == [None] * 3


@pytest.mark.parametrize("said", OWN)
def test_an_answer_of_its_own_is_the_answer_to_its_question(
    said: str, interviews: InterviewStore
) -> None:
    at = lead(interviews, "=Several days", said)
    assert at.outcome(Item.SLEEP).score == 1
    assert at.question.purpose is not QuestionPurpose.WHICH_ITEM
    assert Act.CORRECTION not in {one.act for one in at.outcome(Item.SLEEP).said}


@pytest.mark.parametrize("said", NOT_CLEAR)
def test_where_it_is_not_clear_the_person_is_asked_which_one_is_meant(
    said: str, interviews: InterviewStore
) -> None:
    at = lead(interviews, "=Several days", said)
    assert at.scores(Item.SLEEP, Item.TIRED) == [None, None]
    assert (
        at.question.text
        == "I want to be sure which question you mean: trouble with sleep, or tiredness?"
    )
    assert [(option.text, option.kind) for option in at.question.options] == [
        ("An earlier question: trouble with sleep", AnswerKind.ITEM),
        ("The question just asked: tiredness", AnswerKind.ITEM),
        ("Please ask me again", AnswerKind.ASK_AGAIN),
        ("I prefer not to say", AnswerKind.DECLINE),
    ]


@pytest.mark.parametrize(
    ("reply", "about"),
    [
        *(
            (way, Item.SLEEP)
            for way in ("=An earlier question: trouble with sleep", "sleep", "The one before.")
        ),
        *((way, Item.TIRED) for way in ("=The question just asked: tiredness", "energy")),
    ],
)
def test_the_correction_is_of_the_item_that_the_person_says(
    reply: str, about: Item, interviews: InterviewStore
) -> None:
    said = ["=Several days", "every day, sorry", reply]
    at = lead(interviews, *said)
    assert at.question.purpose is QuestionPurpose.READ_BACK
    assert at.outcome(about).score is None
    go_on(at, "yes")
    is_sleep = about is Item.SLEEP
    assert at.scores(Item.SLEEP, Item.TIRED) == ([3, None] if is_sleep else [1, 3])
    assert at.outcome(about).answer_turn == 2
    if is_sleep:
        assert [one.act for one in at.outcome(about).said][:2] == [Act.ANSWER, Act.CORRECTION]
        assert (at.question.item, at.asks(Item.TIRED)) == (Item.TIRED, 1)


@pytest.mark.parametrize(
    "reply",
    [
        *("=Please ask me again", "both", "yes", "no", "I don't know", "my cat"),
        *("sleep and energy", "sleep, but three days"),
    ],
)
def test_a_reply_that_does_not_say_which_leaves_both_to_be_asked_again(
    reply: str, interviews: InterviewStore
) -> None:
    at = lead(interviews, "=Several days", "every day, sorry", reply)
    assert at.scores(Item.SLEEP, Item.TIRED) == [None, None]
    go_on(at, *["=Several days"] * 3)
    assert at.scores(*OPEN) == [1, 1, 1]


@pytest.mark.parametrize("reply", ["=I prefer not to say", "I'd rather not say"])
def test_a_refusal_to_say_which_declines_the_present_item_and_reads_the_earlier_one_back(
    reply: str, interviews: InterviewStore
) -> None:
    said = ["=Several days", "every day, sorry", reply]
    at = lead(interviews, *said)
    assert at.question.text.endswith("For trouble with sleep I noted: Several days. Is that right?")
    go_on(at, "yes")
    assert at.scores(Item.SLEEP, Item.TIRED) == [1, None]
    assert at.outcome(Item.TIRED).unknown_reason is UnansweredReason.DECLINED


@pytest.mark.parametrize("said", ["wait, three days", "every day, sorry"])
@pytest.mark.parametrize("ending", ["stop", "I want to kill myself."])
def test_an_interview_that_ends_meanwhile_leaves_what_was_not_said(
    said: str, ending: str, interviews: InterviewStore
) -> None:
    at = lead(interviews, "=Several days", said, ending, *["yes"] * (ending == "stop"))
    assert at.snapshot.state.is_over
    assert at.scores(*OPEN) == [None] * 3
    assert at.outcome(Item.SLEEP).unknown_reason in {
        UnansweredReason.AMBIGUOUS_ANSWER,
        UnansweredReason.SAFETY_HOLD,
    }


def test_whoever_corrects_everything_comes_to_an_end(interviews: InterviewStore) -> None:
    async def work(at: Desk) -> None:
        await at.begin()
        while not at.snapshot.state.is_over:
            await at.say("three days, sorry")

    with desk(interviews) as at:
        asyncio.run(work(at))
    assert at.snapshot.turn <= 80
    assert len({one.current for one in at.snapshot.corrections}) == len(at.snapshot.corrections)
    assert max(goal.asks for goal in at.snapshot.goals) <= 3


def test_the_question_is_worded_as_the_protocol_has_it(interviews: InterviewStore) -> None:
    own = CorrectionPolicy(
        question="Is that {earlier}, or {current}?",
        earlier="Before: {item}",
        current="Now: {item}",
        again="Ask again",
    )
    answers = PHQ8.answers.model_copy(update={"correction": own})
    protocols = {"phq8": PHQ8.model_copy(update={"answers": answers})}
    at = lead(interviews, "=Several days", "every day, sorry", protocols=protocols)
    assert at.question.text == "Is that trouble with sleep, or tiredness?"
    offered = [option.text for option in at.question.options]
    assert offered == [
        "Before: trouble with sleep",
        "Now: tiredness",
        "Ask again",
        "I prefer not to say",
    ]
    assert leading_words(PHQ8.answers.correction.question) == ()


@pytest.mark.parametrize(
    ("said", "replies"),
    [("every day, sorry", ["sleep", "yes"]), ("wait, every day", ["yes"])],
)
def test_an_open_correction_outlives_a_restart(
    said: str, replies: list[str], interviews: InterviewStore
) -> None:
    async def begin(at: Desk) -> str:
        await at.begin(assessment=assessed(*OPEN))
        return (await at.answer("=Several days", said)).id

    async def go_on(at: Desk) -> None:
        at.snapshot = await at.service.get(interview_id)
        await at.answer(*replies)

    with desk(interviews) as at:
        interview_id = asyncio.run(begin(at))
    with desk(interviews) as at:
        asyncio.run(go_on(at))
    assert at.scores(*OPEN) == [3, None, None]
    assert at.snapshot.state is InterviewState.AWAITING


@given(
    current=st.sampled_from(Item),
    earlier=st.sampled_from(Item),
    text=st.one_of(
        st.text(max_size=200),
        st.lists(
            st.sampled_from("no wait sorry I meant three days every day . , ? sleep not".split())
        ).map(" ".join),
    ),
)
def test_any_text_is_taken_apart_within_bounds(current: Item, earlier: Item, text: str) -> None:
    found = taken_back(current, earlier, text)
    assert found is None or 0 <= found.start <= len(text)
    assert set(named_items(text, Item)) <= set(Item)
    assert item_meant(text, [earlier], current) in {None, earlier, current}


@pytest.mark.parametrize(
    "unit", ["wait ", "no ", "sorry, ", "actually no three days. ", "i meant "]
)
def test_words_again_and_again_are_taken_apart_in_little_time(unit: str) -> None:
    text = unit * (3_990 // len(unit))
    found = taken_back(Item.TIRED, Item.SLEEP, text)
    assert found is None or found.start < len(text)
