"""Which language each turn is in, told offline by its script and its frequent words.

English has to be outweighed: what cannot be told goes with the turns around it, and where nothing
can be told it counts as English, of which every dialect is one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from ai_psychiatrist.domain.examined import READ_LANGUAGE, Examined, UnexaminedTurn
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.language.language_marks import UNDETERMINED
from ai_psychiatrist.services.language.language_votes import (
    OF_WORD,
    Votes,
    passages_of,
    total_votes,
)

_LEAD_WITHIN: Final = 4 * OF_WORD
"""By how much another language leads over English in a stretch of a turn that is in English."""


def language_of(words: str) -> str | None:
    """Return the language of a stretch of speech by itself, `None` where it cannot be told."""
    return total_votes(passages_of(words)).language()


def examined_in(transcript: Transcript) -> Examined:
    """Tell what of a transcript can be read, turn by turn."""
    read = [passages_of(transcript.words(turn)) for turn in transcript.turns]
    votes = [total_votes(passages) for passages in read]
    languages = _with_neighbours([turn.speaker for turn in transcript.turns], votes)
    words: Counter[str] = Counter()
    unread: list[UnexaminedTurn] = []
    for turn, passages, language in zip(transcript.turns, read, languages, strict=True):
        if turn.speaker is Speaker.INTERVIEWER:
            continue
        told = _by_passage(passages, language)
        if turn.speaker is Speaker.PARTICIPANT:
            words.update(told)
        others = {one: count for one, count in told.items() if one != READ_LANGUAGE}
        if others:
            unread.append(
                UnexaminedTurn(
                    turn=turn.index,
                    language=max(others, key=others.__getitem__),
                    is_whole=len(others) == len(told),
                )
            )
    return Examined(words=dict(words), unread=tuple(unread))


def _by_passage(passages: Sequence[Votes], language: str) -> Counter[str]:
    """Return language → how many words of a turn are in it."""
    told: Counter[str] = Counter()
    for votes in passages:
        own = votes.language(_LEAD_WITHIN) if len(passages) > 1 else None
        told[language if own in {None, UNDETERMINED} else str(own)] += votes.words
    return +told


def _with_neighbours(speakers: Sequence[Speaker], votes: Sequence[Votes]) -> list[str]:
    """Return the language of each turn; one that does not tell goes with the nearest that does."""
    own = [one.language() for one in votes]
    whole = total_votes(votes).language() or READ_LANGUAGE
    beside = _nearest(own, range(len(own)))
    for speaker in set(speakers):
        places = [at for at, one in enumerate(speakers) if one is speaker]
        beside |= {at: near for at, near in _nearest(own, places).items() if near is not None}
    return [
        told or _inherited(one, beside[at] or whole)
        for at, (told, one) in enumerate(zip(own, votes, strict=True))
    ]


def _inherited(votes: Votes, language: str) -> str:
    """Go with a language, unless all that is known of the words is English."""
    known = votes.latin()
    return READ_LANGUAGE if known.get(READ_LANGUAGE, 0) > known.get(language, 0) else language


def _nearest(own: Sequence[str | None], places: Sequence[int]) -> dict[int, str | None]:
    """Return for each of some turns what the nearest of them that tells says, an earlier first."""
    before, after = _last_known(own, places), _last_known(own, places[::-1])
    found: dict[int, str | None] = {}
    for at in places:
        near = [place for place in (before[at], after[at]) if place is not None]
        found[at] = own[min(near, key=lambda place: abs(place - at))] if near else None
    return found


def _last_known(own: Sequence[str | None], places: Iterable[int]) -> dict[int, int | None]:
    last, found = None, {}
    for at in places:
        last = at if own[at] is not None else last
        found[at] = last
    return found
