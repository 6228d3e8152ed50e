"""Labels of a run are no part of what its models saw: corrected, added, given later."""

import json
from pathlib import Path

import pytest

from tests.integration.command import Finished
from tests.integration.test_evaluate_command import evaluate, lines, results

ITEMS = ",".join(f"phq8_{number}" for number in range(1, 9))
TALK = "Doctor: how do you sleep?\nPatient: I sleep badly nearly every day.\n"
LABELS = {"a": "3,0,3,1,0,0,1,0", "b": "0,0,3,0,0,0,0,0", "c": "2,2,2,2,2,2,2,2"}


def labelled(folder: Path, labels: dict[str, str] = LABELS, name: str = "labels.csv") -> None:
    rows = "".join(
        f"{unit},{'f' if unit == 'a' else 'm'},{scores}\n" for unit, scores in labels.items()
    )
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"record_id,sex,{ITEMS}\n{rows}", encoding="utf-8")


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    """A folder of three interviews with labels."""
    folder = tmp_path / "talks"
    labelled(folder)
    for unit in LABELS:
        (folder / f"{unit}.txt").write_text(TALK, encoding="utf-8")
    return folder


def begun(talks: Path) -> Path:
    ended = evaluate(talks.parent, "run", "talks", "--out", "run")
    assert ended.code == 0, ended.err
    return talks.parent / "run"


def calls_of(ended: Finished) -> int:
    return int(ended.err.partition(" model calls made now")[0].split()[-1])


def test_labels_that_came_later_cost_no_call(talks: Path) -> None:
    (talks / "labels.csv").unlink()
    run = begun(talks)
    labelled(talks)
    ended = evaluate(talks.parent, "run", "talks", "--out", "run", "--resume")
    assert (ended.code, calls_of(ended)) == (0, 0)
    assert [line["unit_id"] for line in lines(run / "labels.jsonl")] == ["a", "b", "c"]
    assert lines(run / "labels.jsonl")[0]["columns"] == {"sex": "f"}
    assert evaluate(talks.parent, "metrics", "run").code == 0


