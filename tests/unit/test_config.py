import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes.captured_events import captured_events

from ai_psychiatrist.config import (
    QuantitativeSettings,
    Settings,
    env_example,
    load_settings,
    settings_tables,
    variables,
    with_model,
)
from ai_psychiatrist.config.names import RETIRED
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.evidence_validation import settings as evidence_settings
from ai_psychiatrist.services.transcripts.speaker_labels import known_speaker
from ai_psychiatrist.wiring import bootstrap

ROOT = Path(__file__).parents[2]
SECRET = "sk-copper-lanterns"


def load(dotenv: Path | None = None, /, **environment: str) -> Settings:
    return load_settings(environment, dotenv)


def refusal(dotenv: Path | None = None, /, **environment: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(environment, dotenv)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


UNTOUCHED = load_settings({}, dotenv=None)


def env_file(folder: Path, content: str | bytes) -> Path:
    path = folder / ".env"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


DEFAULTS = {
    "MODEL_DEFAULT": "baseline",
    "MODEL_QUALITATIVE_MODEL": "",
    "MODEL_QUANTITATIVE_MODEL": "",
    "MODEL_JUDGE_MODEL": "",
    "ASSESS_LONG": "whole",
    "ASSESS_PART_CHARACTERS": "40000",
    "DANGER_MODEL": "",
    "DANGER_NOTICE": "",
    "DANGER_CALLBACK_URL": "",
    "DANGER_REMIND_MINUTES": "60",
    "READER_ENABLED": "true",
    "BELIEF_SOURCES": "rules",
    "BELIEF_LEVEL": "0.9",
    "BELIEF_RESCORINGS": "5",
    "BELIEF_TEMPERATURE": "0.7",
    "BELIEF_SEED": "0",
    "BELIEF_DECISION_MODEL": "",
    "BELIEF_DECISION_URL": "",
    "BELIEF_DECISION_API_KEY": "",
    "BELIEF_FIT": "",
    "MODEL_META_REVIEW_MODEL": "",
    "MODEL_FALLBACKS": "",
    "MODEL_TEMPERATURE": "0.0",
    "MODEL_THINKING": "",
    "MODEL_OUTPUT_MODE": "auto",
    "MODEL_EXTRA_BODY": "",
    "MODEL_LOCAL_ONLY": "false",
    "MODEL_LOCAL_HOSTS": "",
    "MODEL_MAX_CALLS": "60",
    "MODEL_MAX_REPLY_BYTES": "262144",
    "MODEL_MAX_CONCURRENCY": "16",
    "MODEL_BUSY_WAITS_SECONDS": "1.0,2.0,4.0",
    "MODEL_MAX_OUTPUT_TOKENS": "8192",
    "MODEL_HTTP_PROXY": "",
    "OPENAI_BASE_URL": "",
    "OPENAI_API_KEY": "",
    "ANTHROPIC_BASE_URL": "",
    "ANTHROPIC_API_KEY": "",
    "GOOGLE_BASE_URL": "",
    "GOOGLE_API_KEY": "",
    "OLLAMA_HOST": "127.0.0.1",
    "OLLAMA_PORT": "11434",
    "OLLAMA_TIMEOUT_SECONDS": "600.0",
    "OLLAMA_NUM_CTX": "",
    "PYDANTIC_AI_ENABLED": "true",
    "PYDANTIC_AI_RETRIES": "3",
    "BATCH_MOST_CALLS": "10000",
    "BATCH_TRIES": "3",
    "BATCH_POLL_SECONDS": "60.0",
    "PYDANTIC_AI_TIMEOUT_SECONDS": "",
    "QUANTITATIVE_EVIDENCE_QUOTE_VALIDATION_ENABLED": "true",
    "QUANTITATIVE_EVIDENCE_QUOTE_VALIDATION_MODE": "substring",
    "QUANTITATIVE_EVIDENCE_QUOTE_FUZZY_THRESHOLD": "0.85",
    "QUANTITATIVE_EVIDENCE_QUOTE_FAIL_ON_ALL_REJECTED": "false",
    "QUANTITATIVE_EVIDENCE_QUOTE_LOG_REJECTIONS": "true",
    "QUALITATIVE_VALIDATE_QUOTES": "false",
    "QUALITATIVE_MAX_UNVERIFIED_QUOTES": "0",
    "QUALITATIVE_QUOTE_RETRY_MAX_ATTEMPTS": "1",
    "QUALITATIVE_DELIMIT_TRANSCRIPT": "false",
    "JUDGE_CALLS": "four",
    "MODEL_FIRST_CALL_AHEAD": "auto",
    "FEEDBACK_ENABLED": "true",
    "FEEDBACK_MAX_ITERATIONS": "10",
    "FEEDBACK_SCORE_THRESHOLD": "3",
    "ENABLE_FEW_SHOT": "false",
    "TRANSCRIPT_PARTICIPANT_LABELS": "",
    "TRANSCRIPT_INTERVIEWER_LABELS": "",
    "DATA_TRANSCRIPTS_DIR": "",
    "DATA_TRANSCRIPTS_TENANT": "",
    "DATA_SECRETS_DIR": "",
    "REFERENCES_DIR": "",
    "REFERENCES_EMBEDDER": "lexical",
    "REFERENCES_CHUNK_LINES": "8",
    "REFERENCES_CHUNK_STEP": "2",
    "REFERENCES_TOP_K": "2",
    "REFERENCES_MIN_SIMILARITY": "0.0",
    "REFERENCES_MAX_TOKENS": "600",
    "REFERENCES_SAME_ITEM": "true",
    "REFERENCES_CHECK": "reading",
    "REFERENCES_SEED": "0",
    "DATA_KEY_FILE": "",
    "DATABASE_URL": "",
    "DATABASE_PASSWORD_FILE": "",
    "DATABASE_PATIENCE_SECONDS": "60.0",
    "CERTIFICATE_KEY_FILE": "",
    "INTERVIEW_MODEL": "",
    "INTERVIEW_OUTPUT_MODE": "auto",
    "INTERVIEW_COMBINED_DIGEST": "false",
    "INTERVIEW_MAX_CALLS": "200",
    "INTERVIEW_CALL_TIMEOUT_SECONDS": "20.0",
    "INTERVIEW_TURN_TIMEOUT_SECONDS": "90.0",
    "INTERVIEW_JOIN_SECONDS": "3.0",
    "INTERVIEW_KEEP_DAYS": "30",
    "INTERVIEW_LINK_HOURS": "72",
    "INTERVIEW_MAX_STORED": "10000",
    "INTERVIEW_MAX_STORED_BYTES": "1073741824",
    "INTERVIEW_PROTOCOLS": "",
    "JOBS_WEBHOOK_HOSTS": "",
    "JOBS_WEBHOOK_SECRET": "",
    "JOBS_WEBHOOK_SECRET_FILE": "",
    "JOBS_WEBHOOK_ALLOW_HTTP": "false",
    "JOBS_WEBHOOK_KEEP_DAYS": "14",
    "API_HOST": "127.0.0.1",
    "API_PORT": "8000",
    "API_REQUEST_TIMEOUT_SECONDS": "900.0",
    "API_SHUTDOWN_SECONDS": "20.0",
    "API_MAX_CONNECTIONS": "1000",
    "API_HEADER_TIMEOUT_SECONDS": "10.0",
    "API_BODY_TIMEOUT_SECONDS": "30.0",
    "API_ANSWER_TIMEOUT_SECONDS": "60.0",
    "API_IDLE_TIMEOUT_SECONDS": "5",
    "API_ALLOWED_HOSTS": "",
    "API_CORS_ORIGINS": "",
    "API_PUBLIC_URL": "",
    "API_DOCS": "true",
    "API_ALLOW_UNAUTHENTICATED": "false",
    "AUTH_REQUIRED": "false",
    "AUTH_OIDC_ISSUER": "",
    "AUTH_OIDC_AUDIENCE": "",
    "AUTH_OIDC_JWKS_URL": "",
    "AUTH_OIDC_JWKS_FILE": "",
    "AUTH_OIDC_ALGORITHMS": "RS256,ES256",
    "AUTH_OIDC_TOKEN_TYPES": "at+jwt",
    "AUTH_OIDC_TENANT_CLAIM": "tenant",
    "AUTH_OIDC_SCOPE_CLAIM": "scope",
    "API_TLS_CERT_FILE": "",
    "API_TLS_KEY_FILE": "",
    "API_TRUSTED_PROXIES": "",
    "RISK_CRISIS_RESOURCES": (
        "If you or somebody else may come to harm, call the local emergency number. Go to somebody "
        "near you, or to a doctor, and tell them."
    ),
    "LOG_LEVEL": "INFO",
    "LOG_FORMAT": "console",
    "TELEMETRY_EXPORT": "false",
    "TELEMETRY_ENDPOINT": "",
    "TELEMETRY_METRICS": "false",
    "TELEMETRY_WORKER_PORT": "0",
    "TELEMETRY_WORKER_ADDRESS": "127.0.0.1",
    "STORE_ASSESSMENTS": "false",
    "STORE_UNIQUE_SUBJECTS": "false",
    "STORE_KEEP_DAYS": "365",
    "STORE_GRACE_DAYS": "14",
    "STORE_SWEEP_AFTER_JUMP": "false",
    "STORE_MAX_RECORDS": "100000",
    "STORE_MAX_BYTES": "10737418240",
    "JOBS_CONCURRENCY": "4",
    "JOBS_PER_TENANT": "0",
    "JOBS_TIMEOUT_SECONDS": "3600.0",
    "JOBS_REAP_SECONDS": "15.0",
}
WITHOUT_A_FIXED_DEFAULT = {
    "DATA_STATE_DIR",
    "API_MAX_BODY_BYTES",
    "API_MAX_TRANSCRIPT_CHARS",
    "API_MAX_CONCURRENCY",
    "API_SLOT_WAIT_SECONDS",
}


def test_names_and_defaults_are_the_documented_ones() -> None:
    lines = [line.removeprefix("# ") for line in env_example().splitlines()]
    found = dict(line.split("=", 1) for line in lines if line.partition("=")[0].isupper())
    assert {name: found[name] for name in found if name in DEFAULTS} == DEFAULTS
    assert found.keys() - DEFAULTS.keys() == WITHOUT_A_FIXED_DEFAULT


def test_nothing_set_gives_the_defaults() -> None:
    for variable in variables():
        value = getattr(getattr(UNTOUCHED, variable.group), variable.field)
        assert value == variable.info.default
    empty = dict.fromkeys(DEFAULTS.keys() - {"MODEL_TEMPERATURE"}, "")
    assert load(**empty) == load(MODEL_DEFAULT="  ") == UNTOUCHED


def test_every_default_can_be_written_out_and_read_back() -> None:
    assert load(**{name: text for name, text in DEFAULTS.items() if text}) == UNTOUCHED


def test_an_empty_temperature_is_none() -> None:
    assert load(MODEL_TEMPERATURE="").model.temperature is None
    assert load(MODEL_TEMPERATURE=" ").model.temperature is None


def test_an_empty_temperature_goes_before_that_of_the_file(tmp_path: Path) -> None:
    dotenv = env_file(tmp_path, "MODEL_TEMPERATURE=0.5\n")
    assert load(dotenv).model.temperature == 0.5
    assert load(dotenv, MODEL_TEMPERATURE="").model.temperature is None
    assert load(env_file(tmp_path, "MODEL_TEMPERATURE=\n")).model.temperature is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("low", {"ollama:a": "low", "openai:b": "low"}),
        ('{"ollama:a": "off", "*": "high"}', {"ollama:a": "off", "openai:b": "high"}),
        ('{"ollama:a": "", "*": "high"}', {"ollama:a": None, "openai:b": "high"}),
        ('{"ollama:a": "medium"}', {"ollama:a": "medium", "openai:b": None}),
        ("", {"ollama:a": None, "openai:b": None}),
    ],
)
def test_thinking_is_set_for_all_models_or_by_name(
    text: str, expected: dict[str, str | None]
) -> None:
    model = load(MODEL_THINKING=text).model
    assert {name: model.thinking_of(name) for name in expected} == expected


