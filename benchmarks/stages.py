"""Where the CPU time of one assessment goes: each stage by itself, and each layer of its calls."""

import asyncio
import io
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import redirect_stderr
from typing import Final

import aiohttp
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from tests.fakes.replies import (
    evidence_answer,
    good_text,
    participant_quotes,
)

from ai_psychiatrist.agents.context import AssessmentContext, assessment_context
from ai_psychiatrist.agents.pydantic_agents import EVIDENCE, JUDGE, META_REVIEW, QUALITATIVE
from ai_psychiatrist.agents.pydantic_agents import QUANTITATIVE as SCORING
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.evidence import Quote
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.language.identification import examined_in
from ai_psychiatrist.services.language.memory import forget_clauses
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels
from ai_psychiatrist.wiring import bootstrap
from benchmarks.run_throughput import fake_server
from benchmarks.skeleton import PromptSizes, Skeleton, assess_bare_http, user_prompt
from benchmarks.subjects import MODEL, environment, interview

ROUNDS: Final = 15
EXTRACTORS: Final[Mapping[str, Callable[[str], object]]] = {
    "qualitative": QUALITATIVE.extract,
    "evidence": EVIDENCE.extract,
    "scoring": SCORING.extract,
    "meta_review": META_REVIEW.extract,
    **{f"judge_{metric.value}": JUDGE[metric].extract for metric in Metric},
}
CALLS: Final = len(EXTRACTORS)


class Stages:
    """What is done with one interview beside its model calls."""

    def __init__(self) -> None:
        self._text = interview(0)
        self._transcript = self.read()
        self._quotes = participant_quotes(self._text)
        self._replies = {task: good_text(task, self._quotes) for task in EXTRACTORS}
        self._evidence = evidence_answer(self._quotes)

    def all(self) -> dict[str, Callable[[], object]]:
        """Return name → stage."""
        return {
            "transcript read": self.read,
            "signs of danger, by rules": lambda: detect_risk(self._transcript),
            "… of which languages of turns": lambda: examined_in(self._transcript),
            f"{CALLS} prompts and their digests": self.prompts,
            f"{CALLS} replies read": self.replies,
            "quotes found": self.quotes,
            "what quotes say of items": self.readings,
        }

    def read(self) -> Transcript:
        """Read the transcript."""
        return parse_transcript(self._text, SpeakerLabels())

    def prompts(self) -> list[str]:
        """Write the prompts."""
        case = assessment_context(self._transcript)
        return [case.prompt("Task: {evidence}", evidence="-" * 1500).digest for _ in EXTRACTORS]

    def replies(self) -> list[object]:
        """Read the replies."""
        return [EXTRACTORS[task](text) for task, text in self._replies.items()]

    def quotes(self) -> tuple[AssessmentContext, dict[str, Quote]]:
        """Find the quotes."""
        case = assessment_context(self._transcript)
        found = {quote: case.index.ground(quote) for quote in self._quotes}
        return case, {text: one for text, one in found.items() if isinstance(one, Quote)}

    def readings(self) -> None:
        """Find the quotes, and read them for the narrative, the evidence and the scores."""
        case, found = self.quotes()
        for quote in found.values():
            case.assertions.for_narrative(quote)
        for key, listed in self._evidence.items():
            texts = listed if isinstance(listed, list) else []
            quotes = [found[text] for text in texts if text in found]
            for _ in ("evidence", "scores"):
                case.assertions.for_item(quotes, Item(key))


def stage_rows() -> list[tuple[str, float, float]]:
    """Return stage, CPU ms when nothing was read before, and when the same was."""
    rows = []
    for name, stage in Stages().all().items():
        stage()
        first = min(_cpu_ms(stage, is_first=True) for _ in range(ROUNDS))
        rows.append((name, first, min(_cpu_ms(stage, is_first=False) for _ in range(ROUNDS))))
    return rows


def _cpu_ms(stage: Callable[[], object], *, is_first: bool) -> float:
    if is_first:
        forget_clauses()
    start = time.process_time()
    stage()
    return 1000 * (time.process_time() - start)


async def layer_rows(url: str) -> list[tuple[str, float]]:
    """Return layer → CPU ms of the calls of one assessment through it and all below it."""
    rows: list[tuple[str, float]] = []
    text = interview(0)
    async with (
        aiohttp.ClientSession() as session,
        bootstrap(load_settings(environment(url), None)) as services,
    ):
        (route,) = services.connections.chain(MODEL)
        assert route.agent_model is not None
        model = route.agent_model
        prompt = user_prompt("judge_coherence", text, PromptSizes())
        request = [ModelRequest(parts=[UserPromptPart(prompt)], instructions="-" * 800)]

        async def calls() -> None:
            for _ in range(CALLS):
                await model.request([*request], None, ModelRequestParameters())

        skeleton = Skeleton(model)
        transcript = parse_transcript(text, services.settings.transcript.labels)
        layers: dict[str, Callable[[], Awaitable[object]]] = {
            "bare aiohttp": lambda: assess_bare_http(session, url, text),
            "our connections and Pydantic AI's model": calls,
            "Pydantic AI's agents: the skeleton": lambda: skeleton.assess(text),
            "the pipeline, workers apart": lambda: services.assessor.assess(transcript),
        }
        for name, layer in layers.items():
            rows.append((name, await _least_cpu_ms(layer)))
    return rows


async def _least_cpu_ms(layer: Callable[[], Awaitable[object]]) -> float:
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        await layer()
        found.append(1000 * (time.process_time() - start))
    return min(found)


def main() -> None:
    """Print both tables."""
    print("| stage of one assessment, 10 kB | CPU ms, first | again |\n| --- | ---: | ---: |")
    for name, first, again in stage_rows():
        print(f"| {name} | {first:.1f} | {again:.1f} |")
    with fake_server(0) as url, redirect_stderr(io.StringIO()):
        rows = asyncio.run(layer_rows(url))
    print(f"\n| {CALLS} calls through | CPU ms | more than above |\n| --- | ---: | ---: |")
    before = 0.0
    for layer, cpu_ms in rows:
        print(f"| {layer} | {cpu_ms:.1f} | {cpu_ms - before:.1f} |")
        before = cpu_ms


if __name__ == "__main__":
    main()
