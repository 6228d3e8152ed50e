"""Clauses of an answer: words between two pauses, and the expressions of frequency in them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.expressions import Expression, Manner, expressions_in
from ai_psychiatrist.interview.phq8.reading_words import items_spoken_of, labels, wording

THIS: Final = "§"
"""Stands for an expression of frequency; the two others for another one, and for named days."""
_OTHER: Final = "¤"
_NAMED_OTHER: Final = "¶"
_SIGNS: Final = str.maketrans("", "", THIS + _OTHER + _NAMED_OTHER)
NAMED: Final = re.compile(r"weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day")
_ABOUT_THE_REST: Final = r"(?:i|im|ive|it|its|was|were|no|not|all|fine|good|ok|my)\b"
_BEFORE_THE_REST: Final = "".join(
    rf"(?<!\b{word} )" for word in ("on", "for", "and", "of", "all", "the", "in", "to", "than")
) + "".join(rf"(?<!{word} )" for word in ("never", "not", "none", "nothing"))
_DAYS_OF_THE_REST: Final = (
    r"(?:days|nights|ones|\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)
_SAID_OF_THEM: Final = r"(?:(?:days|nights) )?(?:i|it|not|no)\b"
_REST_BEGINS: Final = (
    rf"(?<!^){_BEFORE_THE_REST}(?<!\S)(?="
    rf"(?:on |all )?(?:the )?(?:other|remaining) {_DAYS_OF_THE_REST}(?= {_ABOUT_THE_REST})"
    rf"|(?:on )?the rest (?:of (?:the )?\w+ )?{_ABOUT_THE_REST}"
    r"|otherwise\b)"
)
"""As it is dictated, without a pause before what is said of the other days."""
_CONJUNCTION: Final = "|".join(
    (
        r"(?<!anything )(?<!nothing )(?<!all )but(?! for\b)",
        r"though|although|because|cos|cause|whereas|while|however",
        r"(?:and )?then(?= \w+ (?:where|when)\b)",
        r"(?:and )?then(?= (?:i|im|it|we|was|got|slept|back|fine|nothing|all)\b)",
        r"and(?= (?:the )?(?:rest|remaining|others|other (?:days|nights))\b)",
        r"and(?= (?:on )?\w+ (?:where|when)\b)",
        r"and(?= (?:in|on|for) \w+ (?:days|nights)\b)",
        rf"and(?= (?:(?:in|on|for) )?(?:the other )?{_DAYS_OF_THE_REST} {_SAID_OF_THEM})",
        r"and(?= half (?:i|the|of)\b)",
        r"so(?= (?:\w+ )?\w+ (?:bad|good) (?:ones|days|nights)\b)",
        r"so(?= (?:i|im|ive|id|my)\b)",
    )
)
_CUT: Final = re.compile(rf"(?<!\S)(?:[.?,]|{_CONJUNCTION})(?!\S)|{_REST_BEGINS}")
_AND: Final = re.compile(r"(?<!\S)and(?!\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """Words between two pauses; characters of the spoken answer, end exclusive."""

    number: int
    """From 0 on."""
    sentence: int
    """Which sentence of the answer it belongs to, from 0 on."""
    start: int
    end: int
    stop: str
    """The pause or conjunction before the next one."""
    spoken: str
    expressions: tuple[Expression, ...]

    def words_of(self, one: Expression) -> str:
        """Return the words of one of its expressions."""
        return self.spoken[one.start - self.start : one.end - self.start]

    def around(self, one: Expression | None = None) -> str:
        """Return the words with a sign in the place of an expression, or of each."""
        words, at = "", self.start
        for other in self.expressions:
            words += self.spoken[at - self.start : other.start - self.start]
            is_meant = one is None or one.start == other.start
            words += THIS if is_meant else self._sign_of(other)
            at = other.end
        return f"{words}{self.spoken[at - self.start :]}".strip()

    def _sign_of(self, other: Expression) -> str:
        return _NAMED_OTHER if NAMED.search(self.words_of(other)) else _OTHER

    @property
    def is_bare(self) -> bool:
        """Whether it says nothing but how often."""
        return not unknown(self.around(), "filler", "yes", "either", "correction")

    @property
    def has_count(self) -> bool:
        """Whether it says how often in more than "plenty" and "a bit", words like others."""
        return any(one.manner is not Manner.VAGUE for one in self.expressions)

    @property
    def words(self) -> str:
        """The words, with a sign in the place of each expression where one of them counts."""
        return self.around() if self.has_count else self.spoken

    @property
    def ends_sentence(self) -> bool:
        """Whether the next clause is another sentence."""
        return self.stop in {".", "?", ""}


def clauses_of(spoken: str) -> tuple[Clause, ...]:
    """Cut an answer at its pauses and conjunctions, outside of the expressions of frequency."""
    waiting = list(reversed(expressions_in(spoken)))
    inside = bytearray(len(spoken))
    for one in waiting:
        inside[one.start : one.end] = b"\1" * (one.end - one.start)
    begins = {one.start for one in waiting}
    cuts = [
        found
        for found in _CUT.finditer(spoken)
        if not inside[found.start()] or (not found[0] and found.start() in begins)
    ]
    cuts = sorted([*cuts, *_between_items(spoken, cuts, waiting)], key=lambda cut: cut.start())
    starts = [0, *(found.end() for found in cuts)]
    ends = [*(found.start() for found in cuts), len(spoken)]
    stops = [*(found[0] or "," for found in cuts), ""]
    clauses: list[Clause] = []
    for start, end, stop in zip(starts, ends, stops, strict=True):
        within: list[Expression] = []
        while waiting and waiting[-1].start < end:
            within.append(waiting.pop())
        words = spoken[start:end].strip()
        first = start + spoken[start:end].find(words)
        if words:
            last = clauses[-1] if clauses else None
            clauses.append(
                Clause(
                    number=len(clauses),
                    sentence=last.sentence + last.ends_sentence if last else 0,
                    start=first,
                    end=first + len(words),
                    stop=stop,
                    spoken=words,
                    expressions=tuple(within),
                )
            )
    return tuple(clauses)


def _between_items(
    spoken: str, cuts: Sequence[re.Match[str]], expressions: Sequence[Expression]
) -> Iterator[re.Match[str]]:
    """Yield each "and" between what is said of one item and of another, how often to both.

    "Tired on five days and slept badly every night."
    """
    places = [0, *(cut.start() for cut in cuts), len(spoken)]
    for found in _AND.finditer(spoken):
        start = max(place for place in places if place <= found.start())
        end = min(place for place in places if place >= found.end())
        halves = ((start, found.start()), (found.end(), end))
        named = [items_spoken_of(spoken[first:last], Item) for first, last in halves]
        is_counted = all(
            any(first <= one.start and one.end <= last for one in expressions)
            for first, last in halves
        )
        if is_counted and all(named) and named[0].isdisjoint(named[1]):
            yield found


def has(words: str, key: str) -> bool:
    """Return whether words hold one of a list."""
    return wording("beside", key).search(words) is not None


def without(words: str, *keys: str) -> str:
    """Take the words of some lists out."""
    for key in keys:
        words = wording("beside", key).sub(" ", words)
    return " ".join(words.split())


def unknown(words: str, *keys: str) -> str:
    """Return what is left when the words of some lists, and the expressions, are taken out."""
    return without(words, *keys).translate(_SIGNS).strip()


def is_label(item: Item, words: str) -> bool:
    """Return whether words name an item and say nothing beside but how often."""
    rest, named = labels(item).subn(" ", words)
    return named > 0 and not unknown(rest, "filler")


def pauses(spoken: str) -> list[str]:
    """Return the words between the pauses of spoken words."""
    parts = re.split(r"(?<!\S)[.?,](?!\S)", spoken)
    return [words for part in parts if (words := part.strip())]
