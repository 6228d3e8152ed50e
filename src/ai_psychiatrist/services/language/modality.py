"""Whether what a clause says is so, or only supposed, doubted, or taken back after it."""

from typing import Final

from ai_psychiatrist.services.language.assertion import Status
from ai_psychiatrist.services.language.matcher import Hit, MatchedText
from ai_psychiatrist.services.language.vocabulary import phrases

_SUPPOSED_SCOPE: Final = 12
"""How many words before a phrase what supposes it stands at most."""
_NEAR: Final = 8
"""And on either side what doubts it or takes it back."""
_AFTER: Final = 2
"""How many words after a phrase its denial may begin."""
_DOUBTING: Final = frozenset({"mixed", "doubt"})


def opens_supposition(matched: MatchedText) -> bool:
    """Return whether a clause opens with "if" or its like."""
    return any(matched.texts[: len(opening)] == opening for opening in phrases("opens_supposition"))


def is_supposed(matched: MatchedText, hit: Hit) -> bool:
    """Return whether something before a phrase only supposes it."""
    cues = [cue for cue in matched.hits if cue.subject == "modality"]
    plain = [cue for cue in cues if cue.kind == "not_supposed"]
    return any(
        cue.kind == "supposed"
        and cue.first < hit.first <= cue.last + _SUPPOSED_SCOPE
        and not any(one.first <= cue.first <= one.last for one in plain)
        for cue in cues
    )


def with_modality(matched: MatchedText, hit: Hit, status: Status) -> Status:
    """Return a status with what the words about a phrase make of it."""
    cues = [cue for cue in matched.hits if cue.subject == "modality"]
    if any(cue.kind == "denied_after" and 0 < cue.first - hit.last <= _AFTER for cue in cues):
        return Status.DENIED
    near = {
        cue.kind for cue in cues if cue.first - hit.last <= _NEAR and hit.first - cue.last <= _NEAR
    }
    if "retraction" in near:
        return Status.DENIED
    return status if near.isdisjoint(_DOUBTING) else Status.UNCLEAR
