"""The sentences of generated interviews."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

from pydantic import BaseModel, ConfigDict

from ai_psychiatrist.domain.phq8 import Item

_FILE: Final = "sayings.toml"
_SLOT: Final = "{often}"


class Topic(BaseModel):
    """A question, the code that some releases write before it, and what may be answered."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: str
    question: str
    answers: tuple[str, ...]
    """Denials of an item, or what is said of something else."""
    present: tuple[str, ...] = ()
    """Answers with a slot for how often."""


class Sayings(BaseModel):
    """All sentences by their use."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    items: dict[Item, Topic]
    off_topic: tuple[Topic, ...]
    how_often: dict[int, tuple[str, ...]]
    """Score → how often."""
    greeting: tuple[str, ...]
    closing: tuple[str, ...]
    acknowledgement: tuple[str, ...]
    filler: tuple[str, ...]
    nonverbal: tuple[str, ...]
    researcher_talk: tuple[str, ...]
    interruption_talk: tuple[str, ...]

    def answers(self, topic: Topic, score: int) -> list[str]:
        """Spell out every answer that says a score: a denial 0, the others what their slot does."""
        if not score:
            return [*topic.answers]
        return [
            sentence.replace(_SLOT, often)
            for sentence in topic.present
            for often in self.how_often[score]
        ]


@cache
def sayings() -> Sayings:
    """Return the sentences that come with the package."""
    content = files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    return Sayings.model_validate(tomllib.loads(content))
