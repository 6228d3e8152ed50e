"""The control of the benchmarks: the model calls of an assessment and nothing else.

Three levels: findings beside evidence; four judges beside scoring; the meta-review. What our
pipeline takes beyond this is its own cost.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from openai import AsyncOpenAI, DefaultAioHttpClient
from pydantic_ai import Agent, TextOutput
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

MODEL_NAME = "fake-model"
OUTPUT_RETRIES = 3
LEVELS = (
    ("qualitative", "evidence"),
    ("judge_coherence", "judge_completeness", "judge_specificity", "judge_accuracy", "scoring"),
    ("meta_review",),
)

_FILLER = "Read the interview and report what the participant says in their own words. "
_TAG = re.compile(r"<(\w+)>(.*?)</\1>", re.DOTALL)
_SCORE = re.compile(r"Score: (\d)")

Reading = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSizes:
    """Sizes of what surrounds the transcript, in characters."""

    system_chars: int = 800
    task_chars: int = 1_500


class Skeleton:
    """The three levels as bare agent runs on one shared model."""

    def __init__(self, model: Model, *, sizes: PromptSizes | None = None) -> None:
        self._sizes = sizes or PromptSizes()
        system = _fill(self._sizes.system_chars)
        self._agents: dict[str, Agent[None, Reading]] = {
            task: Agent(
                model,
                name=task,
                system_prompt=system,
                output_type=TextOutput[Reading](_extractor(task)),
                retries={"output": OUTPUT_RETRIES},
            )
            for level in LEVELS
            for task in level
        }

    async def assess(self, transcript_text: str) -> None:
        """Make the calls of one assessment and read each reply trivially."""
        for level in LEVELS:
            async with asyncio.TaskGroup() as group:
                for task in level:
                    group.create_task(self._run(task, transcript_text))

    async def _run(self, task: str, transcript_text: str) -> Reading:
        prompt = user_prompt(task, transcript_text, self._sizes)
        return (await self._agents[task].run(prompt)).output


@asynccontextmanager
async def open_skeleton(url: str) -> AsyncIterator[Skeleton]:
    """Build the shared model as the libraries would have it, and close it at the end."""
    async with AsyncOpenAI(
        base_url=f"{url}/v1",
        api_key="none",
        max_retries=0,
        http_client=DefaultAioHttpClient(),
    ) as client:
        provider = OpenAIProvider(openai_client=client)
        yield Skeleton(OpenAIChatModel(MODEL_NAME, provider=provider))


async def assess_bare_http(
    session: aiohttp.ClientSession,
    url: str,
    transcript: str,
    *,
    sizes: PromptSizes | None = None,
) -> None:
    """Make the same calls without agents or SDK: the floor of any Python client."""
    sizes = sizes or PromptSizes()
    for level in LEVELS:
        async with asyncio.TaskGroup() as group:
            for task in level:
                group.create_task(_post(session, url, task, transcript, sizes))


def user_prompt(task: str, transcript: str, sizes: PromptSizes) -> str:
    """Write transcript block and task in our format."""
    block = f"<transcript-00000000000000aa>\n{transcript}\n</transcript-00000000000000aa>"
    return f"{block}\n\nTask: {task}\n\n{_fill(sizes.task_chars)}"


async def _post(
    session: aiohttp.ClientSession, url: str, task: str, transcript: str, sizes: PromptSizes
) -> Reading:
    messages = [
        {"role": "system", "content": _fill(sizes.system_chars)},
        {"role": "user", "content": user_prompt(task, transcript, sizes)},
    ]
    body = {"model": MODEL_NAME, "messages": messages}
    async with session.post(f"{url}/v1/chat/completions", json=body) as response:
        payload = json.loads(await response.read())
    return await _extractor(task)(payload["choices"][0]["message"]["content"])


def _fill(size_chars: int) -> str:
    return (_FILLER * (size_chars // len(_FILLER) + 1))[:size_chars]


def _extractor(task: str) -> Callable[[str], Awaitable[Reading]]:
    if task == "evidence":
        return _extract_object
    if task == "scoring":
        return _extract_answer
    if task.startswith("judge"):
        return _extract_score
    return _extract_tags


async def _extract_object(text: str) -> Reading:
    found: dict[str, object] = json.loads(text)
    return found


async def _extract_answer(text: str) -> Reading:
    start = text.index("<answer>") + len("<answer>")
    return await _extract_object(text[start : text.index("</answer>")])


async def _extract_score(text: str) -> Reading:
    found = _SCORE.search(text)
    assert found is not None
    return {"score": int(found[1])}


async def _extract_tags(text: str) -> Reading:
    return dict(_TAG.findall(text))
