"""Runs by batch interfaces, through the real command and the providers' own clients."""

import re
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pytest

from tests.fakes.batch_server import BatchServer, HeldBatch, Weather
from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.replies import good_replies
from tests.fakes.run_words import words_in
from tests.integration.command import COMMAND, Finished, environment_of
from tests.integration.command_here import run_here
from tests.integration.started import start
from tests.integration.test_evaluate_command import TIRED, write_interviews
from tests.patience import wait_until
from tests.sweeps import BATCH_KILLS, BATCH_PROVIDERS

MODELS = ("anthropic:claude-fake", "openai:gpt-fake")
_PORT = re.compile(rb"(?<=127\.0\.0\.1:)\d+")
FILES = ("run.json", "units.jsonl", "predictions.jsonl", "failures.jsonl")
WAITING = 4
MOST_ROUNDS = 25

KILLED = [*((MODELS[0], at) for at in (1, 2, 3, 4)), *((MODELS[1], at) for at in (1, 2, 4, 5))]
"""Models, and the call at which a run is killed."""

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.sweep]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try a test by one of the providers, and by both in the whole of the sweep."""
    is_whole = metafunc.config.getoption("whole")
    if "killed_at" in metafunc.fixturenames:
        cases = BATCH_KILLS.of(KILLED, is_whole=is_whole)
        metafunc.parametrize(("model", "killed_at"), cases)
    elif "any_model" in metafunc.fixturenames:
        models = BATCH_PROVIDERS.of(MODELS, is_whole=is_whole)
        first = crc32(metafunc.function.__name__.encode()) % 2
        metafunc.parametrize("any_model", models if is_whole else [MODELS[first]])


def evaluate(folder: Path, server: BatchServer, model: str, *options: str, **more: str) -> Finished:
    """Run `evaluate run` over the interviews."""
    settings = server.settings | {"MODEL_DEFAULT": model} | more
    return run_here(["evaluate", "run", "interviews", *options], folder, settings)


def in_rounds(
    folder: Path,
    server: BatchServer,
    model: str,
    *options: str,
    **more: str,
) -> list[Finished]:
    """Begin a run by batches, and go on until nothing waits any more."""
    ends = [evaluate(folder, server, model, "--out", "run", "--batch", *options, **more)]
    while ends[-1].code == WAITING and len(ends) < MOST_ROUNDS:
        ends.append(evaluate(folder, server, model, "--out", "run", "--resume", *options, **more))
    return ends


def files_of(run: Path) -> dict[str, bytes]:
    """Return what a run leaves; each fake server has a port of its own."""
    return {name: _PORT.sub(b"PORT", (run / name).read_bytes()) for name in FILES}


def rejected_first(request: Request) -> Reply:
    """Say nonsense to the first call of some tasks, and fail at the first of others."""
    if request.attempt == 1 and request.task in {"evidence", "judge_accuracy"}:
        return Reply(text="That I would rather not say.")
    if request.attempt == 1 and request.task in {"scoring", "danger"}:
        return Reply(status=429)
    if request.attempt == 1 and request.task == "meta_review":
        return Reply(status=500)
    return good_replies()(request)


def never_scored(request: Request) -> Reply:
    """Say nonsense whenever scores are asked for."""
    return Reply(text="Perhaps.") if request.task == "scoring" else good_replies()(request)


def as_live(
    folder: Path, model: str, script: Script, weather: Weather, *options: str, **more: str
) -> BatchServer:
    """Make a run of two interviews live and one by batches, and return the second's server.

    Both leave the same files, and the same calls are asked, each once.
    """
    if not (folder / "interviews").exists():
        write_interviews(folder, "ab")
    with BatchServer(script=script) as live:
        done = evaluate(folder, live, model, "--out", "live", *options, **more)
    with BatchServer(script=script, weather=weather) as server:
        ends = in_rounds(folder, server, model, *options, **more)
        assert ends[-1].code == done.code, ends[-1].err
        assert server.live == []
    assert files_of(folder / "run") == files_of(folder / "live")
    assert sorted(asked(server)) == sorted(asked(live))
    # Marks for a cache are left out of batches alone.
    assert "cache_control" not in str([batch.calls for batch in server.batches])
    assert ("cache_control" in str(live.live)) == (model == MODELS[0])
    return server


def asked(server: BatchServer) -> list[tuple[str, str, int]]:
    return [(one.task, one.transcript, one.attempt) for one in server.answered]


@pytest.mark.parametrize(
    ("model", "script"),
    [(MODELS[0], rejected_first), (MODELS[1], rejected_first), (MODELS[1], never_scored)],
    ids=["rejected first", "rejected first, of the other", "never scored"],
)
def test_a_run_by_batches_leaves_what_a_live_one_leaves(
    tmp_path: Path, model: str, script: Script
) -> None:
    server = as_live(tmp_path, model, script, Weather(), PYDANTIC_AI_RETRIES="1")
    # What was collected is deleted at the provider.
    assert server.files == {}
    assert all(one.is_deleted for one in server.batches if one.wire == "anthropic")


def test_refinement_ablation_and_rescoring_go_in_rounds_as_well(
    tmp_path: Path, any_model: str
) -> None:
    def weak(request: Request) -> Reply:
        is_weak = request.task == "judge_coherence" and request.attempt == 1
        good = good_replies()(request)
        return replace(good, text="Explanation: thin.\nScore: 1") if is_weak else good

    settings = {"BELIEF_SOURCES": "rules,rescoring,tokens", "FEEDBACK_MAX_ITERATIONS": "1"}
    server = as_live(tmp_path, any_model, weak, Weather(), "--ablate", **settings)
    assert {"qualitative_refine", "scoring", "danger"} <= {one.task for one in server.answered}


def test_parts_of_a_long_interview_are_read_in_the_same_round(
    tmp_path: Path, any_model: str
) -> None:
    talk = [f"{TIRED}Participant: On day {day} I could not get up.\n" for day in range(80)]
    (tmp_path / "interviews").mkdir()
    (tmp_path / "interviews" / "long.txt").write_text("".join(talk), encoding="utf-8")
    settings = {"ASSESS_LONG": "parts", "ASSESS_PART_CHARACTERS": "4000", "MODEL_MAX_CALLS": "200"}
    server = as_live(tmp_path, any_model, good_replies(), Weather(), **settings)
    parts = [one.task for one in server.answered].count("danger")
    assert parts > 2
    # Danger, evidence and notes of every part, then scores and findings, judges, review.
    assert [len(batch.calls) for batch in server.batches] == [3 * parts, 2, 4, 1]


def test_rounds_end_where_a_unit_has_spent_its_calls(tmp_path: Path, any_model: str) -> None:
    """However often replies are refused, a unit ends as a live one does."""

    def refused(_: Request) -> Reply:
        return Reply(text="Perhaps.")

    settings = {"MODEL_MAX_CALLS": "12", "PYDANTIC_AI_RETRIES": "9", "BATCH_TRIES": "10"}
    server = as_live(tmp_path, any_model, refused, Weather(), **settings)
    assert sum(len(batch.calls) for batch in server.batches) <= 2 * 12
    assert len(server.batches) <= 12


def test_a_unit_waits_for_all_its_calls_and_others_go_on(tmp_path: Path, any_model: str) -> None:
    write_interviews(tmp_path)
    with BatchServer(weather=Weather(vanished=frozenset({1}))) as server:
        begun = ("--out", "run", "--batch", "--concurrency", "1")
        evaluate(tmp_path, server, any_model, *begun, BATCH_MOST_CALLS="2")
        for _ in "123":
            end = evaluate(tmp_path, server, any_model, "--out", "run", "--resume")
        # The first unit has two calls in the batch that is gone, and one in the next.
        assert (end.code, "2 calls wait" in end.err) == (WAITING, True)
        assert "2 of 3 units complete" in end.err
        assert [len(batch.calls) for batch in server.batches] == [2, 2, 2, 2, 1, 10, 2]
        ends = in_rounds_from(tmp_path, server, any_model, "--hand-in-again")
    assert ends[-1].code == 0
    assert len(asked(server)) == len(set(asked(server))) == 27


@pytest.mark.parametrize(
    "weather",
    [
        pytest.param(
            Weather(looks=2, is_reordered=True, strangers=2, broken_off=2),
            id="late, mixed, of others, broken off",
        ),
        pytest.param(
            Weather(
                lost=lambda at: at == 2, expired=lambda at: at % 2 == 1, repeated=lambda at: at < 3
            ),
            id="lost, expired, repeated",
        ),
    ],
)
def test_whatever_befalls_a_batch_nothing_is_lost_and_nothing_paid_twice(
    tmp_path: Path, any_model: str, weather: Weather
) -> None:
    as_live(tmp_path, any_model, good_replies(), weather, BATCH_TRIES="10")


def test_calls_of_others_are_refused_and_counted(tmp_path: Path, any_model: str) -> None:
    write_interviews(tmp_path)
    with BatchServer(weather=Weather(strangers=2)) as server:
        evaluate(tmp_path, server, any_model, "--out", "run", "--batch")
        end = evaluate(tmp_path, server, any_model, "--out", "run", "--resume")
    assert "9 replies, 2 of calls that are not ours, and refused" in end.err


def test_calls_that_no_batch_ever_makes_fail_after_so_many_tries(
    tmp_path: Path, any_model: str
) -> None:
    write_interviews(tmp_path)
    with BatchServer(weather=Weather(expired=lambda _: True)) as server:
        ends = in_rounds(tmp_path, server, any_model, BATCH_TRIES="2", DANGER_MODEL="off")
    assert (ends[-1].code, len(server.batches)) == (3, 2)
    assert [len(batch.calls) for batch in server.batches] == [6, 6]
    assert "failed at provider: 3" in ends[-1].err


def test_errors_of_single_calls_are_the_failures_of_a_live_run(
    tmp_path: Path, any_model: str
) -> None:
    def failing(request: Request) -> Reply:
        status = {"scoring": 400, "judge_accuracy": 500}.get(request.task, 200)
        return replace(good_replies()(request), status=status)

    as_live(tmp_path, any_model, failing, Weather())


def test_a_batch_that_is_not_ready_is_waited_for_without_another_call(
    tmp_path: Path, any_model: str
) -> None:
    write_interviews(tmp_path)
    with BatchServer(weather=Weather(looks=99)) as server:
        evaluate(tmp_path, server, any_model, "--out", "run", "--batch")
        ends = [evaluate(tmp_path, server, any_model, "--out", "run", "--resume") for _ in range(2)]
    assert [end.code for end in ends] == [WAITING, WAITING]
    assert "9 calls wait for their batch" in ends[-1].err
    assert len(server.batches) == 1


def test_wait_takes_a_run_to_its_end_in_one_command(tmp_path: Path, any_model: str) -> None:
    write_interviews(tmp_path)
    with BatchServer(weather=Weather(looks=1)) as server:
        options = ("--out", "run", "--batch", "--wait")
        end = evaluate(tmp_path, server, any_model, *options, BATCH_POLL_SECONDS="0.05")
    assert end.code == 0
    assert "9 calls wait for their batch; looked at in" in end.err
    assert [len(batch.calls) for batch in server.batches] == [9, 15, 3]


def test_a_batch_that_vanished_is_handed_in_anew_only_when_told_so(
    tmp_path: Path, any_model: str
) -> None:
    write_interviews(tmp_path)
    with BatchServer(weather=Weather(vanished=frozenset({1}))) as server:
        begun = evaluate(tmp_path, server, any_model, "--out", "run", "--batch")
        looks = [evaluate(tmp_path, server, any_model, "--out", "run", "--resume") for _ in "123"]
        ends = [begun, *looks]
        assert {end.code for end in ends} == {WAITING}
        assert len(server.batches) == 1
        assert "--hand-in-again" in ends[-1].err
        options = ("--out", "run", "--resume", "--wait", "--hand-in-again")
        end = evaluate(tmp_path, server, any_model, *options, BATCH_POLL_SECONDS="0.05")
    assert end.code == 0
    assert [len(batch.calls) for batch in server.batches] == [9, 9, 15, 3]


def test_a_batch_that_nobody_heard_of_being_taken_is_found_again(
    tmp_path: Path, any_model: str
) -> None:
    write_interviews(tmp_path)
    with BatchServer(weather=Weather(is_silent=True)) as server:
        begun = evaluate(tmp_path, server, any_model, "--out", "run", "--batch")
        assert (begun.code, len(server.batches)) == (WAITING, 1)
        assert "is not known" in begun.err
        server.weather.is_silent = False
        ends = in_rounds_from(tmp_path, server, any_model)
    assert "whose handle was lost" in ends[0].err
    assert ends[-1].code == 0
    assert [len(batch.calls) for batch in server.batches] == [9, 15, 3]


def in_rounds_from(folder: Path, server: BatchServer, model: str, *more: str) -> list[Finished]:
    ends = [evaluate(folder, server, model, "--out", "run", "--resume", *more)]
    while ends[-1].code == WAITING and len(ends) < MOST_ROUNDS:
        ends.append(evaluate(folder, server, model, "--out", "run", "--resume"))
    return ends


def test_a_batch_that_never_arrived_is_handed_in_anew(tmp_path: Path, any_model: str) -> None:
    write_interviews(tmp_path)
    with BatchServer(weather=Weather(is_deaf=True)) as server:
        evaluate(tmp_path, server, any_model, "--out", "run", "--batch")
        server.weather.is_deaf = False
        ends = in_rounds_from(tmp_path, server, any_model)
    assert "never reached" in ends[0].err
    assert ends[-1].code == 0
    assert [len(batch.calls) for batch in server.batches] == [9, 15, 3]


def test_of_two_batches_that_may_be_the_lost_one_none_is_taken(tmp_path: Path) -> None:
    write_interviews(tmp_path)
    model = MODELS[0]
    with BatchServer(weather=Weather(is_silent=True)) as server:
        evaluate(tmp_path, server, model, "--out", "run", "--batch")
        server.weather.is_silent = False
        server.batches.append(HeldBatch(number=2, wire="anthropic", calls=server.batches[0].calls))
        unsure = evaluate(tmp_path, server, model, "--out", "run", "--resume")
        assert (unsure.code, len(server.batches)) == (WAITING, 2)
        assert "where it cannot be identified" in unsure.err
        ends = in_rounds_from(tmp_path, server, model, "--hand-in-again")
    assert ends[-1].code == 0


def test_a_run_that_is_killed_at_any_call_pays_nothing_twice(
    tmp_path: Path, model: str, killed_at: int
) -> None:
    """The first provider is asked once a round, the other several times in each."""
    write_interviews(tmp_path)
    most_calls = "10000" if model == MODELS[0] else "4"
    with BatchServer(weather=Weather(hangs_at=killed_at)) as server:
        settings = server.settings | {
            "MODEL_DEFAULT": model,
            "BATCH_POLL_SECONDS": "0.01",
            "BATCH_MOST_CALLS": most_calls,
        }
        command = [COMMAND, "evaluate", "run", "interviews", "--out", "run", "--batch", "--wait"]
        with start(command, tmp_path, environment_of(tmp_path, settings)) as process:
            wait_until(lambda: server.calls >= killed_at or process.poll() is not None)
            process.send_signal(signal.SIGKILL)
            process.wait()
        server.weather.hangs_at = None
        ends = in_rounds_from(tmp_path, server, model, "--batch")
    assert ends[-1].code == 0, ends[-1].err
    assert len(asked(server)) == len(set(asked(server))) == 27


def test_a_provider_that_takes_no_batch_is_named_and_nothing_is_lost(
    tmp_path: Path, any_model: str
) -> None:
    write_interviews(tmp_path)
    with BatchServer(weather=Weather(refused_with=401)) as server:
        begun = evaluate(tmp_path, server, any_model, "--out", "run", "--batch")
        assert begun.code == 3
        assert f"{any_model} took no batch" in begun.err
        assert "HTTP status 401" in begun.err
        server.weather.refused_with = None
        ends = in_rounds_from(tmp_path, server, any_model)
    assert ends[-1].code == 0


def test_a_run_that_was_begun_by_batches_can_end_live(tmp_path: Path, any_model: str) -> None:
    write_interviews(tmp_path)
    with BatchServer() as server:
        ends = [
            evaluate(tmp_path, server, any_model, "--out", "run", *options)
            for options in (("--batch",), ("--resume",), ("--resume", "--no-batch"))
        ]
    assert [end.code for end in ends] == [WAITING, WAITING, 0]
    assert len(server.live) == 18


def test_units_are_added_while_others_wait(tmp_path: Path, any_model: str) -> None:
    write_interviews(tmp_path)
    with BatchServer(weather=Weather(looks=2)) as server:
        evaluate(tmp_path, server, any_model, "--out", "run", "--batch", "--limit", "1")
        ends = in_rounds_from(tmp_path, server, any_model)
    assert ends[-1].code == 0
    assert [len(batch.calls) for batch in server.batches][:2] == [3, 6]


def test_an_encrypted_run_in_small_batches_keeps_results_and_handles_sealed(
    tmp_path: Path, any_model: str
) -> None:
    (tmp_path / "key").write_text("ab" * 32)
    settings = {"DATA_KEY_FILE": "key", "BATCH_MOST_CALLS": "4"}
    server = as_live(tmp_path, any_model, good_replies(), Weather(), **settings)
    assert max(len(batch.calls) for batch in server.batches) == 4
    assert b"hardly sleep" not in words_in(tmp_path / "run" / "ledger.sqlite")


REFUSED: dict[str, tuple[Sequence[str], str, str]] = {
    "a server of OpenAI's chat protocol": (("--batch",), "openai-chat:any", "no batch interface"),
    "Ollama": (("--batch",), "ollama:any", "no batch interface"),
    "the baseline": (("--batch",), "baseline", "answers in this process has no batch interface"),
    "no replies kept": (("--batch", "--no-raw"), MODELS[0], "--no-raw"),
    "waiting for nothing": (("--wait",), "baseline", "add --batch"),
    "again without batches": (("--hand-in-again",), "baseline", "add --batch"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_asked_by_batches_is_refused_before_anything_is_sent(
    tmp_path: Path, case: str
) -> None:
    options, model, words = REFUSED[case]
    write_interviews(tmp_path)
    with BatchServer() as server:
        end = evaluate(tmp_path, server, model, "--out", "run", *options)
        assert (end.code, server.calls) == (2, 0)
    assert words in end.err
    assert not (tmp_path / "run" / "predictions.jsonl").exists()
