"""Whatever a model or its server replies: a typed answer, nothing invented, nothing lost."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from ai_psychiatrist.config import Settings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import bootstrap
from tests.fakes.exchange import Wire
from tests.fakes.faults import (
    FAULTS,
    HALLUCINATED_QUOTES,
    MARKUP,
    TRICKY_STRING,
    fault,
    only_for,
)
from tests.fakes.model_server import ModelServer, Reply, Request, Script
from tests.fakes.replies import (
    ITEMS,
    evidence_answer,
    evidence_text,
    good_text,
    interviewer_quotes,
    judge_text,
    meta_review_text,
    participant_quotes,
    qualitative_text,
    scoring_answer,
    scoring_text,
)
from tests.fakes.wires import encode_reply
from tests.integration.running_app import RunningApp, client_at, model_at, settings_with
from tests.integration.soundness import Json, assert_sound

INTERVIEW = (
    "Interviewer: Do you feel like a failure most days?\n"
    "Participant: I feel tired nearly every day.\n"
    "Interviewer: Are you hopeless all the time?\n"
    "Participant: I sleep badly, I wake up at four every night.\n"
)
WIRES: tuple[Wire, ...] = ("openai", "ollama")
AGENTS, PLAIN = "true", "false"
WAYS: tuple[tuple[Wire, str], ...] = (("openai", AGENTS), ("ollama", PLAIN))
"""Both wires and both paths: on the agents' path either wire is the same."""
ONE_OF_EACH = ("qualitative", "evidence", "scoring", "judge_coherence", "meta_review")
SLOW = {"hang", "slow_drip"}
PART_OF_TASK = {
    "qualitative": "qualitative",
    "evidence": "quantitative",
    "scoring": "quantitative",
    "judge_coherence": "evaluation",
    "meta_review": "meta_review",
}
NEEDS = {"evaluation": {"qualitative"}, "meta_review": {"quantitative"}}


@dataclass(frozen=True, kw_only=True)
class Run:
    """One assessment, and how many calls the server saw."""

    result: Json
    calls: int

    @property
    def finished(self) -> set[str]:
        """The parts that have a result."""
        parts = ("quantitative", "qualitative", "evaluation", "meta_review")
        return {part for part in parts if self.result[part] is not None}

    @property
    def codes(self) -> Counter[str]:
        """Why attempts were rejected or failed."""
        return Counter(one["code"] for one in self.result["attempts"] if one["code"])


class Bench:
    """A model server and the services that ask it, kept open while scripts change."""

    def __init__(self, state_dir: Path, wire: Wire, **environment: str) -> None:
        self._environment = {"PYDANTIC_AI_RETRIES": "1", "FEEDBACK_MAX_ITERATIONS": "1"}
        self._environment |= environment
        self._state_dir, self._wire = state_dir, wire
        self._runs: dict[str, Run] = {}
        self._jobs: asyncio.Queue[tuple[Script, str, asyncio.Future[Run]] | None]
        self._loop = asyncio.new_event_loop()
        self._opened = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=[self._serve()])

    def __enter__(self) -> Self:
        """Open server and services."""
        self._thread.start()
        self._opened.wait()
        return self

    def __exit__(self, *_: object) -> None:
        """Close them."""
        self._loop.call_soon_threadsafe(self._jobs.put_nowait, None)
        self._thread.join()
        self._loop.close()

    def assess(self, script: Script, text: str = INTERVIEW) -> Run:
        """Assess with this script."""

        async def queued() -> Run:
            answer: asyncio.Future[Run] = self._loop.create_future()
            self._jobs.put_nowait((script, text, answer))
            return await answer

        return asyncio.run_coroutine_threadsafe(queued(), self._loop).result(timeout=60)

    def with_fault(self, name: str) -> Run:
        """Assess with a fault of every call; each is run once for all tests."""
        if name not in self._runs:
            self._runs[name] = self.assess(FAULTS[name])
        return self._runs[name]

    async def _serve(self) -> None:
        self._jobs = asyncio.Queue()
        async with ModelServer() as server:
            settings = settings_with(
                self._state_dir, **model_at(server.url, self._wire), **self._environment
            )
            async with bootstrap(settings) as services:
                self._opened.set()
                while (job := await self._jobs.get()) is not None:
                    script, text, answer = job
                    server.script = script
                    server.reset()
                    try:
                        result = await services.assessor.assess(parse_transcript(text))
                        written: Json = result.model_dump()
                        answer.set_result(Run(result=written, calls=server.request_count))
                    except Exception as error:  # noqa: BLE001  raised in the test that waits
                        answer.set_exception(error)


