"""Interviews over HTTP, from the first question to the report, through a restart of the server."""

import sqlite3
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.exchange import Reply, Request
from tests.fakes.interview_model import RATIONALE, calling_tools, tool_call, tool_of
from tests.fakes.model_server import ModelServerThread
from tests.fakes.replies import ITEMS
from tests.integration.command import Serving
from tests.integration.running_app import client_at, client_of, model_at, settings_with, waiting
from tests.patience import wait_until

Json = dict[str, Any]
TRANSCRIPT = (
    "Interviewer: How have you been sleeping?\n"
    "Participant: Badly. I wake up at four nearly every night.\n"
    "Interviewer: And your appetite?\n"
    "Participant: No problem there, I eat well.\n"
    "Interviewer: How is your energy?\n"
    "Participant: I feel tired nearly every day.\n"
)
INCIDENT = {
    "title": "The lunch",
    "summary": "Somebody ate the lunch of somebody else.",
    "interviewee_name": "Sam",
    "interviewee_role": "a colleague who was there",
    "confidence_threshold": 40,
}
RESOURCES = "Call 000, the line of this test."


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a server with the baseline."""
    settings = settings_with(tmp_path_factory.mktemp("state"), RISK_CRISIS_RESOURCES=RESOURCES)
    with client_of(settings) as client:
        yield client


def begin(client: httpx.Client, protocol: str = "phq8", **body: object) -> Json:
    response = client.post("/v1/interviews", json={"protocol": protocol, **body})
    assert response.status_code == 201, response.text
    found: Json = response.json()
    return found


def answer_to(interview: Json, **answer: object) -> Json:
    question = interview["question"] or {"id": "q1"}
    return {
        "question_id": question["id"],
        "idempotency_key": str(uuid.uuid4()),
        "version": interview["version"],
        **answer,
    }


def posted(client: httpx.Client, interview: Json, **answer: object) -> httpx.Response:
    path = f"/v1/interviews/{interview['interview_id']}/answers"
    return client.post(path, json=answer_to(interview, **answer))


def answered(client: httpx.Client, interview: Json, **answer: object) -> Json:
    response = posted(client, interview, **answer)
    assert response.status_code == 200, response.text
    found: Json = response.json()
    return found


def option(interview: Json, *, score: int) -> str:
    """Return the option of a frequency; they come in the order of their scores."""
    anchors = [one for one in interview["question"]["options"] if one["kind"] == "anchor"]
    return str(anchors[score]["id"])


def of_kind(interview: Json, kind: str) -> str:
    """Return the first option of a kind."""
    return next(str(one["id"]) for one in interview["question"]["options"] if one["kind"] == kind)


def declining(interview: Json) -> str:
    """Return the option that refuses, or leaves a refusal as it is."""
    is_asked = interview["question"]["purpose"] == "ask"
    return of_kind(interview, "decline" if is_asked else "reject")


def reviewed(client: httpx.Client, interview: Json) -> Json:
    """Leave what was noted as it is, which ends the interview."""
    assert interview["question"]["purpose"] == "review"
    return answered(client, interview, option_id=of_kind(interview, "confirm"))


def read(client: httpx.Client, interview: Json, what: str = "") -> Json:
    response = client.get(f"/v1/interviews/{interview['interview_id']}{what}")
    assert response.status_code == 200, response.text
    found: Json = response.json()
    return found


def retried(client: httpx.Client, interview: Json) -> Json:
    return made(client, interview, "/retry")


def made(client: httpx.Client, interview: Json, what: str) -> Json:
    response = client.post(f"/v1/interviews/{interview['interview_id']}{what}")
    assert response.status_code == 200, response.text
    found: Json = response.json()
    return found


def assert_problem(response: httpx.Response, status: int, code: str, *words: str) -> None:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == code
    for word in words:
        assert word in response.text


def test_eight_frequencies_give_an_assessment_without_any_model_call(client: httpx.Client) -> None:
    interview = begin(client)
    assert interview["spoken"]
    scores = [0, 1, 2, 3, 3, 2, 1, 0]
    asked = []
    for score in scores:
        asked.append(interview["question"]["item"])
        interview = answered(client, interview, option_id=option(interview, score=score))
    assert asked == list(ITEMS)
    assert posted(client, interview, option_id="a99").status_code == 422
    noted = interview["question"]["text"].splitlines()
    assert sum("Nearly every day" in line for line in noted) == 2
    interview = reviewed(client, interview)
    assert (interview["state"], interview["end_reason"]) == ("done", "all_resolved")
    assert interview["question"] is None
    assert interview["operator"]["model_calls"] == 0
    report = read(client, interview, "/report")
    assert [item["score"] for item in report["items"].values()] == scores
    assert {item["source"] for item in report["items"].values()} == {"answer"}
    assert [item["answer_turn"] for item in report["items"].values()] == list(range(1, 9))
    assert report["total"]["total_score"] == sum(scores)
    assert report["total"]["severity_label"] == "moderate"


def test_interview_goes_on_after_the_server_was_started_again(tmp_path: Path) -> None:
    settings = settings_with(tmp_path)
    with client_of(settings) as client:
        interview = begin(client)
        for score in (3, 2, 1):
            interview = answered(client, interview, option_id=option(interview, score=score))
    with client_of(settings) as client:
        again = read(client, interview)
        assert again == interview
        for score in (0, 0, 0, 0, 0):
            again = answered(client, again, option_id=option(again, score=score))
        again = reviewed(client, again)
        assert read(client, again, "/report")["total"]["total_score"] == 6


def test_interview_goes_on_after_the_server_was_killed(tmp_path: Path) -> None:
    with Serving(tmp_path, {}) as serving, client_at(serving.url) as client:
        interview = begin(client)
        interview = answered(client, interview, text="nearly every day")
    with Serving(tmp_path, {}) as serving, client_at(serving.url) as client:
        again = read(client, interview)
        assert again["state_hash"] == interview["state_hash"]
        for _ in range(7):
            again = answered(client, again, option_id=option(again, score=0))
        again = reviewed(client, again)
        assert read(client, again, "/report")["total"]["total_score"] == 3


def test_only_items_that_the_assessment_leaves_unknown_are_asked(client: httpx.Client) -> None:
    assessment = client.post("/full_pipeline", json={"transcript_text": TRANSCRIPT}).json()
    scored = {"PHQ8_Sleep": 3, "PHQ8_Tired": 3, "PHQ8_Appetite": 0}
    interview = begin(client, assessment=assessment)
    asked = []
    while interview["question"]["purpose"] == "ask":
        asked.append(interview["question"]["item"])
        interview = answered(client, interview, option_id=option(interview, score=1))
    interview = reviewed(client, interview)
    assert asked == [item for item in ITEMS if item not in scored]
    items = read(client, interview, "/report")["items"]
    for item, score in scored.items():
        assert (items[item]["score"], items[item]["source"]) == (score, "transcript")
    assert "I feel tired nearly every day" in items["PHQ8_Tired"]["evidence"][0]
    assert (items["PHQ8_Moving"]["score"], items["PHQ8_Moving"]["source"]) == (1, "answer")


def test_transcript_is_assessed_before_the_first_question(client: httpx.Client) -> None:
    interview = begin(client, transcript_text=TRANSCRIPT)
    assert interview["operator"]["items"]["PHQ8_Sleep"]["score"] == 3
    assert interview["question"]["item"] == "PHQ8_NoInterest"
    assert interview["operator"]["transcript_risk"]["level"] == "none"
    assert interview["operator"]["total"]["na_count"] == 5


def test_scores_alone_are_an_assessment_too(client: httpx.Client) -> None:
    scores = client.post("/assess/quantitative", json={"transcript_text": TRANSCRIPT}).json()
    assert begin(client, assessment=scores)["operator"]["total"]["na_count"] == 5


def test_whole_assessment_leaves_nothing_to_ask(client: httpx.Client) -> None:
    items = {item: {"score": 1} for item in ITEMS}
    interview = begin(client, assessment={"items": items})
    assert (interview["state"], interview["question"]) == ("done", None)
    assert read(client, interview, "/report")["total"]["total_score"] == 8


def test_words_score_an_item_and_are_quoted(client: httpx.Client) -> None:
    interview = answered(client, begin(client), text="Nearly every day, I would say.")
    item = interview["operator"]["items"]["PHQ8_NoInterest"]
    assert (item["score"], item["answer_turn"]) == (3, 1)
    quote = item["quote"]
    said = "Nearly every day, I would say."
    assert said[quote["start"] : quote["end"]] == quote["text"]


def test_vague_answer_is_asked_once_more_and_then_left_unknown(client: httpx.Client) -> None:
    first = begin(client)
    clarifying = answered(client, first, text="some")
    assert clarifying["question"]["is_clarifying"]
    assert clarifying["question"]["item"] == first["question"]["item"]
    assert clarifying["question"]["text"] != first["question"]["text"]
    after = answered(client, clarifying, text="it varies")
    assert after["question"]["item"] == "PHQ8_Depressed"
    item = after["operator"]["items"]["PHQ8_NoInterest"]
    assert (item["score"], item["unknown_reason"]) == (None, "ambiguous_answer")


def test_refusal_stays_unknown_and_is_never_a_zero(client: httpx.Client) -> None:
    interview = begin(client)
    while interview["question"]:
        interview = answered(client, interview, option_id=declining(interview))
    assert interview["state"] == "done"
    report = read(client, interview, "/report")
    assert {item["score"] for item in report["items"].values()} == {None}
    assert {item["unknown_reason"] for item in report["items"].values()} == {"declined"}
    assert report["total"]["total_score_max"] == 24


@pytest.mark.parametrize("again", ["no", "Nope.", "I said no", "no thanks", "next"])
def test_no_to_a_question_repeated_after_a_refusal_is_never_a_zero(
    client: httpx.Client, again: str
) -> None:
    interview = begin(client)
    for _ in ITEMS:
        interview = answered(client, interview, option_id=declining(interview))
    while interview["question"]:
        interview = answered(client, interview, text=again)
    items = read(client, interview, "/report")["items"].values()
    assert {(item["score"], item["unknown_reason"]) for item in items} == {(None, "declined")}


def test_correction_without_a_name_is_read_back_and_scores_neither_item(
    client: httpx.Client,
) -> None:
    interview = answered(client, begin(client), option_id="a2")
    interview = answered(client, interview, text="wait, every day")
    first, second = list(ITEMS)[:2]
    items = interview["operator"]["items"]
    assert (items[first]["score"], items[second]["score"]) == (None, None)
    assert interview["question"]["purpose"] == "read_back"
    interview = answered(client, interview, option_id=of_kind(interview, "confirm"))
    items = interview["operator"]["items"]
    assert (items[first]["score"], items[second]["score"]) == (3, None)
    assert (items[first]["answer_turn"], items[first]["confirmed_turn"]) == (2, 3)
    assert items[first]["quote"] == {"text": "every day", "start": 6, "end": 15}
    assert [one["act"] for one in items[first]["said"]] == ["answer", "correction", "confirmation"]
    assert (interview["question"]["item"], interview["question"]["id"]) == (second, "q4")
    interview = answered(client, interview, text="not at all")
    assert interview["operator"]["items"][second]["score"] == 0


def test_danger_holds_the_interview_in_the_same_turn(client: httpx.Client) -> None:
    interview = answered(client, begin(client), text="I want to kill myself.")
    assert (interview["state"], interview["question"]["purpose"]) == ("safety_hold", "last_word")
    assert RESOURCES in interview["spoken"]
    assert "suicid" in "".join(interview["operator"]["danger"]["categories"])
    interview = answered(client, interview, text="nearly every day")
    assert (interview["state"], interview["question"]) == ("safety_hold", None)
    assert_problem(posted(client, interview, text="nearly every day"), 409, "interview_over")
    report = read(client, interview, "/report")
    assert report["danger"]["level"] == "high"
    assert report["danger"]["places"] == [{"turn": 1, "start": 10, "end": 21}]
    assert {item["score"] for item in report["items"].values()} == {None}


def test_answer_that_is_not_read_is_noted_and_holds_nothing_up(client: httpx.Client) -> None:
    interview = answered(client, begin(client), text="Ich möchte nicht mehr leben.")
    interview = answered(client, interview, text="Nein.")
    interview = answered(client, interview, text="I sleep well now, I never have trouble.")
    assert (interview["state"], interview["operator"]["danger"]) == ("awaiting", None)
    noted = [{"turn": 1, "language": "de"}, {"turn": 2, "language": "de"}]
    assert interview["operator"]["not_examined"] == noted
    while interview["question"]:
        interview = answered(client, interview, option_id=declining(interview))
    assert read(client, interview, "/report")["not_examined"] == noted


def test_what_the_person_is_told_in_danger_is_apart_from_the_account(client: httpx.Client) -> None:
    held = answered(client, begin(client), text="I want to kill myself.")
    account = held.pop("operator")
    told = held["spoken"].casefold()
    assert account["danger"]["level"] == "high"
    assert account["items"] is not None
    assert {"danger", "items", "total", "goals", "transcript_risk"}.isdisjoint(held)
    assert "thank you for telling me" in told
    assert not any(word in told for word in ("high", "suicid", "risk", "score", "found by"))


def test_general_words_stand_where_no_crisis_line_is_set(tmp_path: Path) -> None:
    for value in ({}, {"RISK_CRISIS_RESOURCES": " "}):
        with client_of(settings_with(tmp_path, **value)) as client:
            told = answered(client, begin(client), text="I want to kill myself.")["spoken"]
            assert "local emergency number" in told
            assert "RISK_" not in told


def test_interview_can_be_stopped(client: httpx.Client) -> None:
    interview = answered(client, begin(client), stop=True)
    assert (interview["state"], interview["end_reason"]) == ("done", "stopped")
    assert read(client, interview, "/report")["total"]["na_count"] == 8


def test_report_waits_for_the_end(client: httpx.Client) -> None:
    interview = begin(client)
    path = f"/v1/interviews/{interview['interview_id']}/report"
    for response in (client.get(path), client.post(path)):
        assert_problem(response, 409, "interview_unfinished")


def test_same_key_is_one_answer(client: httpx.Client) -> None:
    interview = begin(client)
    chosen = {"option_id": option(interview, score=2), "idempotency_key": "once"}
    first = answered(client, interview, **chosen)
    assert answered(client, interview, **chosen) == first
    assert first["turn"] == 1
    other = {"option_id": option(interview, score=0), "idempotency_key": "once"}
    assert_problem(posted(client, interview, **other), 409, "key_reused", "idempotency_key")


def test_of_answers_at_the_same_time_one_is_taken(client: httpx.Client) -> None:
    interview = begin(client)
    chosen = option(interview, score=2)
    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(lambda _: posted(client, interview, option_id=chosen), range(8)))
    assert sorted(one.status_code for one in responses) == [200] + [409] * 7
    assert {one.json()["code"] for one in responses if one.is_error} == {"version_conflict"}
    assert read(client, interview)["turn"] == 1


def test_answer_after_the_end_is_a_conflict(client: httpx.Client) -> None:
    interview = answered(client, begin(client), stop=True)
    assert_problem(posted(client, interview, option_id="a1"), 409, "interview_over")


REFUSED_ANSWERS: dict[str, tuple[Json, int, str, str]] = {
    "not offered": ({"option_id": "a9"}, 422, "unusable_input", "option_id"),
    "empty": ({"text": ""}, 422, "unusable_input", "text"),
    "blank": ({"text": " \u200b\n"}, 422, "unusable_input", "text"),
    "too long": ({"text": "no " * 1_500}, 422, "unusable_input", "text"),
    "too long by far": ({"text": "no " * 10_000}, 422, "invalid_request", "20000 characters"),
    "neither": ({}, 422, "unusable_input", "option_id"),
    "both": ({"option_id": "a1", "text": "never"}, 422, "unusable_input", "option_id"),
    "another question": ({"option_id": "a1", "question_id": "q7"}, 409, "version_conflict", ""),
    "another version": ({"option_id": "a1", "version": 99}, 409, "version_conflict", "version"),
    "text is a number": ({"text": 3}, 422, "invalid_request", "text has to be"),
    "option is a number": ({"option_id": 3}, 422, "invalid_request", "option_id"),
    "version is text": ({"option_id": "a1", "version": "1"}, 422, "invalid_request", "version"),
    "version is true": ({"option_id": "a1", "version": True}, 422, "invalid_request", "version"),
    "key is null": (
        {"option_id": "a1", "idempotency_key": None},
        422,
        "invalid_request",
        "idempotency_key",
    ),
    "key is empty": (
        {"option_id": "a1", "idempotency_key": ""},
        422,
        "invalid_request",
        "idempotency_key",
    ),
    "key has a line": (
        {"option_id": "a1", "idempotency_key": "a\nb"},
        422,
        "invalid_request",
        "idempotency_key",
    ),
    "unknown field": (
        {"option_id": "a1", "nonesuch": "nonesuch"},
        422,
        "invalid_request",
        "idempotency_key and version; no others",
    ),
}


@pytest.mark.parametrize("case", REFUSED_ANSWERS)
def test_answer_that_cannot_be_taken_is_told_why_and_changes_nothing(
    client: httpx.Client, case: str
) -> None:
    answer, status, code, word = REFUSED_ANSWERS[case]
    interview = begin(client)
    response = posted(client, interview, **answer)
    assert_problem(response, status, code, word)
    assert "nonesuch" not in response.text
    assert read(client, interview) == {
        **interview,
        "operator": {**interview["operator"], "transcript_risk": None},
    }


REFUSED_REQUESTS: dict[str, tuple[object, int, str, str]] = {
    "no protocol": ({}, 422, "invalid_request", "protocol has to be"),
    "unknown protocol": ({"protocol": "nonesuch"}, 422, "unusable_input", "phq8"),
    "a path": ({"protocol": "../phq8"}, 422, "unusable_input", "protocol"),
    "protocol is a list": ({"protocol": ["phq8"]}, 422, "invalid_request", "protocol"),
    "unknown input": (
        {"protocol": "phq8", "inputs": {"nonesuch": "nonesuch"}},
        422,
        "unusable_input",
        "inputs",
    ),
    "inputs are a list": ({"protocol": "phq8", "inputs": []}, 422, "invalid_request", "inputs"),
    "input is a list": (
        {"protocol": "phq8", "inputs": {"nonesuch": []}},
        422,
        "invalid_request",
        "inputs",
    ),
    "two beginnings": (
        {"protocol": "phq8", "assessment": {"items": {}}, "transcript_text": TRANSCRIPT},
        422,
        "unusable_input",
        "not both",
    ),
    "two transcripts": (
        {"protocol": "phq8", "participant_id": 300, "transcript_text": TRANSCRIPT},
        422,
        "unusable_input",
        "not both",
    ),
    "no participant": (
        {"protocol": "phq8", "transcript_text": "Interviewer: hello"},
        422,
        "speakers_unknown",
        "TRANSCRIPT_PARTICIPANT_LABELS",
    ),
    "assessment is empty": (
        {"protocol": "phq8", "assessment": {}},
        422,
        "invalid_request",
        "assessment has to be",
    ),
    "score 4": (
        {"protocol": "phq8", "assessment": {"items": {"PHQ8_Sleep": {"score": 4}}}},
        422,
        "invalid_request",
        "assessment",
    ),
    "score true": (
        {"protocol": "phq8", "assessment": {"items": {"PHQ8_Sleep": {"score": True}}}},
        422,
        "invalid_request",
        "assessment",
    ),
    "score as text": (
        {"protocol": "phq8", "assessment": {"items": {"PHQ8_Sleep": {"score": "2"}}}},
        422,
        "invalid_request",
        "assessment",
    ),
    "unknown item": (
        {"protocol": "phq8", "assessment": {"items": {"nonesuch": {"score": 1}}}},
        422,
        "invalid_request",
        "assessment",
    ),
    "unknown field": (
        {"protocol": "phq8", "nonesuch": 1},
        422,
        "invalid_request",
        "transcript_text, speakers, participant_id, callback_url, ask_all and link; no others",
    ),
    "incident without a model": (
        {"protocol": "incident", "inputs": INCIDENT},
        409,
        "not_available",
        "INTERVIEW_MODEL",
    ),
}


@pytest.mark.parametrize("case", REFUSED_REQUESTS)
def test_interview_that_cannot_begin_is_told_why(client: httpx.Client, case: str) -> None:
    body, status, code, word = REFUSED_REQUESTS[case]
    response = client.post("/v1/interviews", json=body)
    assert_problem(response, status, code, word)
    assert "nonesuch" not in response.text


@pytest.mark.parametrize(
    "interview_id",
    ["unknown", "x" * 32, "..", "..%2Foutside", "%2e%2e", "a%00b", "é" * 32, "x" * 5_000],
)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_interview_that_there_is_not_cannot_be_found(
    client: httpx.Client, method: str, interview_id: str
) -> None:
    response = client.request(method, f"/v1/interviews/{interview_id}")
    assert response.status_code in {404, 405}, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert "outside" not in response.text


def test_answer_to_an_unknown_interview_is_not_found(client: httpx.Client) -> None:
    unknown = begin(client) | {"interview_id": "x" * 32}
    assert_problem(posted(client, unknown, option_id="a1"), 404, "interview_not_found")


def test_ids_cannot_be_guessed(client: httpx.Client) -> None:
    ids = {begin(client)["interview_id"] for _ in range(8)}
    assert len(ids) == 8
    assert all(len(one) >= 32 for one in ids)


def test_deleted_interview_is_gone(client: httpx.Client) -> None:
    interview = begin(client)
    path = f"/v1/interviews/{interview['interview_id']}"
    response = client.delete(path)
    assert (response.status_code, response.content) == (204, b"")
    for gone in (client.get(path), client.get(f"{path}/report"), client.delete(path)):
        assert_problem(gone, 404, "interview_not_found")
    assert_problem(posted(client, interview, option_id="a1"), 404, "interview_not_found")


def test_incident_is_led_by_a_model_to_its_report(tmp_path: Path) -> None:
    with ModelServerThread(calling_tools()) as models:
        settings = settings_with(tmp_path, **model_at(models.url))
        with client_of(settings) as client:
            interview = begin(client, "incident", inputs=INCIDENT)
            assert len(interview["operator"]["goals"]) == 6
            texts = [interview]
            while interview["question"]:
                assert len(interview["question"]["options"]) == 4
                chosen = interview["question"]["options"][0]["id"]
                answer = {"option_id": chosen} if interview["turn"] % 2 else {"text": "I saw it."}
                interview = answered(client, interview, **answer)
                texts.append(interview)
            calls = len(models.requests)
            path = f"/v1/interviews/{interview['interview_id']}/report"
            for _ in range(2):
                assert_problem(client.get(path), 409, "report_not_made", "POST")
            assert read(client, interview) == interview
            assert len(models.requests) == calls
            report = made(client, interview, "/report")
            assert len(models.requests) == calls + 1
            assert (
                made(client, interview, "/report") == report == read(client, interview, "/report")
            )
            assert len(models.requests) == calls + 1
    assert report["state"] == "done"
    assert report["end_reason"] in {"confidence_reached", "all_resolved"}
    assert 1 <= report["analysis"]["verdict"]["drama_rating"] <= 10
    assert report["items"] is None
    assert RATIONALE not in str(texts)


def test_failed_turn_keeps_the_answer_and_is_taken_up_by_a_retry(tmp_path: Path) -> None:
    script = calling_tools()
    with ModelServerThread(script) as models:
        settings = settings_with(tmp_path, PYDANTIC_AI_RETRIES="0", **model_at(models.url))
        with client_of(settings) as client:
            interview = begin(client, "incident", inputs=INCIDENT)
            models.server.script = lambda _: Reply(status=400, raw_body=b"{}")
            failed = posted(client, interview, text="I saw it at nine.")
            assert_problem(failed, 502, "backend_failed", "answers are stored")
            assert failed.json()["interview_id"] == interview["interview_id"]
            waiting = read(client, interview)
            assert (waiting["state"], waiting["failure"]) == ("failed", "request_refused")
            assert waiting["is_resumable"]
            models.server.script = script
            calls = len(models.requests)
            assert read(client, interview) == waiting
            assert len(models.requests) == calls
            again = retried(client, interview)
    assert (again["state"], again["turn"]) == ("awaiting", 1)
    said = [one["text"] for one in again["messages"] if one["speaker"] == "participant"]
    assert said == ["I saw it at nine."]


def test_interview_whose_beginning_failed_can_be_taken_up(tmp_path: Path) -> None:
    with ModelServerThread(lambda _: Reply(status=400, raw_body=b"{}")) as models:
        settings = settings_with(tmp_path, **model_at(models.url))
        with client_of(settings) as client:
            failed = client.post(
                "/v1/interviews", json={"protocol": "incident", "inputs": INCIDENT}
            )
            assert_problem(failed, 502, "backend_failed")
            models.server.script = calling_tools()
            assert retried(client, failed.json())["state"] == "awaiting"


def test_slow_model_is_told_by_its_status(tmp_path: Path) -> None:
    with ModelServerThread(lambda _: Reply(hang=True)) as models:
        settings = settings_with(
            tmp_path, INTERVIEW_TURN_TIMEOUT_SECONDS="0.3", **model_at(models.url)
        )
        with client_of(settings) as client:
            late = client.post("/v1/interviews", json={"protocol": "incident", "inputs": INCIDENT})
    assert_problem(late, 504, "deadline_exceeded")


def test_retrying_what_failed_again_is_told_and_tries_it_once(tmp_path: Path) -> None:
    with ModelServerThread(lambda _: Reply(status=400, raw_body=b"{}")) as models:
        settings = settings_with(tmp_path, **model_at(models.url))
        with client_of(settings) as client:
            failed = client.post(
                "/v1/interviews", json={"protocol": "incident", "inputs": INCIDENT}
            )
            calls = len(models.requests)
            path = f"/v1/interviews/{failed.json()['interview_id']}/retry"
            assert_problem(client.post(path), 502, "backend_failed", "/retry")
            assert len(models.requests) == 2 * calls


def test_retrying_what_waits_for_an_answer_changes_nothing(client: httpx.Client) -> None:
    interview = begin(client)
    assert retried(client, interview) == interview
    path = f"/v1/interviews/{'x' * 32}/retry"
    assert_problem(client.post(path), 404, "interview_not_found")


def _has_requests(models: ModelServerThread, number: int) -> bool:
    return len(models.requests) == number


def test_callers_who_leave_cost_no_further_call_and_leave_no_interview(tmp_path: Path) -> None:
    body = {"protocol": "incident", "inputs": INCIDENT}
    with ModelServerThread(lambda _: Reply(hang=True)) as models:
        settings = settings_with(tmp_path, API_MAX_CONCURRENCY="1", **model_at(models.url))
        with client_of(settings) as client:
            for number in range(1, 6):
                with waiting(client, "/v1/interviews", body):
                    wait_until(partial(_has_requests, models, number))
                _wait_until_ended(client)
            models.server.script = calling_tools()
            assert begin(client, "incident", inputs=INCIDENT)["state"] == "awaiting"
            assert len(models.requests) == 5 + 2
            with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file:
                assert file.execute("SELECT COUNT(*) FROM interviews").fetchone() == (1,)


def _wait_until_ended(client: httpx.Client) -> None:
    """Wait until nothing holds the one place: a request that is let in is refused for its body."""
    wait_until(lambda: client.post("/v1/interviews", json={}).status_code == 422)


def test_who_leaves_an_answer_finds_it_and_can_go_on(tmp_path: Path) -> None:
    with ModelServerThread(calling_tools()) as models:
        settings = settings_with(tmp_path, API_MAX_CONCURRENCY="1", **model_at(models.url))
        with client_of(settings) as client:
            interview = begin(client, "incident", inputs=INCIDENT)
            models.server.script = lambda _: Reply(hang=True)
            calls = len(models.requests)
            path = f"/v1/interviews/{interview['interview_id']}/answers"
            with waiting(client, path, answer_to(interview, text="I saw it.")):
                wait_until(lambda: len(models.requests) == calls + 4)
            _wait_until_ended(client)
            assert read(client, interview)["state"] == "digesting"
            path = f"/v1/interviews/{interview['interview_id']}/retry"
            calls = len(models.requests)
            with waiting(client, path, {}):
                wait_until(lambda: len(models.requests) == calls + 4)
            _wait_until_ended(client)
            assert read(client, interview)["state"] == "digesting"
            assert len(models.requests) == calls + 4
            # What was cut short was paid for, and counts among the calls that may be made.
            assert read(client, interview)["operator"]["model_calls"] == len(models.requests)
            models.server.script = calling_tools()
            again = retried(client, interview)
    assert (again["state"], again["turn"]) == ("awaiting", 1)


def test_who_leaves_while_the_report_is_made_can_have_it_made(tmp_path: Path) -> None:
    with ModelServerThread(calling_tools()) as models:
        settings = settings_with(tmp_path, API_MAX_CONCURRENCY="1", **model_at(models.url))
        with client_of(settings) as client:
            interview = answered(client, begin(client, "incident", inputs=INCIDENT), stop=True)
            models.server.script = lambda _: Reply(hang=True)
            calls = len(models.requests)
            with waiting(client, f"/v1/interviews/{interview['interview_id']}/report", {}):
                wait_until(lambda: len(models.requests) == calls + 1)
            _wait_until_ended(client)
            left = read(client, interview)
            assert (left["state"], left["operator"]["model_calls"]) == ("reporting", calls + 1)
            assert len(models.requests) == calls + 1
            models.server.script = calling_tools()
            assert made(client, interview, "/report")["state"] == "done"


def test_goal_that_there_is_not_is_dropped_counted_and_told_to_the_operator(
    tmp_path: Path,
) -> None:
    script = calling_tools()

    def naming_another(request: Request) -> Reply:
        if request.task != "update_goals":
            return script(request)
        update = {"confidence": 90, "status": "complete", "reasoning": "It was said."}
        found = [update | {"goal_id": "g77"}, update | {"goal_id": "g1"}]
        return tool_call(tool_of(request), {"goal_updates": found})

    with (
        ModelServerThread(naming_another) as models,
        client_of(settings_with(tmp_path, **model_at(models.url))) as client,
    ):
        interview = begin(client, "incident", inputs=INCIDENT)
        interview = answered(client, interview, text="I saw it.")
        assert interview["operator"]["unknown_goal_updates"] == 1
        assert interview["operator"]["goals"][0]["confidence"] == 90
        interview = answered(client, interview, stop=True)
        assert made(client, interview, "/report")["unknown_goal_updates"] == 1


@pytest.mark.parametrize("task", ["update_goals", "generate_question_with_answers"])
def test_rejected_reply_is_sent_back_once_and_the_step_has_failed(
    task: str, tmp_path: Path
) -> None:
    script = calling_tools()

    def breaking(request: Request) -> Reply:
        return tool_call(tool_of(request), {}) if request.task == task else script(request)

    with (
        ModelServerThread(script) as models,
        client_of(settings_with(tmp_path, **model_at(models.url))) as client,
    ):
        interview = begin(client, "incident", inputs=INCIDENT)
        models.server.script = breaking
        models.requests.clear()
        failed = posted(client, interview, option_id="a1")
        assert_problem(failed, 502, "backend_failed", "output_rejected", "/retry")
        assert [one.task for one in models.requests].count(task) == 2
        models.server.script = script
        assert retried(client, interview)["turn"] == 1


def test_interviews_take_a_place_as_assessments_do(tmp_path: Path) -> None:
    body = {"protocol": "incident", "inputs": INCIDENT}
    with ModelServerThread(lambda _: Reply(hang=True)) as models:
        one_place = {"API_MAX_CONCURRENCY": "1", "API_SLOT_WAIT_SECONDS": "0"}
        settings = settings_with(tmp_path, **one_place, **model_at(models.url))
        with client_of(settings) as client:
            held = begin(client)
            with waiting(client, "/v1/interviews", body):
                wait_until(lambda: len(models.requests) == 1)
                assert_problem(client.post("/v1/interviews", content=b"{"), 503, "busy")
                assert_problem(posted(client, held, option_id="a1"), 503, "busy")
                assert read(client, held)["state"] == "awaiting"


def test_no_more_interviews_are_begun_than_may_be_kept(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path, INTERVIEW_MAX_STORED="1")) as client:
        first = begin(client)
        refused = client.post("/v1/interviews", json={"protocol": "phq8"})
        assert_problem(refused, 507, "interviews_full")
        assert "INTERVIEW_MAX_STORED" not in refused.text
        assert answered(client, first, option_id="a1")["turn"] == 1
        client.delete(f"/v1/interviews/{first['interview_id']}")
        begin(client)


def test_expired_interview_is_not_found_and_removed_at_the_next_start(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, STORE_GRACE_DAYS="0")
    with client_of(settings) as client:
        interview = begin(client)
        with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file, file:
            file.execute("UPDATE interviews SET kept_from = '2020-01-01'")
        response = client.get(f"/v1/interviews/{interview['interview_id']}")
        assert_problem(response, 404, "interview_not_found")
        assert_problem(posted(client, interview, option_id="a1"), 404, "interview_not_found")
    with client_of(settings), closing(sqlite3.connect(tmp_path / "store.sqlite")) as file:
        wait_until(lambda: file.execute("SELECT COUNT(*) FROM interviews").fetchone() == (0,))


def test_store_that_another_program_holds_keeps_no_assessment_waiting(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path)) as client, ThreadPoolExecutor(40) as pool:
        interview = begin(client)
        with closing(sqlite3.connect(tmp_path / "store.sqlite")) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = [pool.submit(posted, client, interview, option_id="a1") for _ in range(40)]
            assessed = client.post("/full_pipeline", json={"transcript_text": TRANSCRIPT})
            assert assessed.is_success
            assert not any(one.done() for one in waiting)
            other.rollback()
        assert sum(one.result().status_code == 200 for one in waiting) == 1


def test_key_that_others_can_read_is_told_in_the_log_alone(tmp_path: Path) -> None:
    with Serving(tmp_path, {}) as serving, client_at(serving.url) as client:
        begin(client)
    key = tmp_path / "state" / "records.key"
    key.chmod(0o644)
    with Serving(tmp_path, {}) as serving:
        with client_at(serving.url) as client:
            response = client.post("/v1/interviews", json={"protocol": "phq8"})
            assert_problem(response, 503, "assessments_unavailable")
            assert "records.key" not in response.text
        done = serving.stop()
    assert "chmod 600" in done.err
    assert key.read_text() not in done.err


def test_server_that_cannot_keep_interviews_still_assesses(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").mkdir()
    with client_of(settings_with(tmp_path)) as client:
        response = client.post("/v1/interviews", json={"protocol": "phq8"})
        assert_problem(response, 503, "assessments_unavailable")
        assert str(tmp_path) not in response.text
        assert client.post("/full_pipeline", json={"transcript_text": TRANSCRIPT}).is_success


def test_server_that_holds_no_interview_makes_no_file(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path)) as client:
        client.get("/healthz")
    assert not list(tmp_path.glob("*.sqlite*"))
