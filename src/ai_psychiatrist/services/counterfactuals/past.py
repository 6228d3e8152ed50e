"""A clause moved ten years back, by wordings that the reader of language reads as the past."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from ai_psychiatrist.domain.evidence import Timeframe
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.counterfactuals.cited_clauses import ClauseInPlace
from ai_psychiatrist.services.counterfactuals.openings import without_capital
from ai_psychiatrist.services.language.timeline import clause_time

_FRAMES: Final = ("{lead}Ten years ago, {rest}", "{lead}That was ten years ago: {rest}")
_LEAD: Final = re.compile(
    r"(?:(?:and|but|so|then|or|no|yes|yeah|well|oh|um|uh)\b,?\s+)*", re.IGNORECASE
)
_TENSES: Final = tuple(
    (re.compile(rf"\b{present}\b", re.IGNORECASE), past)
    for present, past in (
        (r"I (?:have not|haven['’]t) been|I['’]ve not been", "I was not"),
        (r"(?:have not|haven['’]t|has not|hasn['’]t) been", "was not"),
        (r"I['’]ve been", "I was"),
        (r"(?<=\w)['’]s been", " was"),
        (r"(?:have|has) been", "was"),
        (r"have not|haven['’]t|has not|hasn['’]t", "had not"),
        (r"I['’]ve|I have", "I had"),
        (r"I['’]m|I am", "I was"),
        (r"can['’]t|cannot", "couldn't"),
        (r"don['’]t|doesn['’]t", "didn't"),
        (r"isn['’]t", "wasn't"),
        (r"aren['’]t", "weren't"),
        (r"it['’]s|it is", "it was"),
        (r"is", "was"),
        (r"are", "were"),
        (r"can", "could"),
        (r"feel", "felt"),
        (r"sleep", "slept"),
        (r"wake", "woke"),
        (r"eat", "ate"),
        (r"get", "got"),
    )
)
_AFTER_AUXILIARY: Final = re.compile(r"\b(?:do|did|can|could|to|not|will|would)(?:n['’]t)?\s+\Z")


def clause_ten_years_back(clause: ClauseInPlace, item: Item) -> str:
    """Return a wording in the past, preferably one that is read as past by itself."""
    wordings = [*_wordings(clause.text)]
    told = (text for text in wordings if clause.read(text, item).timeframe is Timeframe.PAST)
    return next(told, wordings[0])


def _wordings(text: str) -> Iterator[str]:
    undated = _without_these_weeks(text)
    for told in dict.fromkeys((_in_past_tense(undated), undated)):
        found = _LEAD.match(told)
        lead = found[0] if found is not None else ""
        rest = without_capital(told[len(lead) :])
        for frame in _FRAMES:
            framed = frame.format(lead=lead, rest=rest)
            yield without_capital(framed) if lead else framed


def _without_these_weeks(text: str) -> str:
    """Leave out the words that date a clause to these weeks."""
    for period in sorted(clause_time(text).periods, key=lambda one: one.start, reverse=True):
        if period.timeframe is Timeframe.RECENT and not period.is_weak:
            text = f"{text[: period.start].rstrip()} {text[period.end :].lstrip()}".strip()
    return text


def _in_past_tense(text: str) -> str:
    for present, past in _TENSES:
        text = present.sub(partial(_of_tense, past=past), text)
    return text


def _of_tense(found: re.Match[str], past: str) -> str:
    is_infinitive = _AFTER_AUXILIARY.search(found.string, 0, found.start()) is not None
    return found[0] if is_infinitive else past