def test_further_fields_of_requests_are_set_by_name_of_the_model(tmp_path: Path) -> None:
    written = """MODEL_EXTRA_BODY='{"ollama:a": {"top_k": 1}, "*": {"seed": [7]}}'\n"""
    model = load(env_file(tmp_path, written)).model
    assert model.extra_body_of("ollama:a") == {"top_k": 1}
    assert model.extra_body_of("openai:b") == {"seed": [7]}
    assert UNTOUCHED.model.extra_body_of("openai:b") == {}


def test_further_fields_of_requests_are_kept_out_of_representations() -> None:
    settings = load(MODEL_EXTRA_BODY=f'{{"*": {{"key": "{SECRET}"}}}}')
    assert SECRET not in f"{settings!r} {settings}"


@pytest.mark.parametrize(
    ("group", "name", "text", "field", "value"),
    [
        (
            Settings,
            "PYDANTIC_AI_RETRIES",
            "7",
            "pydantic_ai",
            PydanticAISettings.of({"retries": 7}),
        ),
        (PydanticAISettings, "PYDANTIC_AI_RETRIES", "7", "retries", 7),
        (PydanticAISettings, "PYDANTIC_AI_RETRIES", "", "retries", 3),
        (
            QuantitativeSettings,
            "QUANTITATIVE_EVIDENCE_QUOTE_FUZZY_THRESHOLD",
            "0.9",
            "evidence_quote_fuzzy_threshold",
            0.9,
        ),
        (
            QuantitativeSettings,
            "QUANTITATIVE_EVIDENCE_QUOTE_VALIDATION_ENABLED",
            "false",
            "evidence_quote_validation_enabled",
            False,
        ),
    ],
)
def test_constructing_settings_reads_the_environment(
    group: type[Settings] | type[PydanticAISettings] | type[QuantitativeSettings],
    name: str,
    text: str,
    field: str,
    value: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(name, text)
    assert getattr(group(), field) == value


def test_values_given_to_the_constructor_go_before_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYDANTIC_AI_RETRIES", "7")
    monkeypatch.setenv("PYDANTIC_AI_ENABLED", "false")
    given = PydanticAISettings(retries=2)
    assert (given.retries, given.enabled) == (2, False)
    assert PydanticAISettings.of({"retries": 2}).enabled
    settings = Settings(pydantic_ai=PydanticAISettings.of({}))
    assert settings.pydantic_ai.retries == 3


def test_constructing_settings_reads_the_env_file_and_refuses_as_loading_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    env_file(tmp_path, "API_PORT=9000\n")
    assert Settings().api.port == 9000
    monkeypatch.setenv("API_PORT", SECRET)
    with pytest.raises(ConfigurationError) as refused:
        Settings()
    assert str(refused.value).startswith("API_PORT: ")
    assert SECRET not in str(refused.value)


def test_secrets_are_read_from_a_folder_after_the_environment_and_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "OPENAI_API_KEY").write_text("sk-of-the-folder\n")
    (folder / "anthropic_api_key").write_text("sk-of-the-folder")
    (folder / "GEMINI_API_KEY").write_text("sk-of-the-folder")
    (folder / "records-key").write_text("of something else")
    dotenv = env_file(tmp_path, f"DATA_SECRETS_DIR={folder}\nANTHROPIC_API_KEY=sk-of-the-file\n")
    settings = load(dotenv)
    assert settings.openai.api_key.get_secret_value() == "sk-of-the-folder"
    assert settings.google.api_key.get_secret_value() == "sk-of-the-folder"
    assert settings.anthropic.api_key.get_secret_value() == "sk-of-the-file"
    given = load(dotenv, OPENAI_API_KEY="sk-given")
    assert given.openai.api_key.get_secret_value() == "sk-given"
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        assert load(dotenv, **{name: "sk-given"}).google.api_key.get_secret_value() == "sk-given"


