"""The canary, driven through the public interface: only the fields of a result hold its words."""

import asyncio
import json
import pprint
import traceback
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from rich.pretty import pretty_repr

import ai_psychiatrist as ap
from ai_psychiatrist.domain.shape import Shape
from ai_psychiatrist.results.result import Result
from tests.fakes.model_server import ModelServer, ModelServerThread
from tests.integration.canary import (
    CANARY,
    INTERVIEW,
    NO_PARTICIPANT,
    SCENARIOS,
    assert_files_silent,
    assert_silent,
    canary_as_quote,
)
from tests.integration.running_app import NO_CERTIFICATES, model_at, settings_with

LOGGED = {"LOG_LEVEL": "DEBUG", "PYDANTIC_AI_RETRIES": "1", "FEEDBACK_MAX_ITERATIONS": "1"}
TEXTS = frozenset({"ledger.sqlite", "ledger.sqlite-wal", "units.jsonl", "predictions.jsonl"})
"""Files of a run that are made for words."""


def parts_of(value: object) -> Iterator[object]:
    """Yield everything that a result is made of, itself first."""
    yield value
    match value:
        case Result():
            for _, inner in value:
                yield from parts_of(inner)
        case dict():
            for inner in value.values():
                yield from parts_of(inner)
        case _ if is_dataclass(value):
            for one in fields(value):
                yield from parts_of(getattr(value, one.name))
        case tuple() | list():
            for inner in value:
                yield from parts_of(inner)


def shown(value: object) -> Iterator[str]:
    """Yield all ways in which a value shows itself to people."""
    yield repr(value)
    yield str(value)
    yield f"{value}"
    yield pprint.pformat(value)
    yield pretty_repr(value)


