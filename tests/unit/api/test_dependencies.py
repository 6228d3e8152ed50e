"""What the routes depend on is asked where the request is served."""

from collections.abc import Callable, Iterator
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.config import load_settings


def test_no_request_waits_for_a_thread_to_ask_what_its_route_depends_on(tmp_path: Path) -> None:
    app = create_app(load_settings({"DATA_STATE_DIR": str(tmp_path)}, dotenv=None))
    found = [getattr(route, "dependant", None) for route in iter_route_contexts(app.routes)]

    asked = {call for one in found if one is not None for call in _asked_of(one)}

    assert len(asked) > 3
    assert [call for call in asked if not _is_coroutine(call)] == []


def _asked_of(dependant: Dependant) -> Iterator[Callable[..., Any]]:
    for one in dependant.dependencies:
        assert one.call is not None
        yield one.call
        yield from _asked_of(one)


def _is_coroutine(call: Callable[..., Any]) -> bool:
    return iscoroutinefunction(call) or iscoroutinefunction(type(call).__call__)
