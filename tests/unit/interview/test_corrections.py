"""A correction without a name right after an answer: the person is asked which one is meant."""

import asyncio
from collections.abc import Callable, Coroutine
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.interview.built import PROTOCOLS, Desk, assessed, desk
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.domain.interview import AnswerKind, EndReason, InterviewState
from ai_psychiatrist.domain.interview_items import ItemSource, UnansweredReason
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.corrections import (
    correction_start,
    meant_by_place,
    named_items,
)
from ai_psychiatrist.interview.protocol import leading_words
from ai_psychiatrist.interview.protocol.records import CorrectionPolicy

UNNAMED = [
    ("wait, three days", 1),
    ("sorry, I meant most days", 2),
    ("actually no, more like every day", 3),
    ("hm, rather five days", 1),
    ("hm, rather five", 1),
    ("no wait, not at all", 0),
    ("No, most days.", 2),
    ("nope, every day", 3),
    ("I mean three days", 1),
    ("oops, nearly every day", 3),
    ("Scratch that. Most days.", 2),
    ("make that 5 days", 1),
    ("my mistake, it was never", 0),
    ("That was wrong: three days", 1),
    ("I changed my mind, every day", 3),
    ("can I change my answer? most days", 2),
    ("it should have been three days", 1),
    ("uh sorry no, every day", 3),
    ("three days, sorry", 1),
    ("every day, I meant", 3),
    ("five days, not three", 1),
    ("wait, it was worse", None),
    ("I take that back", None),
    ("no wait", None),
    ("WAIT, THREE DAYS", 1),
    ("let me rephrase: most days", 2),
    ("my answer was wrong, it's every day", 3),
    ("I pressed the wrong one, never", 0),
    ("more than that actually, every day", 3),
    ("hmm no, worse than that", None),
    ("put three days instead", 1),
    ("*three days", 1),
]
WITH_THE_NEXT = [
    "not at all. And for the last one three days",
    "No. Oh, and the previous question should be most days.",
    "sorry, I meant most days. And this one never.",
    "Not at all. Sorry, I meant most days.",
    "never, and I said two days before but it is three",
    "every day. My first answer was wrong, that's several days.",
]
OWN = [
    ("not at all", 0),
    ("no, not at all", 0),
    ("No, I'm not tired.", 0),
    ("a few days... no wait, more like most days", 2),
    ("Not at all. That's a lie. Every day.", 3),
    ("well, most days", 2),
    ("hm, maybe three days", 1),
    ("no, sorry", 0),
    ("sorry, I'm tired most days", 2),
    ("sorry, what do you mean?", None),
    ("sorry, I don't know", None),
    ("no, just one day", 0),
    ("no, not every day", None),
    ("Not most days, not nearly.", None),
    ("sometimes... wait, three days", 1),
    ("I'd put it at eight days", 2),
    ("it varies", None),
    ("hang on, somebody's at the door", None),
    ("sorry, I'd rather not say", None),
]
EARLIER = ("=An earlier question: Sleep", "sleep", "The one before.", "I meant the sleep one")
CURRENT = ("=The question just asked: Energy", "energy", "the current")
WITH_MODEL = 6
"""Of every so many wordings one is said where agents answer too, whom none of it reaches."""


def by_rules_and_some_by_model(*said: object) -> list[tuple[object, bool]]:
    """Return each with whether a model is there: without, and of every few with one as well."""
    return [(one, False) for one in said] + [(one, True) for one in said[::WITH_MODEL]]


def each_with_one_of(ways: tuple[str, ...]) -> list[tuple[str, int | None, str]]:
    """Return each correction with one way to say which is meant, all of them in turn."""
    return [(*one, way) for one, way in zip(UNNAMED, cycle(ways), strict=False)]


Work = Callable[[Desk], Coroutine[Any, Any, None]]


def lead(
    folder: Path,
    *said: str,
    has_model: bool = False,
    unknown: tuple[Item, ...] = (Item.SLEEP, Item.TIRED, Item.MOVING),
) -> tuple[Desk, ScriptedAgents]:
    """Lead an interview; what begins with `=` chooses the answer that is worded so."""
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(*unknown))
        for text in said:
            await (at.choose(text[1:]) if text.startswith("=") else at.say(text))

    with desk(folder, agents if has_model else None) as at:
        asyncio.run(work(at))
    return at, agents


def scores(at: Desk, *items: Item) -> list[int | None]:
    return [at.outcome(item).score for item in items]


