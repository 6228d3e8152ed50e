"""What speaks against the one score that the frequencies of an answer come to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ai_psychiatrist.domain.interview_items import Unclear
from ai_psychiatrist.interview.phq8.answer_parts import AnswerParts
from ai_psychiatrist.interview.phq8.clauses import NAMED, Clause, has, without
from ai_psychiatrist.interview.phq8.denials import (
    is_denial,
    is_no,
    is_of_another_time,
    is_of_others,
    is_trouble,
    is_well_said,
)
from ai_psychiatrist.interview.phq8.expressions import Manner
from ai_psychiatrist.interview.phq8.found_expressions import Found
from ai_psychiatrist.interview.phq8.reading_words import own_symptom, wording
from ai_psychiatrist.interview.phq8.readings import ALL

_SAYS_WHAT: Final = re.compile(r"(?:and |but )?(?:thats|that was|that is|this was|those were) ")
_NO_DAYS: Final = re.compile(
    r"(?<!\S)(?:hours|minutes|meals|cups|kilos|pounds|miles|the scale|out of ten"
    r"|january|february|march|april|june|july|august|september|october|november|december)(?!\S)"
)
_ELSEWHERE: Final = frozenset({Unclear.OTHER_TIME, Unclear.OTHER_PERSON})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreInQuestion:
    """A score, and the answer that it is read from."""

    score: int
    parts: AnswerParts
    said: Sequence[Found]
    """What counts since the last correction, forbidden expressions among it."""
    states: Sequence[Found]
    """Those that the score is read from."""
    is_corrected: bool
    """Whether something was taken back before."""

    def objection(self) -> Unclear | None:
        """Return why the score may not be given, `None` where nothing speaks against it."""
        reasons = (
            (Unclear.RANGE, self._is_open_ended),
            (Unclear.CONDITION, self._is_well_elsewhere),
            (Unclear.TWO_VALUES, self._is_more_than_all),
            (Unclear.GOOD_DAYS, self._is_good_as_often),
            (Unclear.NEGATED, self._is_without_named_days),
            (Unclear.VAGUE, self._is_in_doubt),
            (Unclear.TWO_VALUES, self._is_all_others),
            (Unclear.OTHER_TIME, self._is_of_something_else),
            (Unclear.TWO_VALUES, self._is_seldom),
            (Unclear.TWO_VALUES, self._is_taken_back),
            (Unclear.TWO_VALUES, self._is_denied if self.score else self._is_there_after_all),
        )
        return next((reason for reason, speaks_against in reasons if speaks_against()), None)

    @property
    def _clauses(self) -> tuple[Clause, ...]:
        return self.parts.clauses

    @property
    def _is_counted(self) -> bool:
        return any(one.is_counted or one.is_named for one in self.states)

    def _is_open_ended(self) -> bool:
        """As in "three days, maybe more", and in "sometimes I am, sometimes I'm not"."""
        since = self._clauses[self.said[0].clause.number if self.is_corrected else 0 :]
        is_now_and_then_so = sum("sometimes" in one.words for one in self.said) > 1
        return is_now_and_then_so or any(has(clause.around(), "open_ended") for clause in since)

    def _is_well_elsewhere(self) -> bool:
        """As in "most days in the office, at home I'm fine"; so many days are so many anywhere."""
        return not self._is_counted and any(map(self._says_well_elsewhere, self._clauses))

    def _says_well_elsewhere(self, clause: Clause) -> bool:
        around, asked = clause.around(), self.parts.asked
        is_elsewhere = not clause.expressions and has(around, "elsewhere")
        return is_elsewhere and (is_well_said(asked, around) or is_denial(asked, around))

    def _is_more_than_all(self) -> bool:
        """As in "ten days good, eight days bad"."""
        return any(
            one.days.low + self.states[0].days.low > ALL.high and one.days.rest.score != self.score
            for one in self.said
            if one.is_good and one.is_counted
        )

    def _is_good_as_often(self) -> bool:
        """As in "some days good, some days bad"."""
        return any(one.is_good and one.days == self.states[0].days for one in self.said)

    def _is_without_named_days(self) -> bool:
        """As in "nearly every day, not at weekends"."""
        return any(
            one.unclear is Unclear.NEGATED
            and one.is_named
            and one.days.high + self.states[0].days.high > ALL.high
            for one in self.said
        )

    def _is_in_doubt(self) -> bool:
        """Whether it is not meant, or the person cannot tell and wavers."""
        if any(has(clause.around(), "doubt") for clause in self._clauses):
            return True
        unsure = [one.number for one in self._clauses if has(one.spoken, "cannot_tell")]
        return bool(unsure) and (
            self.is_corrected or any(self._is_wavering(one, unsure[-1]) for one in self.said)
        )

    def _is_wavering(self, one: Found, unsure: int) -> bool:
        """As in "not every day, I don't know" and in "three days? I can't remember"."""
        is_asked = one.clause.stop == "?" and one.clause.number < unsure
        is_vague = one.is_vague and not has(one.words, "cannot_tell")
        return one.unclear is Unclear.NEGATED or is_asked or is_vague

    def _is_all_others(self) -> bool:
        """Whether "every other day" may be all others, where one is set apart."""
        is_every_other = any(one.words.startswith("every other ") for one in self.states)
        return is_every_other and len(self.said) > 1

    def _is_of_something_else(self) -> bool:
        """As in "I'd say ten. That's the hours I sleep"."""
        return any(
            before.ends_sentence and _SAYS_WHAT.match(clause.spoken) and _is_no_difficulty(clause)
            for before, clause in pairwise(self._clauses)
        )

    def _is_seldom(self) -> bool:
        """As in "ten days, not often"."""
        return any(one.is_vague and one.days.high < self.states[0].days.low for one in self.said)

    def _is_taken_back(self) -> bool:
        """Whether words at the end take back what was said, or put something in its place."""
        end = self.states[-1].end
        after = self.parts.spoken[end:]
        is_more_said = any(
            one.start > end and one.manner is not Manner.LOOSE and not one.is_good
            for one in self.said
        )
        return has(after if is_more_said else without(after, "weak"), "correction")

    def _is_denied(self) -> bool:
        """As in "four nights. I sleep fine"."""
        is_at_most = any(has(clause.spoken, "at_most") for clause in self._clauses)
        if self.score == 1 and is_at_most:
            # "Not really, just three nights."
            return False
        is_named = any(one.is_named for one in self.states)
        return any(
            is_denial(self.parts.asked, around)
            and not has(around, "otherwise")
            and not (is_named and NAMED.search(around))
            for around in self._contradicting()
        )

    def _is_there_after_all(self) -> bool:
        """As in "never. I'm shattered"; one day may well have been bad."""
        if any(one.is_counted for one in self.states):
            return False
        is_habit = any(
            one.manner is Manner.LOOSE and one.days.low > 1
            for one in self.parts.found
            if one.unclear not in _ELSEWHERE
        )
        return is_habit or any(
            self._is_own_trouble(around) or has(around, "yes") for around in self._contradicting()
        )

    def _contradicting(self) -> list[str]:
        """Return the clauses that may say the contrary."""
        return [
            clause.around()
            for clause in self._clauses
            if not clause.expressions
            and clause.stop != "?"
            and not self._is_over(clause)
            and not self._is_no_to_something_else(clause)
        ]

    def _is_over(self, clause: Clause) -> bool:
        """Whether a clause is taken back, or speaks of the time after the counted days."""
        first = self.states[0]
        if clause.start > first.start:
            begins_after = self.parts.spoken[: clause.start].rstrip().endswith("then")
            is_after_that = begins_after or has(clause.around(), "after_that")
            is_over = first.manner is not Manner.LOOSE and first.days.low < ALL.high
            return is_over and is_after_that
        if self.is_corrected:
            return True
        return has(self.parts.spoken[clause.end : max(clause.end, first.start)], "correction")

    def _is_no_to_something_else(self, clause: Clause) -> bool:
        """Whether a "no" is said to another item, to the person's own doubt, or of the rest."""
        spoken, number = clause.spoken, clause.number
        following = self._clauses[number + 1 : number + 2]
        is_of_the_asked = all(self.parts.asked in self.parts.items_of(one) for one in following)
        is_of_the_rest = number > 0 and has(self._clauses[number - 1].spoken, "otherwise")
        if is_no(clause.around()) and (is_of_the_rest or not is_of_the_asked):
            # "No, but I sleep badly every night", "Three days. The rest? No."
            return True
        if number == 0:
            return False
        is_bare = wording("takes_back", "bare_no").fullmatch(spoken) is not None
        is_before = clause.end < self.states[0].start
        # "Thinking about it again, no, it's nearly every night"; "nights, eight, nothing".
        return spoken == "nothing" or (is_before and is_bare)

    def _is_own_trouble(self, around: str) -> bool:
        """Whether a clause says that the person has the difficulty in these two weeks."""
        asked = self.parts.asked
        is_own = has(around, "first_person")
        is_label = own_symptom(asked).fullmatch(around) is not None
        is_vaguely_bad = not is_own and not own_symptom(asked).search(around)
        is_not_said_of_now = (
            has(around, "hypothetical") or has(around, "should") or is_of_another_time(around)
        )
        is_not_so = is_label or is_of_others(around) or is_vaguely_bad or is_not_said_of_now
        return is_trouble(asked, around) and not is_not_so


def _is_no_difficulty(clause: Clause) -> bool:
    around = clause.around()
    is_elsewhere = is_of_others(around) or is_of_another_time(around)
    return is_elsewhere or _NO_DAYS.search(around) is not None
