"""Whether the evidence drives the scores, asked at every door of models whose ways are known."""

import asyncio
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.ablation import made_up_transcripts, verdicts_of
from benchmarks.planted_models import PLANTED, PlantedModel
from docs.images import ablation as picture
from rich.console import Console
from typer.testing import CliRunner

import ai_psychiatrist as ap
from ai_psychiatrist.cli.app import app
from ai_psychiatrist.cli.report import print_report
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.drive import Change, DriveReason, DriveVerdict
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions
from tests.fakes.exchange import Reply, Request
from tests.fakes.model_server import ModelServerThread
from tests.fakes.references import made_references, references_in, shown_by
from tests.fakes.replies import good_replies
from tests.integration.running_app import client_of, model_at

COUNTS_QUOTES = "how many quotes there are"
TALK = (
    "Interviewer: How have you been sleeping?\n"
    "Participant: Badly. I can't sleep nearly every night.\n"
    "Interviewer: And your appetite?\n"
    "Participant: No problem there, I eat well.\n"
)


@pytest.fixture(scope="module")
def transcripts() -> list[Transcript]:
    return made_up_transcripts(20)[:5]


@pytest.mark.parametrize("model", PLANTED, ids=lambda model: model.name)
def test_planted_models_are_found_out_and_honest_ones_are_not(
    model: PlantedModel, transcripts: list[Transcript]
) -> None:
    found = asyncio.run(verdicts_of(model, transcripts))
    assert found.scored >= 8
    driven = found.counts[DriveVerdict.EVIDENCE_DRIVEN] + found.counts[DriveVerdict.OVER_DETERMINED]
    assert driven == (found.scored if model.is_honest else 0)
    flagged = found.counts[DriveVerdict.NOT_EVIDENCE_DRIVEN]
    # Words that are read as neither cannot be turned round, which leaves a verdict open.
    left_open = found.counts[DriveVerdict.UNDETERMINED] if model.name == COUNTS_QUOTES else 0
    assert flagged == (0 if model.is_honest else found.scored - left_open)
    assert left_open <= 1


def settings_in(state: Path, **more: str) -> ap.Settings:
    return ap.load_settings({"DATA_STATE_DIR": str(state), **more}, None)


def assessed(state: Path, *, ablate: bool, talk: str = TALK, **more: str) -> Assessment:
    async def run() -> Assessment:
        async with ap.open(settings_in(state, **more)) as app:
            return await app.assess(talk, ablate=ablate)

    return asyncio.run(run())


def drives(result: Assessment) -> dict[str, tuple[str, str] | None]:
    assert result.quantitative is not None
    return {
        key: None if item.drive is None else (item.drive.verdict, item.drive.reason)
        for key, item in result.quantitative.items.items()
        if item.score is not None
    }


def test_python_tells_of_each_score(tmp_path: Path) -> None:
    result = assessed(tmp_path, ablate=True)
    driven = (DriveVerdict.EVIDENCE_DRIVEN, DriveReason.NEEDED)
    assert drives(result) == {"PHQ8_Sleep": driven, "PHQ8_Appetite": driven}
    assert sum(attempt.agent == "ablation" for attempt in result.attempts) == 6
    assert result.status == "complete"


@pytest.mark.parametrize("route", ["/full_pipeline", "/assess/quantitative"])
def test_http_tells_of_each_score(tmp_path: Path, route: str) -> None:
    with client_of(settings_in(tmp_path)) as client:
        asked = {"transcript_text": TALK, "ablate": True}
        answer = client.post(route, json=asked)
        plain = client.post(route, json=asked | {"ablate": False})
    assert (answer.status_code, plain.status_code) == (200, 200)
    items, unasked = (
        one.json().get("quantitative", one.json())["items"] for one in (answer, plain)
    )
    drives = {key: item["drive"] for key, item in items.items() if item["score"] is not None}
    assert {key: (one["verdict"], one["reason"]) for key, one in drives.items()} == dict.fromkeys(
        ("PHQ8_Sleep", "PHQ8_Appetite"),
        (DriveVerdict.EVIDENCE_DRIVEN, DriveReason.NEEDED),
    )
    assert set(drives["PHQ8_Sleep"]["scores"]) == set(Change)
    assert drives["PHQ8_Sleep"]["scores"]["erased"]["end"] == "not_determinable"
    assert [one["drive"] for one in unasked.values()] == [None] * 8


def test_http_tells_of_a_model_that_scores_what_was_struck_out(tmp_path: Path) -> None:
    """It gives each item with a quote a 1, and quotes whatever stands there."""
    with (
        ModelServerThread(good_replies()) as server,
        client_of(settings_in(tmp_path, **model_at(server.url))) as client,
    ):
        asked = {"transcript_text": TALK, "ablate": True}
        result = client.post("/assess/quantitative", json=asked).json()
        changed = {one.transcript for one in server.requests if one.task == "scoring"}
    again = [one for one in result["attempts"] if one["agent"] == "ablation"]
    assert len(changed) == len(again) + 1 > 6
    drive = result["items"]["PHQ8_Sleep"]["drive"]
    assert (drive["verdict"], drive["reason"]) == ("not_evidence_driven", "meaning_ignored")


