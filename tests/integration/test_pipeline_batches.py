"""`pipeline run` by batch interfaces, through the real command and the providers' own clients."""

import json
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.batch_server import BatchServer, Weather
from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.pipeline_replies import ANSWERS, step_of, step_reply
from tests.fakes.result_files import without_times
from tests.fakes.run_words import words_in
from tests.integration.command import COMMAND, Finished, environment_of
from tests.integration.command_here import run_here
from tests.integration.started import start
from tests.patience import wait_until
from tests.sweeps import BATCH_UNITS

EXAMPLE = Path(__file__).parents[2] / "examples" / "pipeline"
MODELS = ("anthropic:claude-fake", "openai:gpt-fake")
MODEL = MODELS[0]
WAITING = 4
MOST_ROUNDS = 30

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.sweep]


def good(request: Request) -> Reply:
    """Answer every step well."""
    return Reply(text=json.dumps(ANSWERS[step_of(request) or ""]))


def mixed(request: Request) -> Reply:
    """Answer some units well and others badly, as their prompts decide."""
    return step_reply(step_of(request) or "", request)


def never(_: Request) -> Reply:
    """Answer nothing that can be used."""
    return Reply(text="I would rather not say.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example, whose failed calls are made again at once."""
    copy = Path(shutil.copytree(EXAMPLE, tmp_path / "pipeline"))
    change(copy, "retry:\n", "retry:\n    initial_delay_seconds: 0.01\n")
    return copy


def change(folder: Path, old: str, new: str) -> None:
    path = folder / "pipeline.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def many_units(folder: Path, count: int) -> None:
    excerpt = "{} times I lay awake in the night."
    units = [
        {"unit_id": f"u{n}", "excerpt": excerpt.format(n), "min_quotes": 1} for n in range(count)
    ]
    (folder / "context.jsonl").write_text("\n".join(map(json.dumps, units)), "utf-8")


def pipeline_run(folder: Path, server: BatchServer, *options: str, **more: str) -> Finished:
    """Run the command over the units of the example."""
    settings = server.settings | {"MODEL_DEFAULT": MODEL} | more
    return run_here(
        ["pipeline", "run", "pipeline.yaml", "--units", "context.jsonl", *options], folder, settings
    )


def in_rounds(folder: Path, server: BatchServer, *options: str, **more: str) -> list[Finished]:
    """Begin a run by batches, or go on with one, until nothing waits any more."""
    begun = ("--resume",) if (folder / "run").exists() else ("--batch",)
    ends = [pipeline_run(folder, server, "--out", "run", *begun, *options, **more)]
    while ends[-1].code == WAITING and len(ends) < MOST_ROUNDS:
        ends.append(pipeline_run(folder, server, "--out", "run", "--resume", *options, **more))
    return ends


def files_of(run: Path) -> dict[str, bytes]:
    paths = [run / "summary.json", *sorted((run / "export").glob("*.jsonl"))]
    return {path.name: without_times(path.read_bytes()) for path in paths}


def summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run" / "summary.json").read_bytes())
    return found


def prompts(server: BatchServer) -> Counter[str]:
    """Return what was asked, and how often."""
    texts = [[message.content for message in one.messages] for one in server.answered]
    return Counter(map(json.dumps, texts))


def as_live(
    folder: Path, script: Script, weather: Weather, *options: str, **more: str
) -> BatchServer:
    """Make a run live and one by batches, and return the server of the second.

    Both leave the same files, and the same calls are asked as often.
    """
    with BatchServer(script=script) as live:
        done = pipeline_run(folder, live, "--out", "live", *options, **more)
    with BatchServer(script=script, weather=weather) as server:
        ends = in_rounds(folder, server, *options, **more)
    assert ends[-1].code == done.code, ends[-1].err
    assert server.live == []
    assert files_of(folder / "run") == files_of(folder / "live")
    assert prompts(server) == prompts(live)
    return server


@pytest.mark.parametrize(
    ("model", "script"), [(MODELS[0], mixed), (MODELS[1], good)], ids=["mixed", "good"]
)
def test_a_run_by_batches_leaves_what_a_live_one_leaves(
    folder: Path, model: str, script: Script, is_whole: bool
) -> None:
    count = BATCH_UNITS.size(is_whole=is_whole)
    many_units(folder, count)
    server = as_live(folder, script, Weather(), MODEL_DEFAULT=model)
    if script is good:
        assert [len(batch.calls) for batch in server.batches] == [count, count]
        assert server.files == {}


@pytest.mark.parametrize(
    "weather",
    [
        pytest.param(
            Weather(looks=2, is_reordered=True, lost=lambda at: at == 1, broken_off=2),
            id="late, in another order, one lost, broken off",
        ),
        pytest.param(
            Weather(expired=lambda at: at % 2 == 1, repeated=lambda at: at < 3, strangers=2),
            id="half expired, repeated, and others'",
        ),
    ],
)
def test_whatever_befalls_a_batch_nothing_is_lost_and_nothing_paid_twice(
    folder: Path, weather: Weather
) -> None:
    as_live(folder, good, weather, BATCH_TRIES="10")


def test_size_of_batches_and_number_of_units_at_a_time_decide_nothing(folder: Path) -> None:
    many_units(folder, 18)
    options = ("--concurrency", "16")
    server = as_live(folder, mixed, Weather(looks=1), *options, BATCH_MOST_CALLS="7")
    assert max(len(batch.calls) for batch in server.batches) == 7


def test_wait_takes_a_run_to_its_end_in_one_command(folder: Path) -> None:
    with BatchServer(script=good, weather=Weather(looks=1)) as server:
        options = ("--out", "run", "--batch", "--wait")
        end = pipeline_run(folder, server, *options, BATCH_POLL_SECONDS="0.05")
    assert end.code == 0, end.err
    assert "4 calls wait for their batch; looked at in" in end.err
    assert [len(batch.calls) for batch in server.batches] == [4, 4]


def test_the_command_says_what_waits_and_how_the_run_goes_on(folder: Path) -> None:
    with BatchServer(weather=Weather(looks=9)) as server:
        ends = [pipeline_run(folder, server, "--out", "run", "--batch")]
        ends.append(pipeline_run(folder, server, "--out", "run", "--resume"))
    assert [end.code for end in ends] == [WAITING, WAITING]
    assert "submitted batch 1: 4 calls" in ends[0].err
    assert "4 calls wait for their batch, which may take a day" in ends[1].err
    assert "next: the same command with --resume, when the batch is ready" in ends[1].err
    assert "rate_sleep: 4 requested = 0 valid + 0 failed + 4 pending" in ends[1].err
    assert len(server.batches) == 1


@pytest.mark.parametrize("killed_at", [2, 4])
def test_a_run_that_is_killed_at_any_call_pays_nothing_twice(folder: Path, killed_at: int) -> None:
    with BatchServer(script=good, weather=Weather(hangs_at=killed_at)) as server:
        settings = server.settings | {"MODEL_DEFAULT": MODEL, "BATCH_POLL_SECONDS": "0.01"}
        command = [COMMAND, "pipeline", "run", "pipeline.yaml", "--units", "context.jsonl"]
        command += ["--out", "run", "--batch", "--wait"]
        with start(command, folder, environment_of(folder, settings)) as process:
            wait_until(lambda: server.calls >= killed_at or process.poll() is not None)
            process.send_signal(signal.SIGKILL)
            process.wait()
        server.weather.hangs_at = None
        ends = in_rounds(folder, server)
    assert ends[-1].code == 0, ends[-1].err
    assert set(prompts(server).values()) == {1}
    assert len(server.answered) == 8


def test_answers_that_no_model_gave_use_up_no_attempts(folder: Path) -> None:
    replies: Iterator[Reply] = iter([Reply(status=529)] * 4)
    options = ("--max-units", "1")
    script: Script = lambda request: next(replies, None) or good(request)  # noqa: E731
    with BatchServer(script=script) as server:
        left = in_rounds(folder, server, *options)
        assert (left[-1].code, len(server.batches)) == (1, 3)
        assert "because their calls reached no model (529: 1)" in left[-1].err
        left = in_rounds(folder, server, *options)
        assert (left[-1].code, len(server.batches)) == (1, 4)
        assert summary(folder)["model_calls"] == 0
        ends = in_rounds(folder, server, *options)
    assert ends[-1].code == 0, ends[-1].err
    (line,) = (folder / "run" / "export" / "rate_sleep_validated.jsonl").read_text().splitlines()
    assert json.loads(line)["_metadata"]["attempt"] == 1
    assert summary(folder)["model_calls"] == 2


def test_calls_that_no_batch_makes_stay_to_be_asked(folder: Path) -> None:
    with BatchServer(script=good, weather=Weather(expired=lambda _: True)) as server:
        options = ("--out", "run", "--batch", "--wait")
        settings = {"BATCH_POLL_SECONDS": "0.01", "BATCH_TRIES": "2"}
        left = pipeline_run(folder, server, *options, **settings)
        assert left.code == 1
        assert "4 of 4 units are not finished" in left.err
        assert "reached no model (timed_out: 4)" in left.err
        assert [len(batch.calls) for batch in server.batches] == [4, 4]
        server.weather.expired = lambda _: False
        ends = in_rounds(folder, server, BATCH_TRIES="2")
    assert ends[-1].code == 0, ends[-1].err
    assert [len(batch.calls) for batch in server.batches] == [4, 4, 4, 4]


def test_failed_calls_are_made_again_within_the_attempts_of_the_pipeline(folder: Path) -> None:
    server = as_live(folder, lambda _: Reply(status=500), Weather())
    assert [len(batch.calls) for batch in server.batches] == [4, 4, 4]


def test_a_model_that_is_away_hands_over_to_the_next_one(folder: Path) -> None:
    def first_away(request: Request) -> Reply:
        return Reply(status=529) if request.body["model"] == "claude-fake" else good(request)

    with BatchServer(script=first_away) as server:
        fallbacks = {"MODEL_FALLBACKS": "openai:other"}
        ends = in_rounds(folder, server, "--max-units", "1", **fallbacks)
    assert ends[-1].code == 0, ends[-1].err
    assert [batch.wire for batch in server.batches] == [*["anthropic"] * 3, "openai"] * 2
    assert summary(folder)["model_calls"] == 2


def test_a_ceiling_of_calls_holds_for_those_that_wait_as_well(folder: Path) -> None:
    with BatchServer(script=good) as server:
        ends = in_rounds(folder, server, "--max-calls", "3")
        assert ends[-1].code == 1
        assert "continue with --resume and a higher --max-calls" in ends[-1].err
        assert len(server.answered) == summary(folder)["model_calls"] == 3
        ends = in_rounds(folder, server, "--max-calls", "5")
        assert len(server.answered) == summary(folder)["model_calls"] == 5
        ends = in_rounds(folder, server, "--max-calls", "8")
    assert ends[-1].code == 0, ends[-1].err
    assert len(server.answered) == 8


def test_before_one_unit_is_valid_at_a_step_no_more_than_a_chunk_is_asked(folder: Path) -> None:
    many_units(folder, 9)
    change(folder, "chunk_size: 100", "chunk_size: 2")
    options = ("--concurrency", "1")
    with BatchServer(script=never) as server:
        ends = in_rounds(folder, server, *options)
    assert ends[-1].code == 3
    assert "no unit is valid at rate_sleep: the run stops here" in ends[-1].err
    assert [len(batch.calls) for batch in server.batches] == [2, 2, 2]
    assert summary(folder)["units"]["by_stage"] == {"parse": 2}
    shutil.rmtree(folder / "run")
    server = as_live(folder, good, Weather(), *options)
    assert [len(batch.calls) for batch in server.batches] == [2, 7 + 2, 7]


def test_failed_units_are_asked_again_once_however_often_the_run_is_resumed(folder: Path) -> None:
    with BatchServer(script=never) as server:
        assert in_rounds(folder, server)[-1].code == 3
        assert len(server.answered) == 12
        assert in_rounds(folder, server)[-1].code == 3
        assert len(server.answered) == 12
        wish = ("--out", "run", "--resume", "--retry-failed")
        begun = pipeline_run(folder, server, *wish)
        assert begun.code == WAITING
        assert "next: the same command with --resume, when" in begun.err
        assert in_rounds(folder, server)[-1].code == 3
        assert len(server.answered) == 24
        assert in_rounds(folder, server)[-1].code == 3
        assert len(server.answered) == 24
        server.script = good
        pipeline_run(folder, server, *wish)
        ends = in_rounds(folder, server)
    assert ends[-1].code == 0, ends[-1].err
    (line, *_) = (folder / "run" / "export" / "rate_sleep_validated.jsonl").read_text().split("\n")
    assert json.loads(line)["_metadata"]["attempt"] == 7


def test_each_failed_unit_is_asked_again_once_by_a_command_that_waits(folder: Path) -> None:
    with BatchServer(script=never) as server:
        in_rounds(folder, server)
        options = ("--out", "run", "--resume", "--retry-failed", "--wait")
        end = pipeline_run(folder, server, *options, BATCH_POLL_SECONDS="0.01")
    assert end.code == 3
    assert len(server.answered) == 12 + 12


def test_a_raised_number_of_attempts_is_taken(folder: Path) -> None:
    with BatchServer(script=never) as server:
        assert in_rounds(folder, server)[-1].code == 3
        config = folder / "pipeline.yaml"
        config.write_text(config.read_text("utf-8").replace("max_attempts: 3", "max_attempts: 5"))
        assert in_rounds(folder, server)[-1].code == 3
    assert len(server.answered) == 4 * 5


def test_a_run_that_was_begun_by_batches_can_end_live(folder: Path) -> None:
    with BatchServer(script=good) as server:
        begun = pipeline_run(folder, server, "--out", "run", "--batch")
        pipeline_run(folder, server, "--out", "run", "--resume")
        end = pipeline_run(folder, server, "--out", "run", "--resume", "--no-batch")
    assert (begun.code, end.code) == (WAITING, 0)
    assert len(server.live) == 4


def test_a_batch_that_vanished_is_handed_in_anew_only_when_told_so(folder: Path) -> None:
    with BatchServer(script=good, weather=Weather(vanished=frozenset({1}))) as server:
        pipeline_run(folder, server, "--out", "run", "--batch")
        looked = pipeline_run(folder, server, "--out", "run", "--resume")
        assert (looked.code, len(server.batches)) == (WAITING, 1)
        assert "--hand-in-again" in looked.err
        pipeline_run(folder, server, "--out", "run", "--resume", "--hand-in-again")
        ends = in_rounds(folder, server)
    assert ends[-1].code == 0
    assert [len(batch.calls) for batch in server.batches] == [4, 4, 4]


def test_a_provider_that_takes_no_batch_is_named_and_nothing_is_lost(folder: Path) -> None:
    with BatchServer(script=good, weather=Weather(refused_with=413)) as server:
        begun = pipeline_run(folder, server, "--out", "run", "--batch")
        assert begun.code == 1
        assert f"{MODEL} took no batch (request_refused, HTTP status 413)" in begun.err
        server.weather.refused_with = None
        ends = in_rounds(folder, server)
    assert ends[-1].code == 0
    assert len(server.answered) == 8


def test_an_encrypted_run_keeps_results_and_handles_sealed(folder: Path) -> None:
    (folder / "key").write_text("ab" * 32)
    as_live(folder, good, Weather(), DATA_KEY_FILE="key")
    assert b"nearly every night" not in words_in(folder / "run" / "ledger.sqlite")


@pytest.mark.parametrize("options", [("--batch",), ("--wait",), ("--hand-in-again",)])
def test_what_cannot_be_asked_by_batches_is_refused_before_anything_is_made(
    folder: Path, options: tuple[str, ...]
) -> None:
    with BatchServer() as server:
        end = pipeline_run(folder, server, "--out", "run", *options, MODEL_DEFAULT="ollama:any")
        assert (end.code, server.calls) == (2, 0)
    said = "ollama:any has no batch interface" if options == ("--batch",) else "add --batch"
    assert said in end.err
    assert not (folder / "run").exists()
