"""One clause of a participant: the phrases of danger in it, and the cues around them."""

from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.risk import RiskCategory, RiskKind, RiskLevel, RiskPolarity
from ai_psychiatrist.services.cues.lexicon import Hit, Words
from ai_psychiatrist.services.cues.remembered import remembered
from ai_psychiatrist.services.risk.patterns import patterns, spoken_words

KINDS: Final = {
    RiskCategory.SUICIDAL_IDEATION: RiskKind.NONSPECIFIC_THOUGHTS,
    RiskCategory.SELF_HARM: RiskKind.SELF_INJURY,
    RiskCategory.HARM_TO_OTHERS: RiskKind.HARM_TO_OTHERS,
    RiskCategory.ABUSE: RiskKind.ABUSE_BY_OTHERS,
}
"""The kind that stands for all of a category."""
FIRST_PERSON: Final = frozenset({"i", "im", "ive", "i'd", "i'll", "me", "my", "myself"})
_PAST_VERBS: Final = frozenset(
    "was were did had been felt took cut hurt hit beat put made gave would i'd got said went came "
    "thought".split()
)
_NOT_PAST: Final = frozenset(
    "need feed bed tired scared indeed tempted exhausted depressed".split()
)
_SECTIONS: Final = ("context", "manner", "time", "ending", "after")
"""Cues that may stand on the same words are in sections of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """A phrase of danger; `is_active` means a thought, plan or act rather than a hint."""

    hit: Hit
    category: RiskCategory
    is_active: bool
    is_own: bool
    """Whether the phrase names the speaker, as "kill myself" does, or what only a speaker shows."""
    is_of_others: bool
    """Whether the phrase itself speaks of somebody else, as "killed himself" does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What one clause says."""

    text: str
    words: Words
    dangers: tuple[Danger, ...]
    cues: tuple[Hit, ...]
    first_past_verb: int | None
    """Which word of the clause may be a verb in the past tense."""

    @property
    def is_nothing_else(self) -> bool:
        """Whether the clause holds a danger and hardly a word more."""
        named = sum(danger.hit.last - danger.hit.first + 1 for danger in self.dangers)
        return len(self.words.texts) <= named + 1

    def has(self, cue: str) -> bool:
        """Whether a cue stands anywhere in the clause."""
        return any(hit.cue == cue for hit in self.cues)

    @property
    def is_question(self) -> bool:
        """Whether the clause ends in a question mark."""
        return self.text.rstrip(" \t\r\n\"'”’)").endswith("?")

    @property
    def is_past(self) -> bool:
        """Whether it names the past and nothing recent."""
        return self.has("past") and not self.has("recent")


@remembered(256)
def read_statement(text: str) -> Statement:
    """Read one clause."""
    words = spoken_words(text)
    harmless = tuple(patterns("look_alikes").find(words))
    dangers = tuple(
        _danger(hit)
        for hit in patterns("signals").find(words)
        if not any(_is_meant(look_alike, hit) for look_alike in harmless)
    )
    cues = tuple(hit for section in _SECTIONS for hit in patterns(section).find(words))
    ordered = tuple(sorted(cues, key=lambda hit: hit.first))
    return Statement(
        text=text,
        words=words,
        dangers=dangers,
        cues=ordered,
        first_past_verb=next(
            (at for at, word in enumerate(words.texts) if _may_be_past(word)), None
        ),
    )


def _may_be_past(word: str) -> bool:
    return word in _PAST_VERBS or (word.endswith("ed") and word not in _NOT_PAST)


def _is_meant(look_alike: Hit, hit: Hit) -> bool:
    """Whether a harmless phrase is the better reading of words that it shares with a signal."""
    if look_alike.last < hit.first or look_alike.first > hit.last:
        return False
    is_longer = look_alike.last - look_alike.first >= hit.last - hit.first
    return is_longer or look_alike.last > hit.last


def _danger(hit: Hit) -> Danger:
    category, kind = hit.cue.split(".")
    return Danger(
        hit=hit,
        category=RiskCategory(category),
        is_active=kind in {"active", "trace"},
        is_own=kind == "trace" or not FIRST_PERSON.isdisjoint(hit.text.split()),
        is_of_others=kind == "other",
    )


def level_of(polarity: RiskPolarity, *, is_active: bool) -> RiskLevel:
    """Return how soon a person should look at a danger spoken of in this way."""
    match polarity:
        case RiskPolarity.AFFIRMED:
            return RiskLevel.HIGH if is_active else RiskLevel.MODERATE
        case RiskPolarity.HYPOTHETICAL:
            return RiskLevel.MODERATE
        case RiskPolarity.DENIED | RiskPolarity.PAST | RiskPolarity.QUOTED:
            return RiskLevel.LOW
