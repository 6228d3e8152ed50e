"""An assessment in the background whose server is killed, and one that another server makes."""

import signal
from pathlib import Path

from tests.fakes.model_server import ModelServerThread, fault
from tests.integration.command import Serving
from tests.integration.running_app import client_at, client_of, model_at, settings_with
from tests.patience import wait_until

PLACE = "/v1/assessments"
BODY = {"transcript_text": "Participant: I sleep badly every night."}
ASYNC = {"Prefer": "respond-async"}


def test_what_a_killed_server_made_is_said_to_be_interrupted(tmp_path: Path) -> None:
    with ModelServerThread(fault("hang")) as model:
        environment = model_at(model.url)
        with Serving(tmp_path, environment) as killed, client_at(killed.url) as client:
            status = client.post(PLACE, json=BODY, headers=ASYNC).headers["Location"]
            # A second server that starts meanwhile leaves it alone: its maker lives.
            with Serving(tmp_path, environment) as other, client_at(other.url) as beside:
                assert beside.get(status).json()["state"] == "running"
            killed.signal(signal.SIGKILL)
            killed.wait()
        state_dir = next(tmp_path.rglob("records.key")).parent
        with client_of(settings_with(state_dir, **environment)) as client:
            wait_until(lambda: client.get(status).json()["state"] == "failed")
            assert client.get(status).json()["reason"] == "interrupted"
            path = status.removesuffix("/status")
            assert client.get(f"{path}/transcript").json()["text"] == BODY["transcript_text"]
        assert not any((state_dir / "records/.runners").iterdir())
