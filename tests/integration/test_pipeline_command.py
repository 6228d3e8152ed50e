"""`pipeline run`: units through the steps of a pipeline, over a model server."""

import json
import re
import shutil
import signal
import socket
import stat
import struct
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.model_server import ModelServerThread, Reply, Request, Script
from tests.fakes.pipeline_replies import ANSWERS, step_of, step_reply
from tests.fakes.result_files import without_times
from tests.fakes.run_words import words_in
from tests.integration.command import COMMAND, Finished, environment_of, run
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at
from tests.integration.started import start
from tests.integration.terminal import TerminalProcess
from tests.patience import wait_until

EXAMPLE = Path(__file__).parents[2] / "examples" / "pipeline"
UNITS = ("--units", "context.jsonl")
WAITS = "retry:\n    initial_delay_seconds: 0.01\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example, whose failed calls are made again at once."""
    copy = Path(shutil.copytree(EXAMPLE, tmp_path / "pipeline"))
    change(copy / "pipeline.yaml", "retry:\n", WAITS)
    return copy


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def good(request: Request) -> Reply:
    """Answer every step well."""
    step = step_of(request)
    return Reply(status=404) if step is None else Reply(text=json.dumps(ANSWERS[step]))


def refused_by_schema(request: Request) -> Reply:
    """Answer one step with what its schema refuses, the others well."""
    if step_of(request) == "sum_up":
        return good(request)
    return Reply(text=json.dumps({**ANSWERS["rate_sleep"], "score": 7}))


class PipelineRuns:
    """Runs the command over one model server."""

    def __init__(self, folder: Path, server: ModelServerThread) -> None:
        self.folder = folder
        self.server = server

    def __call__(
        self,
        *options: str,
        script: Script = good,
        code: int = 0,
        settings: Mapping[str, str] | None = None,
    ) -> Finished:
        self.server.server.script = script
        arguments = ["pipeline", "run", "pipeline.yaml", "--out", "run", *options]
        # What goes on with a run does so in another process.
        command = run if (self.folder / "run").exists() else run_here
        done = command(arguments, self.folder, model_at(self.server.url) | dict(settings or {}))
        assert done.code == code, done.err
        return done

    def result(self, name: str) -> list[dict[str, Any]]:
        text = (self.folder / "run" / "export" / f"{name}.jsonl").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def summary(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "run" / "summary.json").read_bytes())
        return found

    def files(self) -> dict[str, bytes]:
        paths = [self.folder / "run" / "summary.json"]
        paths += sorted((self.folder / "run" / "export").glob("*.jsonl"))
        return {path.name: without_times(path.read_bytes()) for path in paths}

    def start_over(self) -> None:
        shutil.rmtree(self.folder / "run")
        self.server.server.reset()


@pytest.fixture
def runs(folder: Path) -> Iterator[PipelineRuns]:
    with ModelServerThread(good) as server:
        yield PipelineRuns(folder, server)


def asked_steps(requests: Sequence[Request]) -> Counter[str]:
    return Counter(filter(None, map(step_of, requests)))


def user_texts(request: Request) -> list[str]:
    return [message.content for message in request.messages if message.role == "user"]


def test_units_go_through_every_step_and_each_sees_what_the_earlier_ones_found(
    runs: PipelineRuns,
) -> None:
    done = runs(*UNITS)
    for step in ("measure", "rate_sleep", "sum_up"):
        assert f"{step}: 4 requested = 4 valid + 0 failed + 0 pending" in done.err
    assert [one["excerpt_words"] for one in runs.result("measure_validated")] == [14, 14, 10, 13]
    first = runs.result("rate_sleep_validated")[0]
    assert (first["unit_id"], first["tone"]) == ("u1", "resigned")
    assert (first["excerpt_words"], first["min_quotes"]) == (14, 1)
    assert first["excerpt"].startswith("I wake up at three")
    rated = next(each for each in runs.server.requests if step_of(each) == "rate_sleep")
    assert re.search(r"\d\d words long", user_texts(rated)[0])
    summed = next(each for each in runs.server.requests if step_of(each) == "sum_up")
    assert "Say that nothing is known" in user_texts(summed)[0]
    assert runs.summary()["units"] == {
        "requested": 4,
        "valid": 4,
        "failed": 0,
        "pending": 0,
        "by_stage": {},
    }
    assert runs.summary()["model_calls"] == len(runs.server.requests) == 8
    for path in (runs.folder / "run").rglob("*"):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


