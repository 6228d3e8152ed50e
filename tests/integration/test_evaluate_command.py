"""Datasets through the real command: what a run leaves behind, however it ends."""

import json
import os
import shutil
import signal
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.faults import FAULTS, only_for
from tests.fakes.model_server import ModelServerThread, Reply, Request, Script, fault, good_replies
from tests.integration.command import COMMAND, Finished, environment_of, run
from tests.integration.started import start
from tests.patience import wait_until

RESULTS = ("run.json", "labels.jsonl", "predictions.jsonl", "failures.jsonl")
TIRED = (
    "Interviewer: How have you been?\n"
    "Participant: I have been tired nearly every day, and I hardly sleep at all.\n"
)


def write_interviews(folder: Path) -> Path:
    """Write three interviews into a folder of texts."""
    interviews = folder / "interviews"
    interviews.mkdir()
    for name in ("a", "b", "c"):
        text = f"{TIRED}Participant: I am {name}.\n"
        (interviews / f"{name}.txt").write_text(text, encoding="utf-8")
    return interviews


@pytest.fixture
def interviews(tmp_path: Path) -> Path:
    """Three interviews in a folder of texts."""
    return write_interviews(tmp_path)


@dataclass(frozen=True, kw_only=True)
class Made:
    """Three interviews with a whole run over them, `run`, and one of a single unit, `begun`."""

    folder: Path
    run: Finished
    begun: Finished


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Runs that are read and copied, never gone on with."""
    folder = tmp_path_factory.mktemp("made")
    write_interviews(folder)
    return Made(
        folder=folder,
        run=evaluate(folder, "run", "interviews", "--out", "run"),
        begun=evaluate(folder, "run", "interviews", "--out", "begun", "--limit", "1"),
    )


@pytest.fixture
def copied(made: Made, tmp_path: Path) -> Path:
    """A copy of the folder that the runs were made in."""
    shutil.copytree(made.folder, tmp_path, dirs_exist_ok=True)
    return tmp_path


def evaluate(
    folder: Path, *arguments: str | Path, settings: Mapping[str, str] | None = None
) -> Finished:
    return run(["evaluate", *(os.fspath(one) for one in arguments)], folder, settings)


def served(url: str) -> dict[str, str]:
    return {"MODEL_DEFAULT": "ollama:fake", "OLLAMA_HOST": url, "PYDANTIC_AI_RETRIES": "1"}


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def results(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in RESULTS}


def test_folder_of_texts_is_assessed_with_nothing_configured(made: Made) -> None:
    assert (made.run.code, made.run.out) == (0, "")
    assert "3 of 3 units complete" in made.run.err
    predictions = lines(made.folder / "run/predictions.jsonl")
    assert [one["unit_id"] for one in predictions] == ["a", "b", "c"]
    assert {one["status"] for one in predictions} == {"complete"}
    assert (made.folder / "run/failures.jsonl").read_text(encoding="utf-8") == ""


def test_run_folder_is_its_owners_alone(made: Made) -> None:
    folder = made.folder / "run"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    holding_words = [folder / "ledger.sqlite", folder / "predictions.jsonl"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in holding_words] == [0o600, 0o600]


def test_two_runs_give_the_same_files(copied: Path) -> None:
    """However many units are at work, and in whatever order sets and hashes come."""
    arguments = ("run", "interviews", "--out")
    evaluate(copied, *arguments, "one", "--concurrency", "1", settings={"PYTHONHASHSEED": "1"})
    evaluate(copied, *arguments, "two", "--concurrency", "3")
    assert results(copied / "one") == results(copied / "two") == results(copied / "run")


def test_limit_can_be_raised_by_going_on(made: Made, copied: Path) -> None:
    rest = evaluate(copied, "run", "interviews", "--out", "begun", "--resume")
    assert "1 of 1 units complete" in made.begun.err
    assert "3 of 3 units complete" in rest.err


def test_finished_run_is_not_done_again(copied: Path) -> None:
    again = evaluate(copied, "run", "interviews", "--out", "run", "--resume")
    assert (again.code, "0 model calls made now" in again.err) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (["interviews", "--out", "begun"], "add --resume"),
        (["interviews", "--out", "nothing", "--resume"], "no run"),
        (["missing", "--out", "new"], "missing"),
        (["interviews", "--out", "new", "--limit", "0"], "limit"),
    ],
    ids=["a run is there", "no run to resume", "no dataset", "no units"],
)
def test_what_cannot_be_done_is_said_with_its_cure(
    copied: Path, arguments: list[str], cure: str
) -> None:
    done = evaluate(copied, "run", *arguments)
    assert done.code == 2
    assert cure in done.err
    assert "Traceback" not in done.err


def test_run_begun_with_other_settings_is_not_gone_on_with(copied: Path) -> None:
    arguments = ("run", "interviews", "--out", "begun", "--resume")
    other = evaluate(copied, *arguments, settings={"MODEL_TEMPERATURE": "1"})
    assert other.code == 2
    assert "settings" in other.err


def test_dataset_that_changed_is_not_gone_on_with(copied: Path) -> None:
    (copied / "interviews/b.txt").write_text(TIRED, encoding="utf-8")
    other = evaluate(copied, "run", "interviews", "--out", "begun", "--resume")
    assert (other.code, "dataset" in other.err) == (2, True)


def test_unreadable_unit_fails_with_its_reason_and_costs_no_other(
    tmp_path: Path, interviews: Path
) -> None:
    (interviews / "b.txt").write_text("Interviewer: Nobody answers.\n", encoding="utf-8")
    done = evaluate(tmp_path, "run", interviews, "--out", "run")
    assert (done.code, "2 of 3 units complete, 1 failed" in done.err) == (1, True)
    assert "without a transcript that can be read: 1" in done.err
    assert "datasets check" in done.err
    (failure,) = lines(tmp_path / "run/failures.jsonl")
    assert (failure["unit_id"], failure["failure_stage"]) == ("b", "pipeline_internal")
    assert failure["codes"] == ["transcript_unreadable"]


def test_mixed_folder_is_assessed_whole_and_what_is_not_read_is_counted(
    tmp_path: Path, interviews: Path
) -> None:
    session = interviews / "300_P"
    session.mkdir()
    rows = "start_time\tstop_time\tspeaker\tvalue\n1\t2\tEllie\thi\n2\t3\tParticipant\ttired\n"
    (session / "300_TRANSCRIPT.csv").write_text(rows, encoding="utf-8")
    whole = evaluate(tmp_path, "run", interviews, "--out", "whole")
    (interviews / "d.pdf").write_bytes(b"%PDF-1.7")
    (interviews / "older").mkdir()
    (interviews / "older/e.txt").write_text(TIRED, encoding="utf-8")
    lossy = evaluate(tmp_path, "run", interviews, "--out", "lossy")
    assert (whole.code, lossy.code) == (0, 1)
    assert "4 of 4 units complete" in whole.err
    assert "4 of 4 units complete" in lossy.err
    assert "2 files or lines" in lossy.err
    assert "d.pdf" not in lossy.err
    record = json.loads((tmp_path / "lossy/run.json").read_text(encoding="utf-8"))
    assert record["dataset"]["kind"] == "mixed"
    assert record["dataset"]["not_read"] == {"other_form": 1, "subfolder": 1}
    evaluate(tmp_path, "report", "lossy")
    page = (tmp_path / "lossy/report.html").read_text(encoding="utf-8")
    assert "2 files or lines of the dataset could not be read" in page


def test_lines_that_are_no_interview_are_counted_in_the_end(tmp_path: Path) -> None:
    talk = json.dumps({"id": "a", "text": TIRED})
    (tmp_path / "talks.jsonl").write_text(f"{talk}\n{{oops\n", encoding="utf-8")
    done = evaluate(tmp_path, "run", "talks.jsonl", "--out", "run")
    assert (done.code, "1 of 1 units complete" in done.err) == (1, True)
    assert "line_unreadable 1" in done.err


def test_labels_of_speakers_are_said_to_whoever_runs_and_kept_in_no_result(tmp_path: Path) -> None:
    folder = tmp_path / "interviews"
    folder.mkdir()
    text = TIRED.replace("Interviewer", "Marigold").replace("Participant", "Leopold")
    (folder / "a.txt").write_text(f"{text}Leopold: I sleep.\n", encoding="utf-8")
    refused = evaluate(tmp_path, "run", folder, "--out", "refused")
    named = evaluate(tmp_path, "run", folder, "--out", "named", "--participant", "leopold")
    assert (refused.code, named.code) == (3, 0)
    for run_folder, err in ((tmp_path / "refused", refused.err), (tmp_path / "named", named.err)):
        kept = b"".join((run_folder / name).read_bytes() for name in RESULTS) + err.encode()
        assert not any(name in kept.lower() for name in (b"marigold", b"leopold"))
    assert evaluate(tmp_path, "run", folder, "--out", "named", "--resume").code == 2


def test_run_of_which_nothing_is_complete_says_so(tmp_path: Path, interviews: Path) -> None:
    with ModelServerThread(FAULTS["status_500"]) as server:
        done = evaluate(tmp_path, "run", interviews, "--out", "run", settings=served(server.url))
    assert (done.code, "0 of 3 units complete, 3 failed" in done.err) == (3, True)
    assert "failed at provider: 3" in done.err
    assert "ai-psychiatrist doctor" in done.err


def test_no_unit_is_begun_after_too_many_have_failed(tmp_path: Path, interviews: Path) -> None:
    with ModelServerThread(FAULTS["status_500"]) as server:
        done = evaluate(
            tmp_path,
            *("run", interviews, "--out", "run", "--max-failures", "0", "--concurrency", "1"),
            settings=served(server.url),
        )
    assert "1 failed, 2 to do" in done.err


def test_retried_unit_pays_only_for_what_had_failed(tmp_path: Path, interviews: Path) -> None:
    scripts: list[Script] = [only_for(["meta_review"], FAULTS["status_500"])]

    def reply(request: Request) -> Reply:
        return scripts[-1](request)

    with ModelServerThread(reply) as server:
        settings = served(server.url)
        first = evaluate(tmp_path, "run", interviews, "--out", "run", settings=settings)
        scripts.append(good_replies())
        server.server.reset()
        untouched = evaluate(
            tmp_path, "run", interviews, "--out", "run", "--resume", settings=settings
        )
        retried = evaluate(
            tmp_path,
            *("run", interviews, "--out", "run", "--resume", "--retry-failed"),
            settings=settings,
        )
        asked = [request.task for request in server.requests]
    assert (first.code, untouched.code, retried.code) == (3, 3, 0)
    assert asked == ["meta_review"] * 3
    assert "3 of 3 units complete" in retried.err


def test_unit_that_failed_too_often_is_left_alone(tmp_path: Path, interviews: Path) -> None:
    with ModelServerThread(FAULTS["status_500"]) as server:
        settings = served(server.url)
        arguments = ("run", interviews, "--out", "run", "--limit", "1")
        evaluate(tmp_path, *arguments, settings=settings)
        for _ in range(2):
            evaluate(tmp_path, *arguments, "--resume", "--retry-failed", settings=settings)
        server.server.reset()
        evaluate(tmp_path, *arguments, "--resume", "--retry-failed", settings=settings)
        assert server.requests == []


def test_interrupt_stops_a_hanging_run_and_keeps_what_is_done(
    tmp_path: Path, interviews: Path
) -> None:
    with ModelServerThread(fault("hang", tasks=["meta_review"])) as server:
        settings = served(server.url)
        command = [COMMAND, "evaluate", "run", os.fspath(interviews), "--out", "run"]
        environment = environment_of(tmp_path, settings)
        with start(command, tmp_path, environment, is_afresh=True) as process:
            wait_until(lambda: sum(one.task == "meta_review" for one in server.requests) == 3)
            process.send_signal(signal.SIGINT)
            err = process.stderr.read()
            assert process.wait() == 130
        server.server.script = good_replies()
        server.server.reset()
        rest = evaluate(tmp_path, "run", interviews, "--out", "run", "--resume", settings=settings)
        asked = [request.task for request in server.requests]
    assert "--resume" in err.decode()
    assert (rest.code, asked) == (0, ["meta_review"] * 3)


def test_run_without_raw_text_keeps_no_words(tmp_path: Path, interviews: Path) -> None:
    done = evaluate(tmp_path, "run", interviews, "--out", "run", "--no-raw")
    assert done.code == 0
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").glob("*") if path.is_file())
    assert b"hardly sleep" not in kept
    checked = run(["revalidate", "run"], tmp_path)
    assert (checked.code, "--no-raw" in checked.err) == (2, True)


def test_encrypted_run_shows_words_to_nobody_without_the_key(
    tmp_path: Path, interviews: Path
) -> None:
    (tmp_path / "key").write_text("ab" * 32, encoding="ascii")
    (tmp_path / "other").write_text("cd" * 32, encoding="ascii")
    with_key = {"LEDGER_KEY_FILE": os.fspath(tmp_path / "key")}
    evaluate(tmp_path, "run", interviews, "--out", "run", "--limit", "1", settings=with_key)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").glob("*") if path.is_file())
    assert b"hardly sleep" not in kept
    arguments = ("run", interviews, "--out", "run", "--resume")
    other = evaluate(
        tmp_path, *arguments, settings={"LEDGER_KEY_FILE": os.fspath(tmp_path / "other")}
    )
    assert (other.code, "LEDGER_KEY_FILE" in other.err) == (2, True)
    assert evaluate(tmp_path, *arguments, settings=with_key).code == 0


def test_rules_applied_again_to_a_run_change_nothing(tmp_path: Path, interviews: Path) -> None:
    with ModelServerThread(fault("hallucinated_quotes")) as server:
        evaluate(tmp_path, "run", interviews, "--out", "run", settings=served(server.url))
    for _ in range(2):
        done = run(["revalidate", "run", "--json"], tmp_path)
        assert done.code == 0
        steps = json.loads(done.out)["steps"]
        assert {step["changed"] for step in steps} == {0}
        assert [step["regressions"] for step in steps if step["regressions"]] == []


def test_rules_applied_again_know_the_speakers_that_the_run_was_told(tmp_path: Path) -> None:
    folder = tmp_path / "interviews"
    folder.mkdir()
    for name in ("Anna", "Zoe"):
        text = TIRED.replace("Interviewer", "Tom").replace("Participant", name)
        (folder / f"{name}.txt").write_text(f"{text}Tom: I am sad.\n", encoding="utf-8")
    rows = "file,label,role\nZoe.txt,Zoe,participant\n*,Tom,interviewer\n"
    (folder / "speakers.csv").write_text(rows, encoding="utf-8")
    with ModelServerThread(fault("hallucinated_quotes")) as server:
        arguments = ("run", folder, "--out", "run", "--participant", "Anna")
        evaluate(tmp_path, *arguments, settings=served(server.url))
    done = run(["revalidate", "run", "--json"], tmp_path)
    assert done.code == 0
    steps = json.loads(done.out)["steps"]
    (scoring,) = (step for step in steps if step["step"] == "quantitative")
    assert scoring["outcomes"] == [{"old": "valid", "new": "valid", "units": 2}]
    assert {step["changed"] for step in steps} == {0}


def test_stricter_rules_over_a_run_name_the_units_that_they_reject(
    tmp_path: Path, interviews: Path
) -> None:
    evaluate(tmp_path, "run", interviews, "--out", "run", "--limit", "2")
    contract = tmp_path / "run/config/pipeline.yaml"
    text = contract.read_text(encoding="utf-8")
    stricter = text.replace('expr: "len(items) == 8"', 'expr: "len(items) == 9"')
    (tmp_path / "run/config/stricter.yaml").write_text(stricter, encoding="utf-8")
    done = run(
        ["revalidate", "run", "--rules", "run/config/stricter.yaml", "--dry-run", "--json"],
        tmp_path,
    )
    assert done.code == 0
    rejected = {
        step["step"]: step["regressions"]
        for step in json.loads(done.out)["steps"]
        if step["regressions"]
    }
    assert rejected == {"quantitative": ["a", "b"]}


def test_metrics_and_report_need_the_run_folder_alone(copied: Path) -> None:
    shutil.rmtree(copied / "interviews")
    shown = evaluate(copied, "metrics", "run")
    printed = evaluate(copied, "metrics", "run", "--json")
    written = evaluate(copied, "report", "run")
    assert (shown.code, printed.code, written.code) == (0, 0, 0)
    assert json.loads(printed.out)["metrics"] == json.loads(
        (copied / "run/metrics.json").read_text(encoding="utf-8")
    )
    page = (copied / "run/report.html").read_text(encoding="utf-8")
    assert "baseline" in page
    assert "tired nearly" not in page


def test_run_compared_with_itself_shows_no_difference(copied: Path) -> None:
    done = evaluate(copied, "metrics", "run", "--compare", "run", "--json")
    assert done.code == 0
    assert json.loads(done.out)["comparison"] is not None
    assert evaluate(copied, "report", "run", "--compare", "run").code == 0


@pytest.mark.parametrize("command", ["metrics", "report"])
def test_folder_that_is_no_run_is_refused(tmp_path: Path, command: str) -> None:
    done = evaluate(tmp_path, command, tmp_path)
    assert (done.code, "no run" in done.err) == (2, True)


def test_sessions_of_a_participant_are_drawn_together_from_dataset_to_figures(
    tmp_path: Path,
) -> None:
    rows = [
        {
            "id": f"{person}-{session}",
            "participant_id": person,
            "text": TIRED,
            "items": [person % 2, 0, 1, 2, 0, 0, 0, 0],
            "second_items": [person % 2, 0, 1, 1, 0, 0, 0, 0],
        }
        for person in range(9)
        for session in range(2)
    ]
    content = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "sessions.jsonl").write_text(content, encoding="utf-8")
    evaluate(tmp_path, "run", "sessions.jsonl", "--out", "run")
    figures = json.loads(evaluate(tmp_path, "metrics", "run", "--json").out)["metrics"]
    counts = figures["units"]
    assert (counts["labelled"], counts["participants_labelled"]) == (18, 9)
    error = figures["items"]["mae"]
    assert error["interval"] is None
    assert error["reason"] == "no interval: it rests on 9 participants, and needs 10"
    assert figures["noise_ceiling"]["mae"]["value"] == 1 / 8
    printed = evaluate(tmp_path, "metrics", "run").out
    assert "Only 9 labelled participants, and intervals need 10" in printed
    assert "Noise ceiling: a second rater" in printed
