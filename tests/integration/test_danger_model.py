"""A model reads for danger beside the rules: it can add to what they find, and nothing more."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.fakes.faults import FAULTS, fault, first_attempts, only_for
from tests.fakes.model_server import ModelServerThread, Reply, Request, Script, good_replies
from tests.fakes.replies import danger_text
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, model_at, settings_with
from tests.integration.soundness import Json
from tests.patience import wait_until

HINT = "I have been out to the old quarry again to count the steps to the edge"
PLAIN = "I keep thinking about killing myself"
INTERVIEW = (
    "Interviewer: Would you ever walk over the viaduct at night?\n"
    f"Participant: {HINT}.\n"
    "Interviewer: And your mood?\n"
    "Participant: I feel sad nearly every day.\n"
)
ALARMING = f"{INTERVIEW}Participant: {PLAIN}.\n"
ROUTES = ("/full_pipeline", "/assess/quantitative", "/assess/qualitative")


def saying(text: str) -> Script:
    """Answer the danger agent with a text, and everything else well."""
    return only_for(["danger"], lambda _: Reply(text=text))


@contextmanager
def assessing(tmp_path: Path, script: Script, **environment: str) -> Iterator[httpx.Client]:
    with (
        ModelServerThread(script) as models,
        client_of(settings_with(tmp_path, **model_at(models.url) | environment)) as client,
    ):
        yield client


def assessed(
    tmp_path: Path,
    script: Script,
    text: str = INTERVIEW,
    *,
    route: str = "/full_pipeline",
    **environment: str,
) -> Json:
    with assessing(tmp_path, script, **environment) as client:
        response = client.post(route, json={"transcript_text": text})
    assert response.status_code == 200, response.text
    body: Json = response.json()
    return body


@pytest.mark.parametrize("route", ROUTES)
def test_a_hint_that_no_phrase_holds_is_found_with_its_place(tmp_path: Path, route: str) -> None:
    body = assessed(tmp_path, saying(danger_text(HINT, kind="preparation")), route=route)
    (signal,) = body["risk"]["signals"]
    assert INTERVIEW[signal["start"] : signal["end"]] == signal["text"] == HINT
    assert (signal["kind"], signal["source"]) == ("preparation", "model")
    assert body["risk"]["level"] == "high"
    assert body["risk"]["model"] == {
        "status": "answered",
        "code": None,
        "sign_count": 1,
        "refused_count": 0,
        "completed_count": 0,
    }
    assert "and by a model" in body["risk"]["statement"]
    assert "A person has to read" in body["risk"]["statement"]
    assert body["status"] == "complete"
    assert body["models"]["danger"]["answered_by"] == ["openai-chat:fake-model"]
    assert [one["agent"] for one in body["attempts"]].count("danger") == 1
    assert "danger" in body["prompts"]


def test_invented_and_interviewers_words_are_counted_and_never_shown(tmp_path: Path) -> None:
    invented = danger_text("I bought the rope on Friday", "walk over the viaduct at night")
    body = assessed(tmp_path, saying(invented))
    assert body["risk"]["signals"] == []
    assert (body["risk"]["level"], body["risk"]["model"]["refused_count"]) == ("none", 2)
    (failure,) = body["failures"]
    assert (failure["stage"], failure["code"]) == ("danger", "ungrounded_evidence")
    assert body["status"] == "complete"


def test_a_model_that_sees_no_danger_lowers_nothing(tmp_path: Path) -> None:
    alone = assessed(tmp_path, good_replies(), ALARMING, DANGER_MODEL="off")["risk"]
    for text in (danger_text(), danger_text(PLAIN, polarity="denied", level="low")):
        beside = assessed(tmp_path, saying(text), ALARMING)["risk"]
        assert beside["signals"] == alone["signals"]
        assert (beside["level"], beside["signal_count"]) == ("high", alone["signal_count"])


@pytest.mark.parametrize(
    ("name", "code"),
    [("prose", "output_rejected"), ("status_500", "backend_error"), ("reset", "broken_off")],
)
def test_a_model_that_fails_is_said_and_the_rules_stand(
    tmp_path: Path, name: str, code: str
) -> None:
    script = fault(name, tasks=["danger"])
    waits = {"PYDANTIC_AI_RETRIES": "1", "MODEL_BUSY_WAITS_SECONDS": "0,0.01"}
    body = assessed(tmp_path, script, ALARMING, **waits)
    assert body["risk"]["model"]["status"] == "failed"
    assert body["risk"]["model"]["code"] == code
    assert body["risk"]["level"] == "high"
    assert "and by a model" not in body["risk"]["statement"]
    (failure,) = body["failures"]
    assert (failure["stage"], failure["code"]) == ("danger", code)
    assert body["status"] == "complete"


def test_a_bad_reply_is_asked_again_and_then_by_plain_chat(tmp_path: Path) -> None:
    good = saying(danger_text(HINT))
    script = only_for(["danger"], first_attempts(2, FAULTS["prose"], then=good), otherwise=good)
    body = assessed(tmp_path, script, PYDANTIC_AI_RETRIES="1")
    made = [one for one in body["attempts"] if one["agent"] == "danger"]
    assert [(one["path"], one["outcome"]) for one in made] == [
        ("agent", "rejected"),
        ("agent", "rejected"),
        ("plain", "accepted"),
    ]
    assert len(body["risk"]["signals"]) == 1


@pytest.mark.parametrize("route", ROUTES)
def test_a_sign_with_an_odd_field_is_found_with_the_others(tmp_path: Path, route: str) -> None:
    signs = json.loads(danger_text(HINT, "I feel sad nearly every day"))["signs"]
    signs[0] |= {"kind": "quarry", "level": "9"}
    body = assessed(tmp_path, saying(json.dumps({"signs": signs})), route=route)
    assert body["risk"]["level"] == "high"
    found = [(one["text"], one["kind"], one["category"]) for one in body["risk"]["signals"]]
    assert found == [
        (HINT, "unspecified", "unspecified"),
        ("I feel sad nearly every day", "intent", "suicidal_ideation"),
    ]
    assert body["risk"]["model"]["status"] == "answered"
    assert body["risk"]["model"]["completed_count"] == 1
    assert "and by a model" in body["risk"]["statement"]
    (failure,) = body["failures"]
    assert (failure["stage"], failure["category"]) == ("danger", "partial_reply")
    assert failure["context"]["model"] == "openai-chat:fake-model"
    assert body["status"] == "complete"


def test_signs_that_were_read_stand_where_the_next_try_takes_too_long(tmp_path: Path) -> None:
    odd = saying(danger_text(HINT, level="9"))
    hang = fault("hang", tasks=["danger"])
    script = only_for(["danger"], lambda one: (odd if one.attempt == 1 else hang)(one))
    # On a busy machine what does not hang may be late too: then there is more time.
    for seconds in ("3", "15", "60"):
        body = assessed(tmp_path, script, API_REQUEST_TIMEOUT_SECONDS=seconds)
        if body["risk"]["model"]["completed_count"]:
            break
    (signal,) = body["risk"]["signals"]
    assert (signal["text"], signal["level"]) == (HINT, "high")
    assert body["risk"]["model"]["completed_count"] == 1
    assert ("danger", "deadline_exceeded") in {
        (one["stage"], one["code"]) for one in body["failures"]
    }


def test_off_asks_nobody_and_says_so(tmp_path: Path) -> None:
    body = assessed(tmp_path, saying(danger_text(HINT)), DANGER_MODEL="off")
    assert body["risk"]["model"]["status"] == "off"
    assert body["risk"]["signals"] == []
    assert "danger" not in {one["agent"] for one in body["attempts"]} | set(body["models"])


def test_a_problem_before_any_model_was_asked_says_nothing_of_one(tmp_path: Path) -> None:
    few_shot = {"transcript_text": ALARMING, "mode": "few_shot"}
    with assessing(tmp_path, good_replies()) as client:
        risk = client.post("/full_pipeline", json=few_shot).json()["risk"]
    assert (risk["level"], "model" in risk) == ("high", False)


def test_the_baseline_asks_nobody(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path)) as client:
        body = client.post("/full_pipeline", json={"transcript_text": INTERVIEW}).json()
    assert body["risk"]["model"]["status"] == "off"


def test_it_can_be_another_model_than_the_others(tmp_path: Path) -> None:
    with ModelServerThread(saying(danger_text(HINT))) as models:
        environment = model_at(models.url) | {"DANGER_MODEL": "openai-chat:watchful"}
        with client_of(settings_with(tmp_path, **environment | {"MODEL_DEFAULT": "baseline"})) as c:
            body = c.post("/full_pipeline", json={"transcript_text": INTERVIEW}).json()
            health = c.get("/health").json()
        asked = {(request.body["model"], request.task) for request in models.requests}
    assert asked == {("watchful", "danger")}
    assert body["risk"]["level"] == "high"
    assert "openai-chat:watchful" in health["models"]


def test_nothing_but_the_result_waits_for_it(tmp_path: Path) -> None:
    # On a busy machine what does not hang may be late too: then there is more time.
    for seconds in ("3", "15", "60"):
        with ModelServerThread(fault("hang", tasks=["danger"])) as models:
            environment = model_at(models.url) | {"API_REQUEST_TIMEOUT_SECONDS": seconds}
            with client_of(settings_with(tmp_path, **environment)) as client:
                body = client.post("/full_pipeline", json={"transcript_text": ALARMING}).json()
            wait_until(lambda: models.server.in_flight == 0)
        if body.get("status") == "complete":
            break
    assert body["meta_review"] is not None
    assert body["status"] == "complete"
    assert body["risk"]["model"] == {
        "status": "failed",
        "code": "deadline_exceeded",
        "sign_count": 0,
        "refused_count": 0,
        "completed_count": 0,
    }
    assert body["risk"]["level"] == "high"
    (failure,) = body["failures"]
    assert (failure["stage"], failure["code"]) == ("danger", "deadline_exceeded")
    (attempt,) = [one for one in body["attempts"] if one["agent"] == "danger"]
    assert attempt["code"] == "deadline_exceeded"


def test_its_call_is_made_however_few_there_are(tmp_path: Path) -> None:
    body = assessed(tmp_path, saying(danger_text(HINT)), MODEL_MAX_CALLS="3")
    assert body["risk"]["model"]["status"] == "answered"
    assert body["quantitative"]["accepted"]


def test_what_it_found_is_in_the_problem_when_nothing_else_finished(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        return Reply(text=danger_text(HINT)) if request.task == "danger" else prose(request)

    prose = FAULTS["prose"]
    with assessing(tmp_path, script, PYDANTIC_AI_RETRIES="0") as client:
        response = client.post("/full_pipeline", json={"transcript_text": INTERVIEW})
    assert response.status_code == 502
    risk = response.json()["risk"]
    (signal,) = risk["signals"]
    assert (risk["level"], signal["source"], signal["turn"]) == ("high", "model", 1)
    assert "text" not in signal
    assert risk["model"]["status"] == "answered"
    assert HINT not in response.text


def test_the_report_of_the_command_tells_what_a_model_found(tmp_path: Path) -> None:
    with ModelServerThread(saying(danger_text(HINT, "I bought a rope"))) as models:
        done = run_here(["assess", "-"], tmp_path, model_at(models.url), stdin=ALARMING.encode())
    assert done.code == 0, done.err
    words = " ".join(done.out.split())
    assert "intent, affirmed, found by a model; turn 2" in words
    assert "left out: 1 signs of a model in words that were not said" in words
    assert "danger: openai-chat:fake-model" in words
    assert words.count("found by a model") == 1


def test_the_report_of_the_command_says_that_it_failed(tmp_path: Path) -> None:
    with ModelServerThread(fault("status_400", tasks=["danger"])) as models:
        done = run_here(["assess", "-"], tmp_path, model_at(models.url), stdin=ALARMING.encode())
    assert done.code == 0, done.err
    assert "The model that reads for danger failed (request_refused)" in done.out


def test_an_evaluation_uses_it_and_keeps_its_calls(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "300.txt").write_text(INTERVIEW, "utf-8")
    with ModelServerThread(saying(danger_text(HINT))) as models:
        settings = model_at(models.url)
        done = run_here(["evaluate", "run", "texts", "--out", "run"], tmp_path, settings)
        assert done.code == 0, done.err
        assert "9 model calls made now" in done.err
        other = run_here(
            ["evaluate", "run", "texts", "--out", "run", "--resume"],
            tmp_path,
            settings | {"DANGER_MODEL": "off"},
        )
    prediction = json.loads((tmp_path / "run" / "predictions.jsonl").read_text("utf-8"))
    assert prediction["risk_level"] == "high"
    assert "danger" in json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))["models"]
    assert other.code == 2
    assert "models" in other.err
    again = run_here(["revalidate", "run", "--step", "danger"], tmp_path, settings)
    assert again.code == 0, again.err
    exported = run_here(["export", "run", "--out", "out"], tmp_path, settings)
    assert exported.code == 0, exported.err
    (line,) = (tmp_path / "out" / "danger_validated.jsonl").read_text("utf-8").splitlines()
    assert HINT in line


@pytest.mark.parametrize(
    ("chosen", "state"),
    [
        pytest.param({}, "safety_hold", id="the_default"),
        pytest.param({"DANGER_MODEL": "off"}, "awaiting", id="off"),
        pytest.param(
            {"MODEL_DEFAULT": "baseline", "INTERVIEW_MODEL": "openai-chat:talks"},
            "safety_hold",
            id="the_interviews",
        ),
        pytest.param(
            {"MODEL_DEFAULT": "baseline", "DANGER_MODEL": "openai-chat:watchful"},
            "safety_hold",
            id="its_own",
        ),
        pytest.param({"MODEL_DEFAULT": "baseline"}, "awaiting", id="the_baseline"),
    ],
)
def test_a_free_answer_is_read_before_the_interview_goes_on(
    tmp_path: Path, chosen: dict[str, str], state: str
) -> None:
    with assessing(tmp_path, saying(danger_text(HINT)), **chosen) as client:
        begun = client.post("/v1/interviews", json={"protocol": "phq8"}).json()
        answer = {"question_id": "q1", "idempotency_key": "k1", "version": begun["version"]}
        path = f"/v1/interviews/{begun['interview_id']}"
        found = client.post(f"{path}/answers", json=answer | {"text": f"{HINT}."}).json()
    assert found["state"] == state
    operator = found["operator"]
    if state == "awaiting":
        assert (operator["danger"], operator["danger_readings"]) == (None, [])
        return
    assert operator["danger"]["source"] == "model"
    assert "and by a model" in operator["danger"]["statement"]
    assert operator["danger_readings"] == [{"turn": 1, "status": "answered", "code": None}]
    # A model of the interview is asked as well what the message says; that of danger alone is not.
    assert operator["model_calls"] == (1 if "DANGER_MODEL" in chosen else 2)
    assert not any(word in found["spoken"] for word in ("high", "suicid", "model", "intent"))


def test_an_interview_goes_on_where_the_model_fails_and_the_operator_is_told(
    tmp_path: Path,
) -> None:
    with assessing(tmp_path, fault("status_400", tasks=["danger"])) as client:
        begun = client.post("/v1/interviews", json={"protocol": "phq8"}).json()
        answer = {"question_id": "q1", "idempotency_key": "k1", "version": begun["version"]}
        path = f"/v1/interviews/{begun['interview_id']}"
        found = client.post(f"{path}/answers", json=answer | {"text": f"{HINT}."}).json()
    assert found["state"] == "awaiting"
    (reading,) = found["operator"]["danger_readings"]
    assert reading == {"turn": 1, "status": "failed", "code": "request_refused"}