def test_warnings_and_read_values_are_counted_and_shown_with_times_and_tokens(
    runs: PipelineRuns,
) -> None:
    unsure: dict[str, object] = {
        "status": "na",
        "score": None,
        "tone": "RESIGNED",
        "quotes": [],
        "confidence": "5",
    }

    def warned(request: Request) -> Reply:
        return Reply(text=json.dumps(unsure)) if step_of(request) == "rate_sleep" else good(request)

    done = runs(*UNITS, script=warned)
    assert "  warning sure_of_the_unknown: 4\n" in done.err
    assert "  values read from another type or spelling: 8\n" in done.err
    step = runs.summary()["steps"]["rate_sleep"]
    assert (step["warnings"], step["coercions"]) == ({"sure_of_the_unknown": 4}, 8)
    assert runs.summary()["stopped_at"] is None
    about = runs.result("rate_sleep_validated")[0]["_metadata"]
    assert [note["rule"] for note in about["warnings"]] == ["sure_of_the_unknown"]
    assert {note["path"] for note in about["coercions"]} == {"$.tone", "$.confidence"}
    assert about["answered"] == [*unsure]
    assert about["duration_ms"] > 0
    assert about["input_tokens"] > 0
    assert about["output_tokens"] > 0
    measured = runs.result("measure_validated")[0]["_metadata"]
    assert measured.keys() == {"round", "attempt", "origin", "recorded_at", "answered"}


def test_what_a_run_exports_can_be_imported_into_another(runs: PipelineRuns) -> None:
    runs(*UNITS, "--max-units", "1")
    for step in ("rate_sleep", "sum_up"):
        file = f"run/export/{step}_validated.jsonl"
        arguments = ["import", "copy", file, "--step", step, "--config", "pipeline.yaml"]
        assert "1 imported" in run_here(arguments, runs.folder).err
        export = run_here(["export", "copy", "--out", "copied", "--step", step], runs.folder)
        assert f"{step}: 1 valid" in export.err
        first, second = (
            json.loads((runs.folder / folder / f"{step}_validated.jsonl").read_bytes())
            for folder in ("run/export", "copied")
        )
        assert first.pop("_metadata")["answered"] == second.pop("_metadata")["answered"]
        assert first == second


def test_the_progress_has_a_bar_for_each_step(runs: PipelineRuns) -> None:
    command = [COMMAND, "pipeline", "run", "pipeline.yaml", "--out", "run", *UNITS]
    settings = model_at(runs.server.url)
    with TerminalProcess(command, runs.folder, settings) as terminal:
        shown = terminal.rest()
    assert terminal.process.returncode == 0, shown
    for step in ("measure", "rate_sleep", "sum_up"):
        assert re.search(rf"{step} .*4/4", shown), shown


def test_a_rejected_reply_is_asked_for_again_with_what_is_wrong_within_the_attempts(
    runs: PipelineRuns,
) -> None:
    runs(*UNITS, "--max-units", "1", script=refused_by_schema, code=3)
    assert asked_steps(runs.server.requests) == {"rate_sleep": 3}
    (failure,) = runs.result("rate_sleep_failures")
    assert failure["failure_stage"] == "schema_validation"
    assert (failure["retry_count"], failure["attempts"], failure["exhausted"]) == (2, 3, True)
    assert json.loads(failure["raw_response"])["score"] == 7
    assert failure["input"]["excerpt_words"] == 14
    assert {error["path"] for error in failure["errors"]} == {"$.score"}
    feedback = user_texts(runs.server.requests[-1])[-1]
    assert "$.score" in feedback
    assert "Reply again" in feedback
    assert runs.result("sum_up_queue") == []


