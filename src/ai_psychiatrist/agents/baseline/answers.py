"""The rule baseline: fixed rules that answer every task in the format asked of a model.

It is no language model and no clinical instrument. It lets the whole service run offline, with the
same extractors and checks as any model, and gives results that a model can be compared with.
"""

from collections.abc import Callable, Mapping
from typing import Final

from ai_psychiatrist.agents.baseline.extraction import extract_evidence
from ai_psychiatrist.agents.baseline.judgement import (
    judge_accuracy,
    judge_coherence,
    judge_completeness,
    judge_specificity,
)
from ai_psychiatrist.agents.baseline.narrative import narrate, refine
from ai_psychiatrist.agents.baseline.request import Request, read_request
from ai_psychiatrist.agents.baseline.scoring import score_items
from ai_psychiatrist.agents.baseline.severity import review
from ai_psychiatrist.agents.baseline.shared_analysis import analysed
from ai_psychiatrist.agents.baseline.signals import Analysis
from ai_psychiatrist.domain.transcript import DEFAULT_LABELS, SpeakerLabels

_Answer = Callable[[Analysis, Request], str]

_ANSWERS: Final[Mapping[str, _Answer]] = {
    "evidence": lambda analysis, _: extract_evidence(analysis),
    "scoring": lambda analysis, request: score_items(analysis, request.block("evidence")),
    "qualitative": lambda analysis, _: narrate(analysis),
    "qualitative_refine": lambda analysis, _: refine(analysis),
    "judge_coherence": lambda _, request: judge_coherence(request.block("findings")),
    "judge_completeness": lambda analysis, request: judge_completeness(
        analysis, request.block("findings")
    ),
    "judge_specificity": lambda analysis, request: judge_specificity(
        analysis, request.block("findings")
    ),
    "judge_accuracy": lambda analysis, request: judge_accuracy(analysis, request.block("findings")),
    "meta_review": lambda _, request: review(request.block("scores")),
}


def answer(prompt: str, *, labels: SpeakerLabels = DEFAULT_LABELS) -> str:
    """Answer a prompt's task about its transcript; the same prompt gets the same reply.

    Raises `ValueError` when the prompt holds no transcript block or names no known task.
    """
    request = read_request(prompt)
    answer_task = _ANSWERS.get(request.task)
    if answer_task is None:
        msg = f"the rule baseline knows no task {request.task!r}"
        raise ValueError(msg)
    return answer_task(analysed(request.transcript, labels), request)
