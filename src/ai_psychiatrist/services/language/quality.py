"""The word that says how a doing or a subject is: "my sleep is terrible", "I eat well"."""

from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.services.language.matcher import Hit, MatchedText
from ai_psychiatrist.services.language.vocabulary import words

_AFTER_TOPIC: Final = 8
"""How many words after a subject such a word stands at most,"""
_AFTER_DOING: Final = 3
"""after a doing,"""
_BEFORE: Final = 3
"""and before either."""
_FLIPPING: Final = frozenset({"cue.negator", "cue.loss"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """How something is, and the last word that says so."""

    is_bad: bool
    last: int


def quality_of(matched: MatchedText, hit: Hit) -> Quality | None:
    """Return how a doing or a subject is by the nearest word that says so."""
    near = [
        (distance, other)
        for other in matched.hits
        if other.subject == "quality" and (distance := _distance(matched, hit, other)) is not None
    ]
    if not near:
        return None
    _, nearest = min(near, key=lambda one: one[0])
    return Quality(is_bad=_is_bad(matched, hit, nearest), last=max(nearest.last, hit.last))


def _distance(matched: MatchedText, hit: Hit, quality: Hit) -> int | None:
    """Return how many words lie between, `None` where they do not belong together."""
    if quality.kind not in {"good", "bad"}:
        return None
    after, before = quality.first - hit.last, hit.first - quality.last
    is_doing = hit.kind == "function"
    if 0 < after <= (_AFTER_DOING if is_doing else _AFTER_TOPIC):
        if is_doing and _is_apart(matched, hit, quality):
            return None
        distance = after
    elif 0 < before <= _BEFORE:
        distance = before
    else:
        return None
    return None if _has_other_subject(matched, hit, quality) else distance


def _is_bad(matched: MatchedText, hit: Hit, quality: Hit) -> bool:
    flips = sum(
        cue.cue in _FLIPPING and hit.last < cue.first < quality.first for cue in matched.hits
    )
    return (quality.kind == "bad") is (flips % 2 == 0)


def _is_apart(matched: MatchedText, hit: Hit, quality: Hit) -> bool:
    """Return whether a comma or another verb parts a doing from the word that says how it is."""
    between = range(hit.last + 1, quality.first + 1)
    return not matched.words.after_comma.isdisjoint(between) or not words("parting").isdisjoint(
        matched.texts[at] for at in between
    )


def _has_other_subject(matched: MatchedText, hit: Hit, quality: Hit) -> bool:
    """Return whether another subject stands between a phrase and the word that says how it is."""
    between = matched.texts[min(hit.last, quality.last) + 1 : max(hit.first, quality.first)]
    return any(word in words("joining") or word in words("self_subjects") for word in between)
