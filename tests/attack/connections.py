"""Callers who are silent, slow or do not read: `python -m tests.attack.connections [host:port]`."""

import asyncio
import multiprocessing
import resource
import select
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path
from typing import Final

from tests.integration.command import COMMAND, Serving

HEALTH_MILLISECONDS: Final = 100.0
_HEAD: Final = b"Host: localhost\r\nContent-Type: application/json\r\n"
_HEALTH: Final = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
_PAGE: Final = b"GET /openapi.json HTTP/1.1\r\n" + _HEAD + b"\r\n"
_LOOK_SECONDS: Final = 0.05
_MOMENT_SECONDS: Final = 0.3
_RECEIVE_BUFFER_BYTES: Final = 4096
_SHORTENED: Final = 3
_SHORT: Final = {
    "API_HEADER_TIMEOUT_SECONDS": str(10 / _SHORTENED),
    "API_BODY_TIMEOUT_SECONDS": str(30 / _SHORTENED),
    "API_ANSWER_TIMEOUT_SECONDS": str(60 / _SHORTENED),
}
"""Shares of the defaults, so that nobody waits for minutes."""
_SECONDS: Final = {"silent": 20.0, "slow header": 20.0, "slow body": 45.0, "slow reader": 75.0}
"""How long each kind goes on with the deadlines that are the defaults."""

KINDS: Final[dict[str, Callable[[], Iterator[bytes]]]] = {
    "silent": lambda: iter(()),
    "slow header": lambda: chain([b"GET /healthz HTTP/1.1\r\n" + _HEAD + b"X: "], repeat(b"x")),
    "slow body": lambda: chain(
        [b"POST /full_pipeline HTTP/1.1\r\n" + _HEAD + b"Content-Length: 9999\r\n\r\n"],
        repeat(b" "),
    ),
    "slow reader": lambda: iter([_PAGE] * 100),
}
"""What each kind of caller sends: the first part at once, the others one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """So many callers of a kind, who go on until the server has closed enough or time is up."""

    host: str
    port: int
    kind: str
    count: int
    seconds: float
    drip_seconds: float = 0.5
    """Between two bytes of a slow caller."""
    enough: int = 0
    """Over a moment after no more than so many are held."""


@dataclass(slots=True, kw_only=True)
class Seen:
    """What a server did with the connections of an attack."""

    opened: int = 0
    refused: int = 0
    held: int = 0
    """Those that were open at the end."""
    first_lines: list[bytes] = field(default_factory=list)
    """How each answer began."""


async def carry_out(attack: Attack, seen: Seen) -> None:
    """Open all connections, note what becomes of them, and return when the attack is over."""
    end = time.monotonic() + attack.seconds
    calls = [asyncio.create_task(_call(attack, seen, end)) for _ in range(attack.count)]
    if attack.enough:
        # Calls that have not begun hold nothing either.
        while seen.opened + seen.refused < attack.count or seen.held > attack.enough:
            await asyncio.sleep(_LOOK_SECONDS)
            if time.monotonic() > end:
                break
        await asyncio.sleep(_MOMENT_SECONDS)
        for call in calls:
            call.cancel()
    for ended in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How a monitor saw the server."""

    worst_milliseconds: float
    asked: int
    failed: int


def watch_health(host: str, port: int, seconds: float) -> Health:
    """Ask again and again whether the server lives, each time over a new connection."""
    waits, failed, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        started = time.perf_counter()
        try:
            with socket.create_connection((host, port), timeout=2) as monitor:
                monitor.sendall(_HEALTH)
                failed += not monitor.recv(64).startswith(b"HTTP/1.1 200")
        except OSError:
            failed += 1
        waits.append((time.perf_counter() - started) * 1000)
        time.sleep(0.02)
    return Health(worst_milliseconds=max(waits), asked=len(waits), failed=failed)


async def _call(attack: Attack, seen: Seen, end: float) -> None:
    loop = asyncio.get_running_loop()
    with socket.socket() as caller:
        caller.setblocking(False)
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
        try:
            await loop.sock_connect(caller, (attack.host, attack.port))
        except ConnectionResetError:
            # It was open, and closed again before we looked.
            seen.opened += 1
            return
        except OSError:
            seen.refused += 1
            return
        seen.opened += 1
        seen.held += 1
        sending = asyncio.create_task(_send(caller, attack))
        try:
            async with asyncio.timeout(max(0.0, end - time.monotonic())):
                if attack.kind == "slow reader":
                    await _until_reset(caller)
                else:
                    await _read(caller, seen)
            seen.held -= 1
        except TimeoutError:
            pass
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)


async def _send(caller: socket.socket, attack: Attack) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        for part in KINDS[attack.kind]():
            await loop.sock_sendall(caller, part)
            await asyncio.sleep(0 if part is _PAGE else attack.drip_seconds)


async def _read(caller: socket.socket, seen: Seen) -> None:
    """Read until the server has closed the connection."""
    loop = asyncio.get_running_loop()
    answer = b""
    with suppress(OSError):
        while received := await loop.sock_recv(caller, 4096):
            answer += received
    if answer:
        seen.first_lines.append(answer.partition(b"\r\n")[0])


async def _until_reset(caller: socket.socket) -> None:
    poll = select.poll()
    poll.register(caller, 0)
    while not poll.poll(0):  # noqa: ASYNC110  nothing else tells of it
        await asyncio.sleep(_LOOK_SECONDS)


def main() -> int:
    """Attack a server of our own, or the one that is named, and print what it did."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as ending:
        log = None
        address = sys.argv[1] if len(sys.argv) > 1 else ""
        if not address:
            folder = Path(ending.enter_context(tempfile.TemporaryDirectory()))
            limited = ("/bin/sh", "-c", f"ulimit -n 1024; exec {COMMAND} serve")
            settings = {"LOG_LEVEL": "WARNING", **_SHORT}
            serving = Serving(folder, settings, command=limited, is_afresh=True)
            address = ending.enter_context(serving).url.removeprefix("http://")
            log = folder / "serve.err"
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        host, _, port = address.rpartition(":")
        context = multiprocessing.get_context("spawn")
        monitor = ending.enter_context(ProcessPoolExecutor(1, mp_context=context))
        return _print_all(host, int(port), log, monitor)


def _print_all(host: str, port: int, log: Path | None, monitor: ProcessPoolExecutor) -> int:
    findings = 0
    print("                opened  refused     held  health worst ms  asked  failed  log bytes")
    for kind in KINDS:
        before = log.stat().st_size if log else 0
        count = 20 if kind == "slow reader" else 1500
        seconds = _SECONDS[kind] / (_SHORTENED if log else 1)
        watched = monitor.submit(watch_health, host, port, seconds)
        seen = Seen()
        attack = Attack(host=host, port=port, kind=kind, count=count, seconds=seconds)
        asyncio.run(carry_out(attack, seen))
        health = watched.result()
        written = log.stat().st_size - before if log else 0
        print(
            f"{kind:14}{seen.opened:8}{seen.refused:9}{seen.held:9}"
            f"{health.worst_milliseconds:17.1f}{health.asked:7}{health.failed:8}{written:11}"
        )
        findings += health.failed + (health.worst_milliseconds > HEALTH_MILLISECONDS) + seen.held
    return min(findings, 1)


if __name__ == "__main__":
    sys.exit(main())
