"""Of talk that is not about the items the rules tell nothing but what somebody says of them."""

from collections.abc import Mapping

import pytest

import ai_psychiatrist as ap
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.phq8 import Item, NotExaminedCause, UnknownReason
from ai_psychiatrist.domain.risk import RiskGroup, RiskLevel

OPENING = (
    "Thanks for coming. What is it about today?",
    "It's the stop-smoking clinic, the nurse at the surgery sent me.",
)
INTEREST, MOOD, SLEEP, TIRED, APPETITE, FAILURE, CONCENTRATING, MOVING = Item


def assessed(*turns: str, participant: str = "Participant") -> ap.Assessment:
    labels = ("Interviewer", participant)
    said = [f"{labels[at % 2]}: {words}" for at, words in enumerate((*OPENING, *turns))]
    settings = load_settings({"READER_ENABLED": "false"}, None)
    return ap.assess_sync("\n".join(said), settings=settings)


def items(result: ap.Assessment) -> Mapping[Item, ItemAssessment]:
    assert result.quantitative is not None
    return result.quantitative.items


def scores(*turns: str) -> dict[Item, int]:
    found = items(assessed(*turns))
    return {key: one.score for key, one in found.items() if one.score is not None}


NO_VALUE = {
    "yes to a list": ("Any headaches, cramps, trouble sleeping?", "Yes, doctor."),
    "yes to another list": ("Do you get fevers, chills, fatigue, rashes?", "Yeah, I do."),
    "yes to advice": ("Try going to bed earlier and eating more greens.", "Sure, sounds good."),
    "yes to a plan": ("We'll check your iron because of the tiredness. Okay?", "Yes, doctor."),
    "doable": ("You could take it before you sleep. Any questions?", "No, that sounds doable."),
    "dislike of one thing": ("Do you enjoy the gym?", "I can't stand the treadmill."),
    "joy in one thing": ("And the garden?", "I love it, I'm out there with my roses."),
    "a leaflet": ("Anything else?", "I'd be interested in a leaflet about patches."),
    "a battery": ("How's the phone?", "The battery's low, it's always low."),
    "sugar": ("What would you like to get out of this?", "I want to bring my sugar down."),
    "cigarettes": ("How many now?", "I was down to three a day by Friday."),
    "series": ("And the weekend?", "I binged three seasons of that one with the nuns."),
    "hills": ("How's the walking group?", "Grand, but I'm slow on hills."),
    "guilt about one habit": ("And after that one?", "I felt guilty about the fag, yeah."),
    "family history": ("Does it run in the family?", "My mum had depression, dad never slept."),
    "surgery": ("What did they say?", "Nothing by mouth before the scan."),
    "pain at night": ("And the knee?", "It's worse at night."),
    "praise of a treatment": ("How's the spray?", "It's brilliant, I'm so happy with it."),
    "a condition": ("What if you skip breakfast?", "If I don't eat I get tired and low."),
    "closing words": ("Anything else I can do?", "No, I'm good."),
    "movements": ("What about your bowel movements?", "Nope, everything is as usual."),
    "a test": ("How was the sleep study?", "Not bad. Odd, with all those wires."),
    "satisfaction": ("So you're not happy with the patches?", "Yes, that's right."),
    "another reads it": (
        "How did it go?",
        'My wife, she said to me, "I never sleep for your snoring."',
    ),
    "read out": (
        "What did you put?",
        'I put "able to stay focused for long periods", off the web.',
    ),
    "a thought": ("Have you thought about how drink and insomnia go together?", "No, not really."),
    "a diet": ("What did you change?", "I started watching what I eat and I ate less."),
    "attention": ("What do you make of it?", "I guess I'm not paying attention to it."),
    "asked back": ("How is your diet?", "Alright, do you want the honest answer"),
    "then": ("How was it in spring?", "I was in bits back then. Awake all night, crying."),
}


@pytest.mark.parametrize("turns", NO_VALUE.values(), ids=NO_VALUE.keys())
def test_talk_about_something_else_gives_no_value(turns: tuple[str, str]) -> None:
    assert scores(*turns) == {}


