"""What the words of a stretch of speech say of the language that it is in."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.examined import READ_LANGUAGE
from ai_psychiatrist.services.language.language_marks import (
    UNDETERMINED,
    frequent_words,
    language_by_script,
    marked_letters,
)

# Scripts that are written without spaces: each character counts as a word.
_UNSPACED: Final = "ぁ-ヿ㐀-䶿一-鿿豈-﫿ก-๿ກ-໿က-႟ក-៿"
_TOKEN: Final = re.compile(
    rf"(?P<end>[.!?…。！？\n]+)|[{_UNSPACED}]|[^\W\d_](?:[^\s\-.,;:!?…\"“”()\[\]<>/\\|{_UNSPACED}]*)"
)
_LAST_LATIN: Final = "\u024f"
_LATIN_WITH_MARKS: Final = re.compile("[\u1e00-\u1eff]")
OF_WORD: Final = 2
"""What a frequent word speaks for its languages; a letter with a mark speaks half as much."""
_OF_MARK: Final = 1
_LEAST_LEAD: Final = 2 * OF_WORD
"""By how much another language leads over English to be told."""
_LEAST_FOREIGN: Final = 8
"""From how many words on a turn is in another language for want of English alone."""
_LEAST_UNKNOWN: Final = 10
"""The same where no word of a known language is among them, as none is in a list of medicines."""
_LEAST_ENGLISH: Final = 8
"""Of so many English words at least one is frequent."""
_LEAST_NAMED: Final = 6
"""The same for a language that is to be named."""
_STRETCH: Final = 12
_LONGEST_STRETCH: Final = 25
_SHORTEST_REST: Final = 6


@dataclass(slots=True)
class Votes:
    """What the words of a stretch speak for."""

    words: int = 0
    latin: Counter[str] = field(default_factory=Counter)
    """Language → how much its frequent words and its letters with marks speak for it."""
    frequent: Counter[str] = field(default_factory=Counter)
    """Language → how many words are its frequent ones."""
    other: Counter[str] = field(default_factory=Counter)
    """Language → how many words are in its script."""
    plain: int = 0
    """Words in Latin letters that are no names by their capitals."""

    def add(self, more: "Votes") -> None:
        """Count those of another stretch, too."""
        self.words += more.words
        for own, others in (
            (self.latin, more.latin),
            (self.frequent, more.frequent),
            (self.other, more.other),
        ):
            if others:
                own.update(others)
        self.plain += more.plain

    def language(self, lead: int = _LEAST_LEAD) -> str | None:
        """Return the language, `None` where it cannot be told."""
        if 2 * self.other.total() > self.words:
            return _of_script(self.other)
        english = self.latin[READ_LANGUAGE]
        best = max(self.latin.keys() - {READ_LANGUAGE}, key=self._rank, default=UNDETERMINED)
        if self.latin[best] - english >= lead or self._has_hardly_any_english(best):
            is_known = _LEAST_NAMED * self.frequent[best] >= self.words
            return best if is_known else UNDETERMINED
        return READ_LANGUAGE if english > self.latin[best] else None

    def _has_hardly_any_english(self, best: str) -> bool:
        english = self.frequent[READ_LANGUAGE]
        least = _LEAST_FOREIGN if self.frequent[best] > english else _LEAST_UNKNOWN
        return self.plain >= least and _LEAST_ENGLISH * english <= self.words

    def _rank(self, language: str) -> tuple[int, str]:
        return self.latin[language], language


def total_votes(many: Iterable[Votes]) -> Votes:
    """Return what several stretches speak for together."""
    whole = Votes()
    for one in many:
        whole.add(one)
    return whole


def passages_of(words: str) -> list[Votes]:
    """Count the words of a turn, of a long one in passages of some sentences."""
    text = words if words.isascii() else unicodedata.normalize("NFKC", words)
    passages = [Votes()]
    is_first = True
    for found in _TOKEN.finditer(text):
        if found["end"]:
            is_first = True
            is_full = passages[-1].words >= _STRETCH
        else:
            _count(found[0], passages[-1], is_first=is_first)
            is_first = False
            is_full = passages[-1].words >= _LONGEST_STRETCH
        if is_full:
            passages.append(Votes())
    if len(passages) > 1 and passages[-1].words < _SHORTEST_REST:
        rest = passages.pop()
        passages[-1].add(rest)
    return passages


def _count(token: str, votes: Votes, *, is_first: bool) -> None:
    votes.words += 1
    if token[0] > _LAST_LATIN and not _LATIN_WITH_MARKS.match(token):
        votes.other[language_by_script(token)] += 1
        return
    votes.plain += is_first or token[0].islower()
    word = token.casefold()
    if word.isascii() and "'" not in word:
        # Most words are plain, and of most of them no language makes much use.
        for language in frequent_words().get(word, ()):
            votes.latin[language] += OF_WORD
            votes.frequent[language] += 1
        return
    word = word.replace("’", "'").strip("'")
    parts = (word,) if word in frequent_words() or "'" not in word else tuple(word.split("'"))
    for part in parts:
        languages = frequent_words().get(part, ())
        for language in languages:
            votes.latin[language] += OF_WORD
            votes.frequent[language] += 1
        if not part.isascii():
            for mark in set(part):
                for language in marked_letters().get(mark, frozenset()).difference(languages):
                    votes.latin[language] += _OF_MARK


def _of_script(counts: Counter[str]) -> str:
    """Return the language of the script that most words are in."""
    # One language is told from another of its script by letters that few of its words have.
    for rare, among in (("ja", "zh"), ("uk", "ru"), ("ur", "ar"), ("fa", "ar")):
        both = counts[rare] + counts[among]
        if counts[rare] and 2 * both > counts.total() and _LEAST_OF_RARE * counts[rare] >= both:
            return rare
    return max(counts, key=lambda language: (counts[language], language))


_LEAST_OF_RARE: Final = 8
"""Of so many words one with such a letter is enough."""
