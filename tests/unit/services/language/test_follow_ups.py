"""How often a symptom is there may be told turns after it, when somebody asks."""

import pytest

from ai_psychiatrist.domain.evidence import Frequency
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.language.conversation import Conversation
from ai_psychiatrist.services.language.mentions import Mention

SOME, HALF, DAILY = (
    Frequency.SEVERAL_DAYS,
    Frequency.MORE_THAN_HALF,
    Frequency.NEARLY_EVERY_DAY,
)
TIRED = ("How is your energy?", "I'm exhausted.")


def sayings_of(*turns: str) -> list[Mention]:
    """Read a conversation in which an interviewer and a participant take turns."""
    conversation = Conversation()
    sayings: list[Mention] = []
    for asked, said in zip(turns[::2], turns[1::2], strict=True):
        conversation.ask(asked)
        sayings += conversation.answer(said)
    return sayings


def how_often(item: Item, *turns: str) -> set[Frequency]:
    stated = {one.frequency for one in sayings_of(*turns) if one.concept == item.value}
    return stated - {Frequency.UNSTATED}


@pytest.mark.parametrize(
    ("asked", "said", "often"),
    [
        ("Is that every day?", "Most days, yes.", HALF),
        ("Is that every day?", "Yes.", DAILY),
        ("Every day?", "Pretty much, yeah.", DAILY),
        ("How often does that happen?", "Now and again.", SOME),
        ("How often is that?", "I've had better months. I'd say most days.", HALF),
        ("How many days in the last two weeks?", "Four or five.", SOME),
        ("How many days in the last two weeks?", "Twelve, maybe thirteen.", DAILY),
        ("How many days a week?", "Four or five.", HALF),
        ("How many days?", "All of them.", DAILY),
        ("How many days would that be?", "Nine bad ones out of fourteen.", HALF),
        ("is that all the time or now and again", "three days in the week", SOME),
        ("Go on.", "Every day since.", DAILY),
    ],
)
def test_how_often_belongs_to_what_was_told_before(asked: str, said: str, often: Frequency) -> None:
    assert how_often(Item.TIRED, *TIRED, asked, said) == {often}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Is that every day?", "No."),
        ("How often does that happen?", "Never."),
        ("How many days?", "Four or five."),
        ("Is that every day?", "Most days are fine."),
        ("Do you smoke?", "Every day."),
        ("How often do you feel sad?", "Every day."),
        ("Are you sleeping?", "Most nights."),
    ],
)
def test_what_does_not_say_how_often_the_symptom_is_there_says_nothing(
    asked: str, said: str
) -> None:
    assert how_often(Item.TIRED, *TIRED, asked, said) == set()


def test_a_topic_closes_when_another_is_told() -> None:
    turns = (*TIRED, "And your mood?", "I feel hopeless.", "How often?", "Most days.")
    assert how_often(Item.TIRED, *turns) == set()
    assert how_often(Item.DEPRESSED, *turns) == {HALF}


def test_a_topic_stays_open_through_a_question_that_names_none() -> None:
    turns = (*TIRED, "Since when?", "Since May.", "Every day?", "Most days.")
    assert how_often(Item.TIRED, *turns) == {HALF}


def test_how_often_a_tale_is_so_tells_what_was_asked_for() -> None:
    turns = ("How's your energy?", "I make the bed and have to lie on it.", "How often?", "Daily.")
    assert how_often(Item.TIRED, *turns) == {DAILY}


def test_how_often_of_two_told_at_once_is_nobodys() -> None:
    turns = ("What brings you?", "I'm exhausted and I feel hopeless.", "How often?", "Most days.")
    assert how_often(Item.TIRED, *turns) | how_often(Item.DEPRESSED, *turns) == set()
