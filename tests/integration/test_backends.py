"""The whole assessment against model servers, over both of the wires that we speak."""

import asyncio
import atexit
import dataclasses
import socket
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from ai_psychiatrist.domain.assessment import Assessment, AssessmentStatus
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import bootstrap
from tests.fakes.exchange import Wire
from tests.fakes.faults import first_attempts, only_for
from tests.fakes.model_server import (
    ModelServer,
    ModelServerThread,
    Reply,
    Request,
    Script,
    fault,
    good_replies,
)
from tests.fakes.replies import JUDGE_TASKS, good_text, judge_text, participant_quotes
from tests.integration.running_app import (
    client_of,
    model_at,
    settings_with,
)
from tests.integration.soundness import Json, assert_sound
from tests.patience import wait_until

INTERVIEW = (
    "Interviewer: How have you been sleeping?\n"
    "Participant: Badly. I wake up at four nearly every night.\n"
    "Interviewer: How is your energy?\n"
    "Participant: I feel tired all the time.\n"
    "Interviewer: And your mood?\n"
    "Participant: I have felt down on most days.\n"
)
ALL_TASKS = {"qualitative", "evidence", "scoring", "meta_review", "danger", *JUDGE_TASKS}
WIRES: tuple[Wire, ...] = ("openai", "ollama")
both_wires = pytest.mark.parametrize("wire", WIRES)
both_ways = pytest.mark.parametrize(("wire", "enabled"), [("openai", "true"), ("ollama", "false")])
"""Through Pydantic AI and by plain calls; every wire both ways is tried by `nine_calls`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """What one assessment gave, and what the server saw of it."""

    result: Json
    requests: list[Request]
    max_in_flight: int

    def count(self, task: str) -> int:
        """Return how often a task was asked."""
        return sum(request.task == task for request in self.requests)


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    return tmp_path


Assess = Callable[..., Run]


@pytest.fixture
def assess(state_dir: Path) -> Assess:
    """Return a function that assesses the interview with a scripted model server."""

    def run(
        script: Script | None = None,
        *,
        wire: Wire = "openai",
        delay_seconds: float = 0.0,
        **environment: str,
    ) -> Run:
        async def assessed() -> Run:
            async with ModelServer(script, delay_seconds=delay_seconds) as server:
                settings = settings_with(state_dir, **model_at(server.url, wire) | environment)
                async with bootstrap(settings) as services:
                    result = await services.assessor.assess(parse_transcript(INTERVIEW))
                return Run(
                    result=result.model_dump(),
                    requests=list(server.requests),
                    max_in_flight=server.max_in_flight,
                )

        return asyncio.run(assessed())

    return run


@cache
def closed_port() -> int:
    """Return a port at which nothing listens, and which no other program can take meanwhile."""
    _HELD.bind(("127.0.0.1", 0))
    port = _HELD.getsockname()[1]
    assert isinstance(port, int)
    return port


_HELD: Final = socket.socket()
atexit.register(_HELD.close)


def paths(run: Run) -> set[str]:
    return {attempt["path"] for attempt in run.result["attempts"]}


def codes(run: Run, agent: str | None = None) -> Counter[str]:
    return Counter(
        attempt["code"]
        for attempt in run.result["attempts"]
        if attempt["code"] and agent in (None, attempt["agent"])
    )


@both_wires
@pytest.mark.parametrize("enabled", ["true", "false"])
def test_an_assessment_is_nine_calls(assess: Assess, wire: Wire, enabled: str) -> None:
    run = assess(wire=wire, PYDANTIC_AI_ENABLED=enabled)
    assert run.result["status"] == "complete"
    assert Counter(request.task for request in run.requests) == dict.fromkeys(ALL_TASKS, 1)
    assert len(run.result["attempts"]) == 9
    assert run.max_in_flight <= 6
    assert_sound(run.result, INTERVIEW)
    assert {request.wire for request in run.requests} == {wire}
    if enabled == "true":
        assert paths(run) == {"agent"}
        sampling = [request.body.get("options", request.body) for request in run.requests]
        assert {(one["temperature"]) for one in sampling} == {0}  # type: ignore[index]
        assert_all_begin_alike(run)
    else:
        assert paths(run) == {"plain"}
        assert not any("format" in request.body for request in run.requests)
        assert all(request.body["model"] == "fake-model" for request in run.requests)


@both_ways
@pytest.mark.parametrize(
    ("hanging", "in_flight"),
    [
        pytest.param({"qualitative", "evidence"}, 2, id="findings beside evidence"),
        pytest.param({"scoring", *JUDGE_TASKS}, 5, id="judge beside scoring"),
        pytest.param({"meta_review"}, 1, id="meta-review last"),
    ],
)
def test_calls_that_do_not_need_one_another_are_made_at_once(
    state_dir: Path, wire: Wire, enabled: str, hanging: set[str], in_flight: int
) -> None:
    async def waiting() -> set[str]:
        async with ModelServer(fault("hang", tasks=hanging)) as server:
            environment = model_at(server.url, wire) | {"PYDANTIC_AI_ENABLED": enabled}
            async with bootstrap(settings_with(state_dir, **environment)) as services:
                run = asyncio.create_task(services.assessor.assess(parse_transcript(INTERVIEW)))
                await asyncio.to_thread(
                    wait_until,
                    lambda: server.in_flight == in_flight and _all_asked(server, hanging),
                )
                run.cancel()
                await asyncio.gather(run, return_exceptions=True)
            return {request.task for request in server.requests}

    asked = asyncio.run(waiting())
    assert hanging <= asked
    assert ("meta_review" in asked) == ("meta_review" in hanging)


def _all_asked(server: ModelServer, tasks: set[str]) -> bool:
    return tasks <= {request.task for request in server.requests}


def assert_all_begin_alike(run: Run) -> None:
    """The interview comes first, so that a server reads it once."""
    prompts = ["\n".join(part.content for part in one.messages) for one in run.requests]
    shared = prompts[0][: common_prefix_length(prompts)]
    assert INTERVIEW.strip() in shared
    assert shared.rstrip().endswith("Task:")
    assert {tuple(part.role for part in one.messages) for one in run.requests} == {
        ("system", "user")
    }


def common_prefix_length(texts: list[str]) -> int:
    columns = enumerate(zip(*texts, strict=False))
    return next(at for at, characters in columns if len(set(characters)) > 1)


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_the_context_window_is_asked_for_and_a_filled_one_is_a_failure(
    assess: Assess, enabled: str
) -> None:
    window = {"OLLAMA_NUM_CTX": "8192", "PYDANTIC_AI_ENABLED": enabled}
    run = assess(wire="ollama", **window)
    assert run.result["status"] == "complete"
    assert {request.body["options"]["num_ctx"] for request in run.requests} == {8192}  # type: ignore[index]
    full = assess(fault("context_full"), wire="ollama", **window)
    assert full.result["status"] == "failed"
    assert set(codes(full)) == {"context_truncated"}


@both_ways
def test_a_prompt_that_the_server_cut_is_no_result(
    state_dir: Path, wire: Wire, enabled: str
) -> None:
    long = INTERVIEW + "Participant: I am tired and I sleep badly most of the nights.\n" * 1_500
    cut = lambda request: dataclasses.replace(good_replies()(request), prompt_tokens=4_096)  # noqa: E731

    async def assessed() -> Assessment:
        async with ModelServer(cut) as server:
            environment = model_at(server.url, wire) | {"PYDANTIC_AI_ENABLED": enabled}
            async with bootstrap(settings_with(state_dir, **environment)) as services:
                return await services.assessor.assess(parse_transcript(long))

    assessment = asyncio.run(assessed())
    assert assessment.status is AssessmentStatus.FAILED
    assert {attempt.code for attempt in assessment.attempts} == {FailureCode.CONTEXT_TRUNCATED}


def test_without_a_setting_the_context_window_is_the_servers(assess: Assess) -> None:
    run = assess(wire="ollama", PYDANTIC_AI_ENABLED="false")
    assert not any("num_ctx" in request.body["options"] for request in run.requests)  # type: ignore[operator]


def test_the_api_key_is_sent_and_never_shown(assess: Assess) -> None:
    for enabled in ("true", "false"):
        run = assess(OPENAI_API_KEY="sk-nonesuch", PYDANTIC_AI_ENABLED=enabled)
        assert {one.headers["authorization"] for one in run.requests} == {"Bearer sk-nonesuch"}
        assert "nonesuch" not in str(run.result)


@both_wires
def test_name_and_password_of_an_address_are_sent_as_such(state_dir: Path, wire: Wire) -> None:
    with ModelServerThread() as models:
        environment = model_at(models.url.replace("//", "//somebody:quill%40ya@"), wire)
        with client_of(settings_with(state_dir, **environment)) as client:
            health = client.get("/health").json()
            result = client.post("/full_pipeline", json={"transcript_text": INTERVIEW}).json()
    assert (health["status"], result["status"]) == ("healthy", "complete")
    sent = {request.headers["authorization"] for request in models.requests}
    assert sent == {f"Basic {b64encode(b'somebody:quill@ya').decode()}"}


@both_wires
def test_a_rejected_reply_is_asked_again_with_feedback_and_the_same_beginning(
    assess: Assess, wire: Wire
) -> None:
    script = only_for(["evidence"], first_attempts(1, fault("prose")))
    run = assess(script, wire=wire)
    assert run.result["status"] == "complete"
    assert codes(run, "evidence") == {"no_json": 1}
    first, again = (one for one in run.requests if one.task == "evidence")
    assert again.messages[: len(first.messages)] == first.messages
    assert "JSON" in again.messages[-1].content


@both_wires
def test_spent_retries_end_in_one_plain_call(assess: Assess, wire: Wire) -> None:
    script = only_for(["evidence"], first_attempts(3, fault("prose")))
    run = assess(script, wire=wire, PYDANTIC_AI_RETRIES="2")
    evidence = [one for one in run.result["attempts"] if one["agent"] == "evidence"]
    assert [one["path"] for one in evidence] == ["agent", "agent", "agent", "plain"]
    assert [one["outcome"] for one in evidence] == ["rejected"] * 3 + ["accepted"]
    assert run.result["status"] == "complete"
    assert [one.wire for one in run.requests if one.task == "evidence"][-1] == wire


@both_ways
def test_a_dead_server_is_asked_once_for_each_agent(
    assess: Assess, wire: Wire, enabled: str
) -> None:
    dead = model_at(f"http://127.0.0.1:{closed_port()}", wire)
    run = assess(wire=wire, PYDANTIC_AI_ENABLED=enabled, **dead)
    assert run.result["status"] == "failed"
    assert codes(run) == {"connection_failed": 3}
    assert run.requests == []


@both_ways
def test_a_dead_server_is_replaced_by_the_fallback(
    assess: Assess, wire: Wire, enabled: str
) -> None:
    dead = model_at(f"http://127.0.0.1:{closed_port()}", wire)
    run = assess(wire=wire, PYDANTIC_AI_ENABLED=enabled, MODEL_FALLBACKS="baseline", **dead)
    assert run.result["status"] == "complete"
    assert codes(run) == {"connection_failed": 9}
    assert run.result["models"].pop("danger")["answered_by"] == []
    for models in run.result["models"].values():
        assert models["answered_by"] == ["baseline"]
        assert models["rule_baseline"] is True
    assert "rule baseline" in run.result["notice"]
    assert_sound(run.result, INTERVIEW)


@pytest.mark.parametrize("name", ["prose", "status_500", "status_400", "html", "severity_nine"])
def test_bad_replies_end_in_the_fallback_with_every_attempt_shown(
    assess: Assess, name: str
) -> None:
    run = assess(fault(name), PYDANTIC_AI_RETRIES="1", MODEL_FALLBACKS="baseline")
    assert run.result["status"] == "complete"
    by_model = Counter(one["model"] for one in run.result["attempts"])
    assert by_model["openai-chat:fake-model"] == len(run.requests)
    assert run.result["models"]["meta_review"]["rule_baseline"] is True
    assert {failure["stage"] for failure in run.result["failures"]} <= {"danger"}
    assert sum(codes(run).values()) > 0


def test_a_server_that_stays_busy_is_asked_a_bounded_number_of_times(assess: Assess) -> None:
    busy = fault("status_429")
    run = assess(busy, MODEL_FALLBACKS="baseline", MODEL_BUSY_WAITS_SECONDS="0,0.01")
    assert Counter(one.task for one in run.requests) == dict.fromkeys(ALL_TASKS, 3)
    assert codes(run)["rate_limited"] == 3 * len(ALL_TASKS)
    assert {one["http_status"] for one in run.result["attempts"] if one["code"]} == {429}
    assert run.result["status"] == "complete"


def test_fallbacks_are_asked_in_order(state_dir: Path) -> None:
    async def assessed() -> tuple[Json, int, int]:
        async with ModelServer(fault("status_500")) as bad, ModelServer() as good:
            settings = settings_with(
                state_dir,
                **model_at(bad.url),
                OLLAMA_HOST=good.url,
                MODEL_FALLBACKS="ollama:second,baseline",
                MODEL_MAX_CALLS="70",
            )
            async with bootstrap(settings) as services:
                result = await services.assessor.assess(parse_transcript(INTERVIEW))
            return result.model_dump(), len(bad.requests), len(good.requests)

    result, asked_bad, asked_good = asyncio.run(assessed())
    assert (asked_bad, asked_good) == (18, 9)
    chain = ["openai-chat:fake-model", "ollama:second", "baseline"]
    assert result["models"]["danger"]["chain"] == chain[:-1]
    for models in result["models"].values():
        assert models["chain"] in (chain, chain[:-1])
        assert models["answered_by"] == ["ollama:second"]
        assert models["rule_baseline"] is False
    assert "rule baseline" not in result["notice"]


def test_each_agent_can_have_a_model_of_its_own(assess: Assess) -> None:
    run = assess(
        MODEL_DEFAULT="baseline",
        MODEL_QUALITATIVE_MODEL="openai-chat:writer",
        MODEL_QUANTITATIVE_MODEL="openai-chat:scorer",
        MODEL_JUDGE_MODEL="openai-chat:judge",
    )
    asked = {(request.body["model"], request.task) for request in run.requests}
    assert asked == {
        ("writer", "qualitative"),
        ("scorer", "evidence"),
        ("scorer", "scoring"),
        *(("judge", task) for task in JUDGE_TASKS),
    }
    assert run.result["models"]["meta_review"]["answered_by"] == ["baseline"]
    assert run.result["models"]["judge"]["rule_baseline"] is False


def test_no_more_calls_are_made_than_the_budget_allows(assess: Assess) -> None:
    run = assess(MODEL_MAX_CALLS="3", FEEDBACK_ENABLED="false")
    assert len(run.requests) == 3
    assert run.result["status"] in {"partial", "failed"}
    assert "call_budget_spent" in {failure["code"] for failure in run.result["failures"]}
    assert len(run.result["attempts"]) == 3


def test_a_budget_that_ends_in_the_feedback_loop_keeps_what_was_judged(assess: Assess) -> None:
    run = assess(rising, MODEL_MAX_CALLS="27")
    assert run.count("qualitative_refine") == 1
    assert run.result["status"] == "complete"
    assert run.result["evaluation"]["rounds"]
    assert run.result["qualitative"] is not None
    assert "call_budget_spent" in {failure["code"] for failure in run.result["failures"]}


@both_ways
def test_no_more_calls_are_under_way_than_a_backend_allows(
    assess: Assess, wire: Wire, enabled: str
) -> None:
    run = assess(
        wire=wire, delay_seconds=0.01, MODEL_MAX_CONCURRENCY="2", PYDANTIC_AI_ENABLED=enabled
    )
    assert run.result["status"] == "complete"
    assert run.max_in_flight == 2


def improving(request: Request) -> Reply:
    """Answer so that the second round is judged best and none is good enough."""
    if request.task in JUDGE_TASKS:
        prompt = request.messages[-1].content
        score = "3" if "Second findings" in prompt else "2"
        return Reply(text=judge_text(score))
    quotes = participant_quotes(request.transcript)
    text = good_text(request.task, quotes)
    if request.task == "qualitative_refine":
        feedback = request.messages[-1].content
        words = "Third findings." if "Second findings" in feedback else "Second findings."
        if "Third findings" in feedback:
            words = "Fourth findings."
        text = text.replace("The participant is tired.", words)
    return Reply(text=text)


def rising(request: Request) -> Reply:
    """Answer so that each of the first rounds is judged better and none is good enough."""
    reply = improving(request)
    if request.task not in JUDGE_TASKS:
        return reply
    prompt = request.messages[-1].content
    score = 1 + ("Second findings" in prompt) + 2 * ("Third findings" in prompt)
    return Reply(text=judge_text(str(score)))


def test_a_round_that_raises_no_metric_is_the_last(assess: Assess) -> None:
    run = assess(fault("judge_low"))
    assert run.count("qualitative_refine") == 1
    assert len(run.result["evaluation"]["rounds"]) == 2
    assert run.result["evaluation"]["iteration"] == 0
    assert run.result["status"] == "complete"


def test_weak_findings_are_refined_and_the_best_round_is_kept(assess: Assess) -> None:
    run = assess(improving, FEEDBACK_MAX_ITERATIONS="3")
    evaluation = run.result["evaluation"]
    assert [one["qualitative"]["overall"] for one in evaluation["rounds"]] == [
        "The participant is tired.",
        "Second findings.",
        "Third findings.",
    ]
    assert [one["average_score"] for one in evaluation["rounds"]] == [2, 3, 2]
    assert evaluation["iteration"] == 1
    assert evaluation["average_score"] == 3
    assert run.result["qualitative"]["overall"] == "Second findings."
    assert run.result["status"] == "complete"
    review = next(one for one in run.requests if one.task == "meta_review")
    assert "Second findings." in review.messages[-1].content
    assert "Third findings." not in review.messages[-1].content


@pytest.mark.parametrize(
    ("environment", "refinements"),
    [
        ({"FEEDBACK_MAX_ITERATIONS": "2"}, 2),
        ({"FEEDBACK_MAX_ITERATIONS": "0"}, 0),
        ({"FEEDBACK_ENABLED": "false"}, 0),
        ({"FEEDBACK_SCORE_THRESHOLD": "1"}, 1),
    ],
    ids=["two at most", "none", "switched off", "low threshold"],
)
def test_refinements_are_bounded(
    assess: Assess, environment: dict[str, str], refinements: int
) -> None:
    run = assess(rising, **environment)
    assert run.count("qualitative_refine") == refinements
    assert len(run.result["evaluation"]["rounds"]) == refinements + 1
    assert run.result["evaluation"]["iteration"] == refinements


def test_a_failed_refinement_keeps_the_findings_before_it(assess: Assess) -> None:
    script = only_for(["qualitative_refine"], fault("status_500"), otherwise=fault("judge_low"))
    run = assess(script)
    assert len(run.result["evaluation"]["rounds"]) == 1
    assert run.result["qualitative"]["overall"]
    assert [one["stage"] for one in run.result["failures"]] == ["qualitative"]


@both_wires
def test_a_backend_that_is_down_is_said_to_be(state_dir: Path, wire: Wire) -> None:
    dead = model_at(f"http://127.0.0.1:{closed_port()}", wire)
    with client_of(settings_with(state_dir, **dead)) as client:
        health, ready = client.get("/health"), client.get("/readyz")
        assert client.get("/healthz").status_code == 200
        answer = client.post("/full_pipeline", json={"transcript_text": INTERVIEW})
    assert health.status_code == 200
    assert health.json()["status"] == "degraded"
    assert health.json()["models"] == {dead["MODEL_DEFAULT"]: False}
    (found,) = health.json()["problems"]
    assert found["code"] == "connection_failed"
    address = dead.get("OLLAMA_HOST") or dead["OPENAI_BASE_URL"]
    assert found["cure"].startswith(f"Nothing answers at {address}: ")
    assert ready.json()["causes"] == answer.json()["causes"] == [found]
    assert ready.status_code == 503
    assert ready.json()["agents"] == ["qualitative", "quantitative", "judge", "meta_review"]
    assert answer.status_code == 502
    assert answer.json()["attempts"] == {"connection_failed": 3}


@both_wires
def test_a_backend_that_is_up_is_ready(state_dir: Path, wire: Wire) -> None:
    with (
        ModelServerThread() as models,
        client_of(settings_with(state_dir, **model_at(models.url, wire))) as client,
    ):
        assert client.get("/readyz").status_code == 200
        assert client.get("/health").json()["status"] == "healthy"
        assert models.requests == []


def test_a_fallback_that_is_up_is_enough_to_be_ready(state_dir: Path) -> None:
    dead = model_at(f"http://127.0.0.1:{closed_port()}")
    settings = settings_with(state_dir, MODEL_FALLBACKS="baseline", **dead)
    with client_of(settings) as client:
        assert client.get("/readyz").status_code == 200
        health = client.get("/health").json()
    assert health["models"][dead["MODEL_DEFAULT"]] is False
    # The rules are left alone with danger: that stops nothing, and is said.
    assert health["status"] == "degraded"


@both_ways
def test_a_redirect_takes_the_transcript_nowhere(state_dir: Path, wire: Wire, enabled: str) -> None:
    with ModelServerThread(good_replies()) as elsewhere:
        moved = Reply(
            status=307, raw_body=b"", headers={"Location": f"{elsewhere.url}/v1/chat/completions"}
        )
        with ModelServerThread(lambda _: moved) as models:
            environment = model_at(models.url, wire) | {"PYDANTIC_AI_ENABLED": enabled}
            with client_of(settings_with(state_dir, **environment)) as client:
                response = client.post("/full_pipeline", json={"transcript_text": INTERVIEW})
            assert models.requests
        assert elsewhere.requests == []
    assert response.status_code == 502