def test_secrets_that_cannot_be_used_are_refused_and_not_shown(tmp_path: Path) -> None:
    assert "DATA_SECRETS_DIR is no folder" in refusal(DATA_SECRETS_DIR=str(tmp_path / "none"))
    (tmp_path / "OPENAI_API_KEY").write_text(f"{SECRET} {SECRET}")
    message = refusal(DATA_SECRETS_DIR=str(tmp_path))
    assert message.startswith("OPENAI_API_KEY: a key holds no blanks")
    (tmp_path / "OPENAI_API_KEY").write_bytes(SECRET.encode() + b"\xff")
    message += refusal(DATA_SECRETS_DIR=str(tmp_path))
    assert message.endswith("DATA_SECRETS_DIR: a file of it for a OPENAI setting cannot be read")
    assert SECRET not in message


@pytest.mark.parametrize(
    ("environment", "key"),
    [
        ({"GEMINI_API_KEY": "a"}, "a"),
        ({"GEMINI_API_KEY": "a", "GOOGLE_API_KEY": "b"}, "b"),
        ({"GEMINI_API_KEY": "a", "GOOGLE_API_KEY": ""}, "a"),
    ],
)
def test_a_key_is_read_under_the_name_of_its_library_as_well(
    environment: dict[str, str], key: str, tmp_path: Path
) -> None:
    assert load(**environment).google.api_key.get_secret_value() == key
    lines = "".join(f"{name}={text}\n" for name, text in environment.items())
    with captured_events() as events:
        settings = load(env_file(tmp_path, lines))
    assert settings.google.api_key.get_secret_value() == key
    assert events == []