Benches = Callable[..., Bench]


@pytest.fixture(scope="module")
def bench_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    state_dir = tmp_path_factory.mktemp("state")
    benches: dict[tuple[object, ...], Bench] = {}

    def bench(wire: Wire, **environment: str) -> Bench:
        environment = {"PYDANTIC_AI_ENABLED": AGENTS} | environment
        key = (wire, *sorted(environment.items()))
        if key not in benches:
            benches[key] = Bench(state_dir, wire, **environment).__enter__()
        return benches[key]

    yield bench
    for one in benches.values():
        one.__exit__()


def bench_for(bench_of: Benches, way: tuple[Wire, str], name: str) -> Bench:
    wire, enabled = way
    if name in SLOW:
        return bench_of(wire, PYDANTIC_AI_ENABLED=enabled, PYDANTIC_AI_TIMEOUT_SECONDS="0.5")
    return bench_of(wire, PYDANTIC_AI_ENABLED=enabled)


def assert_accounted(run: Run) -> None:
    """Check one attempt for each call, a code for each that gave nothing, and a sound result."""
    assert len(run.result["attempts"]) == run.calls
    if run.result["status"] == "failed":
        assert run.finished == set()
        assert run.result["failures"]
    else:
        assert_sound(run.result, INTERVIEW)
    assert "internal_error" not in {failure["code"] for failure in run.result["failures"]}


by_ways = pytest.mark.parametrize("way", WAYS, ids=["agents", "plain"])


@by_ways
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_every_call_has_a_typed_outcome(
    bench_of: Benches, way: tuple[Wire, str], name: str
) -> None:
    run = bench_for(bench_of, way, name).with_fault(name)
    assert_accounted(run)
    assert run.result["status"] in {"complete", "partial", "failed"}


SURVIVED = {
    "fenced_json",
    "thinking_paired",
    "thinking_only_closed",
    "draft_then_final",
    "tricky_strings",
    "escapes_and_markup",
    "judge_quotes_a_score",
    "judge_low",
}
OF_ONE_CONTRACT = {
    "severity_nine": {"meta_review"},
    "severity_in_words": {"meta_review"},
    "judge_half": {"judge_coherence"},
    "evidence_as_string": {"evidence"},
    "huge": {"scoring"},
}


TASKS_OF = {
    name: [task for task in ONE_OF_EACH if task in OF_ONE_CONTRACT.get(name, ONE_OF_EACH)]
    for name in sorted(FAULTS.keys() - SURVIVED)
}
"""Of each fault the tasks that it can befall."""


@pytest.mark.parametrize(
    ("way", "name", "task"),
    [
        pytest.param(WAYS[at % 2], name, tasks[at % len(tasks)], id=name)
        for at, (name, tasks) in enumerate(TASKS_OF.items())
    ],
)
def test_a_fault_of_one_task_leaves_the_other_parts(
    bench_of: Benches, way: tuple[Wire, str], name: str, task: str
) -> None:
    run = bench_for(bench_of, way, name).assess(fault(name, tasks=[task]))
    assert_accounted(run)
    hit = PART_OF_TASK[task]
    for part in ("quantitative", "qualitative", "evaluation", "meta_review"):
        if part != hit and hit not in NEEDS.get(part, set()):
            assert part in run.finished


UNUSABLE = {
    "empty": {"empty_reply"},
    "whitespace": {"empty_reply"},
    "null_content": {"empty_reply"},
    "prose": {"missing_tag", "no_json"},
    "truncated": {"truncated"},
    "thinking_unclosed": {"truncated"},
    "deep_brackets": {"missing_tag", "too_deep"},
    "html": {"malformed_response"},
    "no_choices": {"malformed_response"},
    "error_with_200": {"backend_error"},
    "status_400": {"request_refused"},
    "status_401": {"not_authorised"},
    "status_404": {"model_not_found"},
    "status_429": {"rate_limited"},
    "status_500": {"backend_error"},
    "context_exceeded": {"context_truncated"},
    "reset": {"broken_off"},
    "hang": {"timed_out"},
    "slow_drip": {"timed_out"},
    "huge": {"reply_too_large", "malformed_response"},
}
PARTLY_USABLE = {
    "list_instead_of_object": "wrong_type",
    "nan": "not_finite",
    "infinity": "not_finite",
    "true_as_score": "wrong_type",
    "evidence_as_string": "wrong_type",
    "severity_nine": "score_invalid",
    "severity_in_words": "score_invalid",
    "judge_half": "score_invalid",
}


