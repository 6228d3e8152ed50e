"""What the program puts into its state folder is its owner's alone, and stays so while it runs."""

import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Final

import httpx
import pytest

from tests.integration.command import COMMAND, Serving, environment_of, finish, run
from tests.integration.command_here import run_here
from tests.integration.running_app import client_at, client_of, settings_with
from tests.integration.started import start
from tests.patience import wait_until

_WITHOUT_UMASK: Final = {"umask": 0}
"""Whatever is made without rights of its own may then be read and written by everybody."""
_BODY: Final = {"transcript_text": "Participant: I sleep badly every night."}
_ASYNC: Final = {"Prefer": "respond-async"}
_TENANT: Final = "clinic-1"
_ANOTHER: Final = 12_345
"""A user, and a group, that no file of the tests belongs to."""
_SETTINGS: Final = {
    "AUTH_REQUIRED": "true",
    "STORE_ASSESSMENTS": "true",
    "JOBS_WEBHOOK_HOSTS": "localhost:1",
    "JOBS_WEBHOOK_SECRET": "0123456789abcdef" * 4,
    "JOBS_WEBHOOK_ALLOW_HTTP": "true",
}


def said(folder: Path, *arguments: str, **more: str) -> str:
    environment = environment_of(folder, _SETTINGS | more)
    command = [COMMAND, *arguments]
    with start(command, folder, environment, limits=_WITHOUT_UMASK) as process:
        done = finish(process)
    assert done.code in {0, 1}, done.err
    return done.out


@contextmanager
def client_of_server(folder: Path, key: str, more: dict[str, str]) -> Iterator[httpx.Client]:
    with (
        Serving(folder, _SETTINGS | more, limits=_WITHOUT_UMASK) as serving,
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
        command = [COMMAND, "worker"]
        process = start(command, folder, environment, streams=streams, limits=_WITHOUT_UMASK)
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
    """Return what is in a folder, by its path, with those rights that are wrong."""
    found = {}
    for path in state.rglob("*"):
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


def use_a_server(folder: Path) -> str:
    """Let a server make all that it makes, look while it runs, and return the key of a caller."""
    state = folder / "state"
    scopes = [word for one in ("assess", "read", "admin") for word in ("--scope", one)]
    made = said(folder, "keys", "create", "--name", "a", "--tenant", _TENANT, *scopes, "--json")
    key: str = json.loads(made)["key"]
    with client_of_server(folder, key, {}) as client:
        use(client)
        require_private(
            state,
            with_files={
                *("store.sqlite-wal", "store.sqlite-shm", "keys.sqlite-wal", "keys.sqlite-shm"),
                *("digest.key", "records.key", "runners"),
            },
        )
    return key


def use_everything(folder: Path) -> None:
    """Let servers, a worker and commands make all that they make, and look while they run."""
    state, key = folder / "state", use_a_server(folder)
    with client_of_server(folder, key, {"JOBS_CONCURRENCY": "0"}) as client, worker_of(folder, {}):
        use(client)
        require_private(state, with_files={"runners"})
    (folder / "talk.txt").write_text(_BODY["transcript_text"], "utf-8")
    (folder / "answers.txt").write_text("5\n", "utf-8")
    said(folder, "assess", "talk.txt")
    said(folder, "interview", "--protocol", "phq8", "--answers", "answers.txt")
    for command in (
        *("records sweep", "records rotate-key", f"records list --tenant {_TENANT}"),
        *("audit verify", "jobs webhooks", "keys list", "interview list"),
    ):
        said(folder, *command.split())
    require_private(state, with_files={"store.sqlite", "keys.sqlite"})


def test_all_that_is_made_is_the_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    use_everything(tmp_path)
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


def test_the_root_of_a_mounted_disk_is_taken_and_all_in_it_is_private(tmp_path: Path) -> None:
    """Of another owner where this user may give it away, and with the mode of Kubernetes."""
    state = tmp_path / "state"
    (state / "lost+found").mkdir(parents=True, mode=0o700)
    if os.geteuid() == 0:
        os.chown(state, _ANOTHER, _ANOTHER)
    state.chmod(0o2775)
    use_a_server(tmp_path)
    require_private(state, with_files={"store.sqlite", "keys.sqlite"})
    assert stat.S_IMODE(state.stat().st_mode) == 0o2775


@pytest.mark.skipif(
    os.geteuid() != 0 or which("setpriv") is None, reason="root alone can run it as another user"
)
def test_an_empty_folder_of_another_owner_is_taken_with_the_rights_of_its_group() -> None:
    with TemporaryDirectory() as name:
        state = Path(name) / "state"
        state.mkdir()
        Path(name).chmod(0o755)
        os.chown(state, 0, _ANOTHER)
        state.chmod(0o2775)
        environment = environment_of(Path(name), _SETTINGS)
        for command in ("keys create --name a --scope read", "doctor", "records list"):
            # Who may read all, the interpreter among it, and write only what the group may.
            as_another = f"{which('setpriv')} --reuid {_ANOTHER} --regid {_ANOTHER} --clear-groups"
            reading = "--inh-caps +dac_read_search --ambient-caps +dac_read_search"
            words = [*as_another.split(), *reading.split(), COMMAND, *command.split()]
            with start(words, Path(name), environment, is_afresh=True) as process:
                done = finish(process)
            assert "Traceback" not in done.err
            assert "denied" not in done.out + done.err
        require_private(state, with_files={"store.sqlite", "keys.sqlite", "digest.key"})
        assert (state / "keys.sqlite").stat().st_uid == _ANOTHER


@pytest.mark.parametrize("name", ["keys.sqlite", "digest.key", "records.key"])
@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda path: path.chmod(0o640), "others can read it: chmod 600"),
        (lambda path: path.symlink_to(path.rename(f"{path}.moved")), "link"),
    ],
    ids=["readable", "link"],
)
def test_what_others_can_read_or_swap_is_refused_in_a_folder_of_a_group(
    name: str, spoil: Callable[[Path], object], told: str, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "lost+found").mkdir()
    state.chmod(0o2775)
    settings = settings_with(state, STORE_ASSESSMENTS="true")
    with client_of(settings) as client:
        assert client.post("/v1/assessments", json=_BODY).status_code == 201
    assert run_here("keys create --name a --scope read".split(), tmp_path).code == 0
    (tmp_path / "talk.txt").write_text(_BODY["transcript_text"], "utf-8")
    spoil(state / name)
    commands = {"keys.sqlite": "keys list", "digest.key": "assess talk.txt"}
    done = run_here(commands.get(name, "records list").split(), tmp_path)
    assert done.code == 2
    assert told in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(("mode", "is_taken"), [(0o440, True), (0o640, True), (0o644, False)])