A_VALUE = {
    "named": (("And you?", "I've been so tired this week."), {TIRED: 1}),
    "named and how often": (("And you?", "I can't sleep, most nights."), {SLEEP: 2}),
    "asked": (("Are you eating all right?", "No."), {APPETITE: 1}),
    "denied": (("Have you been feeling down?", "No, not at all."), {MOOD: 0}),
    "a list denied": (("Any fevers, chills, fatigue?", "No, none of that."), {TIRED: 0}),
    "no problem": (
        ("And eating?", "No problem with my appetite, I eat like always."),
        {APPETITE: 0},
    ),
    "hardly": (("How's the eating?", "I hardly eat at present."), {APPETITE: 1}),
    "no joy": (("How are things?", "Nothing gives me any joy."), {INTEREST: 1}),
    "not really": (("Can you sleep at night?", "Not really, it's affecting my sleep."), {SLEEP: 1}),
}


@pytest.mark.parametrize(("turns", "expected"), A_VALUE.values(), ids=A_VALUE.keys())
def test_what_is_said_of_an_item_has_its_value(
    turns: tuple[str, str], expected: dict[str, int]
) -> None:
    assert scores(*turns) == expected


def test_a_frequency_belongs_to_what_was_said_before_after_a_bare_question_alone() -> None:
    before = ("How are you sleeping?", "I hardly sleep.")
    assert scores(*before, "Every day?", "Yes.") == {SLEEP: 3}
    assert scores(*before, "Do you drink coffee every day?", "Yes.") == {SLEEP: 1}
    assert scores(*before, "And the dog, is she out every night?", "Yes.") == {SLEEP: 1}


def test_a_frequency_of_somebody_else_is_not_the_speakers() -> None:
    assert scores("Good night?", "The dog barked all night, I'm shattered.") == {TIRED: 1}


@pytest.mark.parametrize("participant", ["P", "P1", "P07", "P-07", "Participant 2"])
def test_the_baseline_reads_whom_the_reader_knows(participant: str) -> None:
    scored = assessed("How do you sleep?", "Badly.", participant=participant)
    assert items(scored)[SLEEP].score == 1


def test_a_named_participant_is_read_by_the_baseline_too() -> None:
    text = "Dr Lee: How do you sleep?\nSam: Badly, most nights.\nDr Lee: I see.\nSam: Yes."
    result = ap.assess_sync(text, participant="Sam")
    assert items(result)[SLEEP].score == 2


def test_an_answer_that_was_not_read_is_no_silence() -> None:
    result = assessed("How's your appetite?", "The dog gets most of it.")
    appetite = items(result)[APPETITE]
    assert (appetite.score, appetite.unknown_reason) == (None, UnknownReason.UNCLEAR)
    assert appetite.unread_answer is not None
    assert (appetite.unread_answer.question_turn, appetite.unread_answer.answer_turn) == (2, 3)
    assert appetite.unread_answer.question == "How's your appetite?"
    assert appetite.unread_answer.answer == "The dog gets most of it."
    others = {one.unknown_reason for key, one in items(result).items() if key != APPETITE}
    assert others == {UnknownReason.NO_MENTION}


def test_two_readings_are_unclear() -> None:
    result = assessed(
        "How do you sleep?", "I have insomnia.", "Any trouble sleeping?", "No, I sleep well."
    )
    sleep = items(result)[SLEEP]
    assert (sleep.score, sleep.unknown_reason) == (None, UnknownReason.UNCLEAR)


def test_a_language_that_is_not_read_is_named_as_the_cause() -> None:
    result = ap.assess_sync(
        "Interviewer: How have you been sleeping?\n"
        "Participant: Duermo muy mal desde hace tres semanas, me despierto a cada rato."
    )
    sleep = items(result)[SLEEP]
    assert sleep.unknown_reason is UnknownReason.NOT_EXAMINED
    assert sleep.not_examined_cause is NotExaminedCause.LANGUAGE


def test_the_example_was_asked_and_denies(example_interview: str) -> None:
    """What follows a denied question ("I'd like to sleep") is no answer to it."""
    risk = ap.assess_sync(example_interview).risk
    assert risk.level is RiskLevel.NONE
    assert {(one.group, one.turn) for one in risk.signals} == {(RiskGroup.DENIED, 67)}
