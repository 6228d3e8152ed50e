"""The experiencer of a clause: the speaker, another person, or neither."""

from typing import Final

from ai_psychiatrist.services.language.concepts import Status
from ai_psychiatrist.services.language.phrases import Hit, MatchedText
from ai_psychiatrist.services.language.vocabulary import words

_REPORTER_BEFORE: Final = 3
"""How many words before "says" the person who says it stands at most."""


def last_person(texts: tuple[str, ...]) -> Status | None:
    """Return who the last person among some words is.

    `OTHER`, `AFFIRMED` for the speaker, `UNCLEAR` for "you" and "one", `None` where nobody is.
    """
    is_own = False
    for at in range(len(texts) - 1, -1, -1):
        word, before = texts[at], texts[max(0, at - 1)]
        if at and word in words("relative_subject") and _is_relative(texts[:at]):
            # "The lad I sponsor", but not "I told the nurse I was fine".
            return Status.OTHER
        if word in words("self_subjects") or word in words("self_alone"):
            return Status.AFFIRMED
        if word in words("self_objects") and before in words("self_makers"):
            return Status.AFFIRMED
        if word in words("self"):
            is_own = True
        elif _is_other(word):
            return Status.OTHER
        elif word in words("generic"):
            return Status.UNCLEAR
    return Status.AFFIRMED if is_own else None


def is_of_others(texts: tuple[str, ...]) -> bool | None:
    """Return whether the first person named is not the speaker, `None` if none is named."""
    for word in texts:
        if word in words("self_named"):
            return False
        if _is_other(word):
            return True
    return None


def _is_relative(before: tuple[str, ...]) -> bool:
    return _is_other(before[-1]) and words("self_subjects").isdisjoint(before)


def may_be_own(matched: MatchedText, hit: Hit) -> bool:
    """Return whether a clause that names another person may be about the speaker.

    "They don't let me sleep", "I iron his shirts because I owe him, for being married to this".
    """
    texts = matched.texts
    until = min(hit.first + 2, len(texts))
    others = [at for at in range(until) if _is_other(texts[at])]
    own = [
        at
        for at, word in enumerate(texts)
        if word in words("self_named") and not (at and _is_relative(texts[:at]))
    ]
    if not others:
        return False
    if texts[others[-1]] in words("vague") and (own or not words("mine").isdisjoint(texts)):
        return True
    if not own or is_reported(matched, hit):
        return False
    return others[-1] < own[-1] and (own[0] < others[0] or own[-1] <= hit.last)


def is_named_others(matched: MatchedText, hit: Hit) -> bool:
    """Return whether a phrase begins with another person's possessive: "her mood"."""
    return not words("possessives").isdisjoint(matched.texts[hit.first : hit.first + 2])


def has_strange_subject(matched: MatchedText, hit: Hit) -> bool:
    """Return whether a thing or a person without a known name is what a phrase speaks of."""
    texts = matched.texts
    if not words("self_named").isdisjoint(texts):
        return False
    before = texts[: hit.first]
    mine = [at for at, word in enumerate(before) if word in words("mine")]
    if not mine:
        return not words("bare").issuperset(before)
    noun = mine[-1] + 1
    return noun < hit.first and words("own").isdisjoint(texts[noun : noun + 3])


def is_reported(matched: MatchedText, hit: Hit) -> bool:
    """Return whether a phrase is what another person says or thinks."""
    return any(
        any(
            _is_other(word, plural=False) or word in words("generic")
            for word in matched.texts[max(0, cue.first - _REPORTER_BEFORE) : cue.first]
        )
        for cue in matched.hits
        if cue.cue == "modality.reported" and cue.last < hit.first
    )


def _is_other(word: str, *, plural: bool = True) -> bool:
    others = words("other")
    return word in others or (plural and word[-1:] == "s" and word[:-1] in others)
