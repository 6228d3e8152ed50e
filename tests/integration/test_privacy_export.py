"""The canary, driven through all that gives results out: words are there on request alone."""

import io
import json
from pathlib import Path
from zipfile import ZipFile

from ai_psychiatrist.results.workbook import MEDIA_TYPE
from tests.fakes.model_server import ModelServerThread
from tests.integration.canary import (
    CANARY,
    INTERVIEW,
    SCENARIOS,
    assert_files_silent,
    assert_silent,
)
from tests.integration.command_here import run_here
from tests.integration.running_app import RunningApp, client_at, model_at, settings_with

LOGGED = {"LOG_LEVEL": "DEBUG", "PYDANTIC_AI_RETRIES": "1", "FEEDBACK_MAX_ITERATIONS": "1"}
FHIR = {"Accept": "application/fhir+json"}
TABLES = [
    {"what": what, "format": form}
    for what in ("results", "items", "ratings")
    for form in ("jsonl", "csv", "xlsx", "fhir")
    if (what, form) != ("items", "fhir")
]


def test_what_is_exported_over_http_holds_words_on_request_alone(tmp_path: Path) -> None:
    with ModelServerThread(SCENARIOS["good"]) as models:
        settings = settings_with(tmp_path, **(model_at(models.url) | LOGGED))
        with RunningApp(settings) as app, client_at(app.url) as client:
            body = {"transcript_text": INTERVIEW, "subject": "P-017"}
            made = client.post("/v1/assessments", json=body)
            assert made.status_code == 201
            answers = [client.get(made.headers["location"], headers=FHIR)]
            answers += [client.get("/v1/export", params=query) for query in TABLES]
            answers.append(client.get("/v1/export", params={"what": CANARY}))
            answers.append(client.get("/v1/export", params={CANARY: CANARY}))
            refused = client.get(made.headers["location"], headers={"Accept": f"text/{CANARY}"})
            with_words = client.get("/v1/export", params={"what": "items", "with_words": "true"})
    assert [answer.status_code for answer in answers] == [200] * (1 + len(TABLES)) + [422] * 2
    assert refused.status_code == 406
    for answer in (*answers, refused):
        assert_silent(answer.text, str(answer.headers))
        if answer.headers["content-type"] == MEDIA_TYPE:
            with ZipFile(io.BytesIO(answer.content)) as book:
                assert_silent(*(book.read(part).decode() for part in book.namelist()))
    assert CANARY in with_words.text
    assert_files_silent(tmp_path)


def test_what_the_command_exports_holds_words_on_request_alone(tmp_path: Path) -> None:
    with ModelServerThread(SCENARIOS["good"]) as models:
        made = run_here(
            ["assess", "-", "--json"], tmp_path, model_at(models.url), stdin=INTERVIEW.encode()
        )
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "one.json").write_text(made.out, "utf-8")
    for arguments in (["--format", "fhir"], ["--format", "csv"], ["--format", "jsonl"]):
        done = run_here(["export", "results", *arguments], tmp_path)
        assert done.code == 0
        assert_silent(done.out, done.err)
    items = ["export", "results/one.json", "--format", "csv", "--rows", "items"]
    assert_silent(run_here(items, tmp_path).out)
    told = run_here([*items, "--with-words"], tmp_path)
    assert CANARY in told.out
    assert_silent(told.err)


def test_a_result_that_cannot_be_exported_is_refused_without_what_is_in_it(tmp_path: Path) -> None:
    with ModelServerThread(SCENARIOS["good"]) as models:
        made = run_here(
            ["assess", "-", "--json"], tmp_path, model_at(models.url), stdin=INTERVIEW.encode()
        )
    whole = json.loads(made.out)
    damaged = {
        "key": whole | {"quantitative": {"items": {CANARY: {CANARY: CANARY}}}},
        "version": whole | {"schema_version": CANARY},
        "status": whole | {"status": CANARY},
        "list": [CANARY],
    }
    for name, content in damaged.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content), "utf-8")
        done = run_here(["export", f"{name}.json", "--format", "fhir"], tmp_path)
        assert (done.code, done.out) == (2, ""), name
        assert_silent(done.err)
