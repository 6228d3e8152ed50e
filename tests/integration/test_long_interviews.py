"""Interviews longer than a model's window are read in parts: nothing is lost, nothing is told."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES
from tests.fakes.exchange import Reply, Request
from tests.fakes.model_server import ModelServerThread, Script
from tests.fakes.replies import (
    ITEMS,
    danger_text,
    evidence_text,
    good_text,
    qualitative_text,
    scoring_text,
)
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, model_at, settings_with
from tests.integration.soundness import Json, assert_sound

SLEEP, MOOD, TIRED, APPETITE = "PHQ8_Sleep", "PHQ8_Depressed", "PHQ8_Tired", "PHQ8_Appetite"
SAID = {
    SLEEP: "I sleep badly nearly every night",
    MOOD: "I have felt sad and hopeless on most days",
    TIRED: "I am tired nearly every day",
}
DANGER = "I want to end my life"
IN_PARTS = {"ASSESS_LONG": "parts", "PYDANTIC_AI_RETRIES": "0"}
PART_CHARACTERS = 40_000
IN_SMALL_PARTS = {"ASSESS_PART_CHARACTERS": "6000"}
PARTS = 7
"""In so many the long interview is read, and the short one in small parts."""
TALK = "Interviewer: What else was there?\nParticipant: We drove to the coast, number {}.\n"


def long_interview(characters: int = 200_000) -> str:
    """Return an interview with something to find at the start, in the middle and at the end."""
    count = characters // 75
    lines = [TALK.format(number) for number in range(count)]
    for place, words in ((1, SAID[SLEEP]), (count - 2, SAID[TIRED]), (count - 1, DANGER)):
        lines[place] = f"Interviewer: How are you?\nParticipant: {words}.\n"
    # Close enough for one of them to be in an overlap, wherever the parts are cut.
    for place in range(3, count - 3, 3):
        lines[place] = f"Interviewer: And your mood?\nParticipant: {SAID[MOOD]}, day {place}.\n"
    return "".join(lines)


def short_interview() -> str:
    return long_interview(30_000)


def moods_in(transcript: str) -> list[str]:
    """Return what a part says of mood where it begins and where it ends."""
    moods = re.findall(rf"{SAID[MOOD]}, day \d+", transcript)
    return [*moods[:2], *moods[-2:]]


def replies(request: Request) -> Reply:
    """Find what the words that are shown say, part by part."""
    shown = request.messages[-1].content
    said = {item: [words] if words in shown else [] for item, words in SAID.items()}
    match request.task:
        case "evidence":
            found = said | {MOOD: moods_in(request.transcript)}
            return Reply(text=evidence_text({item: found.get(item, []) for item in ITEMS}))
        case "danger":
            return Reply(text=danger_text(*[DANGER] * (DANGER in shown)))
        case "qualitative":
            quotes = [*(words for listed in said.values() for words in listed), "I like cheese"]
            return Reply(text=qualitative_text(quotes, f"About {len(request.transcript)} letters."))
        case "scoring":
            return Reply(text=scoring_text({item: scored(said.get(item, [])) for item in ITEMS}))
    return Reply(text=good_text(request.task, []))


def scored(quotes: list[str]) -> Mapping[str, object]:
    return {
        "evidence": quotes,
        "reason": "The participant says so." if quotes else "Not mentioned.",
        "score": 3 if quotes else "N/A",
        "confidence": 4,
    }


def assessed(
    folder: Path, text: str, script: Script, path: str = "/full_pipeline", **environment: str
) -> tuple[Json, list[Request]]:
    """Return an assessment by HTTP, and what the model was asked for it."""
    with (
        ModelServerThread(script) as models,
        client_of(
            settings_with(folder, **model_at(models.url), **IN_PARTS | environment)
        ) as client,
    ):
        response = client.post(path, json={"transcript_text": text})
        assert response.status_code == 200, response.text
        body: Json = response.json()
        return body, list(models.requests)


def prompts_of(requests: list[Request], *tasks: str) -> list[str]:
    return [one.messages[-1].content for one in requests if one.task in tasks]


def failing(part: int, task: str) -> Script:
    """Give no answer about one part."""

    def script(request: Request) -> Reply:
        is_that = f"Part {part} of" in request.messages[-1].content
        return Reply(status=400) if request.task == task and is_that else replies(request)

    return script


def test_a_long_interview_is_read_whole_in_parts_that_fit(tmp_path: Path) -> None:
    text = long_interview()
    body, requests = assessed(tmp_path, text, replies)
    assert_sound(body, text)
    parts = body["transcript"]["parts"]
    assert (len(text) > 200_000, body["status"], parts) == (True, "complete", PARTS)
    assert max(len(one) for one in prompts_of(requests, "evidence")) < PART_CHARACTERS + 2_000
    assert len(prompts_of(requests, "evidence")) == len(prompts_of(requests, "danger")) == parts
    items = body["quantitative"]["items"]
    assert {key: items[key]["score"] for key in SAID} == dict.fromkeys(SAID, 3)
    assert items[APPETITE]["unknown_reason"] == "no_mention"
    assert body["risk"]["model"]["status"] == "answered"
    assert (body["risk"]["level"], body["risk"]["model"]["sign_count"]) == ("high", 1)
    given = [
        words for one in requests if one.task == "evidence" for words in moods_in(one.transcript)
    ]
    quotes = [one["text"] for one in items[MOOD]["evidence"] if ", day " in one["text"]]
    assert len(given) > len(set(given)), "no quote lies in an overlap"
    assert sorted(quotes) == sorted(set(given))
    assert {"part", "notes"} <= body["prompts"].keys()


def test_what_follows_the_reading_is_shown_notes_and_quotes_alone(tmp_path: Path) -> None:
    body, requests = assessed(tmp_path, short_interview(), replies, **IN_SMALL_PARTS)
    later = prompts_of(requests, "scoring", "meta_review", "judge_accuracy")
    narrative = prompts_of(requests, "qualitative")
    notes, written = narrative[:-1], narrative[-1]
    assert len(notes) == body["transcript"]["parts"]
    for prompt in (*later, written):
        assert "<transcript-" not in prompt
        assert f"Part {PARTS} of {PARTS}\n<assessment>" in prompt
        assert SAID[TIRED] in prompt
        # A quote of the notes that nobody said goes no further.
        assert "I like cheese" not in prompt.partition("Task:")[0]
    left_out = [one for one in body["failures"] if one["code"] == "ungrounded_evidence"]
    assert [one["context"]["part"] for one in left_out] == [*range(1, PARTS + 1)]


def test_what_a_failed_part_may_hold_is_not_told(tmp_path: Path) -> None:
    text = short_interview()
    body, _ = assessed(tmp_path, text, failing(PARTS, "evidence"), **IN_SMALL_PARTS)
    assert_sound(body, text)
    items = body["quantitative"]["items"]
    assert body["status"] == "partial"
    assert (items[SLEEP]["score"], items[MOOD]["score"]) == (3, 3)
    unread = items[APPETITE]
    assert (unread["unknown_reason"], unread["not_examined_cause"]) == (
        "not_examined",
        "reader_failed",
    )
    (failed,) = [one for one in body["failures"] if one["stage"] == "evidence"]
    assert failed["context"]["part"] == PARTS


def test_danger_of_the_other_parts_stands_beside_a_part_that_failed(tmp_path: Path) -> None:
    body, _ = assessed(tmp_path, short_interview(), failing(1, "danger"), **IN_SMALL_PARTS)
    model = body["risk"]["model"]
    assert (body["status"], body["risk"]["level"]) == ("complete", "high")
    assert (model["status"], model["code"], model["sign_count"]) == ("failed", "request_refused", 1)
    assert "by a model" in body["risk"]["statement"]
    assert [one["context"]["part"] for one in body["failures"] if one["stage"] == "danger"] == [1]


def test_notes_that_fail_leave_the_scores(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        return Reply(status=400) if request.task == "qualitative" else replies(request)

    body, requests = assessed(tmp_path, short_interview(), script, **IN_SMALL_PARTS)
    assert (body["status"], body["qualitative"]) == ("partial", None)
    assert body["quantitative"]["items"][SLEEP]["score"] == 3
    assert "There are no notes on this part" in prompts_of(requests, "scoring")[0]


def test_calls_are_allowed_for_each_part(tmp_path: Path) -> None:
    body, _ = assessed(tmp_path, short_interview(), replies, MODEL_MAX_CALLS="9", **IN_SMALL_PARTS)
    assert "call_budget_spent" not in {one["code"] for one in body["failures"]}
    assert (body["status"], len(body["attempts"])) == ("complete", 3 * PARTS + 7)


def test_an_interview_that_fits_is_read_whole(tmp_path: Path) -> None:
    text = short_interview()
    in_parts, _ = assessed(tmp_path, text, replies)
    whole, _ = assessed(tmp_path, text, replies, ASSESS_LONG="whole")
    for body in (in_parts, whole):
        assert body.pop("assessment_id")
        for attempt in body["attempts"]:
            del attempt["duration_ms"], attempt["hosts"]
        del body["hosts"]
    assert in_parts == whole
    assert whole["transcript"]["parts"] == 1


def test_scores_alone_are_made_from_notes_too(tmp_path: Path) -> None:
    body, requests = assessed(
        tmp_path, short_interview(), replies, path="/assess/quantitative", **IN_SMALL_PARTS
    )
    assert body["transcript"]["parts"] == PARTS
    assert len(prompts_of(requests, "qualitative")) == PARTS
    assert body["items"][TIRED]["score"] == 3


@pytest.mark.parametrize("form", ["report", "json"])
def test_the_baseline_says_the_same_of_parts_as_of_the_whole(tmp_path: Path, form: str) -> None:
    arguments = ["assess", str(EXAMPLES / "interview.txt"), *(["--json"] if form == "json" else [])]
    settings = {"ASSESS_LONG": "parts", "ASSESS_PART_CHARACTERS": "4000"}
    whole, parts = run_here(arguments, tmp_path), run_here(arguments, tmp_path, settings)
    assert whole.code == parts.code == 0
    if form == "report":
        assert "models read it in 2 overlapping parts" in " ".join(parts.out.split())
        assert "overlapping" not in whole.out
        return
    found = [json.loads(one.out) for one in (whole, parts)]
    for result in found:
        for name in ("assessment_id", "attempts", "prompts", "transcript"):
            del result[name]
    assert found[0] == found[1]