def test_a_failed_call_is_made_again_within_its_own_attempts(runs: PipelineRuns) -> None:
    runs(*UNITS, "--max-units", "1", script=lambda _: Reply(status=500, raw_body=b"{}"), code=3)
    assert asked_steps(runs.server.requests) == {"rate_sleep": 3}
    (failure,) = runs.result("rate_sleep_failures")
    assert (failure["failure_stage"], failure["raw_response"]) == ("provider", None)
    assert failure["errors"][0]["rule"] == "provider_500"
    assert (failure["attempts"], failure["exhausted"]) == (3, True)


def test_attempts_of_calls_and_of_answers_are_counted_apart(runs: PipelineRuns) -> None:
    replies = iter([500, 200, 500, 200, 200])

    def flaky(request: Request) -> Reply:
        status = next(replies)
        if status == 500:
            return Reply(status=500, raw_body=b"{}")
        return Reply(text="no") if len(runs.server.requests) < 5 else good(request)

    runs(*UNITS, "--max-units", "1", "--max-calls", "5", script=flaky, code=1)
    (valid,) = runs.result("rate_sleep_validated")
    assert valid["_metadata"]["attempt"] == 5


def test_a_cut_reply_counts_for_nothing_however_whole_it_looks(runs: PipelineRuns) -> None:
    def cut(request: Request) -> Reply:
        return Reply(text=good(request).text, finish_reason="length")

    runs(*UNITS, "--max-units", "1", script=cut, code=3)
    (failure,) = runs.result("rate_sleep_failures")
    assert failure["errors"][0]["rule"] == "parse_truncated"
    again = run_here(["revalidate", "run"], runs.folder)
    assert "rate_sleep: 0 answers checked, 1 units without one; 0 changed" in again.out


def test_the_ceiling_of_calls_stops_the_run_and_a_higher_one_goes_on(runs: PipelineRuns) -> None:
    runs(*UNITS)
    whole = runs.files()
    runs.start_over()
    stopped = runs(*UNITS, "--max-calls", "3", code=1)
    assert len(runs.server.requests) == 3
    assert "continue with --resume and a higher --max-calls" in stopped.err
    assert runs.summary()["units"]["failed"] == 0
    runs(*UNITS, "--max-calls", "3", "--resume", code=1)
    assert len(runs.server.requests) == 3
    runs(*UNITS, "--max-calls", "8", "--resume")
    assert len(runs.server.requests) == 8
    assert runs.files() == whole


@pytest.mark.parametrize("concurrency", ["1", "16"])
def test_order_and_number_of_calls_at_a_time_decide_nothing(
    runs: PipelineRuns, concurrency: str
) -> None:
    units = [{"unit_id": f"u{n}", "excerpt": f"{n} times", "min_quotes": 1} for n in range(40)]
    (runs.folder / "context.jsonl").write_text("\n".join(map(json.dumps, units)), "utf-8")

    def mixed(request: Request) -> Reply:
        return step_reply(step_of(request) or "", request)

    runs(*UNITS, script=mixed, code=3)
    whole = runs.files()
    by_stage = runs.summary()["units"]["by_stage"]
    assert set(by_stage) >= {"parse", "schema_validation", "provider"}
    runs.start_over()
    runs(*UNITS, "--concurrency", concurrency, script=mixed, code=3)
    assert runs.files() == whole


def test_a_killed_run_goes_on_without_asking_again(runs: PipelineRuns) -> None:
    runs(*UNITS)
    whole = runs.files()
    runs.start_over()
    runs.server.server.script = lambda request: (
        Reply(hang=True) if step_of(request) == "sum_up" else good(request)
    )
    command = [COMMAND, "pipeline", "run", "pipeline.yaml", "--out", "run", *UNITS]
    environment = environment_of(runs.folder, model_at(runs.server.url))
    with start(command, runs.folder, environment) as process:
        # The second call of a unit says that its first one is kept.
        wait_until(lambda: len(runs.server.requests) == 8)
        process.send_signal(signal.SIGKILL)
        process.wait()
    runs(*UNITS, "--resume")
    assert len(runs.server.requests) == 8 + 4
    assert runs.files() == whole


