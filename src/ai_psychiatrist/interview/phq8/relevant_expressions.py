"""Which frequencies of an answer say how often the difficulty was there."""

import re
from collections.abc import Sequence
from typing import Final

from ai_psychiatrist.domain.interview_items import Unclear
from ai_psychiatrist.interview.phq8.answer_parts import AnswerParts
from ai_psychiatrist.interview.phq8.clauses import has, pauses
from ai_psychiatrist.interview.phq8.day_counts import ALL, NO_DAY
from ai_psychiatrist.interview.phq8.denials import is_plain_no
from ai_psychiatrist.interview.phq8.expressions import Manner
from ai_psychiatrist.interview.phq8.found_expressions import Found
from ai_psychiatrist.interview.phq8.reading_words import wording

_SAID_BEFORE: Final = re.compile(
    r"(?<!\S)(?:i|ive|id) (?:just |first |had )?(?:said|put|wrote|told you|answered)"
    r"(?: it was| its| it is)? §"
)
_NOT_ABOUT_IT: Final = frozenset({Unclear.VAGUE, Unclear.CONDITION})


def stating(said: Sequence[Found]) -> list[Found]:
    """Return the expressions that count: a count goes before a habit, "always" or "sometimes"."""
    allowed = [one for one in said if one.unclear is None]
    for manners in ({Manner.COUNTED, Manner.SHARE, Manner.NUMBER}, {Manner.LOOSE}):
        found = [one for one in allowed if one.manner in manners]
        if found:
            return found
    return []


def of_the_difficulty(parts: AnswerParts, found: Sequence[Found]) -> list[Found]:
    """Return the expressions without those that add nothing to the others.

    How often something else is done, that the other days were free of it, or a count again. All are
    returned where none states how often, or none that does would be left.
    """
    found = _without_unrelated_rest(found)
    states = stating(found)
    if not states:
        return found
    answered = {
        parts.sentence_of(one.clause)
        for one in found
        if one.unclear is None and parts.is_answer(one)
    }
    has_count = states[0].manner is not Manner.LOOSE
    kept: list[Found] = []
    for one in found:
        is_beside = (
            _is_done(one)
            or _was_said_before(parts, one, found)
            or _is_free_rest(parts, one)
            or _is_part(parts, one, kept)
            or _is_said_again(one, kept)
            or _is_aside(parts, one, answered)
            or (has_count and _tells_which(one))
        )
        if not is_beside:
            kept.append(one)
    return kept if stating(kept) else found


def since_last_correction(parts: AnswerParts, found: Sequence[Found]) -> list[Found]:
    """Return what was said since something was last taken back: "two days, no wait, eight"."""
    last = found[-1]
    is_total = has(parts.clause_of(last).spoken, "in_all")
    if last.unclear is None and last.is_number and is_total:
        # "Three one week, four the other, so seven in all."
        return [last]
    for at in range(len(found) - 1, 0, -1):
        one = found[at]
        is_stated = not one.is_good and one.manner not in {Manner.VAGUE, Manner.LOOSE}
        if is_stated and _is_taken_back(parts.between(found[at - 1], one)):
            return list(found[at:])
    return list(found)


def _without_unrelated_rest(found: Sequence[Found]) -> list[Found]:
    """Drop counts of the other days that do not make all days with another count."""
    counts = {one.days.low for one in found if one.is_counted}
    related = [
        one for one in found if not one.is_rest or not counts.isdisjoint(_left_by(one.days.low))
    ]
    return related or list(found)


def _left_by(days: int) -> set[int]:
    """Return what other days leave of two weeks, and of each of two weeks."""
    return {ALL.high - days, ALL.high - 2 * days}


def _is_taken_back(between: str) -> bool:
    return has(between, "correction") or any(map(is_plain_no, pauses(between)))


def _is_done(one: Found) -> bool:
    """Whether something is done so often that is no difficulty: "I swim twice a week"."""
    return one.unclear is Unclear.VAGUE and one.days.high > 1


def _was_said_before(parts: AnswerParts, one: Found, found: Sequence[Found]) -> bool:
    """As in "I said not at all, but it was several days"."""
    is_told = _SAID_BEFORE.search(parts.clause_of(one).around(one.expression)) is not None
    return is_told and any(
        after.unclear is None
        and after.expression.start > one.expression.start
        and after.days != one.days
        for after in found
    )


def _is_free_rest(parts: AnswerParts, one: Found) -> bool:
    """As in "four days, the others not at all"."""
    return one.days == NO_DAY and has(parts.clause_of(one).spoken, "otherwise")


def _is_part(parts: AnswerParts, one: Found, kept: Sequence[Found]) -> bool:
    """Whether a later count is a part of the first, which is a sentence of its own.

    "Nine days. Five of them were after the funeral."
    """
    if not kept or not _is_first_sentence(parts, kept[0]):
        return False
    is_fewer = one.is_number and one.days.high < kept[0].days.low
    is_later = parts.sentence_of(one.clause) > 0
    is_instead = parts.is_opposed(one) or _is_taken_back(parts.between(kept[0], one))
    return is_fewer and is_later and not is_instead and not one.is_good


def _is_first_sentence(parts: AnswerParts, one: Found) -> bool:
    clause = parts.clauses[0]
    is_whole = one.clause == 0 and clause.is_bare and clause.ends_sentence
    return is_whole and one.unclear is None and one.is_counted


def _is_said_again(one: Found, kept: Sequence[Found]) -> bool:
    """As in "six of the days. Six"."""
    return one.is_number and any(before.words.startswith(f"{one.words} ") for before in kept)


def _is_aside(parts: AnswerParts, one: Found, answered: set[int]) -> bool:
    """Whether another sentence has the answer, and this one tells something about it.

    "Tired on five days. I had two early shifts."
    """
    may_be_beside = one.unclear is None or one.unclear in _NOT_ABOUT_IT
    if not answered or not may_be_beside or parts.is_answer(one):
        return False
    words = parts.clause_of(one).spoken
    is_instead = parts.is_opposed(one) or has(words, "correction")
    is_instead = is_instead or wording("question", "another").search(words) is not None
    return parts.sentence_of(one.clause) not in answered and not is_instead


def _tells_which(one: Found) -> bool:
    """As in "four nights, always when it rained"."""
    return one.manner is Manner.LOOSE and one.unclear in _NOT_ABOUT_IT
