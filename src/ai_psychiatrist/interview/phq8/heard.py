"""What is noticed in one stretch of an answer, before anything is concluded from it."""

import re
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.frequencies import Frequency, frequencies_in
from ai_psychiatrist.interview.phq8.phrases import found, frame, phrases, phrases_of
from ai_psychiatrist.interview.phq8.stretches import Stretch
from ai_psychiatrist.services.cues.lexicon import Hit, Lexicon, Words
from ai_psychiatrist.services.cues.statement import statement_of

NEGATION: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|dont|doesnt|didnt|isnt|wasnt|werent|havent|hasnt|hadnt|cant"
    r"|cannot|couldnt|wont|wouldnt|aint|arent|without|neither|nor)\b"
)
# "More days than not I feel sad" denies nothing.
_NO_NEGATION: Final = re.compile(r"\b(?:than not|not (?:all|just|only))\b")
_COMPARED: Final = re.compile(
    r"\b(?:happier|sadder|fitter|calmer|stronger|weaker|sharper|hungrier|healthier|livelier|keener"
    r"|slower|faster|worse|lower)\b"
)
"""What is compared is not told: "I've been happier"."""
_GOOD: Final = frozenset("well good great right better".split())
_ROUNDED_UP: Final = re.compile(
    r"\b(?:a|one) good (?=(?:\w+ (?:or|to) )?\w+ (?:days|nights)\b)", re.IGNORECASE
)
"""The word that makes a number larger, "a good ten days", and says nothing about the days."""
_FRAMES: Final = ("filler", "none", "yes", "correction", "anaphor", "bad")


class About(Enum):
    """Which item a stretch speaks of by name."""

    THIS = auto()
    ANOTHER = auto()
    NOTHING = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One stretch with all that was noticed in it."""

    words: Words
    spoken: str
    """The words joined by spaces."""
    frequencies: tuple[Frequency, ...]
    polarity: Polarity | None
    """Whether the difficulty is there, `None` where nothing says so."""
    about: About
    names_topic: bool
    """Whether a word of the item stands outside the frequencies."""
    has_unknown: bool
    """Whether there are words that are neither a frequency, nor frame, nor of the item."""
    is_vague: bool
    is_in_doubt: bool

    def has(self, key: str) -> bool:
        """Whether a phrase of the frame is among the words."""
        return bool(found(frame(key), self.words))

    def is_whole(self, key: str) -> bool:
        """Whether all of the words are one phrase of the frame."""
        return self.words.texts in frame(key).cues

    @property
    def before(self) -> str:
        """What is said before the first frequency."""
        return self.spoken[: self.frequencies[0].start]

    @property
    def after(self) -> str:
        """What is said after the last frequency."""
        return self.spoken[self.frequencies[-1].end :]

    @property
    def is_more_than_none(self) -> bool:
        """Whether a word that could turn it round stands beside those that say: nothing.

        "Not nothing" and "not at all well".
        """
        hits = found(frame("none"), self.words)
        within = _places(hits)
        return any(
            at not in within and (word in _GOOD or NEGATION.search(word))
            for at, word in enumerate(self.words.texts)
        )


def hear(item: Item, text: str, stretch: Stretch) -> Heard:
    """Look at one stretch of the answer `text`."""
    words = stretch.words
    spoken = " ".join(words.texts)
    frequencies = frequencies_in(spoken)
    unclear = {hit.cue for hit in found(phrases("unclear"), words)}
    return Heard(
        words=words,
        spoken=spoken,
        frequencies=frequencies,
        polarity=_polarity(item, text[stretch.start : stretch.end], words),
        about=_about(item, words, frequencies),
        names_topic=_names(phrases_of(item).topic, words, frequencies),
        has_unknown=_has_unknown(item, words, frequencies),
        is_vague="vague" in unclear,
        is_in_doubt="doubt" in unclear,
    )


@cache
def single_words(key: str) -> frozenset[str]:
    """Return those phrases of the frame that are one word."""
    return frozenset(phrase[0] for phrase in frame(key).cues if len(phrase) == 1)


def _polarity(item: Item, text: str, words: Words) -> Polarity | None:
    votes = {vote.polarity for vote in statement_of(_ROUNDED_UP.sub("", text)).votes}
    votes |= {
        _turned(hit.cue, " ".join(words.texts[: hit.first]))
        for hit in found(phrases_of(item).states, words)
    }
    if not votes:
        return None
    if _COMPARED.search(" ".join(words.texts)):
        return Polarity.UNCLEAR
    return votes.pop() if len(votes) == 1 else Polarity.UNCLEAR


def _turned(cue: str, before: str) -> Polarity:
    is_negated = NEGATION.search(_NO_NEGATION.sub("", before)) is not None
    return Polarity.AFFIRMED if (cue == "trouble") != is_negated else Polarity.DENIED


def _about(item: Item, words: Words, frequencies: tuple[Frequency, ...]) -> About:
    topic, states = phrases_of(item).topic, phrases_of(item).states
    if _names(topic, words, frequencies) or found(states, words) or found(frame("anaphor"), words):
        return About.THIS
    others = (phrases_of(other).topic for other in Item if other is not item)
    is_another = any(_names(other, words, frequencies) for other in others)
    return About.ANOTHER if is_another else About.NOTHING


def _names(topic: Lexicon, words: Words, frequencies: tuple[Frequency, ...]) -> bool:
    timed = _timed_places(words, frequencies)
    hits = found(topic, words)
    return any(timed.isdisjoint(range(hit.first, hit.last + 1)) for hit in hits)


def _has_unknown(item: Item, words: Words, frequencies: tuple[Frequency, ...]) -> bool:
    known = _timed_places(words, frequencies)
    lexicons = [*map(frame, _FRAMES), phrases("unclear"), phrases_of(item).topic]
    for lexicon in lexicons:
        known |= _places(found(lexicon, words))
    return len(known) < len(words.texts)


def _places(hits: tuple[Hit, ...]) -> set[int]:
    return {at for hit in hits for at in range(hit.first, hit.last + 1)}


def _timed_places(words: Words, frequencies: tuple[Frequency, ...]) -> set[int]:
    """Return the places of the words that a frequency is made of."""
    within: set[int] = set()
    at, left = 0, list(reversed(frequencies))
    for position, word in enumerate(words.texts):
        while left and left[-1].end <= at:
            left.pop()
        if left and left[-1].start <= at:
            within.add(position)
        at += len(word) + 1
    return within