def test_replies_that_are_found_again_make_no_room_for_calls_beyond_the_ceiling(
    runs: PipelineRuns,
) -> None:
    runs.server.server.script = lambda _: (
        Reply(hang=True) if len(runs.server.requests) > 4 else Reply(text="no")
    )
    command = [COMMAND, "pipeline", "run", "pipeline.yaml", "--out", "run", *UNITS]
    environment = environment_of(runs.folder, model_at(runs.server.url))
    with start(command, runs.folder, environment) as process:
        wait_until(lambda: len(runs.server.requests) == 8)
        process.send_signal(signal.SIGKILL)
        process.wait()
    runs(*UNITS, "--resume", "--max-calls", "4", code=1)
    assert len(runs.server.requests) == 8
    assert runs.summary()["units"]["pending"] == 4
    runs(*UNITS, "--resume", "--max-calls", "5", code=1)
    assert len(runs.server.requests) == 9


def test_a_run_is_gone_on_with_only_as_it_was_begun(runs: PipelineRuns) -> None:
    runs(*UNITS, "--max-units", "1")
    assert "add --resume" in runs(*UNITS, code=2).err
    assert "other models" in runs(*UNITS, "--resume", "--model", "ollama:other", code=2).err
    assert "other seed" in runs(*UNITS, "--resume", "--seed", "5", code=2).err
    runs(*UNITS, "--resume", "--seed", "0", "--max-units", "2")
    assert runs.summary()["units"]["requested"] == 2
    change(runs.folder / "context.jsonl", "at three", "at four")
    assert "with another input" in runs(*UNITS, "--resume", code=2).err
    change(runs.folder / "context.jsonl", "at four", "at three")
    for one in (p for p in runs.folder.rglob("*") if p.suffix in {".yaml", ".jinja2", ".json"}):
        if "run" not in one.relative_to(runs.folder).parts:
            one.write_bytes(one.read_bytes().replace(b"\n", b"\r\n"))
    runs(*UNITS, "--resume", "--max-units", "2")
    change(runs.folder / "templates" / "sum_up.jinja2", "Sum this up", "Sum it up")
    assert "other templates" in runs(*UNITS, "--resume", code=2).err
    change(runs.folder / "pipeline.yaml", "score: [0, 3]", "score: [0, 2]")
    assert "another version of the pipeline" in runs(*UNITS, "--resume", code=2).err
    assert "has no run" in runs(*UNITS, "--resume", "--out", "other", code=2).err
    assert not (runs.folder / "other").exists()


def test_failed_units_are_asked_anew_on_demand_as_far_as_attempts_are_left(
    runs: PipelineRuns,
) -> None:
    def no_key(_: Request) -> Reply:
        return Reply(status=401, raw_body=b"{}")

    runs(*UNITS, script=no_key, code=3)
    assert len(runs.server.requests) == 4
    runs(*UNITS, "--resume", code=3)
    assert len(runs.server.requests) == 4
    runs(*UNITS, "--resume", "--retry-failed")
    assert runs.summary()["units"]["valid"] == 4
    assert runs.result("rate_sleep_validated")[0]["_metadata"]["attempt"] == 2


def test_failed_units_have_all_attempts_once_more_when_they_are_asked_again(
    runs: PipelineRuns,
) -> None:
    runs(*UNITS, script=refused_by_schema, code=3)
    runs(*UNITS, "--resume", code=3)
    assert len(runs.server.requests) == 12
    again = ("--resume", "--retry-failed", "--max-calls", "14")
    runs(*UNITS, *again, script=refused_by_schema, code=3)
    assert len(runs.server.requests) == 14
    runs(*UNITS, "--resume", script=refused_by_schema, code=3)
    assert len(runs.server.requests) == 24
    runs(*UNITS, "--resume", code=3)
    assert len(runs.server.requests) == 24
    assert {one["attempts"] for one in runs.result("rate_sleep_failures")} == {6}
    runs(*UNITS, "--resume", "--retry-failed")
    assert runs.summary()["units"]["valid"] == 4
    assert runs.result("rate_sleep_validated")[0]["_metadata"]["attempt"] == 7


def test_failed_units_are_asked_again_of_a_run_that_is_there_alone(runs: PipelineRuns) -> None:
    assert "add --resume" in runs(*UNITS, "--retry-failed", code=2).err
    assert not (runs.folder / "run").exists()