@pytest.mark.parametrize(
    ("name", "text", "group", "field", "value"),
    [
        ("MODEL_DEFAULT", " ollama:gemma3 ", "model", "default", "ollama:gemma3"),
        ("MODEL_JUDGE_MODEL", "baseline", "model", "judge_model", "baseline"),
        ("MODEL_FALLBACKS", "a:b, c:d ,,", "model", "fallbacks", ("a:b", "c:d")),
        ("model_max_calls", "7", "model", "max_calls", 7),
        ("PYDANTIC_AI_ENABLED", "false", "pydantic_ai", "enabled", False),
        ("PYDANTIC_AI_TIMEOUT_SECONDS", "2.5", "pydantic_ai", "timeout_seconds", 2.5),
        ("OLLAMA_NUM_CTX", "8192", "ollama", "num_ctx", 8192),
        ("ENABLE_FEW_SHOT", "1", "features", "enable_few_shot", True),
        ("API_CORS_ORIGINS", "https://a.example", "api", "cors_origins", ("https://a.example",)),
        ("LOG_FORMAT", "json", "log", "format", "json"),
        ("DATA_TRANSCRIPTS_DIR", "/data", "data", "transcripts_dir", Path("/data")),
    ],
)
def test_variable_sets_its_field(
    name: str, text: str, group: str, field: str, value: object
) -> None:
    assert getattr(getattr(load(**{name: text}), group), field) == value


def test_a_model_for_one_command_takes_the_place_of_every_other_but_the_fallbacks() -> None:
    settings = load(
        MODEL_DEFAULT="ollama:a",
        MODEL_JUDGE_MODEL="ollama:b",
        MODEL_QUALITATIVE_MODEL="ollama:c",
        MODEL_QUANTITATIVE_MODEL="ollama:d",
        MODEL_META_REVIEW_MODEL="ollama:e",
        INTERVIEW_MODEL="ollama:f",
        MODEL_FALLBACKS="baseline",
        API_PORT="9000",
    )
    assert with_model(settings, " ollama:z ") == load(
        MODEL_DEFAULT="ollama:z", MODEL_FALLBACKS="baseline", API_PORT="9000"
    )


