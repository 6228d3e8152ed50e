"""Datasets through the real command: what a run leaves behind, however it ends."""

import csv
import json
import os
import re
import shutil
import signal
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from openpyxl import load_workbook  # type: ignore[import-untyped]

from tests.fakes.faults import FAULTS, first_attempts, only_for
from tests.fakes.model_server import ModelServerThread, Reply, Request, Script, fault, good_replies
from tests.fakes.run_words import words_in
from tests.integration.command import COMMAND, Finished, environment_of, run
from tests.integration.command_here import run_here
from tests.integration.started import start
from tests.patience import wait_until

RESULTS = ("run.json", "units.jsonl", "labels.jsonl", "predictions.jsonl", "failures.jsonl")
TIRED = (
    "Interviewer: How have you been?\n"
    "Participant: I have been tired nearly every day, and I hardly sleep at all.\n"
)


def write_interviews(folder: Path, names: str = "abc") -> Path:
    """Write an interview for each letter into a folder of texts."""
    interviews = folder / "interviews"
    interviews.mkdir()
    for name in names:
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
    """What goes on with a run, or is to start differently, is a process of its own."""
    texts = ["evaluate", *(os.fspath(one) for one in arguments)]
    is_apart = "--resume" in texts or "PYTHONHASHSEED" in (settings or {})
    return (run if is_apart else run_here)(texts, folder, settings)


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
        (["missing", "--out", "new"], "no file or folder of this name"),
        (["interviews", "--out", "new", "--limit", "0"], "limit"),
        (["interviews", "--out", "new", "--accept-changed"], "--accept-changed is for --resume"),
        (["interviews", "--out", "new", "--retry-failed"], "--retry-failed is for --resume"),
    ],
    ids=[
        *("a run is there", "no run to resume", "no dataset", "no units"),
        *("accepted changes of no run", "no failed units"),
    ],
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
    other = evaluate(copied, *arguments, settings={"MODEL_MAX_CALLS": "59"})
    assert other.code == 2
    assert "other settings (settings.max_calls: 60 → 59)" in other.err


def test_run_begun_under_another_learned_reader_is_not_gone_on_with(copied: Path) -> None:
    path = copied / "begun/run.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    assert "reader" in record
    path.write_text(json.dumps(record | {"reader": "0" * 64}), encoding="utf-8")
    other = evaluate(copied, "run", "interviews", "--out", "begun", "--resume")
    assert other.code == 2
    assert "other reader" in other.err


@pytest.mark.parametrize("part", ["version", "prompts", "contracts"])
def test_run_goes_on_under_another_program_only_where_that_is_accepted(
    copied: Path, part: str
) -> None:
    """What was assessed after the change is known by unit, and the rules of both are kept."""
    path = copied / "begun/run.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record[part] = "0.0.1" if part == "version" else dict.fromkeys(record[part], "0" * 12)
    path.write_text(json.dumps(record), encoding="utf-8")
    arguments = ("run", "interviews", "--out", "begun", "--resume")
    refused = evaluate(copied, *arguments)
    assert (refused.code, part in refused.err) == (2, True)
    assert "--accept-changed" in refused.err
    accepted = evaluate(copied, *arguments, "--accept-changed")
    assert (accepted.code, "3 of 3 units complete" in accepted.err) == (0, True)
    after = {one["unit_id"]: one["changes"] for one in lines(copied / "begun/predictions.jsonl")}
    assert after == {"a": 0, "b": 1, "c": 1}
    (change,) = json.loads(path.read_text(encoding="utf-8"))["changes"]
    assert change[part] != record[part]
    assert (copied / "begun/changes/1/config/pipeline.yaml").is_file()
    assert evaluate(copied, *arguments).code == 0
    assert evaluate(copied, "report", "begun").code == 0
    page = (copied / "begun/report.html").read_text(encoding="utf-8")
    for said in (" ".join(evaluate(copied, "metrics", "begun").out.split()), page):
        assert f"went on after accepted changes: 1) other {part}." in said
        assert "Of its units 1 were assessed before, 2 after 1" in said