def test_a_raised_number_of_attempts_is_taken_and_failed_units_have_what_is_more(
    runs: PipelineRuns,
) -> None:
    config = runs.folder / "pipeline.yaml"
    lines = [line for line in config.read_text("utf-8").splitlines() if "max_attempts" not in line]
    config.write_text("\n".join(lines).replace("  validation_retry:\n", ""), "utf-8")

    def mixed(request: Request) -> Reply:
        is_unreachable = "at three" in user_texts(request)[0]
        return Reply(status=401, raw_body=b"{}") if is_unreachable else refused_by_schema(request)

    runs(*UNITS, script=mixed, code=3)
    assert len(runs.server.requests) == 1 + 3 * 3
    change(config, "processing:\n", "processing:\n  validation_retry: {max_attempts: 5}\n")
    runs(*UNITS, "--resume", "--max-calls", "11", script=mixed, code=3)
    exhausted = Counter(one["exhausted"] for one in runs.result("rate_sleep_failures"))
    run_here(["revalidate", "run"], runs.folder)
    again = Counter(one["exhausted"] for one in runs.result("rate_sleep_failures"))
    assert exhausted == again
    assert exhausted[False] >= 3
    runs(*UNITS, "--resume", script=mixed, code=3)
    assert len(runs.server.requests) == 1 + 3 * 5
    runs(*UNITS, "--resume", code=3)
    assert len(runs.server.requests) == 1 + 3 * 5
    attempts = [(one["attempts"], one["exhausted"]) for one in runs.result("rate_sleep_failures")]
    assert sorted(attempts) == [(1, False), (5, True), (5, True), (5, True)]
    config.write_text(
        config.read_text("utf-8").replace("  validation_retry: {max_attempts: 5}\n", "")
    )
    runs(*UNITS, "--resume", code=3)
    assert len(runs.server.requests) == 1 + 3 * 5
    change(config, "processing:\n", "processing:\n  validation_retry: {max_attempts: 6}\n")
    change(config, "score: [0, 3]", "score: [0, 2]")
    assert "another version of the pipeline" in runs(*UNITS, "--resume", code=2).err


def test_a_lowered_number_of_attempts_changes_nothing_that_is_paid_for(runs: PipelineRuns) -> None:
    runs.server.server.script = lambda _: (
        Reply(hang=True) if len(runs.server.requests) > 2 else Reply(text="no")
    )
    one = (*UNITS, "--max-units", "1")
    command = [COMMAND, "pipeline", "run", "pipeline.yaml", "--out", "run", *one]
    environment = environment_of(runs.folder, model_at(runs.server.url))
    with start(command, runs.folder, environment) as process:
        wait_until(lambda: len(runs.server.requests) == 3)
        process.send_signal(signal.SIGKILL)
        process.wait()
    config = runs.folder / "pipeline.yaml"
    config.write_text(config.read_text("utf-8").replace("max_attempts: 3", "max_attempts: 1"))
    runs(*one, "--resume", code=3)
    (failure,) = runs.result("rate_sleep_failures")
    assert (failure["attempts"], failure["exhausted"]) == (2, True)
    runs(*UNITS, "--resume", script=refused_by_schema, code=3)
    assert len(runs.server.requests) == 3 + 3


@contextmanager
def refusing() -> Iterator[dict[str, str]]:
    """Give an address at which nothing listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield {"OPENAI_BASE_URL": f"http://127.0.0.1:{held.getsockname()[1]}/v1"}


@contextmanager
def resetting() -> Iterator[dict[str, str]]:
    """Give an address at which each connection is reset once the request has come."""

    def serve(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                connection.recv(1 << 16)
                linger = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=[listener], daemon=True)
        thread.start()
        yield {"OPENAI_BASE_URL": f"http://127.0.0.1:{listener.getsockname()[1]}/v1"}
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


@contextmanager
def unanswering() -> Iterator[dict[str, str]]:
    """Give an address at which connections are not accepted, because others wait already."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, ExitStack() as stack:
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        host = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        yield {"OPENAI_BASE_URL": host, "PYDANTIC_AI_TIMEOUT_SECONDS": "1"}