@pytest.mark.parametrize("mode", ["few_shot", "random_references"])
def test_changed_transcripts_are_scored_beside_the_same_references(
    tmp_path: Path, mode: str
) -> None:
    """So that only the change differs, whatever a search with the changed words would find."""
    made_references(tmp_path / "refs")
    with (
        ModelServerThread(good_replies()) as server,
        client_of(
            settings_in(tmp_path, **model_at(server.url), **shown_by(tmp_path / "refs"))
        ) as client,
    ):
        body = {"transcript_text": TALK, "ablate": True, "mode": mode}
        result = client.post("/full_pipeline", json=body).json()
        first, *again = [one for one in server.requests if one.task == "scoring"]
    shown = references_in(first.messages[-1].content)
    assert shown["PHQ8_Sleep"]
    assert shown["PHQ8_Appetite"]
    assert len({first.transcript, *(one.transcript for one in again)}) == len(again) + 1 > 6
    assert all(references_in(one.messages[-1].content) == shown for one in again)
    assert result["quantitative"]["items"]["PHQ8_Sleep"]["drive"] is not None
    assert result["mode"] == mode


def test_nothing_is_asked_again_unless_that_is_wanted(tmp_path: Path) -> None:
    result = assessed(tmp_path, ablate=False)
    assert set(drives(result).values()) == {None}
    assert all(attempt.agent != "ablation" for attempt in result.attempts)


def test_spent_budget_leaves_verdicts_open_and_the_assessment_whole(tmp_path: Path) -> None:
    result = assessed(tmp_path, ablate=True, MODEL_MAX_CALLS="24")
    again = [attempt for attempt in result.attempts if attempt.agent == "ablation"]
    assert len(again) < 6
    open_verdict = (DriveVerdict.UNDETERMINED, DriveReason.CALL_FAILED)
    assert set(drives(result).values()) == {open_verdict}
    assert result.status == "complete"


def test_attempts_stand_in_one_order_whichever_call_ends_first(tmp_path: Path) -> None:
    def told(delays: list[float]) -> list[tuple[str, str]]:
        answer = good_replies()
        left = iter(delays)

        def script(request: Request) -> Reply:
            is_changed = len(models.requests) > 9
            return replace(answer(request), delay_seconds=next(left, 0.0) if is_changed else 0.0)

        with ModelServerThread(script) as models:
            result = assessed(tmp_path, ablate=True, **model_at(models.url))
        return [(attempt.agent, attempt.prompt_digest) for attempt in result.attempts]

    slower = [0.05 * step for step in range(1, 7)]
    assert len(set(told(slower))) > 9
    assert told(slower) == told(slower[::-1])


@pytest.mark.parametrize("width", [80, 100])
def test_no_word_of_the_table_is_cut(width: int, tmp_path: Path) -> None:
    talk = TALK + "Interviewer: And your focus?\nParticipant: I have no trouble concentrating.\n"
    shown = Console(file=io.StringIO(), width=width)
    print_report(assessed(tmp_path, ablate=True, talk=talk), shown)
    assert isinstance(shown.file, io.StringIO)
    table = shown.file.getvalue()
    assert "Concentration" in table
    assert "confidence" in table
    assert "…" not in table


def test_run_keeps_the_verdicts_and_shows_them(tmp_path: Path) -> None:
    talks, folder = tmp_path / "talks", tmp_path / "run"
    talks.mkdir()
    (talks / "one.txt").write_text(TALK, "utf-8")

    async def run(*, resume: bool) -> int:
        async with ap.open(settings_in(tmp_path / "state")) as app:
            done = await app.evaluate(talks, folder, ablate=True, resume=resume)
            return done.model_calls

    assert asyncio.run(run(resume=False)) > 6
    assert asyncio.run(run(resume=True)) == 0
    (prediction,) = read_predictions(folder / "predictions.jsonl")
    verdicts = {item.drive.verdict for item in prediction.items.values() if item.drive is not None}
    assert verdicts == {DriveVerdict.EVIDENCE_DRIVEN}
    shown = CliRunner().invoke(app, ["evaluate", "ablate", str(folder), "--json"])
    assert json.loads(shown.output)["counts"]["evidence_driven"] == 2
    table = CliRunner().invoke(app, ["evaluate", "ablate", str(folder)])
    assert "Sleep" in table.output
    with pytest.raises(ap.ArtifactMismatch, match="ablates"):
        asyncio.run(_resumed_without(tmp_path, talks, folder))


async def _resumed_without(tmp_path: Path, talks: Path, folder: Path) -> None:
    async with ap.open(settings_in(tmp_path / "state")) as app:
        await app.evaluate(talks, folder, resume=True)


def test_picture_of_the_page_is_the_one_that_is_drawn() -> None:
    assert picture.PICTURE.read_text("utf-8") == picture.draw(), "make house"