def test_other_settings_are_not_accepted_as_a_change(copied: Path) -> None:
    arguments = ("run", "interviews", "--out", "begun", "--resume", "--accept-changed")
    other = evaluate(copied, *arguments, settings={"MODEL_MAX_CALLS": "59"})
    assert (other.code, "--accept-changed" in other.err) == (2, False)


def test_resumed_run_keeps_no_text_from_where_none_is_wished(copied: Path) -> None:
    done = evaluate(copied, "run", "interviews", "--out", "begun", "--resume", "--no-raw")
    assert "3 of 3 units complete" in done.err
    kept = words_in(copied / "begun/ledger.sqlite")
    assert b"I am a." in kept
    assert b"I am b." not in kept
    assert b"I am c." not in kept
    again = evaluate(copied, "run", "interviews", "--out", "begun", "--resume")
    assert (again.code, "0 model calls made now" in again.err) == (0, True)


def test_unreadable_unit_fails_with_its_reason_and_costs_no_other(
    tmp_path: Path, interviews: Path
) -> None:
    (interviews / "b.txt").write_text("Interviewer: Nobody answers.\n", encoding="utf-8")
    done = evaluate(tmp_path, "run", interviews, "--out", "run")
    assert (done.code, "2 of 3 units complete, 1 failed" in done.err) == (1, True)
    assert "without a transcript that can be read: 1" in done.err
    assert "  failed, transcript_unreadable: 1\n" in done.err
    assert "pipeline_internal" not in done.err
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
    assert re.search(r"  failed calls: (\d+) of \1 \(100", done.err)
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
        with start(command, tmp_path, environment) as process:
            wait_until(lambda: sum(one.task == "meta_review" for one in server.requests) == 3)
            process.send_signal(signal.SIGINT)
            err = process.stderr.read()
            assert process.wait() == 130
        server.server.script = good_replies()
        server.server.reset()
        rest = evaluate(tmp_path, "run", interviews, "--out", "run", "--resume", settings=settings)
        asked = [request.task for request in server.requests]
    assert (
        "stopped; 0 of 3 units have finished and are kept: continue with --resume" in err.decode()
    )
    assert (rest.code, asked) == (0, ["meta_review"] * 3)


def test_run_without_raw_text_keeps_no_words(tmp_path: Path, interviews: Path) -> None:
    done = evaluate(tmp_path, "run", interviews, "--out", "run", "--no-raw")
    assert done.code == 0
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").glob("*") if path.is_file())
    assert b"hardly sleep" not in kept
    checked = run_here(["revalidate", "run"], tmp_path)
    assert (checked.code, "--no-raw" in checked.err) == (2, True)


def test_encrypted_run_shows_words_to_nobody_without_the_key(
    tmp_path: Path, interviews: Path
) -> None:
    (tmp_path / "key").write_text("ab" * 32, encoding="ascii")
    (tmp_path / "other").write_text("cd" * 32, encoding="ascii")
    with_key = {"DATA_KEY_FILE": os.fspath(tmp_path / "key")}
    evaluate(tmp_path, "run", interviews, "--out", "run", "--limit", "1", settings=with_key)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").glob("*") if path.is_file())
    assert b"hardly sleep" not in kept
    arguments = ("run", interviews, "--out", "run", "--resume")
    other = evaluate(
        tmp_path, *arguments, settings={"DATA_KEY_FILE": os.fspath(tmp_path / "other")}
    )
    assert (other.code, "DATA_KEY_FILE" in other.err) == (2, True)
    assert evaluate(tmp_path, *arguments, settings=with_key).code == 0


def test_run_of_invented_quotes_is_not_told_as_complete(tmp_path: Path, interviews: Path) -> None:
    with ModelServerThread(fault("hallucinated_quotes")) as server:
        done = evaluate(tmp_path, "run", interviews, "--out", "run", settings=served(server.url))
    assert "0 of 3 units complete, 3 failed" in done.err
    assert "failed at validation: 3" in done.err
    shown = " ".join(evaluate(tmp_path, "metrics", "run").out.split())
    assert "3 conversations carry failures" in shown


