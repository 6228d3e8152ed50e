"""The rule baseline: fixed rules that answer every task in the format asked of a model.

It is no language model and no clinical instrument. It lets the whole service run offline, with the
same extractors and checks as any model, and gives results that a model can be compared with.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from ai_psychiatrist.agents.baseline.judgement import JUDGES
from ai_psychiatrist.agents.baseline.narrative import narrate
from ai_psychiatrist.agents.baseline.request import Request, read_request
from ai_psychiatrist.agents.baseline.scoring import scored_items
from ai_psychiatrist.agents.baseline.severity import review
from ai_psychiatrist.agents.baseline.shared_analysis import (
    analysis_of_text,
    in_process,
    shared_analysis,
)
from ai_psychiatrist.agents.baseline.signals import Analysis, Signals
from ai_psychiatrist.domain.assessment import Metric
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.worker_processes import work_on_text

_FIRST_QUOTES: Final = 2
_REFINED_QUOTES: Final = 4


async def answer(prompt: str) -> str:
    """Answer a prompt's task about its transcript; the same prompt gets the same reply.

    Raises `ValueError` when the prompt holds no transcript block or names no known task.
    """
    request = read_request(prompt)
    if request.task not in _ANSWERS:
        msg = f"the rule baseline knows no task {request.task!r}"
        raise ValueError(msg)
    text = request.transcript
    given = await in_process(request)
    if given is not None:
        return await work_on_text(text, _answered_anew, request, *given)
    return await work_on_text(text, _answered, request, await shared_analysis(request))


def _answered_anew(request: Request, transcript: Transcript | None, signals: Signals | None) -> str:
    return _answered(request, analysis_of_text(request.transcript, transcript, signals))


def _answered(request: Request, analysis: Analysis) -> str:
    return _ANSWERS[request.task](analysis, request)


def _evidence(analysis: Analysis, _: Request) -> str:
    return _json({item.value: analysis.quotes(item) for item in Item})


def _scores(analysis: Analysis, request: Request) -> str:
    return f"<answer>\n{_json(scored_items(analysis, request.json_block('evidence')))}\n</answer>"


def _judged(metric: Metric, analysis: Analysis, request: Request) -> str:
    return JUDGES[metric](request.block("findings"), analysis)


def _judged_together(analysis: Analysis, request: Request) -> str:
    return "\n".join(
        f"<{metric.value}>\n{_judged(metric, analysis, request)}\n</{metric.value}>"
        for metric in Metric
    )


_ANSWERS: Final[Mapping[str, Callable[[Analysis, Request], str]]] = {
    "evidence": _evidence,
    "scoring": _scores,
    "qualitative": lambda analysis, _: narrate(analysis, _FIRST_QUOTES),
    "qualitative_refine": lambda analysis, _: narrate(analysis, _REFINED_QUOTES),
    **{f"judge_{metric}": partial(_judged, metric) for metric in Metric},
    "judges": _judged_together,
    "meta_review": lambda analysis, request: review(request.json_block("scores"), analysis),
}


def _json(value: object) -> str:
    """Write JSON in which no participant's words can look like a tag of the reply."""
    return json.dumps(value, ensure_ascii=False, indent=1).replace("<", "\\u003c")
