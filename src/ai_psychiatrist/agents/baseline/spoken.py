"""What one clause of the participant says about the items, by the phrase table."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ai_psychiatrist.agents.baseline.phrases import phrases
from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.cues.clauses import Clause
from ai_psychiatrist.services.cues.lexicon import Hit, Words, words_of
from ai_psychiatrist.services.cues.polarity import polarity_of
from ai_psychiatrist.services.cues.valence import read_clause

_NEAR: Final = 40
"""How far from a topic, in characters, the word stands that says how it is."""

_SHORTEST: Final = 4
_MOST_HITS: Final = 8
"""How many phrases of one item are read in one clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """An item that a clause speaks about."""

    item: Item
    polarity: Polarity
    part: Clause
    """The part of the clause, between commas, in which the item is first named."""


def mentions_in(words: str, clause: Clause, items: Collection[Item]) -> Iterator[Mention]:
    """Yield each of the items that a clause of the words says something about, once."""
    text = words[clause.start : clause.end]
    if len(text) < _SHORTEST:
        return
    all_words = words_of(text)
    spoken = all_words.without(phrases().skip)
    for item in items:
        hits = islice(phrases().items[item].spoken.find(spoken), _MOST_HITS)
        found = {
            polarity: hit
            for hit in hits
            if hit.cue != "excluded" and not _is_about_others(all_words, hit)
            for polarity in _polarities(words, clause, text, hit)
        }
        if found:
            polarity, hit = next(iter(found.items()))
            yield Mention(
                item=item,
                polarity=polarity if len(found) == 1 else Polarity.UNCLEAR,
                part=_part(text, clause, hit),
            )


def _part(text: str, clause: Clause, hit: Hit) -> Clause:
    end = text.find(",", hit.end)
    return Clause(
        start=clause.start + text.rfind(",", 0, hit.start) + 1,
        end=clause.end if end < 0 else clause.start + end,
    )


def _polarities(words: str, clause: Clause, text: str, hit: Hit) -> Iterator[Polarity]:
    if hit.cue != "topic":
        yield polarity_of(words, clause.start + hit.start, clause.start + hit.end)
        return
    for vote in read_clause(text).votes:
        if vote.start < hit.end and vote.end > hit.start:
            yield vote.polarity
        elif _gap(vote.start, vote.end, hit) <= _NEAR:
            said = " ".join(words_of(text[vote.start : vote.end]).texts)
            if said in phrases().quality:
                yield vote.polarity


def _gap(start: int, end: int, hit: Hit) -> int:
    return max(start - hit.end, hit.start - end)


def _is_about_others(words: Words, hit: Hit) -> bool:
    """Whether the last person named before the phrase is not the speaker."""
    table = phrases()
    for text, (_, end) in zip(reversed(words.texts), reversed(words.spans), strict=True):
        if end > hit.end:
            continue
        if text in table.speaker:
            return False
        if text in table.others and end <= hit.start:
            return True
    return False
