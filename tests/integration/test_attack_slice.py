"""A slice of `make attack`: what hostile replies, texts and callers cost, in bytes and calls."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.attack.bodies import LARGEST_CHARACTERS, ROUTES, of_text
from tests.attack.callers import Answer, leave
from tests.attack.files import attacks
from tests.attack.hostile_server import WIRES, HostileServer, model_settings
from tests.attack.hostile_texts import HOSTILE_TEXTS
from tests.attack.memory import BAR_MEGABYTES
from tests.attack.replies import assessed_at_once
from tests.attack.sent_files import is_told, sent
from tests.fakes.model_server import ModelServerThread
from tests.integration.running_app import (
    RunningApp,
    client_at,
    client_of,
    model_at,
    settings_with,
)
from tests.patience import wait_until
from tests.sweeps import ASSESSMENTS_OF_COSTLY_REPLIES

TEXT = "Interviewer: How do you sleep?\nParticipant: Badly, nearly every night.\n"
ENDLESS = (
    "endless without length",
    "endless chunks",
    "4,000,000 headers",
    "an endless status line",
    "an endless error",
)
MOST_SENT_BYTES = 64_000_000
"""The limit of a reply, both ways to ask, and what the sockets between hold."""
AWAKE_MILLISECONDS = 5_000
"""Far more than `benchmarks.costly_replies` measures: other work may have the machine."""
SMALL_CHARACTERS = 400
EVERY_SO_MANY = 5
WORKED_ON_APART_CHARACTERS = 20_100
SENT_BYTES = 100_000


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with client_of(settings_with(tmp_path_factory.mktemp("state"))) as client:
        yield client


def posted(client: httpx.Client, route: str, text: str) -> httpx.Response:
    headers = {"Content-Type": "application/json"}
    return client.post(route, content=of_text(route, text).body, headers=headers)


@pytest.mark.parametrize("wire", WIRES)
def test_a_reply_without_end_is_read_to_its_limit_and_ends_as_a_typed_failure(
    tmp_path: Path, wire: str
) -> None:
    with HostileServer(wire, has_bombs=False) as model:
        settings = model_settings(wire, model.url) | {"PYDANTIC_AI_RETRIES": "0"}
        with client_of(settings_with(tmp_path, **settings)) as client:
            for name in ENDLESS:
                model.choose(name)
                answer = client.post("/assess/qualitative", json={"transcript_text": TEXT})
                assert answer.status_code == 502, name
                assert answer.json()["failures"], name
                assert model.sent_bytes < MOST_SENT_BYTES, name


def test_costly_replies_of_many_assessments_leave_the_server_small_and_awake() -> None:
    with HostileServer(WIRES[0], has_bombs=False) as model:
        model.choose("quotations")
        count = ASSESSMENTS_OF_COSTLY_REPLIES.slice
        burst = assessed_at_once(model_settings(WIRES[0], model.url), count)
    assert burst.statuses == {502: count}
    assert burst.megabytes < BAR_MEGABYTES
    assert burst.waited_milliseconds < AWAKE_MILLISECONDS


def test_hostile_texts_are_answered(client: httpx.Client) -> None:
    answers = {
        name: posted(client, "/assess/quantitative", shape(SMALL_CHARACTERS))
        for name, shape in list(HOSTILE_TEXTS.items())[::EVERY_SO_MANY]
    }
    failed = {name for name, answer in answers.items() if answer.status_code not in {200, 422}}
    assert failed == set()


def test_a_hostile_text_that_is_worked_on_apart_is_answered(client: httpx.Client) -> None:
    text = HOSTILE_TEXTS["marks of many classes"](WORKED_ON_APART_CHARACTERS)
    assert posted(client, "/v1/interviews", text).is_success


def test_marks_that_want_ordering_are_read_in_time_that_is_linear(client: httpx.Client) -> None:
    """Whoever put them in order as a whole would take minutes."""
    text = HOSTILE_TEXTS["marks out of order"](LARGEST_CHARACTERS)
    assert posted(client, "/assess/quantitative", text).status_code in {200, 422}


def test_hostile_files_are_answered(client: httpx.Client) -> None:
    """Documents aside: what they unpack to has one size only."""
    files = [attack for attack in attacks() if attack.ending != ".docx"]
    for attack in files[::EVERY_SO_MANY]:
        call = sent(attack, "/assess/quantitative", attack.content(SENT_BYTES))
        headers = {"Content-Type": call.content_type}
        answer = client.post(call.path, content=call.body, headers=headers)
        assert is_told(Answer(status=answer.status_code, body=answer.content, seconds=0)), (
            attack.name
        )


def test_no_model_is_asked_for_callers_who_left(tmp_path: Path) -> None:
    """One place at the models: the calls of all but one still wait for it when they leave."""
    with ModelServerThread() as models:
        models.server.delay_seconds = 0.2
        settings = settings_with(tmp_path, **model_at(models.url), MODEL_MAX_CONCURRENCY="1")
        with RunningApp(settings) as app, client_at(app.url) as client:
            asyncio.run(_leave_together(app.url, 10))
            wait_until(lambda: models.server.in_flight == 0)
            before = len(models.requests)
            client.post("/assess/quantitative", json={"transcript_text": TEXT})
            assert len(models.requests) - before <= 4
            assert before <= 10


async def _leave_together(url: str, count: int) -> None:
    calls = [of_text(route, TEXT) for route in ROUTES]
    await asyncio.gather(*(leave(url, calls[n % len(calls)], 0.5) for n in range(count)))
