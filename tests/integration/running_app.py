"""The real application on a real port, in a thread of the test process."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx
import uvicorn
from starlette.types import ASGIApp

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.config import Settings, load_settings
from tests.patience import PATIENCE_SECONDS, wait_until

# Each client would otherwise load the certificates anew, which takes longer than its test.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class _Server(uvicorn.Server):
    """Ends when it is told to, and not when it next looks, a tenth of a second later."""

    _loop: asyncio.AbstractEventLoop | None = None

    async def main_loop(self) -> None:
        """Wait for the end; the date of its answers is set anew each second."""
        self._told = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._told.wait(), 1)

    def end(self) -> None:
        """Tell it to end; called in another thread."""
        self.should_exit = True
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self._told.set)


class RunningApp:
    """Serve the application, or the one that it is mounted in, while the `with` block runs."""

    def __init__(self, served: Settings | ASGIApp, *, port: int = 0) -> None:
        # Without the protocol's name asyncio leaves Nagle's algorithm on: 40 ms for each answer.
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("127.0.0.1", port))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        config = uvicorn.Config(
            create_app(served) if isinstance(served, Settings) else served,
            log_config=None,
            access_log=False,
            lifespan="on",
            ws="none",
            # Closed earlier, a connection could end just when a client that was slow asks again.
            timeout_keep_alive=int(PATIENCE_SECONDS),
            timeout_graceful_shutdown=1,
        )
        self._server = _Server(config)
        self._thread = threading.Thread(target=self._run, name="app", daemon=True)

    def __enter__(self) -> Self:
        """Start serving."""
        self._thread.start()
        wait_until(lambda: self._server.started or not self._thread.is_alive())
        if not self._server.started:
            self._listener.close()
            msg = "the application did not start"
            raise RuntimeError(msg)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop serving."""
        self.stop()

    def stop(self) -> None:
        """Stop serving; requests under way are waited for no longer than a second."""
        self._server.end()
        self._thread.join()

    def _run(self) -> None:
        self._server.run(sockets=[self._listener])


def settings_with(state_dir: Path, **environment: str) -> Settings:
    """Read settings as the server does, from these variables alone."""
    return load_settings(
        {"DATA_STATE_DIR": str(state_dir), "LOG_LEVEL": "CRITICAL", **environment}, dotenv=None
    )


def model_at(url: str, wire: str = "openai") -> dict[str, str]:
    """Name a fake model server as every agent's model."""
    waits = {"MODEL_BUSY_WAITS_SECONDS": "0,0.01,0.01"}
    if wire == "ollama":
        return waits | {"OLLAMA_HOST": url, "MODEL_DEFAULT": "ollama:fake-model"}
    return waits | {"OPENAI_BASE_URL": f"{url}/v1", "MODEL_DEFAULT": "openai-chat:fake-model"}


@contextmanager
def client_of(served: Settings | ASGIApp) -> Iterator[httpx.Client]:
    """Serve with these settings, or another application, and yield a client of the server."""
    with RunningApp(served) as app, client_at(app.url) as client:
        yield client


def client_at(url: str) -> httpx.Client:
    """Return a client that gives up rather than hang."""
    return httpx.Client(
        base_url=url, timeout=PATIENCE_SECONDS, verify=NO_CERTIFICATES, trust_env=False
    )


@contextmanager
def waiting(
    client: httpx.Client, path: str, body: object, *, headers: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Post over a connection that is closed, answered or not, when the block ends."""
    asked = client.build_request("POST", path, json=body, headers=headers)
    head = "".join(f"{name}: {value}\r\n" for name, value in asked.headers.items())
    place = (asked.url.host, asked.url.port or 80)
    with closing(socket.create_connection(place)) as connection:
        connection.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + asked.content)
        yield
