"""Everyday answers, in fragments and with asides, as the rule baseline scores them."""

import pytest
from tests.fakes.shown_results import result_json

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.phq8 import Item


def assessed(*turns: str) -> Assessment:
    """Return the result for an interview in which two people take turns."""
    labels = ("Interviewer", "Participant")
    lines = (f"{labels[at % 2]}: {said}" for at, said in enumerate(turns))
    return Assessment.model_validate_json(result_json("\n".join(lines) + "\n"))


def item_of(result: Assessment, item: Item) -> ItemAssessment:
    assert result.quantitative is not None
    return result.quantitative.items[item]


MOOD = "And your mood, how would you describe it?"
ENERGY = ("How is your energy?", "I'm exhausted.")
CASES = [
    (Item.DEPRESSED, 3, (MOOD, "Flat and black. Every day, from when I open my eyes.")),
    (Item.DEPRESSED, 2, (MOOD, "I feel hopeless. Most days, I suppose.")),
    (Item.DEPRESSED, 1, ("And your mood, low, sad, hopeless?", "Not sad. Empty. Several days.")),
    (Item.DEPRESSED, 1, (MOOD, "Not too bad. A bit low now and again.")),
    (Item.DEPRESSED, 0, ("Have you felt sad?", "Not sad. Fine, most days.")),
    (
        Item.FAILURE,
        3,
        (
            "How do you think of yourself?",
            "I've let everybody down.",
            "Is that a thought you have often?",
            "All the time.",
        ),
    ),
    (
        Item.NO_INTEREST,
        2,
        (
            "Do you still do the garden?",
            "I've stopped looking forward to it.",
            "Is that on most days or now and then?",
            "Most days, if I'm truthful. Not every day.",
        ),
    ),
    (Item.TIRED, 2, (*ENERGY, "Would you say some days or most of them?", "Most, to be fair.")),
    (Item.TIRED, 3, (*ENERGY, "Since when?", "Since the summer. Every day's the same.")),
    (
        Item.TIRED,
        1,
        ("I ask about the last two weeks, all right?", "Yes.", *ENERGY, "How often?", "Four days."),
    ),
    (Item.TIRED, 1, ("Do you feel worn out?", "Now and then, after the physio.")),
    (Item.APPETITE, 1, ("How are you eating?", "Toast. Some days I can't face a proper meal.")),
    (
        Item.CONCENTRATING,
        1,
        ("Can you follow a film?", "I put it on. I couldn't tell you what they said."),
    ),
    (
        Item.NO_INTEREST,
        1,
        (
            "What do you do with your days?",
            "I used to paint and I haven't touched it in months.",
        ),
    ),
    (Item.TIRED, 2, ("How are you for energy?", "Drained. Not always, but most days.")),
    (
        Item.FAILURE,
        1,
        (
            "Some mothers feel they are not good enough. Do you?",
            "When she won't settle I think I'm useless at this.",
        ),
    ),
    (
        Item.MOVING,
        0,
        ("Has anybody told you that you fidget?", "Nobody has, no."),
    ),
    (
        Item.MOVING,
        0,
        ("Have you been restless?", "No. Nothing like that.", "Do you smoke?", "No."),
    ),
]


@pytest.mark.parametrize(("item", "score", "turns"), CASES, ids=[row[2][-1] for row in CASES])
def test_an_everyday_answer_gets_its_score(item: Item, score: int, turns: tuple[str, ...]) -> None:
    assert item_of(assessed(*turns), item).score == score


@pytest.mark.parametrize(
    ("item", "turns"),
    [
        (
            Item.APPETITE,
            ("What do you do all day?", "I used to paint, I haven't touched it in months."),
        ),
        (
            Item.NO_INTEREST,
            ("Do you drink?", "I used to drink and I haven't touched it in months."),
        ),
        (Item.APPETITE, ("How is your energy?", "I'm running on nothing.")),
        (
            Item.TIRED,
            ("Does it hurt?", "It's been slow.", "Okay.", "But sometimes it gets to an eleven."),
        ),
        (Item.MOVING, ("How was the drive?", "Slow.", *ENERGY)),
        (Item.NO_INTEREST, ("Can you concentrate on your reading?", "No.")),
    ],
)
def test_words_that_only_look_like_an_item_give_it_no_score(
    item: Item, turns: tuple[str, ...]
) -> None:
    assert item_of(assessed(*turns), item).score is None


@pytest.mark.parametrize(
    "said", ["My sister says I talk like a tape that's running out.", "I'm running on empty."]
)
def test_running_out_is_no_exercise(said: str) -> None:
    result = assessed("How are you?", said, "Do you go out?", "I go running on Sundays.")
    assert result.qualitative is not None
    factors = result.qualitative.biological_factors
    assert "Sundays" in factors
    assert said not in factors


def test_a_denial_goes_on_through_what_is_never_a_problem() -> None:
    said = "I sleep fine, that's never been a problem."
    sleep = item_of(assessed("How do you sleep?", said), Item.SLEEP)
    assert (sleep.score, [quote.text for quote in sleep.evidence]) == (0, [said])