@by_ways
@pytest.mark.parametrize("name", sorted(SURVIVED))
def test_a_reply_that_holds_the_answer_is_read(
    bench_of: Benches, way: tuple[Wire, str], name: str
) -> None:
    run = bench_for(bench_of, way, name).with_fault(name)
    assert run.result["status"] == "complete"
    assert run.codes == {}
    items = run.result["quantitative"]["items"]
    assert {name for name, item in items.items() if item["score"] == 1} == {
        "PHQ8_Sleep",
        "PHQ8_Tired",
    }
    if not name.startswith("judge"):
        assert run.result["meta_review"]["severity"] == 2
        assert run.result["evaluation"]["average_score"] == 4


@by_ways
@pytest.mark.parametrize("name", UNUSABLE)
def test_replies_without_any_answer_are_failures_with_their_code(
    bench_of: Benches, way: tuple[Wire, str], name: str
) -> None:
    run = bench_for(bench_of, way, name).with_fault(name)
    assert run.result["status"] == "failed"
    assert run.codes
    assert set(run.codes) <= UNUSABLE[name]


@by_ways
@pytest.mark.parametrize("name", PARTLY_USABLE)
def test_what_is_out_of_contract_is_refused_and_the_rest_is_kept(
    bench_of: Benches, way: tuple[Wire, str], name: str
) -> None:
    run = bench_for(bench_of, way, name).with_fault(name)
    assert run.result["status"] == "partial"
    assert PARTLY_USABLE[name] in run.codes


def test_every_fault_has_an_expected_outcome() -> None:
    elsewhere = {"hallucinated_quotes", "interviewer_quotes", "two_objects", "context_full"}
    expected = {*SURVIVED, *UNUSABLE, *PARTLY_USABLE, *elsewhere, "numbers_as_strings"}
    assert expected == set(FAULTS)


def test_severity_nine_is_refused_and_not_clamped_and_the_explanation_stands(
    bench_of: Benches,
) -> None:
    run = bench_of("openai").assess(FAULTS["severity_nine"])
    review = run.result["meta_review"]
    assert (review["severity"], review["is_mdd"]) == (None, None)
    assert (review["explanation"], review["warnings"]) == (
        "Several symptoms are present.",
        ["severity_not_read"],
    )
    (failure,) = run.result["failures"]
    assert (failure["stage"], failure["category"]) == ("meta_review", "partial_reply")
    assert (failure["severity"], failure["code"]) == ("warning", "output_rejected")
    assert run.result["status"] == "partial"
    reviews = [one for one in run.result["attempts"] if one["agent"] == "meta_review"]
    assert {one["code"] for one in reviews} == {"score_invalid"}


@pytest.mark.parametrize("wire", WIRES)
def test_numbers_as_text_are_read_and_counted_as_coercions(bench_of: Benches, wire: Wire) -> None:
    run = bench_of(wire).assess(fault("numbers_as_strings", tasks=["scoring"]))
    assert run.result["quantitative"]["items"]["PHQ8_Sleep"]["score"] == 2
    scoring = [one for one in run.result["attempts"] if one["agent"] == "quantitative"]
    assert [one["coercions"] for one in scoring] == [2]


@by_ways
@pytest.mark.parametrize("name", ["hallucinated_quotes", "interviewer_quotes"])
def test_quotes_nobody_said_leave_items_unknown_and_a_failure(
    bench_of: Benches, way: tuple[Wire, str], name: str
) -> None:
    run = bench_for(bench_of, way, name).with_fault(name)
    items = run.result["quantitative"]["items"].values()
    assert {item["score"] for item in items} == {None}
    assert not any(item["evidence"] for item in items)
    assert run.result["quantitative"]["total_score_max"] == 24
    assert run.result["status"] == "partial"
    failure = run.result["failures"][0]
    assert failure["category"] == "evidence_hallucination"
    assert failure["code"] == "ungrounded_evidence"
    assert failure["context"]["extracted_count"] > 0
    grounding = run.result["grounding"]
    assert grounding["validated_count"] == 0
    assert grounding["rejected_count"] == grounding["extracted_count"]
    assert {quote["verified"] for quote in run.result["qualitative"]["supporting_quotes"]} == {
        False
    }


