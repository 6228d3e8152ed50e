"""What one clause of the participant says about the items, by the phrase table."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ai_psychiatrist.agents.baseline.phrases import item_phrases, speech
from ai_psychiatrist.agents.baseline.stretch import Stretch
from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.cues.lexicon import Hit, Words

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
    part: Stretch
    """The part of the clause, between commas, in which the item is first named."""


def mentions_in(clause: Stretch, items: Collection[Item]) -> Iterator[Mention]:
    """Yield each of the items that a clause says something about, once."""
    text = clause.text
    if len(text) < _SHORTEST:
        return
    spoken = clause.words.without(speech("skip"))
    for item in items:
        hits = islice(item_phrases()[item].spoken.find(spoken), _MOST_HITS)
        found = {
            polarity: hit
            for hit in hits
            if hit.cue != "excluded" and not _is_about_others(clause.words, hit)
            for polarity in _polarities(clause, hit)
        }
        if found:
            polarity, hit = next(iter(found.items()))
            end = text.find(",", hit.end)
            yield Mention(
                item=item,
                polarity=polarity if len(found) == 1 else Polarity.UNCLEAR,
                part=clause.part(text.rfind(",", 0, hit.start) + 1, len(text) if end < 0 else end),
            )


def _polarities(clause: Stretch, hit: Hit) -> Iterator[Polarity]:
    if hit.cue != "topic":
        yield clause.part(hit.start, hit.end).polarity
        return
    for vote in clause.reading.votes:
        gap = max(vote.start - hit.end, hit.start - vote.end)
        said = " ".join(clause.part(vote.start, vote.end).words.texts)
        if gap < 0 or (gap <= _NEAR and said in speech("quality")):
            yield vote.polarity


def _is_about_others(words: Words, hit: Hit) -> bool:
    """Whether the last person named before the phrase is not the speaker."""
    for text, (_, end) in zip(reversed(words.texts), reversed(words.spans), strict=True):
        if end > hit.end:
            continue
        if text in speech("speaker"):
            return False
        if text in speech("others") and end <= hit.start:
            return True
    return False
