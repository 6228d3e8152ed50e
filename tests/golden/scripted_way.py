"""One assessment over the scripted model server, and what is kept of it."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Self

from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.faults import HALLUCINATED_QUOTES, MARKUP, PROSE, TRICKY_STRING
from tests.fakes.replies import good_replies, participant_quotes
from tests.golden.answer import Answer, Json
from tests.golden.assessments_calls import AP
from tests.golden.assessments_parts import accounted, in_agent_order, own_transcripts, told
from tests.golden.ways import EXAMPLES, environment, model_server

SHORT: Final = (EXAMPLES / "short_interview.txt").read_text(encoding="utf-8")
EVERY_DAY: Final = own_transcripts()["frequencies/nearly_every_day"]
DANGER: Final = own_transcripts()["danger/many_kinds"]
_LONGEST_GIVEN: Final = 100_000
_NOT_OF_MODELS: Final = ("transcript", "examined", "speakers_assumed")
"""What a result says whatever the models do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One assessment."""

    name: str
    script: Script = field(default_factory=good_replies)
    text: str = SHORT
    wire: str = "openai"
    settings: Mapping[str, str] = field(default_factory=dict)
    """`{server}` in a value is the address of the server."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keywords of `Application.assess`."""
    is_whole: bool = False
    """Whether the whole result is kept."""
    has_beliefs: bool = False
    """Whether it is kept how sure the scores are."""


def answers_of(cases: Iterable[Case], folder: Path) -> Iterator[Answer]:
    """Yield what the assessments come to, one after another."""
    for case in cases:
        yield asyncio.run(answer_of(case, folder))


def answers_at_once(cases: Sequence[Case], folder: Path) -> Iterator[Answer]:
    """Yield what assessments come to that wait for most of their time."""

    async def all_of_them() -> list[Answer]:
        return await asyncio.gather(*(answer_of(case, folder) for case in cases))

    yield from asyncio.run(all_of_them())


def answers_of_replies(cases: Iterable[Case], folder: Path) -> Iterator[Answer]:
    """Yield what assessments come to where no call fails: those of the same settings share clients.

    A failed call may have to do with the next one.
    """

    async def shared(alike: Sequence[Case]) -> list[Answer]:
        async with _Opened(alike[0], folder) as opened:
            return [_answer(case, await opened.assess(case)) for case in alike]

    for _, alike in groupby(cases, key=lambda case: (case.wire, case.settings)):
        yield from asyncio.run(shared(list(alike)))


def asked_of(case: Case, folder: Path) -> list[Request]:
    """Return what the models of an assessment were asked."""

    async def asked() -> list[Request]:
        async with _Opened(case, folder) as opened:
            return (await opened.assess(case)).asked

    return asyncio.run(asked())


async def answer_of(case: Case, folder: Path) -> Answer:
    """Return what an assessment comes to, with its causes and how often models were asked."""
    async with _Opened(case, folder) as opened:
        return _answer(case, await opened.assess(case))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    result: Any
    causes: Sequence[Any]
    asked: list[Request]
    replies: list[str]


class _Opened:
    """A model server and an application that asks it."""

    def __init__(self, case: Case, folder: Path) -> None:
        self._case = case
        self._folder = folder
        self._script: Script = case.script
        self._replies: list[str] = []
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        server = model_server(self._reply, wire=self._case.wire)
        self._server, named = self._closing.enter_context(server)
        own = {
            key: value.replace("{server}", self._server.url)
            for key, value in self._case.settings.items()
        }
        settings = AP.load_settings(environment(self._folder, {**named, **own}), None)
        self._app = await self._closing.enter_async_context(AP.open(settings))
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._closing.aclose()

    async def assess(self, case: Case) -> _Ended:
        self._script = case.script
        self._replies.clear()
        self._server.server.reset()
        result = await self._app.assess(case.text, **case.options)
        return _Ended(
            result=result,
            causes=self._app.causes(result),
            asked=list(self._server.requests),
            replies=list(self._replies),
        )

    def _reply(self, request: Request) -> Reply:
        reply = self._script(request)
        self._replies.append((reply.text or "")[:_LONGEST_GIVEN])
        return reply


def _answer(case: Case, ended: _Ended) -> Answer:
    value: dict[str, Json] = {
        **_kept(case, json.loads(ended.result.model_dump_json())),
        "causes": sorted(
            ([one.model, one.code, one.http_status, one.address, one.cure] for one in ended.causes),
            key=str,
        ),
        "asked": sorted(Counter(map(_asked_for, ended.asked)).items()),
        "said_back": sorted({_said_back(one) for one in ended.asked if len(one.messages) > _FIRST}),
    }
    given = [case.text, *HALLUCINATED_QUOTES, MARKUP, PROSE, TRICKY_STRING]
    given += [*dict.fromkeys(ended.replies), *participant_quotes(case.text)]
    return Answer(name=case.name, value=_filled(value), given=given)


_FIRST: Final = 2
"""How many messages a first call has: those of the system and of the user."""


def _kept(case: Case, result: Mapping[str, Any]) -> Mapping[str, Json]:
    if case.is_whole:
        return in_agent_order(result)
    kept = told(result) | accounted(result)
    if case.has_beliefs and (quantitative := result["quantitative"]):
        beliefs = {key: one["belief"] for key, one in quantitative["items"].items()}
        kept |= {"beliefs": beliefs, "interval": quantitative["total_interval"]}
    return {key: value for key, value in kept.items() if key not in _NOT_OF_MODELS}


def _asked_for(request: Request) -> str:
    return f"{request.task}|{request.body.get('model')}"


def _said_back(request: Request) -> str:
    """Return what a model is told of the reply before."""
    return f"{request.task}: {request.messages[-1].content}"


def _filled(value: Json) -> Json:
    """Return a value without the fields that hold nothing: they are the same everywhere."""
    if isinstance(value, Mapping):
        filled = {key: _filled(one) for key, one in value.items()}
        return {key: one for key, one in filled.items() if one not in (None, [], {}, "")}
    if isinstance(value, list | tuple):
        return [_filled(one) for one in value]
    return value
