"""The commands that make, list and revoke keys, and servers that refuse to start without them."""

import json
import re
from pathlib import Path

import httpx
import pytest

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.api.served_app import create_served_app
from ai_psychiatrist.domain.errors import ConfigurationError
from tests.integration.canary import CANARY, assert_files_silent, assert_silent
from tests.integration.command import COMMAND, Serving, run
from tests.integration.command_here import run_here
from tests.integration.running_app import settings_with

WARD = ("--name", "ward", "--scope", "assess", "--scope", "read")


def test_a_key_is_shown_once_and_alone_on_standard_output(tmp_path: Path) -> None:
    made = run_here(["keys", "create", *WARD], tmp_path)
    assert made.code == 0
    assert re.fullmatch(r"aip_[0-9a-f]{12}_[\w-]{43}\n", made.out)
    secret = made.out.strip().split("_", 2)[2]
    listed = [run_here(["keys", "list", *form], tmp_path) for form in ((), ("--json",))]
    for shown in (made.err, *(one.out for one in listed)):
        assert secret not in shown
    (key,) = json.loads(listed[1].out)
    assert (key["name"], key["tenant"], key["scopes"]) == ("ward", "local", ["assess", "read"])
    assert (key["state"], key["expires_at"], key["used_at"]) == ("live", None, None)


def test_a_second_key_is_of_the_same_holder_until_the_first_is_revoked(tmp_path: Path) -> None:
    options = ("--tenant", "clinic-1", "--expires-in", "90d", "--json")
    first = json.loads(run_here(["keys", "create", *WARD, *options], tmp_path).out)
    second = json.loads(run_here(["keys", "create", "--like", first["id"], "--json"], tmp_path).out)
    for field in ("holder", "name", "tenant", "scopes"):
        assert first[field] == second[field]
    assert first["expires_at"] is not None
    assert second["expires_at"] is None
    third = run_here(["keys", "create", "--like", first["id"]], tmp_path)
    assert third.code == 2
    revoked = run_here(["keys", "revoke", first["id"]], tmp_path)
    assert (revoked.code, revoked.out) == (0, f"revoked {first['id']}\n")
    states = [
        key["state"] for key in json.loads(run_here(["keys", "list", "--json"], tmp_path).out)
    ]
    assert sorted(states) == ["live", "revoked"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["create"], "--name"),
        (["create", "--name", "a"], "assess, read, review, admin, metrics"),
        (["create", "--name", "a", "--scope", "write"], "assess"),
        (["create", *WARD, "--tenant", "../a"], "clinic-1"),
        (["create", *WARD, "--expires-in", "1y"], "90d"),
        (["create", *WARD, "--expires-in", "0d"], "90d"),
        (["create", "--like", "a", "--name", "b"], "leave them out"),
        (["create", "--like", "a"], "keys list"),
        (["revoke", "a"], "keys list"),
    ],
)
def test_what_cannot_be_done_says_why(tmp_path: Path, arguments: list[str], told: str) -> None:
    done = run_here(["keys", *arguments], tmp_path)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert json.loads(run_here(["keys", "list", "--json"], tmp_path).out) == []


def test_a_secret_that_is_given_as_an_id_is_not_repeated(tmp_path: Path) -> None:
    for arguments in (["revoke", CANARY], ["create", "--like", CANARY]):
        done = run_here(["keys", *arguments], tmp_path, {"LOG_LEVEL": "DEBUG"})
        assert_silent(done.out, done.err)
    assert_files_silent(tmp_path)


def test_no_help_is_needed_to_go_from_nothing_to_an_answer(tmp_path: Path) -> None:
    """What a server without a key says at its start is a command that makes one."""
    with Serving(tmp_path, {"AUTH_REQUIRED": "true"}) as serving:
        assert httpx.get(f"{serving.url}/health").status_code == 401
        key = run(["keys", "create", *WARD], tmp_path).out.strip()
        headers = {"Authorization": f"Bearer {key}"}
        assert httpx.get(f"{serving.url}/health", headers=headers).status_code == 200
        run(["keys", "revoke", key.split("_")[1]], tmp_path)
        assert httpx.get(f"{serving.url}/health", headers=headers).status_code == 401
        done = serving.stop()
    assert "no key works yet: ai-psychiatrist keys create" in done.err
    run(["keys", "create", *WARD], tmp_path)
    with Serving(tmp_path, {"AUTH_REQUIRED": "true"}) as serving:
        done = serving.stop()
    assert "no key works yet" not in done.err


OPEN_HOSTS = ["0.0.0.0", "::", "192.0.2.7", "ward.example", "*", "127.0.0.1.example"]  # noqa: S104


@pytest.mark.parametrize("host", OPEN_HOSTS)
@pytest.mark.parametrize("by", ["settings", "options"])
def test_a_server_that_others_reach_does_not_start_without_authentication(
    tmp_path: Path, host: str, by: str
) -> None:
    arguments = ["serve", *(("--host", host, "--port", "0") if by == "options" else ())]
    settings = {"API_PORT": "0"} | ({"API_HOST": host} if by == "settings" else {})
    done = run_here(arguments, tmp_path, settings)
    assert done.code == 2
    assert "AUTH_REQUIRED=true" in done.err
    assert "ai-psychiatrist keys create" in done.err
    assert "API_ALLOW_UNAUTHENTICATED=true" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("host", OPEN_HOSTS)
@pytest.mark.parametrize("make", [create_app, create_served_app])
def test_an_application_that_others_reach_is_not_made_without_authentication(
    tmp_path: Path, host: str, make: type
) -> None:
    with pytest.raises(ConfigurationError, match="API_ALLOW_UNAUTHENTICATED"):
        make(settings_with(tmp_path, API_HOST=host))
    make(settings_with(tmp_path, API_HOST=host, AUTH_REQUIRED="true"))
    make(settings_with(tmp_path, API_HOST=host, API_ALLOW_UNAUTHENTICATED="true"))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost", "LocalHost"])
def test_this_machine_alone_needs_none(tmp_path: Path, host: str) -> None:
    create_app(settings_with(tmp_path, API_HOST=host))


def test_a_server_that_others_reach_starts_where_callers_need_a_key(tmp_path: Path) -> None:
    command = (COMMAND, "serve", "--host", "0.0.0.0", "--port", "0")  # noqa: S104
    with Serving(tmp_path, {"AUTH_REQUIRED": "true"}, command=command) as serving:
        assert httpx.get(f"{serving.url}/health").status_code == 401
        done = serving.stop()
    assert "open_without_authentication" not in done.err
    assert "WARNING" not in done.err
