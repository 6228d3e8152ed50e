"""With MODEL_LOCAL_ONLY nothing is sent to a machine that is not named for it."""

import asyncio
from pathlib import Path

import pytest

from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.options import is_of_this_machine
from ai_psychiatrist.wiring import bootstrap

PASSWORD = "copper-lanterns"
KEYS = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "GOOGLE_API_KEY": "k"}


def start(folder: Path, /, **environment: str) -> None:
    """Open everything as a server does when it starts."""

    async def run() -> None:
        settings = {"MODEL_LOCAL_ONLY": "true", "DATA_STATE_DIR": str(folder)} | environment
        async with bootstrap(load_settings(settings, dotenv=None)):
            pass

    asyncio.run(run())


def refusal(folder: Path, /, **environment: str) -> str:
    with pytest.raises(ConfigurationError) as refused:
        start(folder, **environment)
    message = str(refused.value)
    assert "MODEL_LOCAL_ONLY=true refuses" in message
    assert PASSWORD not in message
    return message


@pytest.mark.parametrize(
    ("model", "host", "setting"),
    [
        ("openai:gpt-5", "api.openai.com", "OPENAI_BASE_URL"),
        ("anthropic:claude", "api.anthropic.com", "ANTHROPIC_BASE_URL"),
        ("google:gemini", "generativelanguage.googleapis.com", "GOOGLE_BASE_URL"),
    ],
)
@pytest.mark.parametrize("keys", [{}, KEYS], ids=["without_keys", "with_keys"])
def test_hosted_models_are_refused_by_model_host_and_setting(
    model: str, host: str, setting: str, keys: dict[str, str], tmp_path: Path
) -> None:
    message = refusal(tmp_path, MODEL_DEFAULT=model, **keys)
    assert repr(model) in message
    assert host in message
    assert f"set {setting}" in message


SERVED = {
    "ollama:a": "OLLAMA_HOST",
    "openai-chat:a": "OPENAI_BASE_URL",
    "openai:a": "OPENAI_BASE_URL",
    "anthropic:a": "ANTHROPIC_BASE_URL",
    "google:a": "GOOGLE_BASE_URL",
}


@pytest.mark.parametrize(("model", "setting"), SERVED.items())
@pytest.mark.parametrize(
    ("address", "hosts"),
    [
        pytest.param("http://127.0.0.1:8080/v1", "", id="loopback"),
        pytest.param("http://127.9.9.9/v1", "", id="all_of_loopback"),
        pytest.param("http://[::1]:8080/v1", "", id="loopback_6"),
        pytest.param("http://[::ffff:127.0.0.1]/v1", "", id="mapped_loopback"),
        pytest.param("http://LocalHost./v1", "", id="name_with_dot"),
        pytest.param(f"http://u:{PASSWORD}@localhost/v1", "", id="credentials"),
        pytest.param("http://gpu.example/v1", "other, GPU.example.", id="named_host"),
        pytest.param("http://gpu.example.:81/v1", "gpu.example", id="named_host_with_dot"),
        pytest.param("https://[fd00:0::1]/v1", "FD00::1", id="named_address_6"),
        pytest.param("https://[fd00::1]/v1", "[fd00::1]", id="named_address_6_in_brackets"),
        pytest.param("http://10.0.0.7/v1", "10.0.0.7", id="named_address"),
    ],
)
def test_servers_of_this_machine_and_named_hosts_are_asked(
    model: str, setting: str, address: str, hosts: str, tmp_path: Path
) -> None:
    given = KEYS | {setting: address, "MODEL_DEFAULT": model, "MODEL_LOCAL_HOSTS": hosts}
    start(tmp_path, **given)


@pytest.mark.parametrize(("model", "setting"), SERVED.items())
@pytest.mark.parametrize(
    ("address", "host"),
    [
        pytest.param("http://gpu.example/v1", "gpu.example", id="name"),
        pytest.param("http://localhost.example/v1", "localhost.example", id="begins_like_ours"),
        pytest.param("http://127.0.0.1.example/v1", "127.0.0.1.example", id="address_in_a_name"),
        pytest.param("http://10.0.0.7/v1", "10.0.0.7", id="private_address"),
        pytest.param("http://0.0.0.0/v1", "0.0.0.0", id="any_address"),  # noqa: S104
        pytest.param("http://[fd00::1]/v1", "fd00::1", id="address_6"),
        pytest.param("http://[::ffff:10.0.0.7]/v1", "::ffff:", id="mapped_address"),
        pytest.param(f"http://u:{PASSWORD}@gpu.example/v1", "gpu.example", id="credentials"),
        pytest.param("http://127.0.0.1@gpu.example/v1", "gpu.example", id="loopback_as_user"),
        pytest.param("http://localhost:1@gpu.example/v1", "gpu.example", id="ours_as_credentials"),
        pytest.param("http://sub.named.example/v1", "sub.named.example", id="below_a_named_host"),
    ],
)
def test_servers_of_other_machines_are_refused_by_their_host(
    model: str, setting: str, address: str, host: str, tmp_path: Path
) -> None:
    given = {"MODEL_LOCAL_HOSTS": "named.example", "MODEL_DEFAULT": model, setting: address}
    message = refusal(tmp_path, **KEYS, **given)
    assert repr(model) in message
    assert host in message
    assert f"set {setting}" in message


