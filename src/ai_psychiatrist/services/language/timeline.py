"""When what a stretch of a turn says was so, and how often, by the clauses about it."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.services.language.clauses import Clause, clauses_of
from ai_psychiatrist.services.language.frequency import Occurrence, occurrences_in
from ai_psychiatrist.services.language.temporality import (
    ClauseTime,
    Period,
    clause_time,
    timeframe_among,
)


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
