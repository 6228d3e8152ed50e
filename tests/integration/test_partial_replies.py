"""What is valid of a reply stands once no other is accepted, and what is not is named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.faults import only_for
from tests.fakes.model_server import ModelServerThread, Reply, Script
from tests.fakes.replies import (
    ITEMS,
    judge_text,
    meta_review_text,
    participant_quotes,
    scoring_answer,
    scoring_text,
)
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, model_at, settings_with
from tests.integration.soundness import Json, assert_sound

INTERVIEW = (
    "Interviewer: Do you get enough rest?\n"
    "Participant: I feel tired nearly every day.\n"
    "Interviewer: And at night?\n"
    "Participant: I sleep badly, I wake up at four every night.\n"
)
TIRED, SLEEP = "PHQ8_Tired", "PHQ8_Sleep"
ONE_TRY = {"PYDANTIC_AI_RETRIES": "0"}


def scoring(change: Callable[[dict[str, Any]], object]) -> Script:
    """Answer the scoring agent with a changed reply, and everything else well."""

    def script(_: object) -> Reply:
        answer: dict[str, Any] = scoring_answer(participant_quotes(INTERVIEW))
        change(answer)
        return Reply(text=scoring_text(answer))

    return only_for(["scoring"], script)


def assessed(tmp_path: Path, script: Script, path: str = "/full_pipeline") -> Json:
    with (
        ModelServerThread(script) as models,
        client_of(settings_with(tmp_path, **model_at(models.url) | ONE_TRY)) as client,
    ):
        response = client.post(path, json={"transcript_text": INTERVIEW})
    assert response.status_code == 200, response.text
    body: Json = response.json()
    return body


def test_item_out_of_range_is_unknown_and_the_others_are_scored(tmp_path: Path) -> None:
    body = assessed(tmp_path, scoring(lambda answer: answer[TIRED].update(score=7)))
    items = body["quantitative"]["items"]
    assert (items[TIRED]["score"], items[TIRED]["unknown_reason"]) == (None, "scoring_failed")
    assert items[TIRED]["warnings"] == ["score_not_read"]
    assert items[TIRED]["evidence"]
    assert items[SLEEP]["score"] == 1
    assert {one["unknown_reason"] for name, one in items.items() if name not in (TIRED, SLEEP)} == {
        "no_mention"
    }
    (failure,) = body["failures"]
    assert (failure["category"], failure["stage"]) == ("partial_reply", "quantitative")
    assert (failure["context"]["unread_count"], failure["context"]["lost_count"]) == (1, 1)
    assert (body["status"], body["quantitative"]["accepted"]) == ("partial", False)
    assert body["meta_review"]["severity"] == 2
    assert_sound(body, INTERVIEW)


def test_confidence_that_is_no_number_costs_nothing_but_itself(tmp_path: Path) -> None:
    def change(answer: dict[str, Any]) -> None:
        for item in answer.values():
            item["confidence"] = "high"

    body = assessed(tmp_path, scoring(change))
    items = body["quantitative"]["items"]
    assert (items[TIRED]["score"], items[SLEEP]["score"]) == (1, 1)
    assert {one["confidence"] for one in items.values()} == {None}
    assert {tuple(one["warnings"]) for one in items.values()} == {("confidence_not_read",)}
    assert (body["status"], body["quantitative"]["accepted"]) == ("complete", True)
    (failure,) = body["failures"]
    assert (failure["severity"], failure["context"]["unread_count"]) == ("warning", 8)
    assert {one["outcome"] for one in body["attempts"] if one["agent"] == "quantitative"} == {
        "rejected"
    }
    assert_sound(body, INTERVIEW)


def test_quotes_that_are_no_list_are_a_violation_of_their_item(tmp_path: Path) -> None:
    def change(answer: dict[str, Any]) -> None:
        answer[TIRED]["evidence"] = "I feel tired nearly every day."

    body = assessed(tmp_path, scoring(change), path="/assess/quantitative")
    assert body["items"][TIRED]["unknown_reason"] == "scoring_failed"
    assert body["items"][TIRED]["warnings"] == ["evidence_not_read"]
    assert body["items"][SLEEP]["score"] == 1
    assert not any(one["coercions"] for one in body["attempts"])


def test_score_of_the_judge_and_severity_stand_without_an_explanation(tmp_path: Path) -> None:
    script = only_for(
        ["judge_accuracy"],
        lambda _: Reply(text=judge_text("4", "")),
        otherwise=only_for(["meta_review"], lambda _: Reply(text=meta_review_text("3", ""))),
    )
    body = assessed(tmp_path, script)
    accuracy = body["evaluation"]["accuracy"]
    assert accuracy == {"score": 4, "explanation": "", "warnings": ["explanation_not_read"]}
    assert body["evaluation"]["coherence"]["warnings"] == []
    assert (body["meta_review"]["severity"], body["meta_review"]["explanation"]) == (3, "")
    assert body["meta_review"]["warnings"] == ["explanation_not_read"]
    assert {one["stage"] for one in body["failures"]} == {"judge_accuracy", "meta_review"}
    assert body["status"] == "complete"
    assert_sound(body, INTERVIEW)


@pytest.mark.parametrize("unread", ["score", "confidence"])
def test_command_shows_what_stands_and_certifies_it(tmp_path: Path, unread: str) -> None:
    interview, certificate = tmp_path / "interview.txt", tmp_path / "certificate.json"
    interview.write_text(INTERVIEW, "utf-8")
    with ModelServerThread(scoring(lambda answer: answer[TIRED].update({unread: 9}))) as models:
        done = run_here(
            ["assess", str(interview), "--certificate", str(certificate)],
            tmp_path,
            model_at(models.url) | ONE_TRY,
        )
    assert done.code == (1 if unread == "score" else 0), done.err
    known, unknown = (1, 7) if unread == "score" else (2, 6)
    assert f"Total: between {known} and {known + 3 * unknown} of 24" in done.out
    assert ("scoring" in done.out.split()) == (unread == "score")
    assert "what could be read of a refused one stands" in " ".join(done.out.split())
    held = run_here(["verify", str(interview), str(certificate)], tmp_path)
    assert held.code == 0, held.out


def test_run_keeps_the_items_that_were_read(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "300.txt").write_text(INTERVIEW, "utf-8")
    with ModelServerThread(scoring(lambda answer: answer.pop(ITEMS[-1]))) as models:
        settings = model_at(models.url) | ONE_TRY
        done = run_here(["evaluate", "run", "texts", "--out", "run"], tmp_path, settings)
    assert "0 of 1 units complete" in done.err
    prediction = json.loads((tmp_path / "run" / "predictions.jsonl").read_text("utf-8"))
    assert prediction["items"][SLEEP]["score"] == 1
    assert prediction["items"][ITEMS[-1]]["unknown_reason"] == "scoring_failed"
    assert prediction["status"] == "partial"
    again = run_here(["revalidate", "run"], tmp_path, settings)
    assert again.code == 0, again.err
    after = json.loads((tmp_path / "run" / "predictions.jsonl").read_text("utf-8"))
    assert after["items"] == prediction["items"]
