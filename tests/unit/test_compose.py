"""The files for containers, and the units for systemd, name what the product has."""

import json
import os
import re
import subprocess
import sys
import time
import tomllib
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.integration.running_app import RunningApp, settings_with

from ai_psychiatrist.cli.app import COMMANDS
from ai_psychiatrist.cli.console import ExitCode
from ai_psychiatrist.cli.worker import TRY_AGAIN
from ai_psychiatrist.config import ApiSettings, variables

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
OURS = ("server", "worker-1", "worker-2")


def test_there_are_a_proxy_a_server_two_workers_and_a_database() -> None:
    assert set(COMPOSE["services"]) == {"proxy", *OURS, "postgres"}


def test_only_the_proxy_is_reached_from_outside_and_has_time_limits() -> None:
    services = COMPOSE["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    address = services["proxy"]["networks"]["default"]["ipv4_address"]
    assert services["server"]["environment"]["API_TRUSTED_PROXIES"] == address
    caddyfile = COMPOSE["configs"]["proxy"]["content"]
    for limit in ("read_header", "read_body", "write", "idle", "max_size", "max_header_size"):
        assert limit in caddyfile


def composed(value: str, **environment: str) -> str:
    """Return a value as Compose passes it on: variables replaced, `$$` as one `$`."""
    variable = r"\$(?:(\$)|\{(\w+):-([^}]*)\}|(\w+))"

    def replaced(found: re.Match[str]) -> str:
        dollar, name, default, bare = found.groups()
        return dollar or environment.get(name or bare, default or "")

    return re.sub(variable, replaced, value)


def test_the_proxy_serves_a_public_name_where_one_is_given() -> None:
    proxy, server = (COMPOSE["services"][name] for name in ("proxy", "server"))
    (port,) = proxy["ports"]
    assert composed(port) == "127.0.0.1:443:443"
    public = {"SITE_NAME": "notes.example", "SITE_ADDRESS": "0.0.0.0"}  # noqa: S104  of the test
    assert composed(port, **public) == "0.0.0.0:443:443"
    assert all(f"{name}=" in (ROOT / "compose.yaml").read_text("utf-8") for name in public)
    assert composed(proxy["environment"]["SITE_NAME"], **public) == "notes.example"
    assert composed(server["environment"]["API_ALLOWED_HOSTS"], **public) == "notes.example"
    # Caddy replaces this one itself, so Compose has to leave it.
    assert "{$SITE_NAME} {" in composed(COMPOSE["configs"]["proxy"]["content"])


def test_the_proxy_takes_what_the_server_takes_and_the_server_shows_no_documentation() -> None:
    (mebibytes,) = re.findall(r"max_size (\d+)MiB", COMPOSE["configs"]["proxy"]["content"])
    assert int(mebibytes) * 2**20 == ApiSettings().max_body_bytes
    assert COMPOSE["services"]["server"]["environment"]["API_DOCS"] == "false"


@pytest.mark.parametrize("name", OURS)
def test_each_part_is_shut_in_and_watched(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["cap_drop"] == ["ALL"]
    uid, _, gid = service["user"].partition(":")
    assert uid == gid != "0"
    assert f"USER {uid}:{gid}\n" in DOCKERFILE
    assert "volumes" not in service
    assert f"/state:uid={uid},gid={gid},mode=0700" in service["tmpfs"]
    assert service["environment"]["DATA_STATE_DIR"] == "/state"


@pytest.mark.parametrize("name", OURS)
def test_commands_and_their_options_exist(name: str) -> None:
    command, *rest = COMPOSE["services"][name]["command"]
    assert command in COMMANDS
    known = {option for one in COMMANDS[command].load(command).params for option in one.opts}
    assert {word for word in rest if word.startswith("--")} <= known


@pytest.mark.parametrize("name", OURS)
def test_variables_are_settings_and_secrets_are_files_that_are_given(name: str) -> None:
    service = COMPOSE["services"][name]
    known = {variable.name for variable in variables()}
    assert set(service["environment"]) <= known
    files = {f"/run/secrets/{secret}" for secret in service["secrets"]}
    named = {value for key, value in service["environment"].items() if key.endswith("_FILE")}
    assert named == files
    assert set(service["secrets"]) <= set(COMPOSE["secrets"])


def test_the_health_file_of_a_worker_is_the_one_that_is_looked_at() -> None:
    for name in ("worker-1", "worker-2"):
        service = COMPOSE["services"][name]
        path = service["command"][service["command"].index("--health-file") + 1]
        assert path in service["healthcheck"]["test"][-1]
        assert Path(path).parent.as_posix() in service["tmpfs"]


@pytest.mark.parametrize("name", sorted(COMPOSE["services"]))
def test_no_part_fills_memory_or_disk_stays_down_or_writes_where_it_runs(name: str) -> None:
    service = COMPOSE["services"][name]
    assert re.fullmatch(r"[1-9]\d*[mg]", service["mem_limit"])
    assert service["logging"]["options"].keys() == {"max-size", "max-file"}
    assert service["restart"] == "unless-stopped"
    assert service["read_only"] is True
    assert service["tmpfs"]
    assert "no-new-privileges:true" in service["security_opt"]


def test_the_image_runs_as_a_user_in_numbers_that_owns_the_state() -> None:
    """Kubernetes refuses names where a user other than root is asked for."""
    lines = DOCKERFILE.splitlines()
    user = next(line for line in lines if line.startswith("USER ")).removeprefix("USER ")
    uid, _, gid = user.partition(":")
    assert uid.isdecimal()
    assert gid.isdecimal()
    assert uid != "0"
    assert f"install -d -m 0700 -o {uid} -g {gid} /state" in DOCKERFILE
    assert "DATA_STATE_DIR=/state" in DOCKERFILE
    assert lines.index(f"USER {user}") < next(
        number for number, line in enumerate(lines) if line.startswith("ENTRYPOINT")
    )


def test_nothing_that_runs_needs_a_shell() -> None:
    running = re.findall(r"^(?:ENTRYPOINT|CMD|  CMD) (.*)$", DOCKERFILE, re.MULTILINE)
    assert len(running) == 3
    assert all(isinstance(json.loads(words), list) for words in running)
    for service in COMPOSE["services"].values():
        assert service.get("healthcheck", {"test": ["CMD"]})["test"][0] == "CMD"


def test_the_health_check_of_the_image_tells_a_server_that_answers_from_one_that_does_not(
    tmp_path: Path,
) -> None:
    (words,) = re.findall(r"^  CMD (.*)$", DOCKERFILE, re.MULTILINE)
    _, *arguments = json.loads(words)
    with RunningApp(settings_with(tmp_path)) as app:
        port = app.url.rpartition(":")[2]
        assert health(arguments, port) == 0
    assert health(arguments, port) == 1


def health(arguments: list[str], port: str) -> int:
    environment = os.environ | {"API_PORT": port}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, stderr=subprocess.DEVNULL, check=False
    ).returncode


def test_the_health_check_of_a_worker_looks_at_the_age_of_its_file(tmp_path: Path) -> None:
    service = COMPOSE["services"]["worker-1"]
    _, _, *arguments = service["healthcheck"]["test"]
    path = service["command"][service["command"].index("--health-file") + 1]
    file = tmp_path / "worker"
    arguments[-1] = arguments[-1].replace(path, str(file))
    assert health(arguments, "") == 1
    file.touch()
    assert health(arguments, "") == 0
    os.utime(file, (time.time() - 120,) * 2)
    assert health(arguments, "") == 1


def test_the_image_is_made_of_what_is_there() -> None:
    lines = DOCKERFILE.splitlines()
    bases = [line.split()[1] for line in lines if line.startswith("FROM")]
    assert all(":" in base and "/" not in base for base in bases)
    for line in lines:
        if line.startswith("COPY ") and "--from" not in line:
            *sources, _ = line.split()[1:]
            assert all((ROOT / source).exists() for source in sources)
            assert all(_is_sent(source) for source in sources)


def test_units_for_systemd_start_what_is_there_and_again_where_a_worker_asks() -> None:
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")
    server, worker = (unit_of(block) for block in re.findall(r"```ini\n(.*?)```", text, re.DOTALL))
    started = [unit["Service"]["ExecStart"].split()[1] for unit in (server, worker)]
    assert started == ["serve", "worker"]
    assert set(started) <= COMMANDS.keys()
    service = server["Service"]
    names = {word.partition("=")[0] for word in service["Environment"].split()}
    assert names <= {variable.name for variable in variables()}
    assert f"DATA_STATE_DIR=%S/{service['StateDirectory']}" in service["Environment"]
    assert service["StateDirectoryMode"] == "0700"
    assert service["Restart"] == "on-failure"
    assert service["RestartPreventExitStatus"] == str(ExitCode.BAD_INPUT.value)
    assert worker["Service"]["RestartForceExitStatus"] == str(TRY_AGAIN)


def unit_of(text: str) -> ConfigParser:
    unit = ConfigParser(interpolation=None)
    unit.read_string(text)
    return unit


def test_the_image_brings_what_settings_may_ask_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [line for extra in extras.keys() - {"dev", "retrieval"} for line in extras[extra]]
    pinned = (ROOT / "requirements" / "image.txt").read_text("utf-8")
    named = {line.partition("==")[0] for line in pinned.splitlines() if "==" in line}
    needed = {re.split(r"[<>=\[]", line)[0].lower() for line in asked + project["dependencies"]}
    assert needed <= named
    assert {"anthropic", "google-genai"} <= named


def _is_sent(source: str) -> bool:
    """Whether .dockerignore, which leaves out all but what it names, names it."""
    named = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in named
    kept = [line.removeprefix("!") for line in named if line.startswith("!")]
    return any(Path(source).match(pattern) for pattern in kept)
