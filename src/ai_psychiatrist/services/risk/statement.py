"""One clause of a participant: the phrases of danger in it, and the cues around them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ai_psychiatrist.domain.risk import RiskKind, RiskLevel, RiskPolarity
from ai_psychiatrist.services.language.clauses import is_asked
from ai_psychiatrist.services.language.concepts import match_concepts
from ai_psychiatrist.services.language.matcher import Hit, MatchedText
from ai_psychiatrist.services.language.remembered import remembered
from ai_psychiatrist.services.language.vocabulary import words
from ai_psychiatrist.services.risk.vocabulary import (
    HINT,
    IMPLIED,
    JOINED,
    SPOKEN_KINDS,
    danger_words,
    is_harmless,
    match_danger,
)

_SECTIONS: Final = ("context", "manner", "purpose", "time", "ending", "after")
_KINDS: Final = {
    f"{kind.value}{ending}": kind for kind in SPOKEN_KINDS for ending in ("", IMPLIED, HINT, JOINED)
}
_SHOWN: Final = "shown"
"""Phrases of what only the speaker can show: "I did these"."""
_OTHERS: Final = "others"
"""Phrases that themselves speak of somebody else: "killed himself"."""
_LEVELS: Final = {
    _SHOWN: RiskLevel.HIGH,
    "implied": RiskLevel.MODERATE,
    "implied_high": RiskLevel.HIGH,
    "joined_high": RiskLevel.HIGH,
    _OTHERS: RiskLevel.LOW,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DangerPhrase:
    """A phrase of danger: words `first` to `last` of its clause, inclusive."""

    kind: RiskKind
    level: RiskLevel
    """How soon a person should look where it is affirmed."""
    first: int
    last: int
    texts: tuple[str, ...]
    start: int
    """In characters of the clause, as `end`."""
    end: int
    is_own: bool
    """Whether the phrase names the speaker, as "kill myself" does, or what only a speaker shows."""
    is_of_others: bool
    is_implied: bool
    is_joined: bool
    """Whether only a purpose beside it gives it a meaning: "I counted them", "there's enough"."""

    @property
    def length(self) -> int:
        """How many words it has."""
        return self.last - self.first + 1

    @property
    def is_active(self) -> bool:
        """Whether it is a thought, plan or act rather than a hint."""
        return self.level is RiskLevel.HIGH or self.is_of_others


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What one clause says."""

    text: str
    matched: MatchedText
    dangers: tuple[DangerPhrase, ...]
    cues: tuple[Hit, ...]
    """What is said around the dangers, in the order of the first words."""

    @cached_property
    def said(self) -> MatchedText:
        """The words, and what governs them, as they are matched for any concept."""
        return match_concepts(self.text)

    @property
    def texts(self) -> tuple[str, ...]:
        """The words as they are compared."""
        return self.matched.texts

    @property
    def is_nothing_else(self) -> bool:
        """Whether the clause holds a danger and hardly a word more."""
        named = max((danger.length for danger in self.dangers), default=0)
        return len(self.texts) <= named + 1

    def has(self, cue: str) -> bool:
        """Whether a cue stands anywhere in the clause."""
        return cue in self.cue_kinds

    @cached_property
    def cue_kinds(self) -> frozenset[str]:
        """Which cues stand in the clause."""
        return frozenset(hit.kind for hit in self.cues)

    @property
    def is_question(self) -> bool:
        """Whether the clause ends in a question mark."""
        return is_asked(self.text)

    @property
    def is_past(self) -> bool:
        """Whether it names the past and nothing recent."""
        return self.has("past") and not self.has("recent")

    def has_past_verb(self, danger: DangerPhrase) -> bool:
        """Return whether a verb up to a danger may be in the past tense."""
        until = self.place(danger).last + 1
        return any(
            word in words("past")
            or word in words("may_be_past")
            or (word.endswith("ed") and word not in words("no_past"))
            for word in self.said.texts[:until]
        )

    def covered(self, cue: str) -> frozenset[int]:
        """Return which of the words that are matched for any concept a cue stands on."""
        if cue not in self.cue_kinds:
            return frozenset()
        spans = self.matched.words.spans
        cues = [(spans[hit.first][0], spans[hit.last][1]) for hit in self.cues if hit.kind == cue]
        return frozenset(
            at
            for at, (start, end) in enumerate(self.said.words.spans)
            if any(first < end and start < last for first, last in cues)
        )

    def place(self, danger: DangerPhrase) -> Hit:
        """Return which of the words that are matched for any concept a danger stands on."""
        spans = self.said.words.spans
        inside = [
            at for at, (start, end) in enumerate(spans) if start < danger.end and danger.start < end
        ]
        return Hit(danger.kind.value, inside[0], inside[-1]) if inside else Hit("", 0, 0)


@remembered(256)
def read_statement(text: str) -> Statement:
    """Read one clause."""
    matched = match_danger(text)
    return Statement(
        text=text,
        matched=matched,
        dangers=tuple(_dangers(matched)),
        cues=tuple(matched.among(*_SECTIONS)),
    )


def _dangers(matched: MatchedText) -> list[DangerPhrase]:
    """Return the dangers; of two of a category on the same words the more urgent, or longer one.

    What says it by itself comes before what only the topic gives a meaning, if that is no more
    urgent.
    """
    named = [
        _danger(matched, hit) for hit in matched.among(*_KINDS) if not is_harmless(matched, hit)
    ]
    kept: list[DangerPhrase] = []
    for danger in sorted(
        named, key=lambda one: (one.is_joined, one.is_implied, -one.level.rank, -one.length)
    ):
        if not any(_holds(other, danger) for other in kept):
            kept.append(danger)
    return sorted(kept, key=lambda one: one.first)


def _holds(one: DangerPhrase, other: DangerPhrase) -> bool:
    """Whether one danger says on the same words what another does."""
    is_apart = one.last < other.first or other.last < one.first
    is_alike = one.kind.category is other.kind.category
    is_weaker = not other.is_implied or other.level.rank <= one.level.rank
    return is_alike and is_weaker and not is_apart and one.is_joined is other.is_joined


def _danger(matched: MatchedText, hit: Hit) -> DangerPhrase:
    texts = matched.texts[hit.first : hit.last + 1]
    return DangerPhrase(
        kind=_KINDS[hit.subject],
        level=_LEVELS.get(hit.kind) or RiskLevel(hit.kind),
        first=hit.first,
        last=hit.last,
        texts=texts,
        start=matched.words.spans[hit.first][0],
        end=matched.words.spans[hit.last][1],
        is_own=hit.kind == _SHOWN or is_of_speaker(texts),
        is_of_others=hit.kind == _OTHERS,
        is_implied=hit.subject.endswith(IMPLIED),
        is_joined=hit.subject.endswith(JOINED),
    )


def is_of_speaker(texts: tuple[str, ...]) -> bool:
    """Return whether words name the speaker."""
    return not danger_words("first_person").isdisjoint(texts)


def level_of(polarity: RiskPolarity, stated: RiskLevel) -> RiskLevel:
    """Return how soon a person should look at a danger spoken of in this way."""
    match polarity:
        case RiskPolarity.AFFIRMED | RiskPolarity.UNCLEAR:
            return stated
        case RiskPolarity.HYPOTHETICAL:
            return min(stated, RiskLevel.MODERATE, key=lambda level: level.rank)
        case RiskPolarity.PAST | RiskPolarity.QUOTED:
            return RiskLevel.LOW
        case RiskPolarity.DENIED:
            return RiskLevel.NONE