def nowhere() -> AbstractContextManager[dict[str, str]]:
    """Give an address whose name is not found."""
    return nullcontext({"OPENAI_BASE_URL": "http://nowhere.invalid/v1"})


OUTAGES = {"refused": refusing, "reset": resetting, "connecting": unanswering, "no name": nowhere}


@pytest.mark.parametrize("outage", OUTAGES)
def test_units_whose_calls_reach_no_server_are_asked_when_the_run_is_resumed(
    runs: PipelineRuns, outage: str
) -> None:
    runs(*UNITS)
    whole = runs.files()
    runs.start_over()
    with OUTAGES[outage]() as settings:
        done = runs(*UNITS, settings=settings, code=1)
    assert "4 of 4 units are not finished" in done.err
    assert "reached no model (connection_failed: 4)" in done.err
    assert "rate_sleep: 4 requested = 0 valid + 0 failed + 4 pending" in done.err
    assert runs.summary()["model_calls"] == 0
    runs(*UNITS, "--resume")
    assert runs.files() == whole


@pytest.mark.parametrize("status", [429, 502, 503, 529])
def test_a_server_without_room_uses_up_no_attempts(runs: PipelineRuns, status: int) -> None:
    away = Reply(status=status, raw_body=b"{}")
    one = (*UNITS, "--max-units", "1", "--max-calls", "4")
    runs(*one, script=lambda _: away, code=1)
    assert len(runs.server.requests) == 3
    broken = Reply(status=500, raw_body=b"{}")
    replies = iter([away, broken, away, broken])
    runs(*one, "--resume", script=lambda request: next(replies, None) or good(request))
    (valid,) = runs.result("rate_sleep_validated")
    assert valid["_metadata"]["attempt"] == 3
    assert runs.summary()["model_calls"] == 4


def test_what_was_answered_before_an_outage_is_not_asked_again(runs: PipelineRuns) -> None:
    away = Reply(status=503, raw_body=b"{}")
    replies = iter([away, Reply(text="no")])
    one = (*UNITS, "--max-units", "1")
    runs(*one, script=lambda _: next(replies, away), code=1)
    assert runs.summary()["model_calls"] == 1
    asked = len(runs.server.requests)
    runs(*one, "--resume")
    assert len(runs.server.requests) == asked + 2
    assert "Reply again" in user_texts(runs.server.requests[asked])[-1]
    assert runs.result("rate_sleep_validated")[0]["_metadata"]["attempt"] == 2


def test_a_model_that_is_away_is_no_attempt_where_the_next_one_answers(runs: PipelineRuns) -> None:
    def first_away(request: Request) -> Reply:
        is_away = request.body["model"] == "fake-model"
        return Reply(status=503, raw_body=b"{}") if is_away else good(request)

    fallbacks = {"MODEL_FALLBACKS": "openai-chat:other"}
    runs(*UNITS, "--max-units", "1", script=first_away, settings=fallbacks)
    assert runs.result("rate_sleep_validated")[0]["_metadata"]["attempt"] == 1


def test_an_outage_that_lasts_ends_the_session(runs: PipelineRuns) -> None:
    change(runs.folder / "pipeline.yaml", "chunk_size: 100", "chunk_size: 2")
    away = Reply(status=503, raw_body=b"{}")
    done = runs(*UNITS, "--concurrency", "1", script=lambda _: away, code=1)
    assert "2 of 4 units are not finished" in done.err
    assert len(runs.server.requests) == 2 * 3
    runs(*UNITS, "--resume")


def test_a_variable_that_a_unit_lacks_is_its_failure_and_nothing_is_asked(
    runs: PipelineRuns,
) -> None:
    lacking = {"unit_id": "u9", "excerpt": "I slept."}
    (runs.folder / "context.jsonl").write_text(json.dumps(lacking), "utf-8")
    runs(*UNITS, code=3)
    (failure,) = runs.result("rate_sleep_failures")
    assert failure["failure_stage"] == "pipeline_internal"
    assert failure["errors"][0]["rule"] == "missing_variable"
    assert failure["errors"][0]["message"].endswith("'min_quotes'")
    assert runs.server.requests == []


