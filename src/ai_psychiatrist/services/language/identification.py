"""The language of each turn, identified offline by its script and its frequent words.

English has to be outweighed: what cannot be told goes with the turns around it, and where nothing
can be told it counts as English, of which every dialect is one.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from operator import itemgetter
from typing import Any, Final

import rtoml

from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.domain.risk import READ_LANGUAGE, Examined, UnexaminedTurn
from ai_psychiatrist.domain.transcript import Speaker, Transcript

UNDETERMINED: Final = "und"


@cache
def language_names() -> Mapping[str, str]:
    """Return the English name of each language by its code."""
    names: dict[str, str] = _tables()["names"]
    return names


def language_by_script(token: str) -> str:
    """Return the language of a word that is not in Latin letters, by these alone."""
    starts, ends, languages = _scripts()
    place = bisect_right(starts, token[0]) - 1
    language = languages[place] if place >= 0 and token[0] <= ends[place] else UNDETERMINED
    for near, letters in _letters().items():
        if not letters.isdisjoint(token):
            return near
    if language == "ru" and token.casefold() in _words("uk") - _words("ru"):
        return "uk"
    return language


@cache
def frequent_words() -> Mapping[str, tuple[str, ...]]:
    """Return word → the languages that it is frequent in."""
    found: dict[str, dict[str, None]] = {}
    english = _words(READ_LANGUAGE)
    for language in _tables()["words"]:
        for word in _words(language):
            found.setdefault(word, {})[language] = None
            bare = _without_marks(word)
            # Left out, the marks of a foreign word may give an English one.
            if bare not in english:
                found.setdefault(bare, {})[language] = None
    return {word: tuple(languages) for word, languages in found.items()}


def _without_marks(word: str) -> str:
    plain = word.translate(str.maketrans("ıłđßæœø", "ildsaoo"))
    bare = unicodedata.normalize("NFD", plain)  # noqa: TID251  a word of our own tables
    return "".join(letter for letter in bare if not unicodedata.combining(letter))


@cache
def _words(language: str) -> frozenset[str]:
    return frozenset(_tables()["words"][language].split())


@cache
def marked_letters() -> Mapping[str, frozenset[str]]:
    """Return letter → the languages that write it."""
    tables: dict[str, str] = _tables()["marks"]
    letters = {letter for marks in tables.values() for letter in marks}
    return {
        letter: frozenset(language for language, marks in tables.items() if letter in marks)
        for letter in letters
    }


@cache
def _letters() -> Mapping[str, frozenset[str]]:
    return {language: frozenset(letters) for language, letters in _tables()["letters"].items()}


@cache
def _scripts() -> tuple[list[str], list[str], list[str]]:
    """Return the first letters of the passages of scripts, their last ones, and the languages."""
    ranges = sorted(
        (passage[0], passage[-1], language)
        for language, passages in _tables()["scripts"].items()
        for passage in passages
    )
    return [one[0] for one in ranges], [one[1] for one in ranges], [one[2] for one in ranges]


@cache
def _tables() -> Mapping[str, Any]:
    place = resources.files("ai_psychiatrist.services.language.vocabulary")
    return rtoml.loads(place.joinpath("function_words.toml").read_text(encoding="utf-8"))


# Scripts that are written without spaces: each character counts as a word.
_UNSPACED: Final = "ぁ-ヿ㐀-䶿一-鿿豈-﫿ก-๿ກ-໿က-႟ក-៿"
_ENDS: Final = ".!?…。！？\n"
_TOKEN: Final = re.compile(
    rf"[{_ENDS}]+|[{_UNSPACED}]|[^\W\d_](?:[^\s\-.,;:!?…\"“”()\[\]<>/\\|{_UNSPACED}]*)"
)
_WRITTEN: Final = itemgetter(0)
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
        """Return the language, `None` where it is unclear."""
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
    # One after the other: compatibility forms become eighteen letters, and a list of them large.
    for token in map(_WRITTEN, _TOKEN.finditer(text)):
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


_LEAD_WITHIN: Final = 4 * OF_WORD
"""By how much another language leads over English in a stretch of a turn that is in English."""


def language_of(words: str) -> str | None:
    """Return the language of a passage by itself, `None` where it is unclear."""
    return total_votes(passages_of(words)).language()


def examined_in(transcript: Transcript) -> Examined:
    """Return which turns of a transcript are in a language that is read."""
    read = [passages_of(transcript.words(turn)) for turn in transcript.turns]
    votes = [total_votes(passages) for passages in read]
    languages = _with_neighbours([turn.speaker for turn in transcript.turns], votes)
    words: Counter[str] = Counter()
    unread: list[UnexaminedTurn] = []
    for turn, passages, language in zip(transcript.turns, read, languages, strict=True):
        if turn.speaker is Speaker.INTERVIEWER:
            continue
        told = _by_passage(passages, language)
        if turn.speaker is Speaker.PARTICIPANT:
            words.update(told)
        others = {one: count for one, count in told.items() if one != READ_LANGUAGE}
        if others:
            unread.append(
                UnexaminedTurn(
                    turn=turn.index,
                    language=max(others, key=others.__getitem__),
                    is_whole=len(others) == len(told),
                )
            )
    return Examined.of(dict(words), unread, language_names())


def _by_passage(passages: Sequence[Votes], language: str) -> Counter[str]:
    """Return language → how many words of a turn are in it."""
    told: Counter[str] = Counter()
    for votes in passages:
        own = votes.language(_LEAD_WITHIN) if len(passages) > 1 else None
        told[language if own in {None, UNDETERMINED} else str(own)] += votes.words
    return +told


def _with_neighbours(speakers: Sequence[Speaker], votes: Sequence[Votes]) -> list[str]:
    """Return the language of each turn; one that does not tell goes with the nearest that does."""
    own = [one.language() for one in votes]
    whole = total_votes(votes).language() or READ_LANGUAGE
    beside = _nearest(own, range(len(own)))
    for speaker in set(speakers):
        places = [at for at, one in enumerate(speakers) if one is speaker]
        beside |= {at: near for at, near in _nearest(own, places).items() if near is not None}
    return [
        told or _inherited(one, beside[at] or whole)
        for at, (told, one) in enumerate(zip(own, votes, strict=True))
    ]


def _inherited(votes: Votes, language: str) -> str:
    """Go with a language, unless all that is known of the words is English."""
    known = votes.latin()
    return READ_LANGUAGE if known.get(READ_LANGUAGE, 0) > known.get(language, 0) else language


def _nearest(own: Sequence[str | None], places: Sequence[int]) -> dict[int, str | None]:
    """Return for each of some turns what the nearest of them that tells says, an earlier first."""
    before, after = _last_known(own, places), _last_known(own, places[::-1])
    found: dict[int, str | None] = {}
    for at in places:
        near = [place for place in (before[at], after[at]) if place is not None]
        found[at] = own[min(near, key=lambda place: abs(place - at))] if near else None
    return found


def _last_known(own: Sequence[str | None], places: Iterable[int]) -> dict[int, int | None]:
    last, found = None, {}
    for at in places:
        last = at if own[at] is not None else last
        found[at] = last
    return found
