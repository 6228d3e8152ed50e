"""Free answers to questions that count days."""

import tomllib
from itertools import product
from pathlib import Path
from typing import Final

import pytest
from benchmarks.interview_answers import CORRECTIONS, HELD_OUT, TUNED, readings
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.free_answers import AnswerReading, ReadingKind, read_answer

_DATA: Final = Path(__file__).parents[2] / "data" / "interviews" / "answers_of_more_readings.toml"
ANSWERS_OF_MORE_READINGS: Final = [
    said_of
    for of_class in tomllib.loads(_DATA.read_text(encoding="utf-8")).values()
    for said_of in of_class["answers"]
]
WORDS = (
    "no yes not never every day days night most half more than a few two seven 14 I sleep tired "
    "fine badly well , . ? but wait actually except when my wife says he pass of the out always "
    "last week"
).split()


def read(item: Item, text: str) -> AnswerReading:
    return read_answer(item, text)


@pytest.mark.parametrize(
    ("item", "answer", "score"),
    [
        pytest.param(Item.SLEEP, "no", 0, id="no"),
        pytest.param(Item.SLEEP, "hardly ever… well no, not at all", 0, id="correction_to_none"),
        pytest.param(Item.TIRED, "one day", 0, id="one_day"),
        pytest.param(Item.TIRED, "just the one bad day", 0, id="one_bad_day"),
        pytest.param(Item.TIRED, "two days", 1, id="two_days"),
        pytest.param(Item.TIRED, "not every day, about four days", 1, id="bounded_twice"),
        pytest.param(Item.TIRED, "3 to 5 days", 1, id="range_within_one_score"),
        pytest.param(Item.TIRED, "no, I'm fine", 0, id="no_and_well"),
        pytest.param(Item.SLEEP, "maybe five nights", 1, id="count_of_nights"),
        pytest.param(Item.TIRED, "a couple of days a week", 1, id="count_per_week"),
        pytest.param(Item.TIRED, "6 days", 1, id="six_days"),
        pytest.param(Item.TIRED, "7 days", 2, id="seven_days"),
        pytest.param(Item.TIRED, "11/14", 2, id="eleven_of_fourteen"),
        pytest.param(Item.TIRED, "12 days", 3, id="twelve_days"),
        pytest.param(Item.SLEEP, "five nights a week", 2, id="nights_per_week"),
        pytest.param(Item.TIRED, "more days than not", 2, id="more_days_than_not"),
        pytest.param(Item.TIRED, "a few days... no wait, more like most days", 2, id="corrected"),
        pytest.param(Item.TIRED, "every other day", 2, id="every_other_day"),
        pytest.param(Item.SLEEP, "I lie awake nearly every night", 3, id="trouble_every_night"),
        pytest.param(Item.APPETITE, "i eat too much every single day", 3, id="too_much"),
        pytest.param(Item.TIRED, "ALL THE TIME!!!", 3, id="shouted"),
    ],
)
def test_a_clear_answer_has_a_score(item: Item, answer: str, score: int) -> None:
    assert read(item, answer).score == score