@pytest.mark.parametrize(
    ("said", "has_model"),
    by_rules_and_some_by_model(*(said for said, _ in UNNAMED), *WITH_THE_NEXT),
)
def test_neither_item_is_scored_before_the_person_says_which(
    said: str, has_model: bool, tmp_path: Path
) -> None:
    at, agents = lead(tmp_path, "several days", said, has_model=has_model)
    assert scores(at, Item.SLEEP, Item.TIRED) == [None, None]
    assert at.snapshot.state is InterviewState.AWAITING
    assert "sleep" in at.question.text
    assert "energy" in at.question.text
    assert [(option.text, option.kind) for option in at.question.options] == [
        ("An earlier question: Sleep", AnswerKind.ITEM),
        ("The question just asked: Energy", AnswerKind.ITEM),
        ("Please ask me again", AnswerKind.ASK_AGAIN),
        ("I prefer not to say", AnswerKind.DECLINE),
    ]
    assert agents.asked == []


@pytest.mark.parametrize(
    ("meant", "has_model"), by_rules_and_some_by_model(*each_with_one_of(EARLIER))
)
def test_what_is_meant_for_the_earlier_item_replaces_its_answer(
    meant: tuple[str, int | None, str], has_model: bool, tmp_path: Path
) -> None:
    said, score, earlier = meant
    at, _ = lead(tmp_path, "=Several days", said, earlier, has_model=has_model)
    sleep = at.outcome(Item.SLEEP)
    assert sleep.score == score
    assert at.outcome(Item.TIRED).score is None
    if score is None:
        # It is asked about again; then the question that is still to be answered.
        assert at.question.item is Item.SLEEP
        at, _ = lead(_fresh(tmp_path), "=Several days", said, earlier, "most days")
        assert at.outcome(Item.SLEEP).score == 2
    else:
        assert (sleep.source, sleep.answer_turn) == (ItemSource.ANSWER, 2)
        assert sleep.quote is not None
        assert said[sleep.quote.start : sleep.quote.end] == sleep.quote.text
    assert at.question.item is Item.TIRED
    assert any(option.kind is AnswerKind.ANCHOR for option in at.question.options)


def _fresh(folder: Path) -> Path:
    (folder / "fresh").mkdir()
    return folder / "fresh"


@pytest.mark.parametrize(("said", "score", "current"), each_with_one_of(CURRENT))
def test_what_is_meant_for_the_current_item_is_its_answer(
    said: str, score: int | None, current: str, tmp_path: Path
) -> None:
    at, _ = lead(tmp_path, "several days", said, current)
    assert scores(at, Item.SLEEP, Item.TIRED) == [1, score]
    assert at.question.item is (Item.TIRED if score is None else Item.MOVING)


@pytest.mark.parametrize(
    "reply",
    [
        *("=Please ask me again", "both", "neither", "yes", "no", "I don't know", "three days"),
        *("not the sleep one", "sleep and energy", "sleep, but every day", "my cat is asleep"),
    ],
)
def test_a_reply_that_does_not_say_which_leaves_both_to_be_asked_again(
    reply: str, tmp_path: Path
) -> None:
    at, _ = lead(tmp_path, "several days", "wait, three days", reply)
    assert scores(at, Item.SLEEP, Item.TIRED) == [None, None]
    reasons = {at.outcome(item).unknown_reason for item in (Item.SLEEP, Item.TIRED)}
    assert reasons == {UnansweredReason.AMBIGUOUS_ANSWER}
    at, _ = lead(
        _fresh(tmp_path), "several days", "wait, three days", reply, *["=Several days"] * 3
    )
    assert at.snapshot.end_reason is EndReason.ALL_RESOLVED
    assert scores(at, Item.SLEEP, Item.TIRED, Item.MOVING) == [1, 1, 1]


@pytest.mark.parametrize("reply", ["=I prefer not to say", "I'd rather not say"])
def test_who_refuses_to_say_which_has_refused_both(reply: str, tmp_path: Path) -> None:
    at, _ = lead(tmp_path, "several days", "wait, three days", reply, "never", "no", "no")
    assert at.snapshot.state is InterviewState.DONE
    for item in (Item.SLEEP, Item.TIRED):
        assert at.outcome(item).unknown_reason is UnansweredReason.DECLINED


@pytest.mark.parametrize(("answer", "has_model"), by_rules_and_some_by_model(*OWN))
def test_an_answer_of_its_own_is_not_asked_about(
    answer: tuple[str, int | None], has_model: bool, tmp_path: Path
) -> None:
    said, score = answer
    at, _ = lead(tmp_path, "several days", said, has_model=has_model)
    assert scores(at, Item.SLEEP, Item.TIRED) == [1, score]
    assert all(option.kind is not AnswerKind.ITEM for option in at.question.options)


def test_a_correction_within_the_same_item_is_its_own(tmp_path: Path) -> None:
    at, _ = lead(tmp_path, "some", "wait, three days")
    assert at.outcome(Item.SLEEP).score == 1


