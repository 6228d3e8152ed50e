"""The sentences that challenges are made of."""

import tomllib
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from ai_psychiatrist.domain.phq8 import Item

Choices = tuple[str, ...]
"""Ways to say the same, of which one is drawn."""


class _Wording(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ItemWording(_Wording):
    """What is asked and said about one item; `{often}` is how often, `{who}` another person."""

    topic: str
    open: Choices
    closed: Choices
    yes: Choices
    no: Choices
    present: Choices
    denied: Choices
    past: Choices
    another: Choices
    ironic_well: Choices
    """Praise that means the opposite."""
    ironic_ill: Choices
    """Complaints that mean the opposite."""
    dramatic: Choices


class OffTopic(_Wording):
    """A question about something else, and answers that hold no symptom of the participant."""

    question: str
    answers: Choices


class Talk(_Wording):
    """What frames the items."""

    greeting: Choices
    closing: Choices
    acknowledgement: Choices
    filler: Choices
    asked_how_often: Choices
    asked_to_count: Choices
    asked_seriously: Choices
    asked_serious_denial: Choices
    irony_mark: Choices
    evasion: Choices
    minimised_before: Choices
    minimised_after: Choices
    retracted: Choices
    contradicted: Choices
    present_turn: Choices
    own_turn: Choices
    whose: Choices
    quoted: Choices
    not_at_all: Choices
    often: dict[int, Choices]
    """Score 1 to 3 → how often."""
    off_topic: tuple[OffTopic, ...]


class Dangers(_Wording):
    """What is said of danger, in passing."""

    question: Choices
    aside: Choices
    before: Choices
    after: Choices
    now: Choices
    look_alike: Choices


class Language(_Wording):
    """What is said of the items in another language."""

    often: dict[int, Choices]
    present: dict[Item, str]
    denied: dict[Item, str]


class Noise(_Wording):
    """What a recogniser hears in place of a word."""

    alike: dict[str, Choices]
    others: dict[str, Choices]


@cache
def item_wordings() -> dict[Item, ItemWording]:
    """Return the sentences about the items."""
    return {Item(key): ItemWording.model_validate(one) for key, one in _table("items").items()}


@cache
def talk() -> Talk:
    """Return what frames them."""
    return Talk.model_validate(_table("talk"))


@cache
def dangers() -> Dangers:
    """Return what is said of danger."""
    return Dangers.model_validate(_table("dangers"))


@cache
def languages() -> dict[str, Language]:
    """Return the other languages by their codes."""
    return {code: Language.model_validate(one) for code, one in _table("languages").items()}


@cache
def injections() -> Choices:
    """Return what readers are told to answer."""
    return tuple(map(str, _table("injections")["says"]))  # type: ignore[call-overload]  # a list


@cache
def noise() -> Noise:
    """Return what is misheard."""
    return Noise.model_validate(_table("noise"))


def _table(name: str) -> dict[str, object]:
    content = files(__package__).joinpath("wording", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(content)
