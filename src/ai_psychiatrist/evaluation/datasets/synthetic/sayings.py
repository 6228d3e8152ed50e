"""The sentences of generated interviews."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from ai_psychiatrist.domain.phq8 import Item

_FILE: Final = "sayings.toml"
_SLOT: Final = "{often}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A question, the code that some releases write before it, and what may be answered."""

    code: str
    question: str
    answers: Mapping[int, tuple[str, ...]]
    """Score → answers; off-topic ones stand under 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sayings:
    """All sentences by their use."""

    items: Mapping[Item, Topic]
    off_topic: tuple[Topic, ...]
    greeting: tuple[str, ...]
    closing: tuple[str, ...]
    acknowledgement: tuple[str, ...]
    filler: tuple[str, ...]
    nonverbal: tuple[str, ...]
    researcher_talk: tuple[str, ...]
    interruption_talk: tuple[str, ...]


@cache
def sayings() -> Sayings:
    """Return the sentences that come with the package."""
    table = tomllib.loads(files(__package__).joinpath(_FILE).read_text(encoding="utf-8"))
    how_often = {int(score): tuple(words) for score, words in table["how_often"].items()}
    return Sayings(
        items={item: _topic(table["items"][item.value], how_often) for item in Item},
        off_topic=tuple(
            Topic(
                code=topic["code"], question=topic["question"], answers={0: tuple(topic["answers"])}
            )
            for topic in table["off_topic"]
        ),
        greeting=tuple(table["greeting"]),
        closing=tuple(table["closing"]),
        acknowledgement=tuple(table["acknowledgement"]),
        filler=tuple(table["filler"]),
        nonverbal=tuple(table["nonverbal"]),
        researcher_talk=tuple(table["researcher_talk"]),
        interruption_talk=tuple(table["interruption_talk"]),
    )


def _topic(entry: Mapping[str, Any], how_often: Mapping[int, tuple[str, ...]]) -> Topic:
    """Spell out every answer: denials score 0, the others what their frequency says."""
    answers = {0: tuple(entry["denied"])} | {
        score: tuple(
            sentence.replace(_SLOT, words) for sentence in entry["present"] for words in frequencies
        )
        for score, frequencies in how_often.items()
    }
    return Topic(code=entry["code"], question=entry["question"], answers=answers)