def test_the_scorers_own_invented_quotes_are_shown_as_unverified(bench_of: Benches) -> None:
    run = bench_of("openai").assess(fault("hallucinated_quotes", tasks=["scoring"]))
    items = run.result["quantitative"]["items"]
    supported, invented = items["PHQ8_Tired"], items["PHQ8_Moving"]
    at = ITEMS.index("PHQ8_Tired")
    assert supported["score"] == 1
    assert [quote["text"] for quote in supported["unverified_quotes"]] == [HALLUCINATED_QUOTES[at]]
    assert HALLUCINATED_QUOTES[at] not in str(supported["evidence"])
    assert invented["score"] is None
    assert invented["unknown_reason"] == "no_grounded_evidence"
    assert invented["proposed_score"] == 1


def test_the_interviewers_words_are_refused_as_such(bench_of: Benches) -> None:
    run = bench_of("openai").assess(fault("interviewer_quotes", tasks=["evidence"]))
    unverified = [
        quote
        for item in run.result["quantitative"]["items"].values()
        for quote in item["unverified_quotes"]
    ]
    assert {quote["text"] for quote in unverified} == set(interviewer_quotes(INTERVIEW))
    assert {quote["reason"] for quote in unverified} == {"interviewer_words"}


def test_strings_that_look_like_json_come_back_unchanged(bench_of: Benches) -> None:
    run = bench_of("openai").assess(FAULTS["tricky_strings"])
    items = run.result["quantitative"]["items"]
    assert {item["reason"] for item in items.values()} == {TRICKY_STRING}
    assert run.result["meta_review"]["explanation"] == TRICKY_STRING
    assert not any(attempt["repaired"] for attempt in run.result["attempts"])


def test_markup_comes_back_as_text(bench_of: Benches) -> None:
    run = bench_of("openai").assess(FAULTS["escapes_and_markup"])
    assert run.result["meta_review"]["explanation"] == MARKUP


def test_every_item_can_fail_alone(bench_of: Benches) -> None:
    """One bad value makes the model answer again; it is never patched up or dropped."""

    def script(request: Request) -> Reply:
        answer: dict[str, Any] = scoring_answer(participant_quotes(request.transcript))
        answer[ITEMS[3]]["score"] = 7 if request.attempt == 1 else "N/A"
        return Reply(text=scoring_text(answer))

    run = bench_of("openai").assess(only_for(["scoring"], script))
    assert run.codes == {"score_invalid": 1}
    assert run.result["status"] == "complete"