def assert_shows_nothing(result: Result | Shape) -> None:
    """Look at the result and at each part of it that is not itself a text, or a table of texts."""
    for part in parts_of(result):
        values = part.values() if isinstance(part, dict) else ()
        if not isinstance(part, str | dict) or any(
            isinstance(one, Result | Shape) for one in values
        ):
            assert_silent(*shown(part))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_part_of_a_result_shows_what_was_said(
    scenario: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with ModelServerThread(SCENARIOS[scenario]) as models:
        settings = settings_with(tmp_path, **model_at(models.url) | LOGGED)
        result = ap.assess_sync(INTERVIEW, settings=settings)
    assert_shows_nothing(result)
    assert_silent(result._repr_html_() or "")
    assert_silent(*capfd.readouterr())
    assert_files_silent(tmp_path)
    if scenario == "invented quotes":
        assert CANARY in result.model_dump_json()


def test_a_notebook_shows_scores_and_obeys_no_markup(settings: ap.Settings) -> None:
    labelled = INTERVIEW.replace("Participant:", f"{CANARY}<script>:")
    result = ap.assess_sync(labelled, settings=settings, participant=f"{CANARY}<script>")
    html = result._repr_html_() or ""
    assert html.count("<tr>") == 9
    assert "<script" not in html
    assert_silent(html)


@pytest.mark.parametrize("field", ["status", "quantitative", CANARY])
def test_a_refused_change_does_not_repeat_what_was_to_be_set(
    field: str, settings: ap.Settings
) -> None:
    result = ap.assess_sync(INTERVIEW, settings=settings)
    with pytest.raises((AttributeError, TypeError)) as raised:
        setattr(result, field, f"{CANARY} said")
    assert "said" not in str(raised.value)
    assert "said" not in repr(raised.value)


@pytest.fixture
def settings(tmp_path: Path) -> ap.Settings:
    return settings_with(tmp_path / "state", **LOGGED)


BAD: dict[str, Callable[[ap.Settings], object]] = {
    "no participant": lambda settings: ap.assess_sync(NO_PARTICIPANT, settings=settings),
    "unknown labels": lambda settings: ap.assess_sync(
        f"Anna: {CANARY}\nTom: {CANARY}\n", settings=settings
    ),
    "half a character": lambda settings: ap.assess_sync(f"{CANARY} \ud800", settings=settings),
    "no text": lambda settings: ap.assess_sync(f"{CANARY} ".encode() + b"\x81", settings=settings),
    "broken JSON": lambda settings: ap.assess_sync(f'[{{"{CANARY}": 1'.encode(), settings=settings),
    "no file": lambda settings: ap.assess_sync(Path(CANARY), settings=settings),
    "a wrong label": lambda settings: ap.assess_sync(
        INTERVIEW, settings=settings, participant=CANARY * 60
    ),
    "ground without a participant": lambda _: ap.ground([CANARY], NO_PARTICIPANT),
    "no answer": lambda _: ap.validate([[CANARY]], True),  # type: ignore[list-item]
    "no schema": lambda _: ap.validate([], {"type": CANARY}),
    "a damaged result": lambda _: ap.Assessment.model_validate_json(f'{{"risk": "{CANARY}"}}'),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_do_not_repeat_what_was_given(
    case: str, settings: ap.Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises((ap.AssessmentServiceError, ValueError)) as raised:
        BAD[case](settings)
    error = raised.value
    assert_silent(str(error), repr(error), "".join(traceback.format_exception_only(error)))
    assert_silent(*capfd.readouterr())


def test_checks_show_and_log_nothing_of_what_they_check(
    capfd: pytest.CaptureFixture[str],
) -> None:
    grounded = ap.ground([f"because of {CANARY}-said", f"{CANARY} was never said"], INTERVIEW)
    assert (grounded.verified_count, grounded.rejected_count) == (1, 1)
    texts = [json.dumps({"said": CANARY}), json.dumps({CANARY: 1}), f'{{"{CANARY}\n{CANARY}']
    answers: list[str | dict[str, object]] = [*texts, {CANARY: {CANARY}}]
    validated = ap.validate(answers, {"required": ["said"], "type": "object"})
    assert (len(validated.valid), len(validated.failures)) == (1, 3)
    for report in (grounded, validated):
        assert CANARY in report.model_dump_json()
        assert_silent(*shown(report))
    assert_silent(*shown(validated.valid), *shown(validated.failures))
    assert_shows_nothing(grounded)
    assert_silent(*capfd.readouterr())


def test_a_run_shows_and_logs_counts_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "interviews"
    folder.mkdir()
    (folder / "1.txt").write_text(INTERVIEW, "utf-8")
    (folder / "2.txt").write_text(NO_PARTICIPANT, "utf-8")

    async def evaluated() -> ap.DatasetRunResult:
        async with ModelServer(canary_as_quote) as server:
            settings = settings_with(tmp_path / "state", **model_at(server.url) | LOGGED)
            async with ap.open(settings) as app:
                assert_silent(repr(app))
                return await app.evaluate(folder, tmp_path / "run")

    result = asyncio.run(evaluated())
    assert result.unreadable == 1
    assert_silent(*shown(result), result.model_dump_json(), *capfd.readouterr())
    assert_files_silent(tmp_path / "run", sinks=TEXTS)


def test_a_mounted_application_keeps_what_was_said_to_itself(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def responses() -> list[httpx.Response]:
        async with ModelServer(canary_as_quote) as server:
            mounted = ap.create_app(settings_with(tmp_path, **model_at(server.url) | LOGGED))
            host = FastAPI()
            host.mount("/phq8", mounted)
            transport = httpx.ASGITransport(host)
            bodies = ({"transcript_text": INTERVIEW}, {"transcript_text": NO_PARTICIPANT})
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost", verify=NO_CERTIFICATES
            ) as client:
                unopened = await client.post(f"/phq8/{CANARY}", json=bodies[0])
                async with mounted.running():
                    sent = [await client.post("/phq8/full_pipeline", json=body) for body in bodies]
                return [*sent, unopened]

    good, *problems = asyncio.run(responses())
    assert good.status_code == 200
    assert CANARY in good.text
    assert [one.json()["code"] for one in problems] == ["speakers_unknown", "not_opened"]
    assert_silent(str(dict(good.headers)))
    for one in problems:
        assert_silent(one.text, str(dict(one.headers)))
    assert_silent(*capfd.readouterr())
    assert_files_silent(tmp_path)