def test_labels_are_added_to_the_built_in_ones() -> None:
    labels = load(TRANSCRIPT_PARTICIPANT_LABELS="Frau A, Kind").transcript.labels
    assert known_speaker("frau a", labels) is Speaker.PARTICIPANT
    assert known_speaker("Participant", labels) is Speaker.PARTICIPANT
    assert known_speaker("Ellie", labels) is Speaker.INTERVIEWER


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MODEL_TEMPERATURE", "hot"),
        ("MODEL_TEMPERATURE", "3"),
        ("MODEL_TEMPERATURE", "nan"),
        ("MODEL_THINKING", SECRET),
        ("MODEL_THINKING", '{"*": "most"}'),
        ("MODEL_THINKING", '{"gemma3": "low"}'),
        ("MODEL_THINKING", '{"*": '),
        ("MODEL_EXTRA_BODY", SECRET),
        ("MODEL_EXTRA_BODY", f'["{SECRET}"]'),
        ("MODEL_EXTRA_BODY", f'{{"*": "{SECRET}"}}'),
        ("MODEL_EXTRA_BODY", '{"*": {"x": NaN}}'),
        ("MODEL_EXTRA_BODY", '{"*": {"messages": []}}'),
        ("MODEL_EXTRA_BODY", f'{{"{SECRET}": {{}}}}'),
        pytest.param("MODEL_EXTRA_BODY", '{"*":' * 100_000, id="deep"),
        ("MODEL_OUTPUT_MODE", "tool"),
        ("MODEL_LOCAL_ONLY", SECRET),
        ("MODEL_LOCAL_HOSTS", "http://gpu.example"),
        ("MODEL_LOCAL_HOSTS", "gpu.example:8080"),
        ("MODEL_MAX_CALLS", "0"),
        ("PYDANTIC_AI_ENABLED", SECRET),
        ("PYDANTIC_AI_RETRIES", "-1"),
        ("QUANTITATIVE_EVIDENCE_QUOTE_VALIDATION_MODE", SECRET),
        ("QUANTITATIVE_EVIDENCE_QUOTE_FUZZY_THRESHOLD", "0.4"),
        ("QUANTITATIVE_EVIDENCE_QUOTE_FUZZY_THRESHOLD", "1.1"),
        ("QUANTITATIVE_EVIDENCE_QUOTE_FUZZY_THRESHOLD", "nan"),
        ("FEEDBACK_SCORE_THRESHOLD", "6"),
        ("API_PORT", "70000"),
        ("OLLAMA_NUM_CTX", SECRET),
        ("LOG_LEVEL", SECRET),
        ("OPENAI_BASE_URL", f"{SECRET}:8080/v1"),
        ("OPENAI_BASE_URL", "http://"),
        ("OPENAI_BASE_URL", "http://[::1/v1"),
        ("ANTHROPIC_BASE_URL", "ftp://files.example"),
        ("GOOGLE_BASE_URL", "https://a b"),
        ("MODEL_HTTP_PROXY", "proxy:3128"),
        ("OLLAMA_HOST", "http://"),
        ("OLLAMA_HOST", "gpu:99999"),
        ("OLLAMA_HOST", "gibberish://gpu"),
        ("OPENAI_API_KEY", f"{SECRET}\nX-More: y"),
        ("ANTHROPIC_API_KEY", f"{SECRET}\u2019"),
        ("GOOGLE_API_KEY", f"{SECRET}\u200b"),
        ("MODEL_BUSY_WAITS_SECONDS", "1,-1"),
        ("MODEL_BUSY_WAITS_SECONDS", "nan"),
    ],
)
def test_value_that_does_not_fit_is_refused_by_name_and_not_shown(name: str, value: str) -> None:
    message = refusal(**{name: value})
    assert message.startswith(f"{name}: ")
    assert SECRET not in message


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("JOBS_WEBHOOK_HOSTS", "https://a.example/", "a host is written"),
        ("TELEMETRY_ENDPOINT", "collector:4318", "an address begins with"),
        ("API_CORS_ORIGINS", "*", "name each origin"),
        ("MODEL_EXTRA_BODY", "{", "write a JSON object by model name"),
        (
            "MODEL_EXTRA_BODY",
            '{"*": {"stream": true}}',
            "messages, model, stream are what the call",
        ),
        ("MODEL_THINKING", '{"gemma3": "low"}', "name models with their provider"),
        ("MODEL_LOCAL_HOSTS", "a/b", "write only host names or addresses"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_in_our_words(
    name: str, value: str, says: str
) -> None:
    assert refusal(**{name: value}).startswith(f"{name}: {says}")


def test_all_values_that_do_not_fit_are_named() -> None:
    message = refusal(API_PORT="x", LOG_LEVEL="loud")
    assert [line.partition(":")[0] for line in message.splitlines()] == ["API_PORT", "LOG_LEVEL"]


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("PYDANTIC_AI_ENABELD", "PYDANTIC_AI_ENABLED"),
        ("MODEL_DEFALT", "MODEL_DEFAULT"),
        ("OPENAI_APIKEY", "OPENAI_API_KEY"),
        ("openai_api_kee", "OPENAI_API_KEY"),
        ("OPENIA_API_KEY", "OPENAI_API_KEY"),
        ("API_PROT", "API_PORT"),
        ("QUALITATIVE_VALIDATE_QUOTE", "QUALITATIVE_VALIDATE_QUOTES"),
    ],
)
def test_misspelt_name_is_refused_naming_both_and_no_value(
    misspelt: str, meant: str, tmp_path: Path
) -> None:
    expected = f"{misspelt} is not a setting; did you mean {meant}?"
    assert refusal(**{misspelt: SECRET}) == expected
    assert refusal(env_file(tmp_path, f"{misspelt}={SECRET}")) == expected


