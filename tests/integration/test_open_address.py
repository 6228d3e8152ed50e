"""A server that learns only from its callers where it listens lets nobody in unasked there."""

from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from ai_psychiatrist.api.app import create_app
from tests.integration.running_app import settings_with

OTHERS = ("http://192.0.2.7", "http://[2001:db8::7]")
OWN = ("http://127.0.0.1", "http://127.0.0.2", "http://[::1]", "http://testserver")


def status_at(url: str, folder: Path, path: str = "/v1/assessments", **environment: str) -> int:
    """Return the status of a request that came in at an address."""
    settings = settings_with(folder / "state", MODEL_DEFAULT="baseline", **environment)
    with TestClient(create_app(settings), base_url=url) as client:
        return client.get(path).status_code


@pytest.mark.parametrize("url", OTHERS)
def test_nobody_comes_in_where_other_machines_call(tmp_path: Path, url: str) -> None:
    assert status_at(url, tmp_path) == 503
    assert status_at(url, tmp_path, "/healthz") == 200
    assert status_at(url, tmp_path, AUTH_REQUIRED="true") == 401
    assert status_at(url, tmp_path, API_ALLOW_UNAUTHENTICATED="true") == 200


@pytest.mark.parametrize("url", OWN)
def test_programs_of_this_machine_come_in(tmp_path: Path, url: str) -> None:
    assert status_at(url, tmp_path) == 200


def test_a_mounted_application_lets_nobody_in_either(tmp_path: Path) -> None:
    settings = settings_with(tmp_path / "state", MODEL_DEFAULT="baseline")
    inner = create_app(settings)
    outer = FastAPI(lifespan=lambda _: inner.running())
    outer.mount("/phq8", inner)
    with TestClient(outer, base_url=OTHERS[0]) as client:
        answer = client.get("/phq8/v1/assessments")
    assert (answer.status_code, answer.json()["code"]) == (503, "open_address")
    assert "API_ALLOW_UNAUTHENTICATED" in answer.json()["detail"]