def test_a_template_that_takes_too_much_fails_its_units_and_is_named(runs: PipelineRuns) -> None:
    template = runs.folder / "templates" / "rate_sleep.jinja2"
    template.write_text("{{ excerpt }}{{ 'a' * (3*10**9) }}", "utf-8")
    runs(*UNITS, code=3)
    errors = [failure["errors"][0] for failure in runs.result("rate_sleep_failures")]
    assert {error["rule"] for error in errors} == {"template_too_large"}
    assert errors[0]["message"].startswith(
        f"{template.name}: the template is stopped: the operator"
    )
    assert runs.server.requests == []


def test_expressions_that_have_no_value_and_results_that_break_rules_fail_their_units(
    runs: PipelineRuns,
) -> None:
    config = runs.folder / "pipeline.yaml"
    change(
        config, 'excerpt_words: "len(excerpt.split())"', 'excerpt_words: "100 // (min_quotes - 1)"'
    )
    change(
        config,
        "validation:\n",
        "validation:\n  measure:\n    rules:\n      - name: few\n"
        '        expr: "excerpt_words < 100"\n        error: "{excerpt_words} are too many"\n',
    )
    units = [{"unit_id": f"u{n}", "excerpt": "words", "min_quotes": n} for n in (1, 2, 3)]
    (runs.folder / "context.jsonl").write_text("\n".join(map(json.dumps, units)), "utf-8")
    runs(*UNITS, code=1)
    failures = {one["unit_id"]: one for one in runs.result("measure_failures")}
    assert failures["u1"]["failure_stage"] == "pipeline_internal"
    assert failures["u1"]["errors"][0]["rule"] == "expression_arithmetic"
    assert failures["u2"]["failure_stage"] == "validation"
    assert failures["u2"]["errors"][0]["message"] == "100 are too many"
    assert [one["unit_id"] for one in runs.result("sum_up_validated")] == ["u3"]
    again = run_here(["revalidate", "run"], runs.folder)
    assert "measure: 2 answers checked, 1 units without one; 0 changed" in again.out


def test_expressions_draw_by_the_seed(runs: PipelineRuns) -> None:
    change(
        runs.folder / "pipeline.yaml", '"len(excerpt.split())"', '"random.choice([50, 60, 70, 80])"'
    )

    def drawn(*options: str) -> list[int]:
        runs(*UNITS, *options)
        found = [one["excerpt_words"] for one in runs.result("measure_validated")]
        runs.start_over()
        return found

    assert drawn() == drawn("--seed", "0") != drawn("--seed", "1")


def test_a_step_at_which_none_of_the_first_units_is_valid_ends_the_run(runs: PipelineRuns) -> None:
    change(runs.folder / "pipeline.yaml", "chunk_size: 100", "chunk_size: 2")
    done = runs(*UNITS, "--concurrency", "1", script=lambda _: Reply(text="no"), code=3)
    assert "no unit is valid at rate_sleep: the run stops here" in done.err
    assert asked_steps(runs.server.requests) == {"rate_sleep": 6}
    assert runs.summary()["steps"]["rate_sleep"] == {
        "requested": 2,
        "valid": 0,
        "failed": 2,
        "pending": 0,
        "by_stage": {"parse": 2},
        "warnings": {},
        "coercions": 0,
    }
    assert runs.summary()["stopped_at"] == "rate_sleep"


def test_rules_applied_again_promote_units_for_the_steps_that_are_left(runs: PipelineRuns) -> None:
    def broken(request: Request) -> Reply:
        if step_of(request) == "sum_up":
            return good(request)
        return Reply(text=json.dumps({**ANSWERS["rate_sleep"], "tone": "cross"}))

    schema = runs.folder / "schemas" / "rate_sleep.json"
    change(schema, ', "enum": ["matter-of-fact", "distressed", "resigned"]', "")
    runs(*UNITS, script=broken, code=3)
    lenient = Path(shutil.copytree(runs.folder, runs.folder / "lenient", ignore=lambda *_: ["run"]))
    change(lenient / "pipeline.yaml", "[matter-of-fact, distressed", "[cross, distressed")
    done = run_here(["revalidate", "run", "--rules", "lenient/pipeline.yaml"], runs.folder)
    assert "4 promoted, 4 queued for the next step" in done.out
    assert runs.summary()["steps"]["rate_sleep"]["valid"] == 4
    assert len(runs.result("rate_sleep_validated")) == len(runs.result("sum_up_queue")) == 4
    runs(*UNITS, "--resume")
    assert runs.summary()["units"]["valid"] == 4