@pytest.mark.parametrize(
    "name", ["OLLAMA_MODELS", "OLLAMA_KEEP_ALIVE", "PATH", "API", "MODEL", "DATA", "SERVER", "HOME"]
)
def test_names_of_other_programs_are_ignored_in_the_environment(name: str) -> None:
    with captured_events() as events:
        assert load(**{name: SECRET}) == UNTOUCHED
    assert events == []


def test_unknown_name_in_the_file_is_warned_of_without_its_value(tmp_path: Path) -> None:
    with captured_events() as events:
        load(env_file(tmp_path, f"OLLAMA_MODELS={SECRET}\nAPI_PORT=9000\n"))
    assert events == [
        {
            "event": "setting_ignored",
            "log_level": "warning",
            "name": "OLLAMA_MODELS",
            "reason": "unknown_name_in_env_file",
        }
    ]


STRAYS = {
    "a key on a line of its own": f"OPENAI_API_KEY=\n{SECRET}\n",
    "a key with a colon": f"\nOPENAI_API_KEY:{SECRET}=\n",
    "a key that is a name": "OPENAI_API_KEY=\nAKIAIOSFODNN7EXAMPLE\n",
    "a padded key": "OPENAI_API_KEY=\nAKIAIOSFODNN7EXAMPLE==\n",
    "a quoted key": f"OPENAI_API_KEY=\n'{SECRET}'\n",
    "a key in an open quote": f"OPENAI_API_KEY=\n'{SECRET}\n",
    "a key beside a word": f"\nkey {SECRET}\n",
    "a key as another's name": f"\nLLM_{SECRET}=\n",
    "a plain word": "OPENAI_API_KEY=\nCORRECTHORSE\n",
}


@pytest.mark.parametrize("content", STRAYS.values(), ids=STRAYS.keys())
def test_a_stray_line_is_told_by_its_number_and_never_shown(
    content: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with captured_events() as events:
        load(env_file(tmp_path, content))
    assert [(event["event"], event["line"]) for event in events] == [("setting_ignored", 2)]
    written = str(events) + "".join(capfd.readouterr())
    assert not [key for key in (SECRET, "AKIA", "HORSE") if key in written]


def test_a_key_that_is_glued_to_a_name_is_refused_by_its_line(tmp_path: Path) -> None:
    message = refusal(env_file(tmp_path, "\nOPENAI_API_KEY:sk\n"))
    assert message == "line 2 of the env file is not a setting; did you mean OPENAI_API_KEY?"


def test_an_env_file_of_any_size_is_read_up_to_its_limit(tmp_path: Path) -> None:
    with env_file(tmp_path, "").open("wb") as file:
        file.truncate(1 << 34)
    assert "larger than" in refusal(tmp_path / ".env")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("API_MAX_TOTAL_CHARS", "API_MAX_TOTAL_CHARS is gone: "),
        ("batch_most_bytes", "BATCH_MOST_BYTES is gone: "),
        ("BATCH_MOST_POLL_SECONDS", "BATCH_MOST_POLL_SECONDS is gone: "),
        ("FEEDBACK_TARGET_SCORE", "FEEDBACK_TARGET_SCORE is now FEEDBACK_SCORE_THRESHOLD"),
        ("MODEL_EMBEDDING_MODEL", "MODEL_EMBEDDING_MODEL is now REFERENCES_EMBEDDER"),
    ],
)
def test_a_retired_setting_is_refused_with_what_to_do(name: str, says: str, tmp_path: Path) -> None:
    for message in (refusal(**{name: SECRET}), refusal(env_file(tmp_path, f"{name}={SECRET}\n"))):
        assert message.startswith(says)
        assert SECRET not in message


def test_no_setting_is_retired_and_read() -> None:
    assert not RETIRED.keys() & {name for variable in variables() for name in variable.names}


def test_names_of_an_earlier_system_are_none_of_ours() -> None:
    given = {"LLM_BACKEND": SECRET, "EMBEDDING_TOP_K_REFERENCES": "2", "API_WORKERS": "4"}
    assert load(**given) == UNTOUCHED


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_BASE", "OPENROUTER_API_KEY", "AZURE_OPENAI_API_KEY", "APP_PORT", "OLLAMA_ORIGINS"],
)
def test_names_that_only_resemble_ours_are_no_mistakes(name: str) -> None:
    assert load(**{name: SECRET}) == UNTOUCHED


