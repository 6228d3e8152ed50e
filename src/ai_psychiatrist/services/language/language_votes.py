"""What the words of a stretch of speech say of the language that it is in."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.examined import READ_LANGUAGE
from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.services.language.language_marks import (
    UNDETERMINED,
    frequent_words,
    language_by_script,
    marked_letters,
)

# Scripts that are written without spaces: each character counts as a word.
_UNSPACED: Final = "ぁ-ヿ㐀-䶿一-鿿豈-﫿ก-๿ກ-໿က-႟ក-៿"
_ENDS: Final = ".!?…。！？\n"
_TOKEN: Final = re.compile(
    rf"[{_ENDS}]+|[{_UNSPACED}]|[^\W\d_](?:[^\s\-.,;:!?…\"“”()\[\]<>/\\|{_UNSPACED}]*)"
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
    frequent: list[str] = field(default_factory=list)
    """For each word the languages that it is frequent in."""
    marks: list[str] = field(default_factory=list)
    """For each letter with marks the languages that write it, its word's own apart."""
    other: list[str] = field(default_factory=list)
    """For each word in another script the language of that."""
    plain: int = 0
    """Words in Latin letters that are no names by their capitals."""

    def add(self, more: "Votes") -> None:
        """Count those of another stretch, too."""
        self.words += more.words
        self.frequent += more.frequent
        self.marks += more.marks
        self.other += more.other
        self.plain += more.plain

    def latin(self) -> dict[str, int]:
        """Return language → how much its frequent words and its letters speak for it."""
        votes = {one: OF_WORD * count for one, count in Counter(self.frequent).items()}
        for one in self.marks:
            votes[one] = votes.get(one, 0) + _OF_MARK
        return votes

    def language(self, lead: int = _LEAST_LEAD) -> str | None:
        """Return the language, `None` where it cannot be told."""
        if 2 * len(self.other) > self.words:
            return _of_script(Counter(self.other))
        votes = self.latin()
        english = votes.pop(READ_LANGUAGE, 0)
        most = max(votes.values(), default=0)
        best = max((one for one, count in votes.items() if count == most), default=UNDETERMINED)
        if most - english >= lead or self._has_hardly_any_english(best):
            is_known = _LEAST_NAMED * self.frequent.count(best) >= self.words
            return best if is_known else UNDETERMINED
        return READ_LANGUAGE if english > most else None

    def _has_hardly_any_english(self, best: str) -> bool:
        if self.plain < _LEAST_FOREIGN:
            return False
        english = self.frequent.count(READ_LANGUAGE)
        least = _LEAST_FOREIGN if self.frequent.count(best) > english else _LEAST_UNKNOWN
        return self.plain >= least and _LEAST_ENGLISH * english <= self.words


def total_votes(many: Sequence[Votes]) -> Votes:
    """Return what several stretches speak for together."""
    if len(many) == 1:
        return many[0]
    whole = Votes()
    for one in many:
        whole.add(one)
    return whole


def passages_of(words: str) -> list[Votes]:
    """Count the words of a turn, of a long one in passages of some sentences."""
    text = nfkc(words)
    known = frequent_words()
    passages = [Votes()]
    votes = passages[0]
    is_first = True
    for token in _TOKEN.findall(text):
        if token[0] in _ENDS:
            is_first = True
            is_full = votes.words >= _STRETCH
        else:
            votes.words += 1
            if token.isascii() and "'" not in token:
                # Most words are plain, and of most of them no language makes much use.
                votes.plain += is_first or token[0].islower()
                votes.frequent += known.get(token.casefold(), ())
            else:
                _count(token, votes, is_first=is_first)
            is_first = False
            is_full = votes.words >= _LONGEST_STRETCH
        if is_full:
            votes = Votes()
            passages.append(votes)
    if len(passages) > 1 and votes.words < _SHORTEST_REST:
        passages.pop()
        passages[-1].add(votes)
    return passages


def _count(token: str, votes: Votes, *, is_first: bool) -> None:
    if token[0] > _LAST_LATIN and not _LATIN_WITH_MARKS.match(token):
        votes.other.append(language_by_script(token))
        return
    votes.plain += is_first or token[0].islower()
    known = frequent_words()
    word = token.casefold().replace("’", "'").strip("'")
    parts = (word,) if word in known or "'" not in word else tuple(word.split("'"))
    for part in parts:
        languages = known.get(part, ())
        votes.frequent += languages
        for mark in () if part.isascii() else set(part):
            votes.marks += marked_letters().get(mark, frozenset()).difference(languages)


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
