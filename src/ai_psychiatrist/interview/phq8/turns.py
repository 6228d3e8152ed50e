"""What gives, takes or moves the weight of the words beside it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.heard import Heard
from ai_psychiatrist.interview.phq8.phrases import found, frame, phrases_of
from ai_psychiatrist.interview.phq8.said import Kind, Said
from ai_psychiatrist.interview.phq8.stretches import Stretch

_FULL_NO: Final = re.compile(
    r"\b(?:not (?:at all|once|ever|a|one|any|in the)|none|never|zero|no days|no nights)\b"
)
_OF_HEADINGS: Final = frozenset("on about for with myself my the as and".split())
_INTERJECTED: Final = frozenset("no nope oh well hm hmm mm um er or ah but although though".split())
_OPENING: Final = frozenset("oh well ok okay so um hmm ah but and right now honestly".split())
_CORRECTS_WITHIN: Final = 2
"""How many words may stand before those that take something back."""
_CUT_AT: Final = ("withdrawal", "return")


def cut_at_turns(stretches: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """Cut each stretch before and after such words."""
    return tuple(part for stretch in stretches for part in _parts(stretch))


def _parts(stretch: Stretch) -> Iterator[Stretch]:
    hits = [hit for key in _CUT_AT for hit in found(frame(key), stretch.words)]
    edges = {0, len(stretch.words.texts)}
    edges |= {edge for hit in hits for edge in (hit.first, hit.last + 1)}
    cuts = sorted(edges)
    for first, after in pairwise(cuts):
        yield stretch.part(first, after)


def turn_of(heard: Heard, stretch: Stretch) -> Said | None:
    """Read what says nothing itself, and how what is beside it is to be taken."""
    if heard.is_whole("withdrawal") or heard.is_whole("surpassed"):
        return Said(kind=Kind.EMPTY, is_correction=True, is_withdrawal=True)
    if heard.is_whole("return"):
        return Said(kind=Kind.EMPTY, is_return=True)
    if _opens(heard, "discounted"):
        return Said(kind=Kind.EMPTY, is_correction=True, is_withdrawal=True)
    if _opens(heard, "asked") and (stretch.is_question or not heard.frequencies):
        return Said(kind=Kind.EMPTY, is_correction=True, is_return=True)
    return None


def _opens(heard: Heard, key: str) -> bool:
    hits = found(frame(key), heard.words)
    return bool(hits) and _OPENING.issuperset(heard.words.texts[: hits[0].first])


def marked(heard: Heard, said: Said) -> Said:
    """Add to what is said how it changes what was said before it."""
    corrections = found(frame("correction"), heard.words)
    if corrections and corrections[0].first <= _CORRECTS_WITHIN:
        is_weak = corrections[0].text == "i mean" and not heard.has("none")
        return replace(said, is_correction=True, is_weak=is_weak)
    is_interjection = "no" in heard.words.texts and _INTERJECTED.issuperset(heard.words.texts)
    is_full_no = said.kind is Kind.NO and _FULL_NO.search(heard.spoken) is not None
    return replace(
        said,
        is_interjection=is_interjection,
        is_full_no=is_full_no,
        is_placed_elsewhere=not heard.frequencies
        and heard.words.texts[:2] in {("that", "was"), ("thats", "over")},
    )


def without_headings(item: Item, read: list[tuple[Stretch, Said]]) -> list[tuple[Stretch, Said]]:
    """Take the weight from words that only name what the next ones speak of, as "Tired, no"."""
    after = [*read[1:], None]
    return [
        (stretch, Said(kind=Kind.EMPTY) if _is_heading(item, stretch, said, following) else said)
        for (stretch, said), following in zip(read, after, strict=True)
    ]


def _is_heading(
    item: Item, stretch: Stretch, said: Said, following: tuple[Stretch, Said] | None
) -> bool:
    if following is None or said.kind not in {Kind.TROUBLE, Kind.WELL}:
        return False
    is_apart = following[0].opens_sentence and not stretch.is_question
    if is_apart or following[1].kind not in {Kind.NO, Kind.CLAIM, Kind.BARE, Kind.WELL}:
        return False
    words, named = stretch.words.texts, phrases_of(item)
    hits = (*found(named.topic, stretch.words), *found(named.states, stretch.words))
    within = {at for hit in hits for at in range(hit.first, hit.last + 1)}
    return all(at in within or word in _OF_HEADINGS for at, word in enumerate(words))