def test_interviews_that_were_added_or_corrected_cost_their_own_calls(talks: Path) -> None:
    whole = calls_of(evaluate(talks.parent, "run", "talks", "--out", "other"))
    run = begun(talks)
    kept = results(run)["predictions.jsonl"].splitlines()
    (talks / "b.txt").write_text(TALK.replace("badly", "well"), encoding="utf-8")
    (talks / "d.txt").write_text(TALK, encoding="utf-8")
    ended = evaluate(talks.parent, "run", "talks", "--out", "run", "--resume")
    assert (ended.code, calls_of(ended)) == (0, 2 * whole // 3)
    assert "4 of 4 units complete" in ended.err
    now = results(run)["predictions.jsonl"].splitlines()
    assert [now[0], now[2]] == [kept[0], kept[2]]
    assert now[1] != kept[1]
    again = evaluate(talks.parent, "run", "talks", "--out", "run", "--resume")
    assert calls_of(again) == 0
    evaluate(talks.parent, "run", "talks", "--out", "fresh")
    assert (run / "predictions.jsonl").read_bytes() == (
        talks.parent / "fresh" / "predictions.jsonl"
    ).read_bytes()
    assert (run / "units.jsonl").read_bytes() == (
        talks.parent / "fresh" / "units.jsonl"
    ).read_bytes()


def test_run_whose_interviews_are_gone_is_not_continued(talks: Path) -> None:
    begun(talks)
    (talks / "b.txt").unlink()
    (talks / "labels.csv").unlink()
    ended = evaluate(talks.parent, "run", "talks", "--out", "run", "--resume")
    assert ended.code == 2
    assert "1 of the 3 interviews of the run" in ended.err


def test_labels_that_are_gone_are_not_forgotten_in_silence(talks: Path) -> None:
    run = begun(talks)
    kept = results(run)
    (talks / "labels.csv").unlink()
    again = ("run", "talks", "--out", "run", "--resume")
    refused = evaluate(talks.parent, *again)
    assert (refused.code, results(run)) == (2, kept)
    assert "3 of the 3 interviews that had labels have none now" in refused.err
    assert evaluate(talks.parent, *again, "--accept-changed").code == 0
    assert lines(run / "labels.jsonl") == []


@pytest.mark.parametrize(("kept", "code"), [(0, 2), (1, 0)], ids=["killed", "stopped"])
def test_a_run_that_is_not_done_is_told_the_command_that_goes_on(
    talks: Path, kept: int, code: int
) -> None:
    predictions = begun(talks) / "predictions.jsonl"
    written = predictions.read_text("utf-8").splitlines(keepends=True)
    predictions.write_text("".join(written[:kept]), "utf-8")
    if not kept:
        predictions.unlink()
    ended = evaluate(talks.parent, "metrics", "run")
    assert ended.code == code
    said = " ".join(ended.err.split())
    assert ("2 of 3 units are not assessed yet" in said) == bool(kept)
    command = said.partition("continue it: ai-psychiatrist evaluate ")[2].partition(",")[0]
    assert evaluate(talks.parent, *command.split()).code == 0
    assert "continue it" not in evaluate(talks.parent, "metrics", "run").err


def test_figures_of_before_are_named_when_a_run_goes_on(talks: Path) -> None:
    begun(talks)
    assert evaluate(talks.parent, "metrics", "run").code == 0
    ended = evaluate(talks.parent, "run", "talks", "--out", "run", "--resume")
    assert "metrics.json in run: written before; measure again" in ended.err


def test_run_is_measured_with_other_labels_whose_digest_is_named(talks: Path) -> None:
    run = begun(talks)
    own = json.loads(evaluate(talks.parent, "metrics", "run", "--json").out)
    written = (run / "metrics.json").read_bytes()
    labelled(talks.parent, {"A.txt": "1,1,1,1,1,1,1,1", "z": "0,0,0,0,0,0,0,0"}, "later.csv")
    options = ("metrics", "run", "--labels", "later.csv", "--match-ids", "loose")
    given = evaluate(talks.parent, *options, "--json")
    document = json.loads(given.out)
    assert document["labels"]["units"] == document["labels"]["other_units"] == 1
    assert document["labels"]["digest"][:12] in given.err
    assert document["metrics"] != own["metrics"]
    assert (run / "metrics.json").read_bytes() == written
    assert "later.csv" in evaluate(talks.parent, *options).err
    report = ("report", "run", "--labels", "later.csv", "--match-ids", "loose")
    assert evaluate(talks.parent, *report).code == 0
    assert document["labels"]["digest"] in (run / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("who,phq8_1\na,1\n", "wanted are an identifier"),
        ("record_id,visit,phq8_total\na,1,3\na,2,3\n", "--label-row 'visit=VALUE'"),
        ("record_id,phq8_total\nz,3\n", "no label of a unit"),
        (f"record_id,{ITEMS}\na,99,0,0,0,0,0,0,0\n", "--missing=99"),
    ],
)
def test_labels_that_cannot_be_used_are_refused_with_what_helps(
    talks: Path, content: str, says: str
) -> None:
    begun(talks)
    (talks.parent / "later.csv").write_text(content, encoding="utf-8")
    ended = evaluate(talks.parent, "metrics", "run", "--labels", "later.csv")
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err


def test_what_of_a_file_is_not_used_is_said_with_what_helps(talks: Path) -> None:
    begun(talks)
    rows = "a,F,3,0,3,1,0,0,1,0\nb,M,-99,0,3,0,0,0,0,0\n"
    (talks.parent / "later.csv").write_text(f"record_id,remark,{ITEMS}\n{rows}", "utf-8")
    ended = evaluate(talks.parent, "metrics", "run", "--labels", "later.csv")
    assert ended.code == 0, ended.err
    assert "1 unit: unit kept without label: a value is outside its range" in ended.err
    assert "--missing=-99" in ended.err
    assert "not used as scores: 'remark'" in ended.err


def test_kept_labels_that_a_hand_changed_are_refused(talks: Path) -> None:
    run = begun(talks)
    labels = run / "labels.jsonl"
    labels.write_text(labels.read_text("utf-8").replace('"total":8', '"total":9'), "utf-8")
    for command in ("metrics", "report"):
        ended = evaluate(talks.parent, command, "run")
        assert (ended.code, ended.out) == (2, "")
        assert "--labels FILE" in ended.err
    evaluate(talks.parent, "run", "talks", "--out", "run", "--resume")
    assert evaluate(talks.parent, "metrics", "run").code == 0


def test_run_says_which_labels_are_not_used_and_what_helps(talks: Path) -> None:
    labelled(talks, {unit.upper(): scores for unit, scores in LABELS.items()})
    ended = evaluate(talks.parent, "run", "talks", "--out", "run")
    assert ended.code == 1
    assert "labels that are not used as a whole" in ended.err
    assert "--match-ids loose joins 3 of them" in ended.err


def test_options_of_labels_need_a_file_of_labels(talks: Path) -> None:
    begun(talks)
    ended = evaluate(talks.parent, "metrics", "run", "--missing=-99")
    assert ended.code == 2
    assert "--labels FILE" in ended.err