@pytest.mark.parametrize(
    "variable",
    [
        "MODEL_QUALITATIVE_MODEL",
        "MODEL_QUANTITATIVE_MODEL",
        "MODEL_JUDGE_MODEL",
        "MODEL_META_REVIEW_MODEL",
        "MODEL_FALLBACKS",
        "DANGER_MODEL",
        "INTERVIEW_MODEL",
    ],
)
def test_the_model_of_every_part_is_looked_at(variable: str, tmp_path: Path) -> None:
    given = {"MODEL_DEFAULT": "ollama:a", variable: "openai:gpt-5"}
    assert "'openai:gpt-5'" in refusal(tmp_path, **KEYS, **given)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        pytest.param(
            {"REFERENCES_EMBEDDER": "openai:e"}, ("'openai:e'", "api.openai.com"), id="hosted"
        ),
        pytest.param(
            {"REFERENCES_EMBEDDER": "openai:e", "OPENAI_BASE_URL": "http://gpu.example/v1"},
            ("'openai:e'", "gpu.example", "OPENAI_BASE_URL"),
            id="own_server",
        ),
        pytest.param(
            {"REFERENCES_EMBEDDER": "ollama:e", "OLLAMA_HOST": "gpu.example"},
            ("'ollama:e'", "gpu.example", "OLLAMA_HOST"),
            id="ollama",
        ),
    ],
)
def test_an_embedder_of_another_machine_is_refused_before_it_is_used(
    environment: dict[str, str], said: tuple[str, ...], tmp_path: Path
) -> None:
    message = refusal(tmp_path, **KEYS | environment)
    assert message.startswith("MODEL_LOCAL_ONLY=true refuses embedder")
    assert all(part in message for part in said)


@pytest.mark.parametrize("embedder", ["lexical", "onnx", "ollama:e"])
def test_embedders_of_this_machine_are_used(embedder: str, tmp_path: Path) -> None:
    start(tmp_path, REFERENCES_EMBEDDER=embedder)


def decision(address: str) -> dict[str, str]:
    return {
        "BELIEF_SOURCES": "decision",
        "BELIEF_DECISION_MODEL": "judge",
        "BELIEF_DECISION_URL": address,
    }


def test_a_decision_model_of_another_machine_is_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, **decision("https://decide.example/"))
    assert "'judge'" in message
    assert "decide.example" in message
    assert "BELIEF_DECISION_URL" in message
    start(tmp_path, **decision("http://127.0.0.1:9/"))
    start(tmp_path, **decision("http://decide.example"), MODEL_LOCAL_HOSTS="decide.example")


def test_a_proxy_of_another_machine_is_refused(tmp_path: Path) -> None:
    proxy = f"http://u:{PASSWORD}@proxy.example:3128"
    message = refusal(tmp_path, MODEL_DEFAULT="ollama:a", MODEL_HTTP_PROXY=proxy)
    assert "the proxy" in message
    assert "proxy.example" in message
    assert "MODEL_HTTP_PROXY" in message
    start(tmp_path, MODEL_DEFAULT="ollama:a", MODEL_HTTP_PROXY="http://127.0.0.1:3128")


def test_nothing_is_refused_where_it_is_not_asked_for(tmp_path: Path) -> None:
    start(tmp_path, MODEL_LOCAL_ONLY="false", MODEL_DEFAULT="openai:gpt-5", **KEYS)


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("127.0.0.1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("localhost.localdomain", False),
        ("x.localhost", False),
        ("0.0.0.0", False),  # noqa: S104
        ("::", False),
        ("127.1", False),
        ("", False),
    ],
)
def test_names_and_addresses_of_this_machine(host: str, is_ours: bool) -> None:
    assert is_of_this_machine(host) is is_ours