def test_environment_goes_before_the_file(tmp_path: Path) -> None:
    dotenv = env_file(tmp_path, "API_PORT=9000\nLOG_LEVEL=DEBUG\n")
    settings = load(dotenv, API_PORT="9001")
    assert (settings.api.port, settings.log.level) == (9001, "DEBUG")


def test_empty_variable_leaves_the_value_of_the_file(tmp_path: Path) -> None:
    assert load(env_file(tmp_path, "API_PORT=9000\n"), API_PORT=" ").api.port == 9000


@pytest.mark.parametrize("content", ["", "API_PORT\n", "# API_PORT=1\n", "API_PORT=\n"])
def test_file_without_values_sets_nothing(content: str, tmp_path: Path) -> None:
    assert load(env_file(tmp_path, content)) == UNTOUCHED


def test_dollar_signs_of_the_file_are_values(tmp_path: Path) -> None:
    settings = load(env_file(tmp_path, "OPENAI_API_KEY=a${HOME}b\n"))
    assert settings.openai.api_key.get_secret_value() == "a${HOME}b"


def test_file_that_is_no_text_is_refused_without_its_bytes(tmp_path: Path) -> None:
    message = refusal(env_file(tmp_path, b"OPENAI_API_KEY=sk-\xff\xfe"))
    assert "UTF-8" in message
    assert "sk-" not in message


def test_missing_file_is_no_error(tmp_path: Path) -> None:
    assert load(tmp_path / ".env") == UNTOUCHED


def test_key_loses_the_blanks_around_it() -> None:
    key = load_settings({"OPENAI_API_KEY": " sk-x\r\n"}, dotenv=None).openai.api_key
    assert key.get_secret_value() == "sk-x"


def test_key_is_kept_out_of_representations() -> None:
    settings = load(OPENAI_API_KEY=SECRET)
    assert SECRET not in f"{settings!r} {settings}"
    assert settings.openai.api_key.get_secret_value() == SECRET


def test_example_file_is_the_generated_one() -> None:
    assert (ROOT / ".env.example").read_text("utf-8") == env_example()


def test_tables_of_the_documentation_are_the_generated_ones() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    assert page.endswith(settings_tables()), "ai-psychiatrist settings --markdown"


def test_example_file_sets_nothing_and_names_everything(tmp_path: Path) -> None:
    example = env_example()
    assert load(env_file(tmp_path, example)) == UNTOUCHED
    assert all(line.startswith("#") for line in example.splitlines() if line)
    names = [f"# {variable.name}=" for variable in variables()]
    assert [line for line in example.splitlines() if line.startswith(tuple(names))] == [
        line for line in example.splitlines() if line.partition("=")[0].removeprefix("# ").isupper()
    ]
    assert all(variable.meaning.endswith((".", ".)")) for variable in variables())


def test_settings_classes_are_re_exported_from_where_they_are_read() -> None:
    assert QuantitativeSettings is evidence_settings.QuantitativeSettings
    assert Settings.model_fields["pydantic_ai"].annotation is PydanticAISettings


@pytest.mark.parametrize(
    ("environment", "url"),
    [
        pytest.param({}, "http://127.0.0.1:11434", id="default"),
        pytest.param({"OLLAMA_HOST": "gpu"}, "http://gpu:11434", id="host"),
        pytest.param(
            {"OLLAMA_HOST": "gpu", "OLLAMA_PORT": "80"}, "http://gpu:80", id="host_and_port"
        ),
        pytest.param({"OLLAMA_HOST": "gpu:9"}, "http://gpu:9", id="port_in_host"),
        pytest.param(
            {"OLLAMA_HOST": "gpu:9", "OLLAMA_PORT": "8"}, "http://gpu:9", id="host_port_wins"
        ),
        pytest.param({"OLLAMA_HOST": "http://gpu:9/"}, "http://gpu:9", id="url"),
        pytest.param({"OLLAMA_HOST": "https://gpu.example"}, "https://gpu.example", id="https"),
        pytest.param({"OLLAMA_HOST": "[::1]:9"}, "http://[::1]:9", id="address_6_and_port"),
        pytest.param({"OLLAMA_HOST": "[::1]"}, "http://[::1]:11434", id="address_6"),
        pytest.param({"OLLAMA_HOST": "::1"}, "http://[::1]:11434", id="bare_address_6"),
    ],
)
def test_forms_of_the_ollama_host(environment: dict[str, str], url: str) -> None:
    assert load(**environment).ollama.base_url == url


def open_and_close(tmp_path: Path, /, **environment: str) -> dict[str, tuple[str, ...]]:
    async def run() -> dict[str, tuple[str, ...]]:
        settings = load(DATA_STATE_DIR=str(tmp_path), **environment)
        async with bootstrap(settings) as services:
            return dict(services.agent_models)

    return asyncio.run(run())