@pytest.mark.parametrize(
    ("item", "answer"),
    [
        pytest.param(Item.TIRED, "some", id="some"),
        pytest.param(Item.TIRED, "yes", id="yes"),
        pytest.param(Item.TIRED, "it varies", id="it_varies"),
        pytest.param(Item.TIRED, "I'm exhausted", id="no_frequency"),
        pytest.param(Item.TIRED, "not every day", id="not_every_day"),
        pytest.param(Item.TIRED, "I'm not tired every day", id="denied_frequency"),
        pytest.param(Item.TIRED, "6 or 7 days", id="range_over_two_scores"),
        pytest.param(Item.TIRED, "2", id="number_of_days_or_of_an_answer"),
        pytest.param(Item.TIRED, "20 days", id="more_days_than_there_are"),
        pytest.param(Item.TIRED, "never. every day.", id="contradiction"),
        pytest.param(Item.TIRED, "every day?", id="question_back"),
        pytest.param(Item.TIRED, "every night last week", id="one_week"),
        pytest.param(Item.TIRED, "every day when I work nights", id="only_under_a_condition"),
        pytest.param(Item.SLEEP, "I sleep well most nights", id="well_often"),
        pytest.param(Item.SLEEP, "fine with pills", id="well_under_a_condition"),
        pytest.param(Item.SLEEP, "I slept well last night", id="well_once"),
        pytest.param(Item.SLEEP, "I had two good nights", id="count_of_good_nights"),
        pytest.param(Item.DEPRESSED, "not at all well", id="not_at_all_well"),
        pytest.param(Item.DEPRESSED, "not nothing", id="not_nothing"),
        pytest.param(Item.DEPRESSED, "I've been happier", id="compared"),
        pytest.param(Item.TIRED, "not too tired really", id="understated"),
        pytest.param(Item.DEPRESSED, "two days without crying", id="count_of_days_without"),
    ],
)
def test_an_answer_that_leaves_scores_open_is_ambiguous(item: Item, answer: str) -> None:
    assert read(item, answer).kind in {ReadingKind.AMBIGUOUS, ReadingKind.OFF_TOPIC}


def test_a_frequency_that_may_mean_something_else_is_asked_about_again() -> None:
    scored = []
    for said_of in ANSWERS_OF_MORE_READINGS:
        item, _, answer = said_of.partition(": ")
        if read(Item(f"PHQ8_{item}"), answer).score is not None:
            scored.append(said_of)

    assert not scored, "\n".join(scored)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        pytest.param("I'd rather not say", ReadingKind.DECLINED, id="rather_not"),
        pytest.param("no, I don't want to answer", ReadingKind.DECLINED, id="no_with_refusal"),
        pytest.param("pass", ReadingKind.DECLINED, id="pass"),
        pytest.param("my neighbour has a new dog", ReadingKind.OFF_TOPIC, id="off_topic"),
        pytest.param("my wife is tired every day", ReadingKind.AMBIGUOUS, id="other_person"),
        pytest.param("I skip breakfast most days", ReadingKind.AMBIGUOUS, id="other_item"),
        pytest.param("", ReadingKind.UNREADABLE, id="empty"),
        pytest.param("?!", ReadingKind.UNREADABLE, id="no_words"),
        pytest.param("no " * 2000, ReadingKind.UNREADABLE, id="too_long"),
    ],
)
def test_what_is_no_answer_has_no_score(answer: str, kind: ReadingKind) -> None:
    assert read(Item.TIRED, answer) == AnswerReading(kind=kind)


def test_the_quote_is_the_words_that_carry_the_score() -> None:
    answer = "Hm, let me see: a few days... no wait, most days. I think."

    quote = read(Item.TIRED, answer).quote

    assert quote is not None
    assert "most days" in answer[quote.start : quote.end]
    assert "a few days" not in answer[quote.start : quote.end]


@given(
    item=st.sampled_from(Item),
    text=st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS)).map(" ".join)),
)
def test_any_text_is_read_the_same_way_twice_and_within_bounds(item: Item, text: str) -> None:
    reading = read(item, text)

    assert reading == read(item, text)
    assert (reading.kind is ReadingKind.SCORE) == (reading.score is not None)
    assert (reading.score is None) == (reading.quote is None)
    if reading.score is not None and reading.quote is not None:
        assert reading.score in range(4)
        assert 0 <= reading.quote.start < reading.quote.end <= len(text)
        assert text[reading.quote.start : reading.quote.end].strip()


