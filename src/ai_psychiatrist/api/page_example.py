"""What a first visit sees: a made-up interview, assessed by the rules on this machine."""

import asyncio
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import Request

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.config import with_model
from ai_psychiatrist.infrastructure.worker_processes import work_on_text
from ai_psychiatrist.interface.application import Application
from ai_psychiatrist.results.page.views import SheetView, sheet_view
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript
from ai_psychiatrist.wiring import Services, open_services_apart

_LOCK: Final = "example_lock"
_MADE: Final[dict[str, SheetView]] = {}
"""By where to turn in danger, the one thing of the settings that it shows."""


@cache
def example_text() -> str:
    """Return the interview."""
    folder = files("ai_psychiatrist.results.page")
    return (folder / "example_interview.txt").read_bytes().decode("utf-8")


async def example_view(request: Request, services: Services) -> SheetView:
    """Return the page of the example; it is assessed once, whatever models the settings name."""
    state = request.app.state
    if not hasattr(state, _LOCK):
        setattr(state, _LOCK, asyncio.Lock())
    async with getattr(state, _LOCK):
        if services.crisis_resources not in _MADE:
            _MADE.clear()
            _MADE[services.crisis_resources] = await _assessed(services)
    return _MADE[services.crisis_resources]


async def _assessed(services: Services) -> SheetView:
    text = example_text()
    transcript = await work_on_text(text, read_transcript, text)
    settings = with_model(services.settings, BASELINE)
    async with open_services_apart(settings) as apart:
        result = await Application(replace(apart, log=services.log)).assess(transcript)
    return sheet_view(result, transcript)