def test_models_and_sampling_are_as_the_step_says_else_as_the_file_does(runs: PipelineRuns) -> None:
    change(
        runs.folder / "pipeline.yaml",
        "api:\n",
        "api:\n  provider: openai-chat\n  model: of-all\n  temperature: 0.5\n  max_tokens: 300\n",
    )
    change(
        runs.folder / "pipeline.yaml",
        "    - name: sum_up\n",
        "    - name: sum_up\n      model: openai-chat:of-the-step\n      temperature: 0\n"
        "      max_tokens: 20\n",
    )
    runs(*UNITS, "--max-units", "1", settings={"OPENAI_BASE_URL": f"{runs.server.url}/v1"})
    sent = [
        tuple(request.body.get(name) for name in ("model", "temperature", "max_tokens"))
        for request in runs.server.requests
    ]
    assert sent == [("of-all", 0.5, 300), ("of-the-step", 0.0, 20)]


def test_an_encrypted_run_goes_on_with_its_key(runs: PipelineRuns) -> None:
    (runs.folder / "key").write_text("ab" * 32, "ascii")
    key = {"DATA_KEY_FILE": "key"}
    runs(*UNITS, "--max-calls", "5", settings=key, code=1)
    assert b"nearly every night" not in words_in(runs.folder / "run" / "ledger.sqlite")
    assert "is encrypted" in runs(*UNITS, "--resume", code=2).err
    runs(*UNITS, "--resume", settings=key)
    assert len(runs.server.requests) == 8


REFUSED = {
    "a step for parts of units": ("      scope: expression\n", "      scope: fan_out\n", "lacks"),
    "a strategy that is not run": ("strategy: direct", "strategy: permutation", "cross_product"),
    "no number of repetitions": (
        "  chunk_size: 100\n",
        "  repeat: many\n",
        "has to be a whole number from 1",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_run_is_refused_before_anything_is_made(
    runs: PipelineRuns, case: str
) -> None:
    old, new, told = REFUSED[case]
    change(runs.folder / "pipeline.yaml", old, new)
    assert told in runs(*UNITS, code=2).err
    assert not (runs.folder / "run").exists()


def test_the_baseline_answers_no_pipeline(folder: Path) -> None:
    done = run(["pipeline", "run", "pipeline.yaml", "--out", "run", *UNITS], folder)
    assert done.code == 2
    assert "step 'rate_sleep' has no model that can answer it" in done.err
    assert not (folder / "run").exists()


def test_a_pipeline_without_units_and_a_file_with_one_twice_are_refused(runs: PipelineRuns) -> None:
    assert "declares no units" in runs(code=2).err
    lines = (runs.folder / "context.jsonl").read_text("utf-8")
    (runs.folder / "context.jsonl").write_text(lines + lines, "utf-8")
    assert "two units 'u1'" in runs(*UNITS, code=2).err
    (runs.folder / "context.jsonl").write_text(lines, "utf-8")
    runs(*UNITS)


def test_steps_over_the_whole_run_and_scripts_are_left_out_and_said(runs: PipelineRuns) -> None:
    config = runs.folder / "pipeline.yaml"
    change(
        config, "    - name: sum_up\n", "    - name: report\n      scope: run\n    - name: sum_up\n"
    )
    with config.open("a", encoding="utf-8") as file:
        file.write('post_process:\n  - {name: x, script: "touch made"}\n')
    done = runs(*UNITS)
    assert "not run: step report (scope run)" in done.err
    assert "not run: post_process (1)" in done.err
    assert runs.summary()["not_run"] == ["step report (scope run)", "post_process (1)"]
