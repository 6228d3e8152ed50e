"""What a reply says to a question that takes yes or no, and whether it refuses to answer."""

from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.interview.phq8.clauses import pauses, unknown
from ai_psychiatrist.interview.phq8.reading_words import wording
from ai_psychiatrist.interview.phq8.spoken_answer import spoken_answer

MOST_CHARACTERS: Final = 4_000
"""Of an answer that is read."""
_LONGEST: Final = 160
"""Characters of a reply that may be no more than a yes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Whether a text says yes or no, by words or signs."""

    is_yes: bool
    """That it says so and nothing else; `is_no` likewise."""
    is_no: bool
    leans_yes: bool
    """Whether it begins with a yes and takes nothing back."""
    begins_yes: bool
    """Whether it begins with a yes and goes on."""
    takes_back: bool
    """Whether any word of it speaks against a yes."""
    head_end: int
    """Where it goes on in the text after a yes or a no; 0 where it begins otherwise."""


_NEITHER: Final = Reply(
    is_yes=False, is_no=False, leans_yes=False, begins_yes=False, takes_back=False, head_end=0
)


def reply_in(text: str) -> Reply:
    """Read whether a text says yes or no."""
    if len(text) > MOST_CHARACTERS:
        return _NEITHER
    answer = spoken_answer(text)
    clauses = pauses(answer.spoken)
    is_yes, is_no = (
        "?" not in text and all(map(wording("reply", key).fullmatch, clauses)) and bool(clauses)
        for key in ("agreement", "denial")
    )
    words = " ".join(clauses)
    begins = wording("reply", "yes").match(words)
    is_open = begins is not None and not wording("reply", "but").search(words, begins.end())
    may_be_yes = len(text) <= _LONGEST and not any(map(str.isdigit, text))
    # "0 energy" is spoken as "no energy", and says no to nothing.
    is_typed = text.strip()[:1].casefold() == answer.spoken[:1]
    yes, no = (wording("reply", key).match(answer.spoken) for key in ("yes_at_head", "no_at_head"))
    head = (yes or no) if is_typed else None
    return Reply(
        is_yes=is_yes,
        is_no=is_no,
        leans_yes=is_yes or (is_open and may_be_yes),
        begins_yes=yes is not None,
        takes_back=wording("reply", "but").search(words) is not None,
        head_end=answer.typed_from(head.end()) if head else 0,
    )


def is_refusal(text: str) -> bool:
    """Return whether an answer refuses the question; "I'd rather not get up" does not."""
    if len(text) > MOST_CHARACTERS:
        return False
    for clause in pauses(spoken_answer(text).spoken):
        if wording("refusal", "within").search(clause):
            return True
        rest, refusals = wording("refusal", "whole").subn("", clause)
        if refusals and not unknown(rest, "filler", "yes", "no"):
            return True
    return False


def may_refuse_again(text: str) -> bool:
    """Return whether a reply says no more than a "no", which may refuse again as well as deny."""
    again = wording("refusal", "again")
    clauses = pauses(spoken_answer(text[:MOST_CHARACTERS]).spoken)
    return any(map(again.search, clauses)) and not any(
        unknown(again.sub("", clause), "filler") for clause in clauses
    )
