"""What the program puts into its state folder is its owner's alone, and stays so while it runs."""

import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx

from tests.integration.command import COMMAND, Serving, environment_of, finish
from tests.integration.running_app import client_at
from tests.integration.started import start
from tests.patience import wait_until

_WITHOUT_UMASK: Final = ("/bin/sh", "-c", 'umask 0 && exec "$0" "$@"', COMMAND)
"""Whatever is made without rights of its own may then be read and written by everybody."""
_BODY: Final = {"transcript_text": "Participant: I sleep badly every night."}
_ASYNC: Final = {"Prefer": "respond-async"}
_TENANT: Final = "clinic-1"
_SETTINGS: Final = {
    "AUTH_REQUIRED": "true",
    "STORE_ASSESSMENTS": "true",
    "JOBS_WEBHOOK_HOSTS": "localhost:1",
    "JOBS_WEBHOOK_SECRET": "0123456789abcdef" * 4,
    "JOBS_WEBHOOK_ALLOW_HTTP": "true",
}


def said(folder: Path, *arguments: str, **more: str) -> str:
    environment = environment_of(folder, _SETTINGS | more)
    with start([*_WITHOUT_UMASK, *arguments], folder, environment, is_afresh=True) as process:
        done = finish(process)
    assert done.code in {0, 1}, done.err
    return done.out


@contextmanager
def client_of_server(folder: Path, key: str, more: dict[str, str]) -> Iterator[httpx.Client]:
    command = (*_WITHOUT_UMASK, "serve")
    with (
        Serving(folder, _SETTINGS | more, command=command, is_afresh=True) as serving,
        client_at(serving.url) as client,
    ):
        client.headers["X-API-Key"] = key
        yield client


@contextmanager
def worker_of(folder: Path, more: dict[str, str]) -> Iterator[None]:
    environment = environment_of(folder, _SETTINGS | more)
    log = folder / "worker.log"
    with log.open("wb") as stream:
        streams = {1: stream, 2: stream}
        command = [*_WITHOUT_UMASK, "worker"]
        process = start(command, folder, environment, streams=streams, is_afresh=True)
    with process:
        wait_until(lambda: "takes jobs" in log.read_text("utf-8"))
        yield


def use(client: httpx.Client) -> None:
    """Have it keep an assessment, a job with a webhook, a batch and an interview."""
    callback = {"callback_url": "http://localhost:1/ended"}
    answers = [
        client.post("/v1/assessments", json=_BODY),
        client.post("/v1/assessments", json=_BODY | callback, headers=_ASYNC),
        client.post("/v1/batches", json={"requests": [_BODY, _BODY]}),
        client.post("/v1/interviews", json={"protocol": "phq8"}),
    ]
    assert [answer.status_code for answer in answers] == [201, 202, 202, 201]

    def states() -> set[str]:
        return {one["state"] for one in client.get("/v1/jobs").json()["jobs"]}

    wait_until(lambda: states() == {"finished"})


def rights(state: Path) -> dict[str, str]:
    """Return what is there, by its path, with those rights that are wrong."""
    found = {}
    for path in (state, *state.rglob("*")):
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            continue
        wanted = 0o700 if stat.S_ISDIR(mode) else 0o600
        is_right = stat.S_IMODE(mode) == wanted and not stat.S_ISLNK(mode)
        name = path.relative_to(state).as_posix()
        found[name] = "" if is_right else f"{stat.S_IMODE(mode):04o}"
    return found


def require_private(state: Path, *, with_files: set[str]) -> None:
    found = rights(state)
    assert {name: mode for name, mode in found.items() if mode} == {}
    assert with_files <= found.keys()


def use_everything(folder: Path) -> None:
    """Let servers, a worker and commands make all that they make, and look while they run."""
    state = folder / "state"
    scopes = [word for one in ("assess", "read", "admin") for word in ("--scope", one)]
    made = said(folder, "keys", "create", "--name", "a", "--tenant", _TENANT, *scopes, "--json")
    key = json.loads(made)["key"]
    with client_of_server(folder, key, {}) as client:
        use(client)
        records = f"records/{_TENANT}"
        require_private(
            state,
            with_files={
                *("access.sqlite", "access.sqlite-wal", "access.sqlite-shm", "digest.key"),
                *(f"{records}/assessments.sqlite-wal", f"{records}/keys.sqlite-wal"),
                *(f"interviews/{_TENANT}.sqlite-wal", f"interviews/{_TENANT}.key"),
                *(f"audit/{_TENANT}.sqlite", f"audit-heads/{_TENANT}.head"),
                *("webhooks.sqlite", "records.key", "records/.runners"),
            },
        )
    engine = {"JOBS_ENGINE": "dbos"}
    with client_of_server(folder, key, engine) as client, worker_of(folder, engine):
        use(client)
        queue = {"jobs.sqlite", "jobs.sqlite-wal", "jobs.sqlite-shm"}
        require_private(state, with_files=queue | {"jobs.workers/slot-0/.lock"})
    (folder / "talk.txt").write_text(_BODY["transcript_text"], "utf-8")
    (folder / "answers.txt").write_text("5\n", "utf-8")
    said(folder, "assess", "talk.txt")
    said(folder, "interview", "--protocol", "phq8", "--answers", "answers.txt")
    for command in (
        *("records sweep", "records rotate-key", f"records list --tenant {_TENANT}"),
        *("audit verify", "jobs webhooks", "keys list", "interview list"),
    ):
        said(folder, *command.split())
    require_private(state, with_files={"interviews.sqlite", "interviews.key"})


def test_all_that_is_made_is_the_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    use_everything(tmp_path)


def test_folders_that_are_made_above_the_state_are_private_as_well(tmp_path: Path) -> None:
    """Who may write above it could put another folder in its place."""
    (tmp_path / "talk.txt").write_text(_BODY["transcript_text"], "utf-8")
    settings = {"DATA_STATE_DIR": str(tmp_path / "local" / "state" / "ours")}
    said(tmp_path, "assess", "talk.txt", **settings)
    require_private(tmp_path / "local", with_files={"state", "state/ours/digest.key"})
