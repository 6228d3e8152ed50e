"""The sentences that challenges are made of, and an interview as lines that know their evidence."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.folder import EvidenceSpan

INTERVIEWER: Final = "Interviewer"
PARTICIPANT: Final = "Participant"

Choices = tuple[str, ...]
"""Ways to say the same, of which one is drawn."""
Sentences = Mapping[str, Choices]
"""What is said → ways to say it; `{often}` is how often, `{who}` another person."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OffTopic(_Part):
    """A question about something else, and answers that hold no symptom of the participant."""

    question: str
    answers: Choices


class Talk(_Part):
    """What frames the items."""

    frames: Sentences
    often: dict[int, Choices]
    """Score 1 to 3 → how often."""
    off_topic: tuple[OffTopic, ...]


class Language(_Part):
    """What is said of the items in another language."""

    often: dict[int, Choices]
    present: dict[Item, str]
    denied: dict[Item, str]


class Wordings(_Part):
    """All sentences; each field is a file of the folder `wording`."""

    items: dict[Item, Sentences]
    talk: Talk
    dangers: Sentences
    languages: dict[str, Language]
    """By code."""
    injections: Sentences
    noise: dict[str, Sentences]
    """What a recogniser hears in place of a word."""


@cache
def wordings() -> Wordings:
    """Return the sentences that come with the package."""
    folder = files(__package__).joinpath("wording")
    texts = {name: folder.joinpath(f"{name}.toml") for name in Wordings.model_fields}
    return Wordings.model_validate(
        {name: tomllib.loads(text.read_text(encoding="utf-8")) for name, text in texts.items()}
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """Words without a line break, and what they are evidence of."""

    words: str
    item: Item | None = None
    """`None` where the words are about danger, or evidence of nothing."""
    polarity: Literal[Polarity.AFFIRMED, Polarity.DENIED] | None = None
    """`None` where the words are evidence of nothing."""
    is_needed: bool = True
    """Whether the evidence is not whole without it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One turn."""

    speaker: str
    pieces: tuple[Piece, ...]


def asks(words: str) -> Line:
    """Return a turn of the interviewer."""
    return Line(INTERVIEWER, (Piece(words),))


def says(*pieces: Piece | str) -> Line:
    """Return a turn of the participant; words alone are evidence of nothing."""
    made = (Piece(piece) if isinstance(piece, str) else piece for piece in pieces)
    return Line(PARTICIPANT, tuple(made))


def affirmed(item: Item | None, words: str) -> Piece:
    """Return words that say that a symptom is there, or danger."""
    return Piece(words, item, Polarity.AFFIRMED)


def denied(item: Item, words: str) -> Piece:
    """Return words that say that it is not."""
    return Piece(words, item, Polarity.DENIED)


def counted(item: Item, words: str) -> Piece:
    """Return words that say how often, next to others that say what."""
    return Piece(words, item, Polarity.AFFIRMED, is_needed=False)


def written(lines: Sequence[Line]) -> tuple[str, dict[Item | None, list[EvidenceSpan]]]:
    """Write an interview down, a line a turn; return its text, and the evidence of each item.

    That of `None` is of danger.
    """
    text = ""
    evidence: dict[Item | None, list[EvidenceSpan]] = {}
    for line in lines:
        text += f"{line.speaker}:"
        for piece in line.pieces:
            if not piece.words:
                continue
            start = len(text) + 1
            text += f" {piece.words}"
            if piece.polarity is not None:
                span = EvidenceSpan(
                    start=start, end=len(text), polarity=piece.polarity, needed=piece.is_needed
                )
                evidence.setdefault(piece.item, []).append(span)
        text += "\n"
    return text, evidence
