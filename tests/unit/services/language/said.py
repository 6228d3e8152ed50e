"""What a turn says of an item, in a word, as a test states it."""

from ai_psychiatrist.domain.evidence import Frequency, Timeframe
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.language.mentions import Mention, mentions_in
from ai_psychiatrist.services.language.questions import NOTHING, question_in


def sayings_of(item: Item, words: str, asked: str = "") -> list[Mention]:
    """Return what is said of an item, in answer to a question or without one."""
    question = question_in(asked) if asked else NOTHING
    return [one for one in mentions_in(words, question) if one.concept == item.value]


def said(item: Item, words: str, asked: str = "") -> set[str]:
    """Return the statuses of what is said of an item; what is past carries that mark."""
    return {
        f"{one.status} past" if one.timeframe is Timeframe.PAST else one.status.value
        for one in sayings_of(item, words, asked)
    }


def how_often(item: Item, words: str) -> set[Frequency]:
    """Return the frequencies that are stated of an item."""
    return {one.frequency for one in sayings_of(item, words)} - {Frequency.UNSTATED}
