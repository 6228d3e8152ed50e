"""A danger that is told stays one, whatever sentence it is told in."""

from typing import Final

import pytest

from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

_SAID: Final = (
    "I think about killing myself",
    "I want to die",
    "I have thoughts of ending my life",
    "I cut myself",
    "I think I'd be better off dead",
    "I've been thinking about suicide",
    "I've been stockpiling my pills",
    "my husband hits me",
)
_SECRETS: Final = (
    "Nobody knows that {}.",
    "No one in my family knows that {}.",
    "I have never told anyone that {}.",
    "I haven't told my wife that {}.",
    "I don't tell people that {}.",
    "My doctor doesn't know that {}.",
    "They don't realise that {}.",
    "I can't deny that {}.",
    "I never admitted that {}.",
    "I'm not ashamed to say {}.",
    "It's no secret that {}.",
    "I don't want you to know that {}.",
    "Never mind, {}.",
)
_FREQUENCIES: Final = (
    "Every day {}.",
    "Some nights {} and some nights I don't.",
    "I'm afraid {}.",
    "I must say {}.",
    "{} since she died two years ago.",
    "I'm fine, but {}.",
    "As when I was young, {}.",
    "{}, same as before.",
    "My wife thinks that {} and she is right.",
    "I'd never act on it, but {}.",
)
_GRAVE: Final = {RiskLevel.MODERATE, RiskLevel.HIGH}


def _level(said: str) -> RiskLevel:
    talk = f"Interviewer: How have you been?\nParticipant: {said[0].upper()}{said[1:]}\n"
    return detect_risk(parse_transcript(talk)).level


@pytest.mark.parametrize("frame", [*_SECRETS, *_FREQUENCIES])
def test_a_danger_is_found_in_each_frame(frame: str) -> None:
    missed = [frame.format(one) for one in _SAID if _level(frame.format(one)) not in _GRAVE]
    assert not missed


@pytest.mark.parametrize("said", ["I want to die", "I have thoughts of suicide"])
@pytest.mark.parametrize(
    "frame", ["I don't think that {}.", "I don't believe that {}.", "It's not that {}."]
)
def test_what_is_not_thought_is_still_denied(frame: str, said: str) -> None:
    assert _level(frame.format(said)) not in _GRAVE


@pytest.mark.parametrize(
    "answer",
    [
        "No... well, yes.",
        "No, I mean, a bit.",
        "No, but I can't promise.",
        "Only at night.",
        "I never told anyone, but I have.",
        "I can't deny it.",
        "Not as much as last week.",
    ],
)
@pytest.mark.parametrize(
    "question", ["Have you thought about killing yourself?", "Do you ever wish you were dead?"]
)
def test_only_a_plain_no_denies_what_was_asked(question: str, answer: str) -> None:
    talk = parse_transcript(f"Interviewer: {question}\nParticipant: {answer}\n")
    assert detect_risk(talk).level in _GRAVE


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        ("Ten years ago I did, after the divorce. Not now.", RiskLevel.LOW),
        ("Ten years ago, and sometimes still.", RiskLevel.HIGH),
        ("Not now.", RiskLevel.HIGH),
    ],
)
def test_not_now_ends_only_what_is_dated_as_distant(answer: str, level: RiskLevel) -> None:
    asked = "Interviewer: Have you thought of ending your life?"
    assert detect_risk(parse_transcript(f"{asked}\nParticipant: {answer}\n")).level is level