def test_agents_have_the_models_of_the_settings(tmp_path: Path) -> None:
    models = open_and_close(
        tmp_path,
        MODEL_DEFAULT="ollama:gemma3",
        MODEL_JUDGE_MODEL="openai-chat:qwen3",
        MODEL_FALLBACKS="ollama:gemma3,baseline",
        OPENAI_BASE_URL="http://127.0.0.1:1/v1",
    )
    assert models == {
        "qualitative": ("ollama:gemma3", "baseline"),
        "quantitative": ("ollama:gemma3", "baseline"),
        "judge": ("openai-chat:qwen3", "ollama:gemma3", "baseline"),
        "meta_review": ("ollama:gemma3", "baseline"),
        "danger": ("ollama:gemma3",),
    }


@pytest.mark.parametrize(
    ("environment", "chain"),
    [
        pytest.param({}, None, id="baseline_would_repeat_the_rules"),
        pytest.param({"MODEL_DEFAULT": "ollama:a"}, ("ollama:a",), id="default"),
        pytest.param({"DANGER_MODEL": "ollama:b"}, ("ollama:b",), id="alone"),
        pytest.param(
            {"MODEL_DEFAULT": "ollama:a", "DANGER_MODEL": "ollama:b"}, ("ollama:b",), id="own"
        ),
        pytest.param({"MODEL_DEFAULT": "ollama:a", "DANGER_MODEL": "off"}, None, id="off"),
        pytest.param({"MODEL_DEFAULT": "ollama:a", "DANGER_MODEL": "OFF"}, None, id="off_in_caps"),
        pytest.param({"MODEL_DEFAULT": "ollama:a", "DANGER_MODEL": "baseline"}, None, id="rules"),
    ],
)
def test_danger_is_read_by_the_model_that_is_set_for_it(
    environment: dict[str, str], chain: tuple[str, ...] | None, tmp_path: Path
) -> None:
    assert open_and_close(tmp_path, **environment).get("danger") == chain


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        pytest.param({"MODEL_DEFAULT": "gemma3"}, "names no provider", id="no_provider"),
        pytest.param({"MODEL_FALLBACKS": "gemma3"}, "names no provider", id="fallback"),
        pytest.param({"MODEL_DEFAULT": "gemma3:27b"}, "ollama:gemma3:27b", id="ollama_tag"),
        pytest.param({"MODEL_DEFAULT": "llama3.1:8b"}, r"ollama:llama3\.1:8b", id="other_tag"),
        pytest.param({"ENABLE_FEW_SHOT": "true"}, "ENABLE_FEW_SHOT=true .* false", id="few_shot"),
        pytest.param({"DATA_TRANSCRIPTS_TENANT": "A B"}, "DATA_TRANSCRIPTS_TENANT", id="no_tenant"),
        pytest.param(
            {"DATA_TRANSCRIPTS_DIR": "/nowhere/at/all"}, "DATA_TRANSCRIPTS_DIR", id="no_folder"
        ),
        pytest.param({"DATA_KEY_FILE": "/nowhere/key"}, "DATA_KEY_FILE", id="no_key_file"),
        pytest.param(
            {"TELEMETRY_WORKER_PORT": "9464"}, "TELEMETRY_METRICS=true", id="nothing_counted"
        ),
        pytest.param(
            {"CERTIFICATE_KEY_FILE": "/nowhere/key"}, "CERTIFICATE_KEY_FILE", id="no_signing_key"
        ),
        pytest.param(
            {"INTERVIEW_PROTOCOLS": "/nowhere/at/all"},
            "INTERVIEW_PROTOCOLS: the protocol all/protocol.yaml cannot be used",
            id="no_protocol",
        ),
        pytest.param({"MODEL_DEFAULT": "openai-chat:x"}, "OPENAI_BASE_URL", id="no_base_url"),
        pytest.param({"MODEL_JUDGE_MODEL": "nowhere:x"}, "nowhere:x", id="unknown_provider"),
    ],
)
def test_what_nothing_can_follow_is_refused_at_the_start(
    environment: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        open_and_close(tmp_path, **environment)


START_WITHOUT_RAPIDFUZZ = """
import asyncio, sys

sys.modules["rapidfuzz"] = None  # as where it is not installed

from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.wiring import bootstrap

async def start():
    async with bootstrap(load_settings(dotenv=None)):
        print("started")

try:
    asyncio.run(start())
except ConfigurationError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("mode", "output"),
    [("substring", "started"), ("fuzzy", "=fuzzy needs rapidfuzz")],
)
def test_fuzzy_mode_without_rapidfuzz_refuses_to_start(
    mode: str, output: str, tmp_path: Path
) -> None:
    environment = {
        "QUANTITATIVE_EVIDENCE_QUOTE_VALIDATION_MODE": mode,
        "DATA_STATE_DIR": str(tmp_path),
    }
    result = subprocess.run(
        [sys.executable, "-c", START_WITHOUT_RAPIDFUZZ],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert output in result.stdout, result.stderr
