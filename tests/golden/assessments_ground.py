"""What `ground` says of quotes: which were said, where, and why others were not."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from tests.golden.answer import Answer, folder_masks
from tests.golden.assessments_calls import AP, Call, came_to
from tests.golden.ways import TRANSCRIPTS

_TALK: Final = """\
Interviewer: How do you sleep? I can't imagine.
Participant: I, um, I can't sleep -- I lie awake "until four", nearly every night. I'm tired.
Interviewer: Every night?
Participant: Not every night. I don't know. He said that it is fine, and I said no.
Participant: It’s the noise… ｎｏｉｓｅ from the street, I’ve had it with the noise from the street.
"""
_QUOTES: Final = (
    "I can't sleep",
    "I can’t sleep",
    "i CANT sleep",
    "I cannot sleep",
    "I I can't sleep",
    "I can sleep",
    "I lie awake",
    "I lie awake “until four”",
    "I lie awake ... nearly every night",
    "I lie awake, nearly every night",
    "every night",
    "night",
    "Every night?",
    "I can't imagine",
    "I'm tired. Not every night",
    "I'm tired",
    "Not every night.\nI don't know",
    "said that it is fine",
    "it is fine",
    "noise from the street",
    "I have had it with the noise",
    "ｎｏｉｓｅ",
    "noise\u200b from the street",
    "Participant: I'm tired",
    "never",
    "um",
    "...",
    "",
    " ",
    "x" * 300,
)


def ground_answers() -> Iterator[Answer]:
    """Yield what becomes of quotes, and how what are none is refused."""
    for name, call in _calls().items():
        given = [_TALK, "\n".join(_QUOTES)]
        masks = folder_masks(TRANSCRIPTS)
        yield Answer(name=f"python/ground/{name}", value=came_to(call), given=given, masks=masks)


def _calls() -> Mapping[str, Call]:
    ground = partial(AP.ground, ["I'm tired"])
    zoom, word = TRANSCRIPTS / "webvtt" / "zoom.vtt", TRANSCRIPTS / "docx" / "teams.docx"
    anna = partial(AP.ground, ["every night", "I sleep", "wake up"], participant="Anna Schmidt")
    return {
        "substring": lambda: AP.ground(_QUOTES, _TALK),
        "fuzzy": lambda: AP.ground(iter(_QUOTES), _TALK, mode="fuzzy"),
        "fuzzy_and_strict": lambda: AP.ground(_QUOTES, _TALK, mode="fuzzy", fuzzy_threshold=1),
        "fuzzy_and_lax": lambda: AP.ground(_QUOTES, _TALK, mode="fuzzy", fuzzy_threshold=0),
        "everybody": lambda: AP.ground(_QUOTES, _TALK, participant=["Interviewer", "Participant"]),
        "nobody_asked": lambda: ground("I'm tired of it, and I'm tired"),
        "no_quotes": lambda: AP.ground([], _TALK),
        "subtitles": lambda: anna(zoom),
        "subtitles_as_bytes": lambda: anna(zoom.read_bytes()),
        "document": lambda: AP.ground(["I sleep", "awake"], word, participant="Jonas Weber"),
        "repr": lambda: repr(ground(_TALK)),
        "one_text": lambda: AP.ground("I'm tired", _TALK),
        "bytes": lambda: AP.ground([b"I'm tired"], _TALK),
        "numbers": lambda: AP.ground(["I'm tired", 3], _TALK),
        "nothing": lambda: AP.ground(None, _TALK),
        "unknown_mode": lambda: ground(_TALK, mode="exact"),
        "threshold_above_1": lambda: ground(_TALK, mode="fuzzy", fuzzy_threshold=1.1),
        "threshold_in_words": lambda: ground(_TALK, mode="fuzzy", fuzzy_threshold="high"),
        "empty_transcript": lambda: ground(""),
        "missing_file": lambda: ground(Path("nowhere.txt")),
        "speakers_unknown": lambda: ground(zoom),
        "label_unknown": lambda: ground(_TALK, participant="Nobody"),
    }
