"""Plain statements of each item stay what they are, however a sentence frames them."""

from itertools import product
from typing import Final

import pytest

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.services.language.mentions import Mention, mentions_in

_PRESENT: Final = {
    "NoInterest": ("I have little interest in my hobbies", "I don't enjoy anything"),
    "Depressed": ("I feel down", "I feel hopeless"),
    "Sleep": ("I sleep badly", "I wake up at four"),
    "Tired": ("I feel tired", "I have no energy"),
    "Appetite": ("I have no appetite", "I overeat"),
    "Failure": ("I feel like a failure", "I feel bad about myself"),
    "Concentrating": ("I can't concentrate", "I have trouble concentrating"),
    "Moving": ("I move so slowly that people notice", "I'm so restless that I pace around"),
}
_PERFECT: Final = {
    "NoInterest": ("I've lost interest in everything", "I haven't enjoyed anything"),
    "Depressed": ("I've been feeling down", "I've felt hopeless"),
    "Sleep": ("I've been sleeping badly", "I haven't slept well"),
    "Tired": ("I've been tired", "I haven't had any energy"),
    "Appetite": ("I've had no appetite", "I've been overeating"),
    "Failure": ("I've felt like a failure", "I've been feeling worthless"),
    "Concentrating": ("I haven't been able to concentrate", "I've had trouble concentrating"),
    "Moving": ("I've been moving slowly", "I've been fidgety"),
}
_OFTEN: Final = {
    Frequency.NEARLY_EVERY_DAY: (
        "Every day {}.",
        "Every single day {}.",
        "{} every day.",
        "Each day {}.",
        "Yes, every day {}.",
        "{} pretty much every day.",
    ),
    Frequency.MORE_THAN_HALF: ("Most days {}.", "{} most days.", "More days than not {}."),
    Frequency.SEVERAL_DAYS: ("Some days {}.", "Every other day {}.", "A couple of days {}."),
}
_AROUND: Final = (
    "{}, to be honest.",
    "I must say {}.",
    "I'm afraid {}.",
    "I have to admit {}.",
    "If I'm honest, {}.",
    "{} and my wife says so too.",
    "Over the last two weeks {}.",
    "{} since my divorce two years ago.",
)


def _found(item: str, said: str, frame: str) -> tuple[str, list[Mention]]:
    text = frame.format(said)
    return text, [one for one in mentions_in(text) if one.concept == f"PHQ8_{item}"]


@pytest.mark.parametrize("item", _PRESENT)
def test_how_often_it_is_so_may_stand_before_and_after(item: str) -> None:
    missed = [
        text
        for often, frames in _OFTEN.items()
        for text, found in (_found(item, *one) for one in product(_PRESENT[item], frames))
        if {(one.polarity, one.frequency) for one in found} != {(Polarity.AFFIRMED, often)}
    ]
    assert not missed


@pytest.mark.parametrize("item", _PERFECT)
def test_what_surrounds_a_statement_does_not_change_it(item: str) -> None:
    missed = [
        text
        for text, found in (_found(item, *one) for one in product(_PERFECT[item], _AROUND))
        if {one.polarity for one in found} != {Polarity.AFFIRMED}
        or Timeframe.PAST in {one.timeframe for one in found}
    ]
    assert not missed


@pytest.mark.parametrize(
    "said", ["When I get home I feel exhausted.", "When I get in, I can't concentrate."]
)
def test_when_one_gets_home_supposes_nothing(said: str) -> None:
    assert Polarity.AFFIRMED in {one.polarity for one in mentions_in(said)}


@pytest.mark.parametrize(
    "said",
    [
        "The day I sleep well I'll throw a party.",
        "I'm afraid I might get depressed.",
        "Things have been moving slowly at work.",
    ],
)
def test_what_is_supposed_or_about_things_is_affirmed_nowhere(said: str) -> None:
    assert Polarity.AFFIRMED not in {one.polarity for one in mentions_in(said)}