@pytest.mark.parametrize(
    ("name", "least_right"),
    [
        pytest.param(TUNED, 435, id="tuned_to"),
        pytest.param(HELD_OUT, 75, id="held_out"),
        pytest.param(CORRECTIONS, 25, id="corrected"),
    ],
)
def test_labelled_answers_are_given_no_wrong_score(name: str, least_right: int) -> None:
    labelled = readings(name)

    assert [one.id for one in labelled if one.is_wrong_score] == []
    assert sum(one.is_right for one in labelled) >= least_right


def test_most_answers_that_can_be_read_are_read_at_once() -> None:
    labelled = [one for name in (TUNED, HELD_OUT) for one in readings(name)]
    readable = [one for one in labelled if one.expected.isdecimal()]

    assert sum(one.is_right for one in readable) >= 0.6 * len(readable)


@pytest.mark.parametrize(
    ("item", "answer", "score"),
    [
        pytest.param(Item.TIRED, "Not at all. That's a lie. Every day.", 3, id="own_lie"),
        pytest.param(Item.TIRED, "Every day, no, that's not true, maybe nine days", 2, id="untrue"),
        pytest.param(Item.TIRED, "Not at all. Who am I kidding, most days", 2, id="kidding"),
        pytest.param(Item.TIRED, "Every day, no, not at all", 0, id="no_with_more_words"),
        pytest.param(Item.TIRED, "Every day. Well, most days.", 2, id="well"),
    ],
)
def test_what_is_taken_back_does_not_count(item: Item, answer: str, score: int) -> None:
    assert read(item, answer).score == score


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("Not at all, I mean it's every day.", id="i_mean_explains_or_corrects"),
        pytest.param("Every day. That's a lie.", id="nothing_in_its_place"),
        pytest.param("Every day. No.", id="no_in_its_place"),
        pytest.param("A few days. More than that.", id="surpassed"),
        pytest.param("Every day. Not every day.", id="denied_again"),
        pytest.param("It's constant, but it hasn't happened.", id="constant_and_never"),
        pytest.param("A few days, but none.", id="some_and_none"),
        pytest.param("Not a problem. It was a problem every day.", id="problem_and_none"),
        pytest.param("Not really, or maybe really.", id="or_maybe"),
        pytest.param("Most days I'm okay, no", id="well_most_days_and_no"),
        pytest.param("My wife is low. Every day.", id="count_of_somebody_else"),
        pytest.param("I work hard every day", id="hard_work"),
        pytest.param("The party never stops", id="something_that_never_stops"),
    ],
)
def test_what_stays_contradictory_or_unclear_has_no_score(answer: str) -> None:
    assert read(Item.TIRED, answer).score is None


def test_a_count_of_something_else_has_no_score() -> None:
    assert read(Item.TIRED, "My dog had puppies, five of them.").score is None


_OF_SCORES = {0: "not at all", 1: "a few days", 2: "most days", 3: "every day"}


@pytest.mark.parametrize(
    "between", [". No wait, ", ", no, that's not right, ", ". Scratch that, ", ". Well, "]
)
def test_the_last_of_two_counts_when_the_first_is_taken_back(between: str) -> None:
    for first, last in product(_OF_SCORES, repeat=2):
        said = _OF_SCORES[first] + between + _OF_SCORES[last]
        assert read(Item.TIRED, said).score == last, said


@pytest.mark.parametrize("between", [". ", ", ", " or ", ", but ", ", though "])
def test_none_of_two_counts_when_neither_is_taken_back(between: str) -> None:
    for first, last in product(_OF_SCORES, repeat=2):
        said = _OF_SCORES[first] + between + _OF_SCORES[last]
        assert read(Item.TIRED, said).score == (first if first == last else None), said


@pytest.mark.parametrize(
    "unit", ["say ", "about ", "or maybe ", "not two ", "until three ", "every day but ", "3 or 4 "]
)
def test_an_answer_of_one_phrase_again_and_again_is_read(unit: str) -> None:
    """A pattern with two readings of a phrase would never end."""
    text = unit * (3_900 // len(unit)) + "x"

    assert read_answer(Item.SLEEP, text).kind in ReadingKind
