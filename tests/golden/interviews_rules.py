"""Interviews of the protocol `phq8` by rules alone, with and without an assessment before."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.golden.answer import Answer, Json
from tests.golden.interviews_own import ITEMS
from tests.golden.interviews_participants import (
    CORRECTIONS,
    DANGER,
    ODD,
    PLAIN,
    UNCLEAR,
)
from tests.golden.interviews_ways import answer_of, hold
from tests.golden.ways import EXAMPLES, run, scratch

_PHQ8: Final = ("--protocol", "phq8", "--json")
_GROUPS: Final = {
    "plain": PLAIN,
    "unclear": UNCLEAR,
    "corrections": CORRECTIONS,
    "danger": DANGER,
    "odd": ODD,
}
_WHOLE: Final = ("plain/options", "danger/own_intent", "odd/half_way")
_IN_TEXT: Final = (
    *("plain/numbers_that_are_no_option", "unclear/refusals_and_then_no", "danger/with_a_score"),
    "odd/markup",
)
_RESOURCES: Final = {"RISK_CRISIS_RESOURCES": "Call 000, the line of this test."}
_SCORED: Final = {"PHQ8_NoInterest": 1, "PHQ8_Depressed": 2, "PHQ8_Tired": 3, "PHQ8_Appetite": 0}
_TALK: Final = "Participant: I feel tired nearly every day. I eat well, never a problem.\n"
_TRANSCRIPTS: Final = {
    "tired": _TALK,
    "danger": "Participant: I want to kill myself. I sleep badly every night.\n",
    "german": "Participant: Ich bin jeden Tag müde und schlafe schlecht.\n",
    "nothing": "Interviewer: Hello.\nParticipant: Hi.\n",
    "no_speakers": "I feel tired nearly every day.\nSince when?\nFor two weeks now.\n",
}
_ASSESSMENTS: Final[dict[str, Json]] = {
    "some_scores": {"items": {item: {"score": score} for item, score in _SCORED.items()}},
    "scores_and_reasons": {
        "items": {
            **{
                item: {"score": score, "evidence": [{"text": "no"}]}
                for item, score in _SCORED.items()
            },
            "PHQ8_Sleep": {"score": None, "unknown_reason": "no_mention"},
        }
    },
    "not_scored": {"items": {}},
    "score_out_of_range": {"items": {"PHQ8_Sleep": {"score": 4}}},
    "score_is_text": {"items": {"PHQ8_Sleep": {"score": "2"}}},
    "unknown_item": {"items": {"PHQ8_Mood": {"score": 1}}},
    "no_items": {"total": 3},
    "list": [1, 2],
    "text": "no assessment",
}


def answers() -> Iterator[Answer]:
    """Yield what is kept of each interview."""
    with scratch() as folder:
        yield from _participants(folder)
        yield from _after_assessments(folder)


def _participants(folder: Path) -> Iterator[Answer]:
    for group, participants in _GROUPS.items():
        settings = _RESOURCES if group == "danger" else None
        for name, said in participants.items():
            case = f"{group}/{name}"
            held = hold(folder, *_PHQ8, said=said, settings=settings)
            yield answer_of(f"rules/{case}", folder, held, said=said, is_whole=case in _WHOLE)
            if case in _IN_TEXT:
                held = hold(folder, "--protocol", "phq8", said=said, settings=settings)
                yield answer_of(f"rules/in_text/{case}", folder, held, said=said)
    wrong = b"2\n\xff\xfe days\n2 days\n" + b"1\n" * 6
    yield answer_of("rules/odd/no_utf_8", folder, hold(folder, *_PHQ8, said=wrong))


def _after_assessments(folder: Path) -> Iterator[Answer]:
    said = ["2", "3 days", *("1",) * 8]
    for name, text in _TRANSCRIPTS.items():
        _write(folder / "talk.txt", text)
        given = ("--transcript", "talk.txt")
        held = [hold(folder, *_PHQ8, *given, said=said)]
        if name == "danger":
            held.append(hold(folder, "--protocol", "phq8", *given, said=["stop"]))
        yield answer_of(f"after/transcript/{name}", folder, *held, said=[*said, text])
    interview = EXAMPLES / "interview.txt"
    _write(folder / "assessment.json", run(["assess", interview, "--json"], folder).out)
    assessed = hold(folder, *_PHQ8, "--from", "assessment.json", said=said)
    text = interview.read_text("utf-8")
    yield answer_of("after/assessment", folder, assessed, said=[*said, text])
    yield from _speakers(folder, said)
    for name, value in _ASSESSMENTS.items():
        _write(folder / "given.json", json.dumps(value))
        held = [hold(folder, *_PHQ8, "--from", "given.json", said=said)]
        yield answer_of(f"after/given/{name}", folder, *held, said=said)
    whole = {"items": {item: {"score": 1} for item in ITEMS}}
    _write(folder / "given.json", json.dumps(whole))
    nothing_open = hold(folder, "--protocol", "phq8", "--from", "given.json")
    yield answer_of("after/given/all_scores", folder, nothing_open)


def _speakers(folder: Path, said: list[str]) -> Iterator[Answer]:
    text = "Ada: How are you?\nBert: I am tired nearly every day.\n"
    _write(folder / "names.txt", text)
    for name, options in {
        "unnamed": (),
        "named": ("--participant", "Bert"),
        "everybody": ("--participant", "*"),
        "nobody": ("--participant", "Carl"),
    }.items():
        given = ("--transcript", "names.txt", *options)
        held = hold(folder, *_PHQ8, *given, said=said)
        yield answer_of(f"after/speakers/{name}", folder, held, said=[*said, text])


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
