"""Answer every task that models are asked, in their format, by fixed rules.

The rule baseline is no language model and no clinical instrument. It lets the whole service run
offline, with the same extractors and checks as any model, and gives results that a model can be
compared with.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.baseline.judgement import JUDGES
from ai_psychiatrist.agents.baseline.narrative import narrate
from ai_psychiatrist.agents.baseline.scoring import reviewed, scored_items
from ai_psychiatrist.agents.baseline.signals import Analysis, Signal, analysis_of_text
from ai_psychiatrist.agents.context import shared_transcripts
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.infrastructure.off_loop import work_on_text
from ai_psychiatrist.llm.endpoints import DEFAULT_MAX_REPLY_BYTES, ModelEndpoint
from ai_psychiatrist.llm.replies import ChatReply
from ai_psychiatrist.services.reader.reading import TranscriptReading

_FIRST_QUOTES: Final = 2
_REFINED_QUOTES: Final = 4


class BaselineChatClient:
    """Answers every task by fixed rules; no language model and no clinical instrument."""

    model: Final = BASELINE

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:  # noqa: ARG002
        """Answer the task of the user's text."""
        return ChatReply(text=await answer(user_prompt))


def baseline_route(*, max_reply_bytes: int = DEFAULT_MAX_REPLY_BYTES) -> ModelEndpoint:
    """Return the baseline as a model among others; it calls no tools."""
    return ModelEndpoint(
        name=BASELINE,
        agent_model=None,
        chat=BaselineChatClient(),
        max_reply_bytes=max_reply_bytes,
        takes_tools=False,
        is_local=True,
    )


async def answer(prompt: str) -> str:
    """Answer a prompt's task about its transcript; the same prompt gets the same reply.

    Raises `ValueError` when the prompt holds no transcript block or names no known task.
    """
    request = read_request(prompt)
    if request.task not in _ANSWERS:
        raise ValueError(f"the rule baseline knows no task {request.task!r}")
    analysis = await _analysis(request)
    return await work_on_text(analysis.transcript.text, _answered, request, analysis)


def _answered(request: "Request", analysis: Analysis) -> str:
    return _ANSWERS[request.task](analysis, request)


async def _analysis(request: "Request") -> Analysis:
    """Return the analysis of a transcript, made once where tasks of an assessment share it."""
    shared = shared_transcripts()
    # Findings and evidence are asked for at the same time: the second waits for the first.
    async with shared.lock:
        known = shared.analyses.get(request.boundary)
        if isinstance(known, Analysis):
            return known
        text, context = request.transcript, shared.contexts.get(request.boundary)
        read = None if context is None else context.transcript
        if read is not None:
            # It has no window: asked about a part, or shown notes, it answers from the whole.
            text = read.text
        analysis = await work_on_text(text, analysis_of_text, text, read)
        if context is not None:
            signals = [await _with_reader(one, context.learned_reading) for one in analysis.signals]
            analysis = replace(analysis, signals=tuple(signals))
        shared.analyses[request.boundary] = analysis
        return analysis


async def _with_reader(signal: Signal, reading: TranscriptReading) -> Signal:
    """Mark a signal that the learned reader does not share."""
    quote, is_shared = signal.quote, True
    if quote.supports_symptom:
        is_shared = await reading.shares_present(signal.item, quote.segments)
    elif quote.denies_symptom:
        is_shared = await reading.shares_denied(signal.item, quote.segments)
    return signal if is_shared else replace(signal, is_shared=False)


def _evidence(analysis: Analysis, _: "Request") -> str:
    return _json({item.value: analysis.quotes(item) for item in Item})


def _scores(analysis: Analysis, request: "Request") -> str:
    return f"<answer>\n{_json(scored_items(analysis, request.json_block('evidence')))}\n</answer>"


def _judged(metric: Metric, analysis: Analysis, request: "Request") -> str:
    return JUDGES[metric](request.block("findings"), analysis)


def _judged_together(analysis: Analysis, request: "Request") -> str:
    return "\n".join(
        f"<{metric.value}>\n{_judged(metric, analysis, request)}\n</{metric.value}>"
        for metric in Metric
    )


def _json(value: object) -> str:
    """Write JSON in which no participant's words can look like a tag of the reply."""
    return json.dumps(value, ensure_ascii=False, indent=1).replace("<", "\\u003c")


_ANSWERS: Final[Mapping[str, Callable[[Analysis, "Request"], str]]] = {
    "evidence": _evidence,
    "scoring": _scores,
    "qualitative": lambda analysis, _: narrate(analysis, _FIRST_QUOTES),
    "qualitative_refine": lambda analysis, _: narrate(analysis, _REFINED_QUOTES),
    **{f"judge_{metric}": partial(_judged, metric) for metric in Metric},
    "judges": _judged_together,
    "meta_review": lambda analysis, request: reviewed(request.json_block("scores"), analysis),
}


# The prompt that a model is sent, read back

_OPENING: Final = re.compile(
    r"^<(?P<block>transcript|notes)-(?P<boundary>[0-9a-f]{16})>\n", re.MULTILINE
)
_TASK: Final = re.compile(r"^Task: (?P<name>[^\n]*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What one prompt asks for."""

    task: str
    transcript: str = field(repr=False)
    """The transcript's text exactly as it was received; empty where notes are in its place."""
    boundary: str
    instructions: str = field(repr=False)
    """Everything after the transcript, the data blocks included."""

    def block(self, name: str) -> str:
        """Return the content of a data block, or nothing where it is missing."""
        opening, closing = f"<{name}-{self.boundary}>\n", f"\n</{name}-{self.boundary}>"
        _, is_open, rest = self.instructions.partition(opening)
        content, is_closed, _ = rest.rpartition(closing)
        return content if is_open and is_closed else ""

    def json_block(self, name: str) -> dict[str, object]:
        """Return the JSON object of a data block; anything else counts as an empty one."""
        try:
            value = json.loads(self.block(name))
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


def read_request(prompt: str) -> Request:
    """Read a prompt. Raises `ValueError` when it holds no transcript block or no task."""
    opening = _OPENING.search(prompt)
    if opening is None:
        raise ValueError("the prompt holds no transcript block")
    boundary = opening["boundary"]
    # The transcript's author cannot know the boundary, but a model may echo the closing tag into
    # findings that a later prompt quotes; so the first one counts.
    closing = prompt.find(f"\n</{opening['block']}-{boundary}>", opening.end() - 1)
    if closing < 0:
        raise ValueError("the prompt's transcript block is not closed")
    instructions = prompt[closing + 1 :]
    task = _TASK.search(instructions)
    if task is None:
        raise ValueError("the prompt names no task")
    return Request(
        task=task["name"].strip(),
        transcript=""
        if opening["block"] == "notes"
        else prompt[opening.end() : max(closing, opening.end())],
        boundary=boundary,
        instructions=instructions,
    )