def _wrapped(change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Script:
    """Change a good response; the function gets the body and the message inside it."""

    def script(request: Request) -> Reply:
        text = good_text(request.task, participant_quotes(request.transcript))
        body = json.loads(encode_reply(request, Reply(text=text)))
        holder = body["choices"][0] if request.wire == "openai" else body
        change(body, holder["message"])
        return Reply(raw_body=json.dumps(body).encode())

    return script


def _raw(content: bytes, **more: Any) -> Script:
    return lambda _: Reply(raw_body=content, **more)


def _with_surrogate(request: Request) -> Reply:
    """Put half of a surrogate pair wherever a reply carries free text."""
    quotes = participant_quotes(request.transcript)
    match request.task:
        case "evidence":
            text = evidence_text(evidence_answer(["LONE", *quotes]))
        case "scoring":
            text = scoring_text(scoring_answer(["LONE", *quotes]))
        case "meta_review":
            text = meta_review_text("2", "LONE")
        case task if task.startswith("judge"):
            text = judge_text("4", "LONE")
        case _:
            text = qualitative_text(["LONE", *quotes])
    body = encode_reply(request, Reply(text=text))
    return Reply(raw_body=body.replace(b"LONE", rb"bad \ud800 sleep"))


def _with_escaped_surrogate(request: Request) -> Reply:
    quotes = participant_quotes(request.transcript)
    if request.task == "evidence":
        return Reply(text='{"PHQ8_Sleep": ["bad \\ud800 sleep"], "\\udfff": []}')
    text = good_text(request.task, quotes)
    return Reply(text=text.replace("The participant says so.", "\\udfff"))


RESPONSES: dict[str, Script] = {
    "content is a number": _wrapped(lambda _, message: message.update(content=5)),
    "content is a list": _wrapped(lambda _, message: message.update(content=[{"type": "x"}])),
    "content is an object": _wrapped(lambda _, message: message.update(content={"a": 1})),
    "message is empty": _wrapped(lambda _, message: message.clear()),
    "choices is a text": _wrapped(lambda body, _: body.update(choices="x", message="x")),
    "choices is an object": _wrapped(lambda body, _: body.update(choices={}, message=[])),
    "usage is a text": _wrapped(lambda body, _: body.update(usage="x", eval_count="x")),
    "usage is negative": _wrapped(
        lambda body, _: body.update(usage={"prompt_tokens": -5}, prompt_eval_count=-5)
    ),
    "model is null": _wrapped(lambda body, _: body.update(model=None)),
    "a refusal": _wrapped(lambda _, message: message.update(content=None, refusal="no")),
    "a tool call": _wrapped(
        lambda _, message: message.update(
            content=None,
            tool_calls=[
                {"id": "1", "type": "function", "function": {"name": "rm", "arguments": "{}"}}
            ],
        )
    ),
    "a broken tool call": _wrapped(lambda _, message: message.update(tool_calls=[{"id": 1}])),
    "a list": _raw(b"[]"),
    "null": _raw(b"null"),
    "nothing": _raw(b""),
    "no UTF-8": _raw(b"\xff\xfe\x00"),
    "100,000 brackets": _raw(b"[" * 100_000),
    "a number of 5000 digits": _raw(b'{"choices":' + b"9" * 5000 + b"}"),
    "an event stream": _raw(b"data: {}\n\n", content_type="text/event-stream"),
    "not the gzip it claims": _raw(b"x", headers={"Content-Encoding": "gzip"}),
    "no content": _raw(b"", status=204),
    "unauthorised": _raw(b"x", status=401),
    "not found": _raw(b"x", status=404),
    "a teapot": _raw(b"x", status=418),
    "a proxy's error": _raw(b"<html>", status=503, content_type="text/html"),
    "half a surrogate pair": _with_surrogate,
    "half a surrogate pair as an escape": _with_escaped_surrogate,
}


@by_ways
@pytest.mark.parametrize("name", RESPONSES)
def test_a_response_of_any_shape_has_a_typed_outcome(
    bench_of: Benches, way: tuple[Wire, str], name: str
) -> None:
    assert_accounted(bench_for(bench_of, way, name).assess(RESPONSES[name]))


@pytest.mark.parametrize("wire", WIRES)
def test_half_a_surrogate_pair_is_asked_again_and_then_read(bench_of: Benches, wire: Wire) -> None:
    def script(request: Request) -> Reply:
        if request.attempt == 1:
            return _with_surrogate(request)
        return Reply(text=good_text(request.task, participant_quotes(request.transcript)))

    run = bench_of(wire).assess(script)
    assert run.result["status"] == "complete"
    assert set(run.codes) == {"unrepairable"}


def test_an_overlong_error_body_is_not_read_to_its_end(bench_of: Benches) -> None:
    script = _raw(b"x" * 5_000_000, status=500)
    run = bench_of("ollama", PYDANTIC_AI_ENABLED="false").assess(script)
    assert set(run.codes) == {"backend_error"}


def _served(state_dir: Path, script: Script, wire: Wire, **environment: str) -> tuple[int, str]:
    async def status_and_text() -> tuple[int, str]:
        async with ModelServer(script) as server:
            settings = settings_with(state_dir, **model_at(server.url, wire), **environment)
            return await asyncio.to_thread(_post, settings)

    return asyncio.run(status_and_text())


def _post(settings: Settings) -> tuple[int, str]:
    with RunningApp(settings) as app, client_at(app.url) as client:
        response = client.post("/full_pipeline", json={"transcript_text": INTERVIEW})
        return response.status_code, response.text


HTTP_SAMPLE: dict[str, tuple[Script, Wire, int]] = {
    "garbage": (FAULTS["prose"], "openai", 502),
    "upstream 500": (FAULTS["status_500"], "ollama", 502),
    "echoing 400": (FAULTS["status_400"], "openai", 502),
    "hang": (FAULTS["hang"], "ollama", 504),
    "garbage to the judge": (fault("prose", tasks=["judge_accuracy"]), "openai", 200),
    "echo to the scorer": (fault("status_400", tasks=["scoring"]), "ollama", 200),
    "invented quotes": (FAULTS["hallucinated_quotes"], "openai", 200),
    "surrogates": (_with_surrogate, "ollama", 502),
}


@pytest.mark.parametrize("name", HTTP_SAMPLE)
def test_over_http_a_bad_model_is_200_502_or_504(tmp_path: Path, name: str) -> None:
    script, wire, status = HTTP_SAMPLE[name]
    hasty = {"PYDANTIC_AI_TIMEOUT_SECONDS": "0.5"} if name == "hang" else {}
    answered, text = _served(tmp_path, script, wire, PYDANTIC_AI_RETRIES="1", **hasty)
    assert answered == status, text
    if status == 200:
        assert_sound(json.loads(text), INTERVIEW)
    else:
        problem = json.loads(text)
        assert problem["failures"]
        assert problem["attempts"]
        assert "wake up" not in text
        assert "failure most days" not in text
