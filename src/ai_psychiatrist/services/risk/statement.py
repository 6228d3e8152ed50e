"""One clause of a participant: the phrases of danger in it, and the cues around them."""

from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Final

from ai_psychiatrist.domain.risk import RiskKind, RiskLevel, RiskPolarity
from ai_psychiatrist.services.language.clauses import is_asked
from ai_psychiatrist.services.language.concepts import match_concepts
from ai_psychiatrist.services.language.memory import remembered
from ai_psychiatrist.services.language.phrases import Hit, MatchedText, Matcher
from ai_psychiatrist.services.language.spoken import compared_words, every_word, spoken_without
from ai_psychiatrist.services.language.vocabulary import word_file, words

SPOKEN_KINDS: Final = tuple(kind for kind in RiskKind if kind is not RiskKind.UNSPECIFIED)
"""The kinds that phrases are known for."""
ASKED: Final = "?"
"""Ends the subject of the phrases that ask about a kind."""
_IMPLIED: Final = "+"
"""Ends the subject of the phrases that only the topic gives a meaning."""
_HINT: Final = "-"
"""Ends the subject of those that are a hint alone."""
_JOINED: Final = "&"
"""Ends the subject of those that only a purpose beside them gives a meaning."""
_LOOK_ALIKE: Final = "look_alike"
_CUES: Final = ("context", "manner", "purpose", "time", "ending", "after")
_OVERLAPPING: Final = (*_CUES, "replies", "rising", "moods", "whom")
"""Sections of phrases that may stand on the same words."""
_KINDS: Final = {
    f"{kind.value}{ending}": kind
    for kind in SPOKEN_KINDS
    for ending in ("", _IMPLIED, _HINT, _JOINED)
}
_SHOWN: Final = "shown"
"""Phrases of what only the speaker can show: "I did these"."""
_OTHERS: Final = "others"
"""Phrases that themselves speak of somebody else: "killed himself"."""
_LEVELS: Final = {
    _SHOWN: RiskLevel.HIGH,
    "implied": RiskLevel.MODERATE,
    "implied_high": RiskLevel.HIGH,
    "joined": RiskLevel.MODERATE,
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
    def is_question(self) -> bool:
        """Whether the clause ends in a question mark."""
        return is_asked(self.text)

    def has(
        self, *cues: str, before: DangerPhrase | None = None, after: DangerPhrase | None = None
    ) -> bool:
        """Return whether one of some cues stands in the clause, before or after a danger of it."""
        return any(
            hit.kind in cues
            and (before is None or hit.first < before.first)
            and (after is None or hit.first > after.last)
            for hit in self.cues
        )

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
        spans = self.matched.words.spans
        return frozenset(
            at
            for hit in self.cues
            if hit.kind == cue
            for at in self._said_within(spans[hit.first][0], spans[hit.last][1])
        )

    def place(self, danger: DangerPhrase) -> Hit:
        """Return which of the words that are matched for any concept a danger stands on."""
        inside = self._said_within(danger.start, danger.end)
        return Hit(danger.kind.value, inside[0], inside[-1]) if inside else Hit("", 0, 0)

    def _said_within(self, first: int, last: int) -> list[int]:
        """Return which words of `said` touch some characters of the clause."""
        spans = self.said.words.spans
        return [at for at, (start, end) in enumerate(spans) if first < end and start < last]


@remembered(256)
def read_statement(text: str) -> Statement:
    """Read one clause."""
    matched = match_danger(text)
    return Statement(
        text=text,
        matched=matched,
        dangers=tuple(_dangers(matched)),
        cues=tuple(matched.among(*_CUES)),
    )


def _dangers(matched: MatchedText) -> list[DangerPhrase]:
    """Return the dangers; of two of a category on the same words the more urgent, or longer one.

    What says it by itself comes before what only the topic gives a meaning, if that is no more
    urgent.
    """
    named = [
        _danger(matched, hit) for hit in matched.among(*_KINDS) if not is_harmless(matched, hit)
    ]
    named.sort(
        key=lambda one: (one.is_joined, one.is_implied, -one.level.rank, one.first - one.last)
    )
    kept: list[DangerPhrase] = []
    for danger in named:
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
        is_implied=hit.subject.endswith(_IMPLIED),
        is_joined=hit.subject.endswith(_JOINED),
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


@remembered(512)
def match_danger(text: str) -> MatchedText:
    """Find the phrases of a text."""
    return _matcher().match(spoken_without(text, danger_words("fillers")))


@remembered(256)
def match_replies(text: str) -> MatchedText:
    """Find what is said of an answer or a question; the subject of a hit is its list.

    No word is passed over: "not really" is no "no".
    """
    return _reply_matcher().match(every_word(text))


def is_harmless(matched: MatchedText, hit: Hit) -> bool:
    """Return whether a harmless phrase is the better reading of words that it shares."""
    return any(
        one.first <= hit.last
        and hit.first <= one.last
        and (one.last - one.first >= hit.last - hit.first or one.last > hit.last)
        for one in matched.among(_LOOK_ALIKE)
    )


@cache
def _matcher() -> Matcher:
    tables: dict[str, list[str]] = {}
    lists = dict(word_file("danger/lists")["lists"])
    for section in _OVERLAPPING:
        for key, entries in word_file("danger/context")[section].items():
            tables[f"{section}.{key}"] = entries
    for kind in SPOKEN_KINDS:
        file = word_file(f"danger/{kind.value}")
        for key, entries in file["said"].items():
            tables[f"{kind.value}{_ending(key)}.{key}"] = entries
        tables |= {f"{kind.value}{ASKED}.{key}": entries for key, entries in file["asked"].items()}
        tables[f"{_LOOK_ALIKE}.{kind.value}"] = file["harmless"].get(_LOOK_ALIKE, [])
        lists |= file.get("lists", {})
    return Matcher(tables, lists, passes_over=danger_words("fillers").union(",").__contains__)


def _ending(key: str) -> str:
    """Return what parts phrases, so that they keep none from being found that says more."""
    if key.startswith("implied"):
        return _IMPLIED
    if key.startswith("joined"):
        return _JOINED
    return _HINT if key == "low" else ""


@cache
def danger_words(key: str) -> frozenset[str]:
    """Return a list of single words about dangers."""
    return frozenset(word_file("danger/context")[key])


reply_words: Final = partial(compared_words, "danger/replies")
"""Return a list of single words of answers by its key, as they are compared."""


@cache
def _reply_matcher() -> Matcher:
    file = word_file("danger/replies")
    lists = dict(word_file("danger/lists")["lists"]) | file["lists"]
    return Matcher(file["phrases"], lists, passes_over=lambda _: False)