def test_the_first_answer_of_all_corrects_nothing(tmp_path: Path) -> None:
    at, _ = lead(tmp_path, "wait, three days")
    assert at.outcome(Item.SLEEP).score == 1


def test_an_item_further_back_that_is_named_can_be_chosen(tmp_path: Path) -> None:
    at, _ = lead(tmp_path, "several days", "most days", "sorry, for sleep: every night")
    assert [option.text for option in at.question.options[:3]] == [
        "An earlier question: Energy",
        "An earlier question: Sleep",
        "The question just asked: Slowed or restless",
    ]
    at, _ = lead(
        _fresh(tmp_path),
        *("several days", "most days", "wait, it's three nights with my sleep"),
        "=An earlier question: Sleep",
    )
    assert scores(at, Item.SLEEP, Item.TIRED, Item.MOVING) == [1, 2, None]


def test_a_second_correction_in_place_of_the_same_answer_scores_nothing(tmp_path: Path) -> None:
    at, _ = lead(
        tmp_path, "several days", "wait, three days", "the one before", "no, rather every day"
    )
    assert scores(at, Item.SLEEP, Item.TIRED) == [None, None]
    assert any(option.kind is AnswerKind.ANCHOR for option in at.question.options)


@pytest.mark.parametrize("end", ["stop", "I want to kill myself."])
def test_an_interview_that_ends_meanwhile_leaves_both_unknown(end: str, tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(Item.SLEEP, Item.TIRED))
        await at.say("several days")
        await at.say("wait, three days")
        await (at.stop() if end == "stop" else at.say(end))

    with desk(tmp_path) as at:
        asyncio.run(work(at))
    assert at.snapshot.state.is_over
    assert scores(at, Item.SLEEP, Item.TIRED) == [None, None]
    assert at.outcome(Item.SLEEP).unknown_reason is UnansweredReason.AMBIGUOUS_ANSWER


def test_whoever_corrects_everything_comes_to_an_end(tmp_path: Path) -> None:
    async def work(at: Desk) -> list[str]:
        await at.begin()
        texts = []
        while not at.snapshot.state.is_over:
            texts.append(at.question.text)
            await at.say("sorry, I meant three days")
        return texts

    with desk(tmp_path) as at:
        texts = asyncio.run(work(at))
    assert len(texts) == len(set(texts)) <= PROTOCOLS["phq8"].stop.max_turns
    assert len({one.current for one in at.snapshot.corrections}) == len(at.snapshot.corrections)
    assert max(goal.asks for goal in at.snapshot.goals) <= 2


def test_the_question_is_worded_as_the_protocol_has_it(tmp_path: Path) -> None:
    phq8 = PROTOCOLS["phq8"]
    own = CorrectionPolicy(
        question="Is that {earlier}, or {current}?",
        earlier="Before: {item}",
        current="Now: {item}",
        again="Ask again",
    )
    answers = phq8.answers.model_copy(update={"correction": own})

    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(Item.SLEEP, Item.TIRED))
        await at.say("several days")
        await at.say("wait, every day")

    protocol = phq8.model_copy(update={"answers": answers})
    with desk(tmp_path, protocols={"phq8": protocol}) as at:
        asyncio.run(work(at))
    assert at.question.text == "Is that sleep, or energy?"
    offered = [option.text for option in at.question.options]
    assert offered == ["Before: Sleep", "Now: Energy", "Ask again", "I prefer not to say"]
    assert leading_words(phq8.answers.correction.question) == ()


def test_an_open_correction_outlives_a_restart(tmp_path: Path) -> None:
    async def begin(at: Desk) -> str:
        await at.begin(assessment=assessed(Item.SLEEP, Item.TIRED))
        await at.say("several days")
        return (await at.say("wait, every day")).id

    async def go_on(at: Desk) -> None:
        at.snapshot = await at.service.get(interview_id)
        await at.say("sleep")

    with desk(tmp_path) as at:
        interview_id = asyncio.run(begin(at))
    with desk(tmp_path) as at:
        asyncio.run(go_on(at))
        assert scores(at, Item.SLEEP, Item.TIRED) == [3, None]


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
    start = correction_start(current, earlier, text)
    assert start is None or 0 <= start <= len(text)
    assert set(named_items(text, Item)) <= set(Item)
    assert meant_by_place(text) is meant_by_place(text)


@pytest.mark.parametrize(
    "unit", ["wait ", "no ", "sorry, ", "actually no three days. ", "i meant "]
)
def test_words_again_and_again_are_taken_apart_in_little_time(unit: str) -> None:
    text = unit * (3_990 // len(unit))
    assert correction_start(Item.TIRED, Item.SLEEP, text) in {None, *range(len(text))}
