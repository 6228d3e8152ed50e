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


def by_models(rows: list[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Return each address with one model of those that are served, and the first with every."""
    models = [*SERVED] * len(rows)
    return [(*rows[0], model) for model in SERVED] + [
        (*row, model) for row, model in zip(rows[1:], models, strict=False)
    ]


ASKED = [
    ("http://127.0.0.1:8080/v1", ""),
    ("http://127.9.9.9/v1", ""),
    ("http://[::1]:8080/v1", ""),
    ("http://[::ffff:127.0.0.1]/v1", ""),
    ("http://LocalHost./v1", ""),
    (f"http://u:{PASSWORD}@localhost/v1", ""),
    ("http://gpu.example/v1", "other, GPU.example."),
    ("http://gpu.example.:81/v1", "gpu.example"),
    ("https://[fd00:0::1]/v1", "FD00::1"),
    ("https://[fd00::1]/v1", "[fd00::1]"),
    ("http://10.0.0.7/v1", "10.0.0.7"),
]


@pytest.mark.parametrize("first", range(3))
def test_servers_of_this_machine_and_named_hosts_are_asked(first: int, tmp_path: Path) -> None:
    """Four servers at a time, each by a setting of its own, and none named as another is."""
    rows = dict(zip(dict.fromkeys(SERVED.values()), ASKED[first::3], strict=False))
    models = [model for model, setting in SERVED.items() if setting in rows]
    start(
        tmp_path,
        **KEYS,
        **{setting: address for setting, (address, _) in rows.items()},
        MODEL_LOCAL_HOSTS=",".join(hosts for _, hosts in rows.values() if hosts),
        MODEL_DEFAULT=models[0],
        MODEL_FALLBACKS=",".join(models[1:]),
    )


REFUSED = [
    ("http://gpu.example/v1", "gpu.example"),
    ("http://localhost.example/v1", "localhost.example"),
    ("http://127.0.0.1.example/v1", "127.0.0.1.example"),
    ("http://10.0.0.7/v1", "10.0.0.7"),
    ("http://0.0.0.0/v1", "0.0.0.0"),  # noqa: S104
    ("http://[fd00::1]/v1", "fd00::1"),
    ("http://[::ffff:10.0.0.7]/v1", "::ffff:"),
    (f"http://u:{PASSWORD}@gpu.example/v1", "gpu.example"),
    ("http://127.0.0.1@gpu.example/v1", "gpu.example"),
    ("http://localhost:1@gpu.example/v1", "gpu.example"),
    ("http://sub.named.example/v1", "sub.named.example"),
]


@pytest.mark.parametrize(("address", "host", "model"), by_models(REFUSED))
def test_servers_of_other_machines_are_refused_by_their_host(
    address: str, host: str, model: str, tmp_path: Path
) -> None:
    setting = SERVED[model]
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
