"""A server that cannot start says why in one sentence, whichever program serves it."""

from pathlib import Path

import pytest

from tests.integration.command import COMMAND, UVICORN, environment_of, finish
from tests.integration.started import start

SECRET = "sk-copper-lanterns"


@pytest.mark.parametrize("command", [(COMMAND, "serve"), UVICORN], ids=["serve", "uvicorn"])
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param({"API_PORT": "abc"}, "API_PORT: ", id="value"),
        pytest.param({"LOG_LEVEL": SECRET, "API_DOCS": SECRET}, "LOG_LEVEL: ", id="values"),
        pytest.param({"API_PROT": SECRET}, "did you mean API_PORT?", id="name"),
        pytest.param({"API_MAX_TOTAL_CHARS": "1"}, "API_MAX_TOTAL_CHARS is gone", id="retired"),
        pytest.param({"ENABLE_FEW_SHOT": "true"}, "set REFERENCES_DIR", id="contradiction"),
        pytest.param(
            {"DANGER_CALLBACK_URL": f"https://{SECRET}.example/"},
            "DANGER_CALLBACK_URL cannot be used here: JOBS_WEBHOOK_HOSTS names no host",
            id="danger_callback",
        ),
        pytest.param(
            {"MODEL_DEFAULT": "openai:a", "OPENAI_API_KEY": SECRET, "MODEL_LOCAL_ONLY": "true"},
            "MODEL_LOCAL_ONLY=true refuses model 'openai:a'",
            id="local_only",
        ),
    ],
)
def test_unusable_settings_end_a_server_with_one_clear_error(
    command: tuple[str, ...], settings: dict[str, str], said: str, tmp_path: Path
) -> None:
    with start(list(command), tmp_path, environment_of(tmp_path, settings)) as process:
        done = finish(process)
    assert done.code not in {0, 1}
    assert done.err.count(said) == 1
    assert "Traceback" not in done.out + done.err
    assert SECRET not in done.out + done.err
