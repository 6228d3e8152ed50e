"""A question asks for an item when its own words name it, in the item's sense, of the person."""

import pytest

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.language.questions import question_in

ASKED = [
    ("Are you feeling down?", Item.DEPRESSED),
    ("Have you been feeling low lately?", Item.DEPRESSED),
    ("How's your mood?", Item.DEPRESSED),
    ("any trouble sleeping", Item.SLEEP),
    ("And your energy?", Item.TIRED),
    ("Any change in your appetite?", Item.APPETITE),
    ("How do you feel about yourself?", Item.FAILURE),
    ("Do you feel like a failure?", Item.FAILURE),
    ("Can you keep your mind on things?", Item.CONCENTRATING),
    ("Has anyone said you're restless?", Item.MOVING),
    ("Any trouble sleeping? At all?", Item.SLEEP),
]
NOT_ASKED = [
    "What about down here?",
    "Any pain when you look up and down?",
    "And that came back a little low?",
    "Do you drink much in the way of alcohol?",
    "You have heart failure?",
    "Have you had any thoughts of hurting yourself?",
    "Is it spreading into your arm?",
    "Have you taken time off work?",
    "How's your diet?",
    "Any weakness in your legs?",
    "Is there anything you want to share with me?",
    "What was the peak flow reading?",
    "Does anyone in the family have depression?",
    "You mentioned you were tired. Have you had a temperature?",
    "If you feel tired, give me a call, OK?",
    "It's also worth using a cream for your sleep.",
    "<INAUDIBLE_SPEECH/> OK?",
    "How are you doing today?",
    "Does the pain stay in that one area?",
    "That's hard to stay away from?",
    "so the tablets may make you tired but we look at your blood again when you see the nurse",
]


@pytest.mark.parametrize(("asked", "item"), ASKED)
def test_a_question_asks_for_the_item_it_names(asked: str, item: Item) -> None:
    assert set(question_in(asked).asked) == {item.value}


@pytest.mark.parametrize("asked", NOT_ASKED)
def test_a_question_about_something_else_asks_for_none(asked: str) -> None:
    assert not question_in(asked).asked
