"""When what a stretch of a turn says was so, and how often, by the clauses about it."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.services.language.clauses import Clause, clauses_of
from ai_psychiatrist.services.language.frequency import Occurrence, occurrences_in
from ai_psychiatrist.services.language.memory import remembered
from ai_psychiatrist.services.language.phrases import Hit, Matcher, every_phrase
from ai_psychiatrist.services.language.spoken import Spoken, compared_words, every_word

_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_REACH: Final = 6
"""Within how many words after "when" the verb stands."""
_SENTENCE_ENDS: Final = frozenset(".?!;…。！？\n")
_words: Final = partial(compared_words, "temporality")
"""Return a list of single words of times by its key."""
_DATING: Final = _words("subordinators") | _words("event_prepositions")
_BY_RANK: Final = (
    (False, Timeframe.RECENT),
    (False, Timeframe.PAST),
    (True, Timeframe.RECENT),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A time that a clause names, in characters of the clause."""

    start: int
    end: int
    timeframe: Timeframe
    is_weak: bool = False
    """Whether it gives way to any other: "I've been" to "last year"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseTime:
    """When a clause says that something was."""

    periods: tuple[Period, ...]
    timeframe: Timeframe | None
    """What its periods come to."""
    is_past_tense: bool
    looks_back: bool
    """Whether it dates what was said before it: "that was years ago"."""
    is_contrast: bool
    ends_sentence: bool


@remembered(256)
def clause_time(text: str) -> ClauseTime:
    """Read the times that a clause names, and how it is joined to those beside it."""
    words = every_word(text)
    texts = words.texts
    is_past_tense = not _words("past_tense").isdisjoint(texts)
    periods = (
        *_named(words, is_past_tense=is_past_tense),
        *_periods_by_event(words, is_past_tense=is_past_tense),
    )
    timeframe = timeframe_among(periods)
    opening = texts[1:2] if texts[:1] == ("but",) else texts[:1]
    return ClauseTime(
        periods=periods,
        timeframe=timeframe,
        is_past_tense=is_past_tense,
        looks_back=timeframe is Timeframe.PAST and not _words("looking_back").isdisjoint(opening),
        is_contrast=not _words("contrasts").isdisjoint(texts[:1]),
        ends_sentence=text.rstrip(" ")[-1:] in _SENTENCE_ENDS,
    )


def timeframe_among(periods: Iterable[Period]) -> Timeframe | None:
    """Return what several times come to: what is so now counts before what was."""
    found = {(period.is_weak, period.timeframe) for period in periods}
    for kind in _BY_RANK:
        if kind in found:
            return kind[1]
    return None


def _named(words: Spoken, *, is_past_tense: bool) -> Iterator[Period]:
    for hit in _matcher().match(words).hits:
        timeframe = _timeframe_of_hit(words, hit, is_past_tense=is_past_tense)
        if timeframe is not None:
            yield Period(
                start=words.spans[hit.first][0],
                end=words.spans[hit.last][1],
                timeframe=timeframe,
                is_weak=hit.kind == "present_perfect",
            )


def _timeframe_of_hit(words: Spoken, hit: Hit, *, is_past_tense: bool) -> Timeframe | None:
    before, after = words.texts[: hit.first], hit.last + 1
    match hit.kind:
        case "recent" | "present_perfect":
            return Timeframe.RECENT
        case "used_to":
            return Timeframe.PAST if _is_past_habit(before) else None
        case "past_place":
            is_fronted = after == len(words.texts) and after in words.after_comma
            return Timeframe.PAST if is_fronted or is_past_tense else None
        case "past":
            is_ongoing = "since" in before or not _words("ongoing").isdisjoint(before[-1:])
            return Timeframe.RECENT if is_ongoing else Timeframe.PAST
    return None


def _is_past_habit(before: tuple[str, ...]) -> bool:
    if before and before[-1] in _words("habit"):
        return False
    return _words("comparison").isdisjoint(before)


def _periods_by_event(words: Spoken, *, is_past_tense: bool) -> Iterator[Period]:
    """Yield times given by a year, or by an event ("when my father died")."""
    if not words.has_digits_or(_DATING):
        return
    for at, word in enumerate(words.texts):
        if _YEAR.fullmatch(word) or _is_over(words, at, is_past_tense=is_past_tense):
            start, end = words.spans[at]
            yield Period(start=start, end=end, timeframe=Timeframe.PAST)
        elif word == "since":
            return


def _is_over(words: Spoken, at: int, *, is_past_tense: bool) -> bool:
    word = words.texts[at]
    if word not in _DATING:
        return False
    until = min((comma for comma in words.after_comma if comma > at), default=len(words.texts))
    told = words.texts[at + 1 : min(at + 1 + _REACH, until)]
    if told[:1] in {("that",), ("this",)}:
        return False
    if word in _words("subordinators") and not _words("past_verbs").isdisjoint(told[1:]):
        return True
    is_event = not _words("events").isdisjoint(told)
    return word in _words("event_prepositions") and is_event and is_past_tense


@cache
def _matcher() -> Matcher:
    return every_phrase("temporality")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The clauses of one turn, each read when it is first asked about."""

    words: str
    clauses: tuple[Clause, ...]
    _starts: tuple[int, ...]
    _times: dict[int, ClauseTime] = field(default_factory=dict)

    def timeframe_of(self, start: int, end: int) -> Timeframe:
        """Read when what characters `start` to `end` say was so.

        The present tense alone states nothing; "used to", "years ago" and the like are the past,
        and "lately", "these two weeks" or "I've been" are recent.
        """
        inside: list[Period] = []
        beside: list[Period] = []
        touched = self._touched(start, end)
        for at in touched:
            shift = self.clauses[at].start
            for period in self._time_of(at).periods:
                is_inside = period.start + shift < end and period.end + shift > start
                (inside if is_inside else beside).append(period)
        if inside or beside:
            return timeframe_among(inside or beside) or Timeframe.UNSTATED
        return Timeframe.PAST if touched and self._is_of_past(touched) else Timeframe.UNSTATED

    def frequency_of(self, start: int, end: int, polarity: Polarity) -> Frequency:
        """Read how often characters `start` to `end` say so, by the words nearest to them.

        `polarity`: what they say of a symptom.
        """
        stated = [
            (self._distance(at, one, start, end), one)
            for at in self._touched(start, end)
            for one in occurrences_in(self._text(at))
        ]
        if not stated:
            return Frequency.UNSTATED
        return min(stated, key=lambda found: found[0])[1].frequency(polarity)

    @property
    def names_these_weeks(self) -> bool:
        """Whether words name a time of these weeks, and not only by a tense."""
        return any(
            period.timeframe is Timeframe.RECENT and not period.is_weak
            for at in range(len(self.clauses))
            for period in self._time_of(at).periods
        )

    def _distance(self, at: int, one: Occurrence, start: int, end: int) -> int:
        place = self.clauses[at].start + one.start
        return 0 if start <= place < end else min(abs(place - start), abs(place - end))

    def _touched(self, start: int, end: int) -> range:
        while start < end and self.words[start].isspace():
            start += 1
        while end > start and self.words[end - 1].isspace():
            end -= 1
        first = max(bisect_right(self._starts, start) - 1, 0)
        return range(first, bisect_left(self._starts, max(end, start + 1)))

    def _time_of(self, at: int) -> ClauseTime:
        told = self._times.get(at)
        if told is None:
            told = self._times[at] = clause_time(self._text(at))
        return told

    def _text(self, at: int) -> str:
        return self.words[self.clauses[at].start : self.clauses[at].end]

    def _is_of_past(self, touched: range) -> bool:
        """Whether clauses in the past tense belong to a time that their sentence names."""
        if not any(self._time_of(at).is_past_tense for at in touched):
            return False
        after = touched[-1] + 1
        if after < len(self.clauses) and self._time_of(after).looks_back:
            return True
        for at in range(touched[0], 0, -1):
            before = self._time_of(at - 1)
            if before.ends_sentence or self._time_of(at).is_contrast:
                return False
            if before.timeframe is not None:
                return before.timeframe is Timeframe.PAST
        return False


def timeline_of(words: str) -> Timeline:
    """Return the times of a turn."""
    clauses = clauses_of(words)
    starts = tuple(clause.start for clause in clauses)
    return Timeline(words=words, clauses=clauses, _starts=starts)
