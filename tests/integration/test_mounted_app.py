"""The application inside somebody else's: served under a path, and nothing of the process changed.

All requests go over HTTP to a real server of the outer application.
"""

import asyncio
import gc
import json
import logging
import signal
import subprocess
import sys
import weakref
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest
import structlog
from fastapi import FastAPI

import ai_psychiatrist as ap
from tests.conftest import EXAMPLES
from tests.integration.command import Serving, environment_of
from tests.integration.running_app import NO_CERTIFICATES, client_at, client_of, settings_with

SAID = "Interviewer: How are you?\nParticipant: I am tired nearly every day.\n"
BODY = {"transcript_text": SAID}


def host_of(**mounted: FastAPI) -> FastAPI:
    """Return an outer application that opens what is mounted in it in its own lifespan."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for app in mounted.values():
                assert hasattr(app, "running")
                await stack.enter_async_context(app.running())
            yield

    host = FastAPI(lifespan=lifespan)
    host.add_api_route("/own", lambda: {"is": "the host's"})
    for name, app in mounted.items():
        host.mount(f"/{name}", app)
    return host


def prompt_digests(response: httpx.Response) -> list[str]:
    assert response.status_code == 200
    return [attempt["prompt_digest"] for attempt in response.json()["attempts"]]


def test_a_mounted_application_does_what_it_does_alone(tmp_path: Path) -> None:
    settings = settings_with(tmp_path)
    host = host_of(phq8=ap.create_app(settings))
    with client_of(host) as outer, client_of(settings) as alone:
        assert outer.get("/own").json() == {"is": "the host's"}
        mounted = outer.post("/phq8/full_pipeline", json=BODY)
        assert prompt_digests(mounted) == prompt_digests(alone.post("/full_pipeline", json=BODY))
        for path in ("/healthz", "/readyz", "/health"):
            assert outer.get(f"/phq8{path}").json() == alone.get(path).json()
        assert outer.get("/full_pipeline").status_code == 404


def test_its_problems_and_pages_know_where_it_is_mounted(tmp_path: Path) -> None:
    settings = settings_with(tmp_path)
    with client_of(host_of(phq8=ap.create_app(settings))) as outer, client_of(settings) as alone:
        refused = outer.get("/phq8/full_pipeline")
        assert (refused.status_code, refused.headers["Allow"]) == (405, "POST")
        assert refused.json() == alone.get("/full_pipeline").json()
        page, own = outer.get("/phq8/docs"), alone.get("/docs")
        assert page.headers["Content-Security-Policy"] == own.headers["Content-Security-Policy"]
        assert page.text == own.text
        assert outer.get("/phq8/docs/start.js").text == alone.get("/docs/start.js").text
        document = outer.get("/phq8/openapi.json").json()
        assert document.pop("servers") == [{"url": "/phq8"}]
        assert document == alone.get("/openapi.json").json()


def test_interviews_are_held_under_the_path(tmp_path: Path) -> None:
    with client_of(host_of(phq8=ap.create_app(settings_with(tmp_path)))) as client:
        begun = client.post("/phq8/v1/interviews", json={"protocol": "phq8"})
        assert begun.status_code == 201
        interview_id = begun.json()["interview_id"]
        assert client.get(f"/phq8/v1/interviews/{interview_id}").status_code == 200
        assert client.delete(f"/phq8/v1/interviews/{interview_id}").status_code == 204


def test_two_applications_in_one_process_keep_their_keys_and_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loud = settings_with(tmp_path / "loud", LOG_LEVEL="INFO", LOG_FORMAT="json")
    silent = settings_with(tmp_path / "silent", LOG_LEVEL="CRITICAL")
    alone = {}
    for name, settings in {"loud": loud, "silent": silent}.items():
        with client_of(settings) as client:
            alone[name] = prompt_digests(client.post("/full_pipeline", json=BODY))
    assert alone["loud"] != alone["silent"]
    capsys.readouterr()
    host = host_of(loud=ap.create_app(loud), silent=ap.create_app(silent))
    names = ["loud", "silent"] * 4
    with client_of(host) as client, ThreadPoolExecutor(len(names)) as pool:
        responses = pool.map(lambda name: client.post(f"/{name}/full_pipeline", json=BODY), names)
        assert [prompt_digests(response) for response in responses] == [alone[one] for one in names]
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    finished = [line for line in lines if line["event"] == "request_finished"]
    assert [line["route"] for line in finished] == ["/full_pipeline"] * 4
    assert len({line["assessment_id"] for line in lines if "assessment_id" in line}) == 4


def test_a_mounted_application_that_nobody_opened_says_so(tmp_path: Path) -> None:
    host = FastAPI()
    host.mount("/phq8", ap.create_app(settings_with(tmp_path)))
    with client_of(host) as client:
        response = client.post("/phq8/full_pipeline", json=BODY)
    assert response.status_code == 503
    assert response.json()["code"] == "not_opened"
    assert "running()" in response.json()["detail"]


def test_what_open_opened_serves_and_stays_open(tmp_path: Path) -> None:
    """Given an opened application, HTTP and Python share one set of clients."""

    async def serve() -> None:
        async with ap.open(settings_with(tmp_path)) as opened:
            app = ap.create_app(opened)
            host = FastAPI()
            host.mount("/phq8", app)
            transport = httpx.ASGITransport(host)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost", verify=NO_CERTIFICATES
            ) as client:
                first = prompt_digests(await client.post("/phq8/full_pipeline", json=BODY))
                async with app.running():
                    again = prompt_digests(await client.post("/phq8/full_pipeline", json=BODY))
                last = prompt_digests(await client.post("/phq8/full_pipeline", json=BODY))
            result = await opened.assess(SAID)
            own = [attempt.prompt_digest for attempt in result.attempts]
            assert first == again == last == own

    asyncio.run(serve())


def test_nothing_holds_an_application_that_was_closed(tmp_path: Path) -> None:
    app = ap.create_app(settings_with(tmp_path))
    held = weakref.ref(app)
    with client_of(app) as client:
        assert client.get("/openapi.json").status_code == 200
        assert client.post("/full_pipeline", json=BODY).status_code == 200
    del app
    gc.collect()
    assert held() is None


def test_it_changes_nothing_of_the_process(tmp_path: Path) -> None:
    """Log handlers, garbage collector, signals, hooks and the loop's handler are the host's."""
    states: list[tuple[object, ...]] = []
    # What is frozen becomes less when some of it is replaced, as at the first use of a model.
    frozen = gc.get_freeze_count()

    def note() -> None:
        root = logging.getLogger()
        handlers = tuple(signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM))
        loop = asyncio.get_running_loop()
        states.append(
            (
                *(tuple(root.handlers), root.level, structlog.is_configured(), handlers),
                *(
                    gc.get_threshold(),
                    gc.isenabled(),
                    gc.get_freeze_count() > frozen,
                    sys.excepthook,
                ),
                loop.get_exception_handler(),
            )
        )

    async def serve() -> None:
        note()
        app = ap.create_app(settings_with(tmp_path))
        transport = httpx.ASGITransport(host_of(phq8=app))
        async with (
            app.running(),
            httpx.AsyncClient(
                transport=transport, base_url="http://localhost", verify=NO_CERTIFICATES
            ) as client,
        ):
            note()
            assert (await client.post("/phq8/full_pipeline", json=BODY)).status_code == 200
            note()
        note()

    asyncio.run(serve())
    assert states == [states[0]] * 4


def server_with(example: str) -> Callable[[Path], Serving]:
    """Return how the application of an example is served by a server of its own."""
    uvicorn = str(Path(sys.executable).parent / "uvicorn")
    command = (uvicorn, f"{example}:app", "--app-dir", str(EXAMPLES), "--port", "0")
    return lambda folder: Serving(folder, {}, command=command)


def test_the_example_of_a_mounted_application_is_served(tmp_path: Path) -> None:
    with server_with("mount_in_fastapi")(tmp_path) as serving, client_at(serving.url) as client:
        assert client.get("/").json() == {"assessments": "/phq8/docs"}
        assert client.post("/phq8/full_pipeline", json=BODY).json()["status"] == "complete"
        assert "Application shutdown complete" in serving.stop().err


OWN_PROCESS = """
import asyncio, gc, json, logging, signal, sys
from ai_psychiatrist.api.served_app import create_served_app

def state():
    handlers = [type(one).__name__ for one in logging.getLogger().handlers]
    told = getattr(signal.getsignal(signal.SIGTERM), "__module__", "")
    return [handlers, gc.get_freeze_count() > 0, told]

async def main():
    signal.signal(signal.SIGTERM, lambda *_: None)
    app = create_served_app()
    async with app.running():
        print(json.dumps(state()))

asyncio.run(main())
"""


def test_a_process_of_its_own_is_set_up_for_it(tmp_path: Path) -> None:
    """What a host keeps for itself: other libraries' lines, garbage of the start, signals."""
    done = subprocess.run(
        [sys.executable, "-c", OWN_PROCESS],
        env=environment_of(tmp_path, {"LOG_LEVEL": "CRITICAL"}),
        capture_output=True,
        text=True,
        check=True,
    )
    handlers, is_frozen, told = json.loads(done.stdout)
    assert handlers == ["_NameOnlyHandler"]
    assert is_frozen
    assert told == "ai_psychiatrist.api.stop_signals"