def test_rules_applied_again_to_a_run_change_nothing(tmp_path: Path, interviews: Path) -> None:
    with ModelServerThread(fault("hallucinated_quotes")) as server:
        evaluate(tmp_path, "run", interviews, "--out", "run", settings=served(server.url))
    for _ in range(2):
        done = run_here(["revalidate", "run", "--json"], tmp_path)
        assert done.code == 0
        steps = json.loads(done.out)["steps"]
        assert {step["changed"] for step in steps} == {0}
        assert [step["regressions"] for step in steps if step["regressions"]] == []


def test_rules_applied_again_know_of_which_item_a_quote_is(
    tmp_path: Path, interviews: Path
) -> None:
    """A 0 stands on a denial of its own item."""
    text = "Interviewer: How have you been?\nParticipant: I sleep well, and I am tired every day.\n"
    (interviews / "a.txt").write_text(text, encoding="utf-8")
    settings = {"READER_ENABLED": "false"}
    evaluate(tmp_path, "run", interviews, "--out", "run", "--limit", "1", settings=settings)
    (one,) = lines(tmp_path / "run/predictions.jsonl")
    items = one["items"]
    assert isinstance(items, dict)
    assert (items["PHQ8_Sleep"]["score"], items["PHQ8_Tired"]["score"]) == (0, 3)
    done = run_here(["revalidate", "run", "--json"], tmp_path)
    assert done.code == 0
    outcomes = {step["step"]: step["outcomes"] for step in json.loads(done.out)["steps"]}
    assert outcomes["quantitative"] == [{"old": "valid", "new": "valid", "units": 1}]


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
    done = run_here(["revalidate", "run", "--json"], tmp_path)
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
    done = run_here(
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
    assert lines(tmp_path / "run/failures.jsonl") == []
    demoting = ["revalidate", "run", "--rules", "run/config/stricter.yaml", "--demote"]
    assert run_here(demoting, tmp_path).code == 0
    failures = lines(tmp_path / "run/failures.jsonl")
    assert [(one["unit_id"], one["step"]) for one in failures] == [
        *(("a", "assessment"), ("b", "assessment")),
        *(("a", "quantitative"), ("b", "quantitative")),
    ]


def test_results_follow_the_verdicts_that_rules_come_to_by_now(
    tmp_path: Path, interviews: Path
) -> None:
    """Every file: none is left that knows of scores whose reply is rejected; and back again."""
    evaluate(tmp_path, "run", interviews, "--out", "run")
    evaluate(tmp_path, "report", "run")
    made = (*RESULTS, "metrics.json", "report.html")
    before = {name: (tmp_path / "run" / name).read_bytes() for name in made}
    text = (tmp_path / "run/config/pipeline.yaml").read_text(encoding="utf-8")
    stricter = text.replace('expr: "len(items) == 8"', 'expr: "len(items) == 9"')
    (tmp_path / "run/config/stricter.yaml").write_text(stricter, encoding="utf-8")
    stricter_rules = ("revalidate", "run", "--rules", "run/config/stricter.yaml")
    for command in (stricter_rules, (*stricter_rules, "--demote", "--dry-run")):
        assert run_here(list(command), tmp_path).code == 0
        now = {name: (tmp_path / "run" / name).read_bytes() for name in made}
        assert [name for name in made if now[name] != before[name]] == []
    demoted = run_here([*stricter_rules, "--demote"], tmp_path)
    assert "predictions of 3 units changed" in demoted.out
    assert "assessment: 3 requested = 0 valid + 3 failed + 0 pending" in demoted.out
    for one in lines(tmp_path / "run/predictions.jsonl"):
        assert (one["status"], one["items"], one["meta_review_severity"]) == ("partial", {}, None)
        assert (one["total"], one["total_min"], one["total_max"]) == (None, 0, 24)
        assert one["failures"] == [
            {"category": category, "code": code, "stage": stage}
            for category, code, stage in (
                ("agent_failed", "output_rejected", "quantitative"),
                ("stage_skipped", "missing_input", "meta_review"),
            )
        ]
    figures = json.loads((tmp_path / "run/metrics.json").read_bytes())
    assert figures["units"]["by_status"]["partial"] == 3
    assert (tmp_path / "run/report.html").read_bytes() != before["report.html"]
    again = run_here(["revalidate", "run", "--json"], tmp_path)
    assert json.loads(again.out)["changed_predictions"] == 3
    assert {name: (tmp_path / "run" / name).read_bytes() for name in made} == before
    assert (
        json.loads(run_here(["revalidate", "run", "--json"], tmp_path).out)["changed_predictions"]
        == 0
    )


JUDGES = ("judge_coherence", "judge_completeness", "judge_specificity", "judge_accuracy")


@pytest.mark.parametrize(
    ("rejected", "rule", "skipped", "keeps_scores"),
    [
        ("meta_review", "severity == 9", (), True),
        ("evidence", "len(quotes) == 9", ("quantitative", "meta_review"), False),
        ("qualitative", "assessment == ''", (*JUDGES, "meta_review"), True),
    ],
    ids=["meta_review", "evidence", "qualitative"],
)
def test_prediction_loses_what_stands_on_a_rejected_reply(
    copied: Path, rejected: str, rule: str, skipped: tuple[str, ...], keeps_scores: bool
) -> None:
    before = lines(copied / "run/predictions.jsonl")
    text = (copied / "run/config/pipeline.yaml").read_text(encoding="utf-8")
    head, _, rest = text.partition(f"  {rejected}:\n    required:")
    rules = f'{{name: other, expr: "{rule}", error: "other", level: error}}'
    added = f"  {rejected}:\n    rules: [{rules}]\n    required:"
    (copied / "run/config/other.yaml").write_text(f"{head}{added}{rest}", encoding="utf-8")
    command = ["revalidate", "run", "--rules", "run/config/other.yaml", "--demote"]
    assert run([*command, "--step", rejected], copied).code == 0
    for old, new in zip(before, lines(copied / "run/predictions.jsonl"), strict=True):
        assert (new["status"], new["meta_review_severity"]) == ("partial", None)
        assert new["items"] == (old["items"] if keeps_scores else {})
        assert (new["risk_level"], new["attempts"]) == (old["risk_level"], old["attempts"])
        assert isinstance(new["failures"], list)
        stages = [(one["category"], one["stage"]) for one in new["failures"]]
        assert stages == [
            ("agent_failed", rejected),
            *(("stage_skipped", step) for step in skipped),
        ]


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


@pytest.mark.parametrize(
    ("command", "name"),
    [("metrics", "metrics.json"), ("report", "metrics.json"), ("report", "report.html")],
)
def test_figures_that_cannot_be_written_name_their_file(
    copied: Path, command: str, name: str
) -> None:
    # A folder in its place stops everybody, administrators included.
    (copied / "run" / name).mkdir()
    done = evaluate(copied, command, "run")
    assert done.code == 2
    assert done.err.endswith(f"run/{name} cannot be written: Is a directory\n")
    assert "Traceback" not in done.err


def test_runs_judged_by_one_call_and_by_four_are_compared(tmp_path: Path, interviews: Path) -> None:
    with ModelServerThread() as server:
        for folder, calls in (("four", "four"), ("one", "one")):
            settings = served(server.url) | {"JUDGE_CALLS": calls}
            done = evaluate(tmp_path, "run", interviews, "--out", folder, settings=settings)
            assert done.code == 0, done.err
    one = json.loads((tmp_path / "one/run.json").read_bytes())
    four = json.loads((tmp_path / "four/run.json").read_bytes())
    assert one["settings"]["judge"] == {"calls": "one"}
    assert "judges" in one["prompts"]
    assert "judge" not in four["settings"]
    assert "judges" not in four["prompts"]
    done = evaluate(tmp_path, "compare", "four", "one")
    assert done.code == 0, done.err
    assert "settings.judge.calls: four → one" in done.out
    assert "First: 9.0 model calls a unit; replies rejected 0 of 27" in done.out
    assert "Second: 6.0 model calls a unit; replies rejected 0 of 18" in done.out
    units = lines(tmp_path / "one/predictions.jsonl")
    assert {unit["status"] for unit in units} == {"complete"}
    again = evaluate(tmp_path, "run", interviews, "--out", "one", "--resume")
    assert again.code == 2
    assert "settings" in again.err


def labelled(folder: Path, *, sleep: int = 2, said: str = "I sleep badly.") -> Path:
    """Two interviews with labels, always under the same names."""
    folder.mkdir()
    for name in ("a", "b"):
        text = f"{TIRED}Participant: {said if name == 'b' else 'Yes.'}\n"
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    rows = f"unit_id,PHQ8_Sleep,PHQ8_Score\na,1,\nb,{sleep},\n"
    (folder / "labels.csv").write_text(rows, encoding="utf-8")
    return folder


def test_runs_over_other_texts_or_labels_are_not_compared(tmp_path: Path) -> None:
    """Both have the same identifiers; what differs is said."""
    made = {
        "plain": labelled(tmp_path / "one"),
        "labels": labelled(tmp_path / "two", sleep=3),
        "texts": labelled(tmp_path / "three", said="I sleep well."),
    }
    for name, dataset in made.items():
        assert evaluate(tmp_path, "run", dataset, "--out", name).code == 0
    for name in ("labels", "texts"):
        told = {
            (command, done.code): done.err
            for command in ("compare", "metrics", "report")
            for extra in ([] if command == "compare" else ["--compare"],)
            for done in (evaluate(tmp_path, command, "plain", *extra, name),)
        }
        assert {code for _, code in told} == {2}
        for err in told.values():
            assert f"the {name} of 1 of 2 shared units differ" in " ".join(err.split())
            assert ("their datasets differ" in err) == (name == "texts")
            other = "texts" if name == "labels" else "labels"
            assert f"the {other} of" not in err
            said = " ".join(err.split())
            cure = "ai-psychiatrist evaluate metrics plain --compare labels --labels FILE"
            assert (cure in said) == (name == "labels")
    named = ("metrics", "plain", "--compare", "labels", "--labels", "one/labels.csv")
    assert evaluate(tmp_path, *named).code == 0
    speakers = ("run", made["plain"], "--out", "alone", "--speakers", "participant-only")
    evaluate(tmp_path, *speakers)
    assert "participant-only" in evaluate(tmp_path, "compare", "plain", "alone").err


def test_each_of_several_runs_is_compared_and_named(tmp_path: Path) -> None:
    dataset = labelled(tmp_path / "interviews")
    for name in ("first", "again"):
        evaluate(tmp_path, "run", dataset, "--out", name)
    with ModelServerThread(good_replies()) as server:
        evaluate(tmp_path, "run", dataset, "--out", "served", settings=served(server.url))
    done = evaluate(tmp_path, "compare", "first", "again", "served")
    assert done.code == 0
    assert "no interval: identical in" in done.out
    assert "Units that changed most" in done.out
    prompts = json.loads(
        evaluate(tmp_path, "compare", "first", "served", "--worst", "1", "--json").out
    )
    (compared,) = prompts["comparisons"]
    changes = compared["unit_changes"]
    assert len(changes["most_changed"]) == 1
    assert changes["better"] + changes["worse"] + changes["equal"] == compared["units"]["shared"]
    worst = json.loads(evaluate(tmp_path, "metrics", "first", "--json").out)["worst_units"]
    assert worst["units"] == sorted(worst["units"], key=lambda one: -one["points_off"])
    assert worst["units"][0]["unit_id"] in evaluate(tmp_path, "metrics", "first").out
    second = compared["second"]
    assert (second["folder"], second["model"], second["mode"]) == (
        *("served", "ollama:fake", "zero_shot"),
    )
    evaluate(tmp_path, "report", "first", "--compare", "again", "--compare", "served")
    page = (tmp_path / "first/report.html").read_text(encoding="utf-8")
    for text in (" ".join(done.out.split()), page):
        assert "Second: again (baseline" in text
        assert f"Second: served (ollama:fake, zero_shot, prompts {second['prompts']})" in text


@pytest.mark.parametrize("command", ["metrics", "report"])
def test_folder_that_is_no_run_is_refused(tmp_path: Path, command: str) -> None:
    done = evaluate(tmp_path, command, tmp_path)
    assert (done.code, "no run" in done.err) == (2, True)


def test_run_over_a_split_takes_its_participants_alone(tmp_path: Path) -> None:
    """The options of reading are those of the check, and figures can be of a split as well."""
    assert evaluate(tmp_path, "datasets", "make", "demo", "--units", "30").code == 0
    parts = ("--part", "train=8", "--part", "test=5", "--seed", "3")
    drawn = evaluate(tmp_path, "datasets", "split", "demo", "splits", *parts)
    assert (drawn.code, "test: 5 participants" in drawn.out) == (0, True)
    again = evaluate(tmp_path, "datasets", "split", "demo", "again", *parts)
    assert again.out == drawn.out
    split = (tmp_path / "splits/test.csv").read_bytes()
    assert (tmp_path / "again/test.csv").read_bytes() == split
    reading = ("--kind", "daic-woz", "--interruption-373", "keep", "--codes", "both")
    arguments = ("run", "demo", "--out", "run", *reading)
    done = evaluate(tmp_path, *arguments, "--split", "splits/test.csv", "--limit", "2")
    assert "2 of 2 units complete" in done.err
    assert evaluate(tmp_path, *arguments, "--resume").code == 2
    rest = evaluate(tmp_path, *arguments, "--split", "splits/test.csv", "--resume")
    assert "5 of 5 units complete" in rest.err
    units = {str(unit["participant_id"]) for unit in lines(tmp_path / "run/units.jsonl")}
    assert units == set(split.decode().split()[1:])
    (tmp_path / "two.csv").write_text("\n".join(sorted(units)[:2]), encoding="utf-8")
    measured = evaluate(tmp_path, "metrics", "run", "--split", "two.csv", "--labelled", "--json")
    assert json.loads(measured.out)["metrics"]["units"]["predicted"] == 2
    assert not (tmp_path / "run/metrics.json").exists()
    other = evaluate(tmp_path, "metrics", "run", "--split", "nonsense")
    assert (other.code, "no file and no split" in other.err) == (2, True)


def test_runs_of_a_folder_are_listed_with_what_they_carry(copied: Path) -> None:
    with ModelServerThread(fault("hallucinated_quotes")) as server:
        invented = ("run", "interviews", "--out", "invented")
        evaluate(copied, *invented, settings=served(server.url))
    (copied / "broken").mkdir()
    (copied / "broken/run.json").write_text("{", encoding="utf-8")
    done = evaluate(copied, "runs", ".", "--json")
    found = json.loads(done.out)
    assert found["damaged"] == ["broken"]
    counts = {
        one["name"]["folder"]: (one["asked"], one["complete"], one["with_failures"], one["failed"])
        for one in found["runs"]
    }
    assert counts == {"begun": (1, 1, 0, 0), "invented": (3, 0, 0, 3), "run": (3, 3, 0, 0)}
    shown = evaluate(copied, "runs", ".").out
    assert "ollama:fake" in shown
    assert "damaged: broken" in shown
    assert evaluate(copied, "runs", "interviews").code == 2


def test_results_are_a_table_of_separated_values_or_a_workbook(tmp_path: Path) -> None:
    dataset = labelled(tmp_path / "interviews")
    (dataset / "b.txt").rename(dataset / "=b.txt")
    # Read as the other sign by some programs.
    shutil.copy(dataset / "=b.txt", dataset / "＝c.txt")
    evaluate(tmp_path, "run", dataset, "--out", "run")
    for name in ("out.csv", "out.xlsx"):
        assert evaluate(tmp_path, "table", "run", "--out", name).code == 0
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    book = load_workbook(tmp_path / "out.xlsx")["units"]
    written = [["" if cell is None else str(cell) for cell in row] for row in book.values]
    assert written == [header, *([row[0].removeprefix("'"), *row[1:]] for row in rows)]
    of_a = dict(zip(header, next(row for row in rows if row[0] == "a"), strict=True))
    assert (of_a["status"], of_a["label_PHQ8_Sleep"]) == ("complete", "1")
    assert {"'=b", "'＝c"} < {row[0] for row in rows}
    assert b"hardly sleep" not in (tmp_path / "out.csv").read_bytes()


def test_replication_is_held_at_its_ceiling_and_leaves_figures_alone_to_share(
    tmp_path: Path,
) -> None:
    """A corpus of whole size."""
    evaluate(tmp_path, "datasets", "make", "demo", "--units", "189", "--seed", "1")
    held = evaluate(
        tmp_path,
        *("replicate", "demo", "--out", "held", "--model", "openai:gpt-5-mini"),
        *("--max-cost", "0.0001"),
        settings={"OPENAI_API_KEY": "none"},
    )
    assert (held.code, "41 units are left" in held.err) == (5, True)
    evaluate(tmp_path, "replicate", "demo", "--out", "replication")
    files = sorted((tmp_path / "replication" / "aggregates").iterdir())
    names = [path.name for path in files]
    assert names == ["metrics.json", "provenance.json", "splits.json"]
    assert not [path.name for path in files if b"unit_id" in path.read_bytes()]
    assert json.loads(files[0].read_bytes())["units"]["predicted"] == 41


def test_words_behind_a_unit_are_written_for_their_owner_on_demand(copied: Path) -> None:
    assert evaluate(copied, "unit", "run", "a", "--out", "a.json").code == 0
    behind = json.loads((copied / "a.json").read_text(encoding="utf-8"))
    assert "I hardly sleep at all." in behind["text"]
    assert {call["agent"] for call in behind["calls"]} >= {"evidence", "quantitative"}
    (evidence,) = (one for one in behind["attempts"] if one["step"] == "evidence")
    assert any("sleep" in quote for quote in evidence["output"]["quotes"]["PHQ8_Sleep"])
    assert stat.S_IMODE((copied / "a.json").stat().st_mode) == 0o600
    assert evaluate(copied, "unit", "run", "nobody", "--out", "b.json").code == 2
    evaluate(copied, "run", "interviews", "--out", "bare", "--no-raw", "--limit", "1")
    bare = evaluate(copied, "unit", "bare", "a", "--out", "b.json")
    assert (bare.code, "--no-raw" in bare.err) == (2, True)


def test_prompts_behind_a_unit_are_those_that_the_server_received(
    tmp_path: Path, interviews: Path
) -> None:
    """With the feedback on a refused reply; the ledger has the transcript once all the same."""
    script = only_for(["evidence"], first_attempts(1, FAULTS["prose"]))
    with ModelServerThread(script) as server:
        arguments = ("run", interviews, "--out", "run", "--limit", "1")
        evaluate(tmp_path, *arguments, settings=served(server.url))
        received = [
            [(one.role, one.content) for one in request.messages] for request in server.requests
        ]
    evaluate(tmp_path, "unit", "run", "a", "--out", "a.json")
    behind = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    sent = [[(one["role"], one["text"]) for one in call["messages"]] for call in behind["calls"]]
    assert sorted(sent) == sorted(received)
    again = [messages for messages in sent if len(messages) == 4]
    assert [messages[-1][1].startswith("That reply was not accepted.") for messages in again] == [
        True
    ]
    kept = words_in(tmp_path / "run/ledger.sqlite")
    assert kept.count(b"I hardly sleep at all.\nParticipant: I am a.") <= 2


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
