"""The reply of a judge: an explanation and a score."""

import re
from contextlib import suppress
from typing import Final

from ai_psychiatrist.agents.output_models import (
    JudgeMetricOutput,
    JudgesOutput,
    MetricJudgement,
    PartialJudgement,
    PartialJudgements,
    words_of,
)
from ai_psychiatrist.agents.replies.parts import required_block, valid_part
from ai_psychiatrist.domain.assessment import Metric
from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode, UnreadPart
from ai_psychiatrist.validation.checks.coercion.text_values import read_whole_number
from ai_psychiatrist.validation.reply.limits import HALF_CHARACTER, marked_halves
from ai_psychiatrist.validation.reply.thinking import without_thinking

_NUMBER: Final = (
    r"(-?\d{1,9}(?:[.,]\d{1,9}|\s?(?:[-–]|to|or)\s?\d{1,9})?)\s?(?:(?:/|out of)\s?(\d{1,9}))?"
)
_LABEL: Final = r"(?:score|rating)[\"'*_\s]{0,8}[:=：][\"'*_\[(\s]{0,8}"
_LABELLED_LINE: Final = re.compile(
    rf"^(?!\W{{17}})[\W_]{{0,16}}(?:\w{{1,20}} )?{_LABEL}(?:{_NUMBER})?",
    re.IGNORECASE | re.MULTILINE,
)
_LABELLED: Final = re.compile(rf"\b{_LABEL}{_NUMBER}", re.IGNORECASE)
_LAST_LINE: Final = re.compile(
    rf"^[ \t*_\[(]{{0,16}}{_NUMBER}[ \t*_\])]{{0,16}}\.?\Z", re.MULTILINE
)
_EXPLANATION: Final = re.compile(
    r"^(?!\W{17})[\W_]{0,16}explanation[\"'*_\s]{0,8}[:=：]", re.IGNORECASE | re.MULTILINE
)
_ECHOED_EXPLANATION: Final = "what you found"
"""The words of the task, not of the model."""
# A second number right after the first, such as: 2, no wait, 3
_SAID_ANEW: Final = re.compile(
    r"[ \t,;.*~…→>-]{0,8}\d"
    r"|[^\w\n]{0,8}(?:(?:no|wait|hmm|actually|or|rather|sorry|make (?:that|it)|i mean|correction)\b"
    r"[^\w\n]{0,8}){1,4}\d",
    re.IGNORECASE,
)
_PIECE_CHARACTERS: Final = 16_384
_LONGEST_MATCH_CHARACTERS: Final = 512


def read_judgement(text: str) -> JudgeMetricOutput:
    """Read the last score of a judge's reply, and the explanation."""
    reply = without_thinking(text)
    score, found = _score(reply)
    return JudgeMetricOutput(score=score, explanation=_explanation(reply, found))


@valid_part
def judgement_in_part(text: str) -> PartialJudgement | None:
    """Read the score of a refused reply whose explanation is missing or cannot be read."""
    return _in_part(without_thinking(marked_halves(text, has_escapes=False)))


def _in_part(reply: str) -> PartialJudgement:
    score, found = _score(reply)
    try:
        explanation = _explanation(reply, found)
    except OutputRejected as rejection:
        if rejection.code is not RejectionCode.EMPTY_FIELD:
            raise
        explanation = HALF_CHARACTER
    if HALF_CHARACTER in explanation:
        return PartialJudgement(score=score, explanation="", unread=(UnreadPart.EXPLANATION,))
    return PartialJudgement(score=score, explanation=explanation, unread=())


def _score(reply: str) -> tuple[int, re.Match[str]]:
    """Return the last score, and where it stands; raises `OutputRejected`."""
    found = _last_score(reply)
    if found is None or found[1] is None:
        raise OutputRejected(
            RejectionCode.SCORE_MISSING, "No score was found. End with a line such as: Score: 3"
        )
    number = read_whole_number(found[1], low=1, high=5)
    if number is None or found[2] not in {None, "5"}:
        raise OutputRejected(
            RejectionCode.SCORE_INVALID, "The score has to be a whole number from 1 to 5."
        )
    if _SAID_ANEW.match(reply, found.end()):
        raise OutputRejected(
            RejectionCode.SCORE_INVALID, "The score line names several numbers. Give one score."
        )
    return number.value, found


def read_judgements(text: str) -> JudgesOutput:
    """Read what a judge says of each metric; one that cannot be read is left out.

    Raises `OutputRejected` where none can be read.
    """
    reply = without_thinking(text)
    scores: dict[Metric, MetricJudgement] = {}
    refused: OutputRejected | None = None
    for metric in Metric:
        try:
            read = read_judgement(required_block(reply, metric.value))
        except OutputRejected as rejection:
            refused = refused or rejection.detached()
        else:
            scores[metric] = MetricJudgement(score=read.score, explanation=read.explanation)
    if refused is not None and not scores:
        raise refused.detached()
    return JudgesOutput(scores=scores)


@valid_part
def judgements_in_part(text: str) -> PartialJudgements | None:
    """Read the scores of a refused reply about all metrics."""
    reply = without_thinking(marked_halves(text, has_escapes=False))
    scores: dict[Metric, PartialJudgement] = {}
    for metric in Metric:
        with suppress(OutputRejected):
            scores[metric] = _in_part(required_block(reply, metric.value))
    return PartialJudgements(scores=scores) if scores else None


def _last_score(reply: str) -> re.Match[str] | None:
    lines = (_last(_LABELLED_LINE, reply), _LAST_LINE.search(reply))
    found = [line for line in lines if line is not None]
    return max(found, key=lambda line: line.end(1)) if found else _last(_LABELLED, reply)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match, looked for in pieces: one search would hold the interpreter."""
    last: re.Match[str] | None = None
    at = 0
    while at < len(text):
        end = at + _PIECE_CHARACTERS
        for match in pattern.finditer(text, at, end + _LONGEST_MATCH_CHARACTERS):
            if match.start() >= end:
                break
            last = match
        at = end if last is None else max(end, last.end())
    return last


def _explanation(reply: str, score: re.Match[str]) -> str:
    label = _last(_EXPLANATION, reply)
    if label is not None and label.end() > score.start():
        if _last(_EXPLANATION, reply[: score.start()]) is not None:
            # A second explanation whose score is missing.
            raise OutputRejected(
                RejectionCode.SCORE_MISSING, "The last explanation has no score. Give both again."
            )
        words = reply[label.end() :]
    else:
        words = reply[label.end() if label else 0 : score.start()]
    words = words_of(words).strip(" \t\r\n*_\"'{},")
    if not words or words.lower().rstrip(".") == _ECHOED_EXPLANATION:
        raise OutputRejected(
            RejectionCode.EMPTY_FIELD, "The explanation is missing. Explain the score first."
        )
    return words
