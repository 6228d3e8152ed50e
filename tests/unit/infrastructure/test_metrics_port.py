"""The port of a worker's counts, at a real socket."""

import asyncio
import socket

import httpx
import pytest

from ai_psychiatrist.infrastructure.telemetry import prometheus


def test_a_silent_caller_is_given_up_without_a_word(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prometheus.PatientHandler, "timeout", 0.2)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def ask() -> tuple[list[bytes], int]:
        ends = []
        for sent in (b"", b"GET /metrics HTTP/1.1\r\nHost:"):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as caller:
                caller.sendall(sent)
                ends.append(caller.recv(1))
        return ends, httpx.get(f"http://127.0.0.1:{port}/metrics").status_code

    counts = prometheus.PrometheusCounts()

    async def opened() -> tuple[list[bytes], int]:
        async with prometheus.metrics_port(counts, address="127.0.0.1", port=port):
            return await asyncio.to_thread(ask)

    assert asyncio.run(opened()) == ([b"", b""], 200)
    assert capfd.readouterr().err == ""
