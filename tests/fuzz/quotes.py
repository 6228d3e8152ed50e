"""Quotes that a model may give: real, altered, invented, or somebody else's words."""

import re
from functools import lru_cache
from random import Random

from ai_psychiatrist.domain.errors import TranscriptUnreadable
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from tests.fuzz.hostile import REMARKS
from tests.fuzz.transcripts import ASKED, INVENTED, SAID

_SENTENCE = re.compile(r"[^.?!\n\r]+[.?!]*")
_NEGATION = re.compile(r"\b(?:not|never|no)\b ?|n['’]t\b", re.IGNORECASE)
_CHANGES = (
    ("every day", "some days"),
    ("nearly ", ""),
    ("I ", "he "),
    ("I am", "I am not"),
    ("tired", "not tired"),
    ("most days", "every day"),
)


def real(draw: Random, transcript: str) -> str:
    """Return a sentence, a stretch of words, or a whole turn of the participant."""
    turn = draw.choice(_turns(transcript, Speaker.PARTICIPANT) or ("I feel tired",))
    match draw.randrange(4):
        case 0:
            return turn
        case 1:
            words = turn.split()
            start = draw.randrange(len(words) or 1)
            return " ".join(words[start : start + draw.randint(1, 12)])
        case _:
            sentences: list[str] = _SENTENCE.findall(turn) or [turn]
            return draw.choice(sentences).strip()


def altered(draw: Random, transcript: str) -> str:
    """Return real words with the negation, the frequency or the person changed."""
    words = real(draw, transcript)
    if draw.random() < 0.5:
        return _NEGATION.sub("", words)
    old, new = draw.choice(_CHANGES)
    return words.replace(old, new)


def invented(draw: Random, _: str) -> str:
    """Return words that nobody said, or no words at all."""
    return draw.choice((*INVENTED, *REMARKS, "", " ", "no", "yes", "…", "\u200b"))


def of_the_interviewer(draw: Random, transcript: str) -> str:
    """Return words of the interviewer."""
    return draw.choice(_turns(transcript, Speaker.INTERVIEWER) or ASKED)


def of_others(draw: Random, _: str) -> str:
    """Return words that stand in other interviews."""
    return draw.choice(SAID)


def across_turns(draw: Random, transcript: str) -> str:
    """Return a stretch of the transcript, whoever speaks, labels included."""
    start = draw.randrange(len(transcript) + 1)
    return transcript[start : start + draw.choice((10, 40, 120, 100_000))]


KINDS = {
    "real": real,
    "altered": altered,
    "invented": invented,
    "interviewer": of_the_interviewer,
    "others": of_others,
    "across": across_turns,
}


@lru_cache(maxsize=64)
def _turns(text: str, speaker: Speaker) -> tuple[str, ...]:
    try:
        transcript = parse_transcript(text)
    except TranscriptUnreadable:
        return ()
    words = (transcript.words(turn) for turn in transcript.turns if turn.speaker is speaker)
    return tuple(turn.strip() for turn in words if turn.strip())
