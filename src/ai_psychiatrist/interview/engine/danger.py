"""Signs of danger in one answer, read with the question that it answers."""

from typing import Final

from ai_psychiatrist.domain.interview import AnswerKind, GivenAnswer, Question
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn
from ai_psychiatrist.interview.snapshot import Danger, DangerPlace
from ai_psychiatrist.services.risk.detector import detect_risk

_HOLDS_FROM: Final = RiskLevel.MODERATE


def danger_in(question: Question, answer: GivenAnswer) -> Danger | None:
    """Return what holds the interview, `None` when nothing does.

    Frequencies and refusals are the protocol's words and never read.
    """
    option = None if answer.option_id is None else question.option(answer.option_id)
    if option is not None and option.kind is not AnswerKind.OFFERED:
        return None
    report = detect_risk(_exchange(question.text, answer.text))
    if report.level.rank < _HOLDS_FROM.rank:
        return None
    holding = [s for s in report.signals if s.level.rank >= _HOLDS_FROM.rank]
    said_from = len(question.text) + 1
    return Danger(
        level=report.level,
        categories=tuple(sorted({signal.category for signal in holding})),
        places=tuple(
            DangerPlace(
                turn=answer.turn, start=signal.start - said_from, end=signal.end - said_from
            )
            for signal in holding
        ),
    )


def _exchange(asked: str, said: str) -> Transcript:
    """Return question and answer as a transcript.

    The turns are laid out here: parsed, an answer could open a turn of the interviewer.
    """
    words_start = len(asked) + 1
    text = f"{asked}\n{said}"
    return Transcript(
        text=text,
        turns=(
            Turn(index=0, speaker=Speaker.INTERVIEWER, start=0, words_start=0, end=words_start),
            Turn(
                index=1,
                speaker=Speaker.PARTICIPANT,
                start=words_start,
                words_start=words_start,
                end=len(text),
            ),
        ),
        speakers_assumed=False,
    )