def test_a_named_key_may_be_read_by_its_group(mode: int, is_taken: bool, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("5a" * 32, "utf-8")
    key.chmod(mode)
    (tmp_path / "talk.txt").write_text(_BODY["transcript_text"], "utf-8")
    arguments = ["assess", "talk.txt", "--certificate", "certificate.json"]
    done = run_here(arguments, tmp_path, {"CERTIFICATE_KEY_FILE": str(key)})
    assert (done.code in {0, 1}) is is_taken, done.err
    assert is_taken or "CERTIFICATE_KEY_FILE can be used by others: chmod 600" in done.err


def test_folders_that_are_made_above_the_state_are_private_as_well(tmp_path: Path) -> None:
    """Who may write above it could put another folder in its place."""
    (tmp_path / "talk.txt").write_text(_BODY["transcript_text"], "utf-8")
    settings = {"DATA_STATE_DIR": str(tmp_path / "local" / "state" / "ours")}
    said(tmp_path, "assess", "talk.txt", **settings)
    (tmp_path / "talk.txt").unlink()
    require_private(tmp_path, with_files={"local/state/ours/digest.key"})


COMMANDS: Final = (
    "assess talk.txt",
    "interview --protocol phq8 --answers answers.txt",
    "interview list",
    "keys create --name a --scope read",
    "keys list",
    "keys revoke 0123456789ab",
    "audit verify",
    "audit show",
    "audit head",
    "records list",
    "records sweep",
    "records rotate-key",
    "records erase 0795cfd7-a0db-40ad-98ee-bfcc13d9a3c7",
    "records export --out all.jsonl",
    "jobs webhooks",
    "doctor",
    "worker",
)


@pytest.mark.parametrize("command", [*COMMANDS, "serve --port 0"])
def test_without_a_home_folder_every_command_names_the_setting(
    command: str, tmp_path: Path
) -> None:
    (tmp_path / "talk.txt").write_text(_BODY["transcript_text"], "utf-8")
    (tmp_path / "answers.txt").write_text("5\n", "utf-8")
    # As where HOME is not set, and the system knows no user of this number.
    settings = {"DATA_STATE_DIR": "~nobody-is-called-so/state"}
    begun = run if command.startswith("serve") else run_here
    done = begun(command.split(), tmp_path, settings)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: DATA_STATE_DIR: no home folder is known")
    assert done.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.txt", "talk.txt"]


@pytest.mark.parametrize("command", COMMANDS)
def test_with_a_home_that_cannot_be_written_a_command_gives_its_result_or_the_cure(
    command: str, tmp_path: Path
) -> None:
    (tmp_path / "talk.txt").write_text(_BODY["transcript_text"], "utf-8")
    (tmp_path / "answers.txt").write_text("5\n", "utf-8")
    settings = {"HOME": "/dev/null", "DATA_STATE_DIR": ""}
    done = run_here(command.split(), tmp_path, settings)
    assert "Traceback" not in done.err
    if command.startswith(("interview", "keys", "worker")):
        assert done.code == 2
        assert "cannot be made: Not a directory; set DATA_STATE_DIR to a folder" in done.err


@pytest.mark.parametrize(
    ("setting", "more"),
    [
        ("DATA_SECRETS_DIR", {}),
        (
            "DATABASE_PASSWORD_FILE",
            {"DATABASE_URL": "postgresql://a@127.0.0.1:1/assessments"},
        ),
    ],
)
def test_each_setting_of_a_path_names_itself_where_no_home_is_known(
    setting: str, more: dict[str, str], tmp_path: Path
) -> None:
    command = "worker" if more else "interview list"
    done = run_here(command.split(), tmp_path, {setting: "~nobody-is-called-so/it", **more})
    assert done.code == 2
    assert done.err.startswith(f"error: {setting}: no home folder is known")
