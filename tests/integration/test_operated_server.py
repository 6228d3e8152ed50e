"""What an operator sees of a server: its log, whether it is ready, and where it is served."""

import json
from pathlib import Path

import httpx

from tests.integration.command import COMMAND, UVICORN, Serving


def test_every_line_is_json_under_uvicorn_too(tmp_path: Path) -> None:
    settings = {"LOG_FORMAT": "json"}
    with Serving(tmp_path, settings, command=UVICORN) as serving:
        answer = httpx.get(f"{serving.url}/v1/nothing", trust_env=False)
        done = serving.stop()
    lines = [json.loads(line) for line in done.err.splitlines() if "Serving on" not in line]
    assert answer.status_code == 404
    (finished,) = (line for line in lines if line["event"] == "request_finished")
    assert finished["code"] == "not_found"


def test_a_state_folder_that_cannot_be_written_is_told_and_not_ready(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", "utf-8")
    settings = {"LOG_FORMAT": "json", "DATA_STATE_DIR": str(tmp_path / "file/state")}
    with Serving(tmp_path, settings) as serving:
        answer = httpx.get(f"{serving.url}/readyz", trust_env=False)
        done = serving.stop()
    assert (answer.status_code, answer.json()["code"]) == (503, "state_unwritable")
    (told,) = (line for line in done.served_lines if line["event"] == "state_folder_unwritable")
    assert told["path"] == settings["DATA_STATE_DIR"]


def test_it_is_served_under_the_path_of_a_proxy(tmp_path: Path) -> None:
    command = (COMMAND, "serve", "--root-path", "/phq8")
    with Serving(tmp_path, {}, command=command) as serving:
        document = httpx.get(f"{serving.url}/openapi.json", trust_env=False).json()
        home = httpx.get(f"{serving.url}/login", trust_env=False)
    assert document["servers"] == [{"url": "/phq8"}]
    assert "/phq8/v1/session" in home.text
