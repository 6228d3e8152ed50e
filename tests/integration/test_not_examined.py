"""What is said in a language that is not read is told as such wherever a result is shown."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, settings_with

SLEEP = "Duermo muy mal desde hace tres semanas, me despierto a cada rato."
SPANISH = f"""\
Interviewer: How have you been sleeping?
Participant: {SLEEP}
Interviewer: And your appetite, has it been poor?
Participant: No.
Interviewer: How is your mood?
Participant: A veces pienso que todos estarían mejor sin mí.
"""
MIXED = """\
Interviewer: How have you been sleeping?
Participant: I wake up at four every night and I can't get back to sleep, nearly every day.
Interviewer: Have you felt tired?
Participant: Ich bin seit Wochen müde und habe zu nichts mehr Kraft.
Interviewer: And has it been hard to concentrate?
Participant: Yes, on most days I read the same page again and again.
"""


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with client_of(settings_with(tmp_path)) as opened:
        yield opened


def test_a_transcript_that_is_not_read_has_no_score_and_no_severity(client: httpx.Client) -> None:
    body = client.post("/full_pipeline", json={"transcript_text": SPANISH}).json()

    examined = body["risk"]["examined"]
    assert body["risk"]["level"] == "not_examined"
    assert examined["turns_not_examined"] == [
        {"turn": turn, "language": "es", "is_whole": True} for turn in (1, 3, 5)
    ]
    assert (examined["share"], examined["count_not_examined"]) == (0.0, 3)
    assert "A person who knows the language has to read them" in examined["statement"]
    scores = body["quantitative"]
    assert {item["unknown_reason"] for item in scores["items"].values()} == {"not_examined"}
    assert (scores["total_score"], scores["severity"]) == (None, None)
    review = body["meta_review"]
    assert (review["severity"], review["severity_label"], review["is_mdd"]) == (None, None, None)
    assert "minimal" not in json.dumps(body)
    assert "Spanish was not examined" in body["qualitative"]["overall"]
    assert body["status"] == "complete"


def test_of_a_mixed_transcript_the_examined_turns_count(client: httpx.Client) -> None:
    body = client.post("/full_pipeline", json={"transcript_text": MIXED}).json()

    examined = body["risk"]["examined"]
    assert examined["languages"] == {"en": 29, "de": 11}
    assert examined["turns_not_examined"] == [{"turn": 3, "language": "de", "is_whole": True}]
    items = body["quantitative"]["items"]
    assert items["PHQ8_Sleep"]["score"] == 3
    assert items["PHQ8_Tired"]["unknown_reason"] == "not_examined"
    assert items["PHQ8_Appetite"]["unknown_reason"] == "no_mention"
    assert body["meta_review"]["severity"] is not None


def test_everything_examined_says_so_in_few_words(client: httpx.Client) -> None:
    text = "Participant: I sleep well these days."
    body = client.post("/assess/quantitative", json={"transcript_text": text}).json()

    assert body["risk"]["examined"] == {
        "languages": {"en": 5},
        "share": 1.0,
        "turns_not_examined": [],
        "count_not_examined": 0,
        "statement": "",
    }


def test_a_problem_says_what_was_not_examined(tmp_path: Path) -> None:
    dead = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "MODEL_DEFAULT": "openai-chat:dead"}
    with client_of(settings_with(tmp_path, **dead)) as client:
        problem = client.post("/assess/quantitative", json={"transcript_text": SPANISH}).json()

    assert problem["risk"]["level"] == "not_examined"
    assert problem["risk"]["examined"]["count_not_examined"] == 3
    assert "Duermo" not in json.dumps(problem)


def test_the_command_says_what_a_person_has_to_read(tmp_path: Path) -> None:
    (tmp_path / "interview.txt").write_text(SPANISH, encoding="utf-8")
    shown = " ".join(run_here(["assess", "interview.txt"], tmp_path).out.split())

    assert "Signs of danger: not examined" in shown
    assert "what is said in Spanish" in shown
    assert "Turns: 2 (es), 4 (es), 6 (es); 0% of the words were read" in shown
    assert "Total: none, the participant's words are in a language that is not read" in shown
    assert "minimal" not in shown
