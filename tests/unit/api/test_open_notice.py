"""How often the log tells of a server that lets anybody in."""

import asyncio

import pytest
from tests.fakes.captured_events import captured_events

from ai_psychiatrist.api.lifespan import warn_it_is_open
from ai_psychiatrist.infrastructure.tasks import HOUR_SECONDS, repeat


def test_it_is_told_at_once_and_after_each_hour() -> None:
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            raise asyncio.CancelledError

    with captured_events() as events, pytest.raises(asyncio.CancelledError):
        asyncio.run(repeat(warn_it_is_open, HOUR_SECONDS, wait))
    assert [event["event"] for event in events] == ["open_without_authentication"] * 3
    assert waited == [3600.0] * 3
