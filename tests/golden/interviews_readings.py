"""How single answers are read: hundreds of them, each to the first question about its item."""

import asyncio
import tomllib
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import httpx

from tests.golden.answer import Answer, Json
from tests.golden.interviews_own import ITEMS, write_protocol
from tests.golden.interviews_ways import brief
from tests.golden.ways import REPOSITORY, environment, scratch

_TEXTS: Final = (
    REPOSITORY / "tests" / "fakes" / "participant_answers.toml",
    REPOSITORY / "tests" / "data" / "interviews" / "answers_of_more_readings.toml",
)
_EVERY: Final = {"colloquial": 10, "risk": 12}
"""Of these lists one of so many answers is said, of the others one of four."""
_ONE_ASK: Final = ("max_asks: 2", "max_asks: 1")


@dataclass(frozen=True, slots=True)
class _Said:
    """An answer, and the list that it stands in."""

    text: str
    list: str


_Queues: TypeAlias = dict[str, deque[_Said]]
"""What is still to be said about each item."""


def answers() -> Iterator[Answer]:
    """Yield how the answers of each list are read."""
    readings: dict[str, dict[str, Json]] = {}
    queues = _queues()
    with scratch() as folder:
        for said, reading in asyncio.run(_read_all(folder, queues)):
            readings.setdefault(said.list, {})[said.text] = reading
    for name, texts in readings.items():
        yield Answer(name=f"readings/{name}", value=texts, given=list(texts))


async def _read_all(folder: Path, queues: _Queues) -> list[tuple[_Said, Json]]:
    found: list[tuple[_Said, Json]] = []
    async with _client(folder) as client:
        while any(queues.values()):
            found += [one async for one in _interview(client, queues)]
    return found


async def _interview(
    client: httpx.AsyncClient, queues: _Queues
) -> AsyncIterator[tuple[_Said, Json]]:
    """Hold an interview with the next answer to each item; yield how each was read."""
    nothing_left = {item: {"score": 1} for item in ITEMS if not queues[item]}
    begun: Json = {"protocol": "own", "assessment": {"items": nothing_left}}
    shown = await _posted(client, "", begun)
    path = f"/{shown['interview_id']}/answers"
    open_items = {item for item in ITEMS if queues[item]}
    while open_items and (question := shown["question"]) is not None:
        body = {
            "question_id": question["id"],
            "idempotency_key": question["id"],
            "version": shown["version"],
        }
        item = question["item"]
        if item in open_items:
            open_items.remove(item)
            said = queues[item].popleft()
            shown = await _posted(client, path, {**body, "text": said.text})
            yield said, _reading(item, shown)
        else:
            # Asked which item was meant, the person says the last one, and yes to all else.
            kinds = {one["kind"]: one["id"] for one in reversed(question["options"])}
            meant = [one["id"] for one in question["options"] if one["kind"] == "item"]
            chosen = meant[-1:] if question["purpose"] == "which_item" else [*kinds.values()][-1:]
            reply = {"option_id": chosen[0]} if chosen else {"text": "ok"}
            shown = await _posted(client, path, {**body, **reply})


def _reading(item: str, shown: dict[str, Any]) -> Json:
    operator, question = shown["operator"], shown["question"]
    outcome = operator["items"][item]
    danger = operator["danger"]
    found: Json = brief(
        {
            "item": item,
            "score": outcome["score"],
            "quote": outcome["quote"] and outcome["quote"]["text"],
            "reason": outcome["unknown_reason"],
            "danger": danger and [danger["level"], *danger["categories"]],
            "language": [
                one["language"] for one in operator["not_examined"] if one["turn"] == shown["turn"]
            ],
            "asked_which": (question or {}).get("purpose") == "which_item" or None,
            "read_back": [
                one["score"]
                for one in operator["proposals"]
                if one["turn"] == shown["turn"] and one["outcome"] == "open"
            ],
            "purpose": question and question["purpose"],
        }
    )
    return found


def _queues() -> _Queues:
    """Return answers by item: named by their list, before each answer, or in turn."""
    queues: _Queues = {item: deque() for item in ITEMS}
    turn = 0
    for name, table in _lists():
        for key, value in table.items():
            groups: Sequence[Sequence[str]] = list(value.values()) if key in queues else [value]
            every = _EVERY.get(name, 4)
            for text in (one for group in groups for one in group[::every]):
                item, _, rest = text.partition(": ")
                if key in queues:
                    queues[key].append(_Said(text, name))
                elif f"PHQ8_{item}" in queues:
                    queues[f"PHQ8_{item}"].append(_Said(rest, name))
                else:
                    queues[ITEMS[turn % len(ITEMS)]].append(_Said(text, name))
                    turn += 1
    return queues


def _lists() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path in _TEXTS:
        yield from tomllib.loads(path.read_text("utf-8")).items()


async def _posted(client: httpx.AsyncClient, path: str, body: Json) -> dict[str, Any]:
    response = await client.post(f"/v1/interviews{path}", json=body)
    assert response.status_code in (200, 201), response.text
    shown: dict[str, Any] = response.json()
    return shown


@asynccontextmanager
async def _client(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    from ai_psychiatrist import create_app, load_settings  # noqa: PLC0415  slow to import

    own = {"INTERVIEW_PROTOCOLS": str(write_protocol(folder / "own", _ONE_ASK))}
    app = create_app(load_settings(environment(folder, own), dotenv=None))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        yield client
