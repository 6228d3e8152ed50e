"""The commands about references as people use them."""

import json
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ai_psychiatrist.cli.app import app
from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset
from ai_psychiatrist.evaluation.runs.start import refuse_overlap
from ai_psychiatrist.services.retrieval.settings import ReferenceSettings
from tests.fakes.references import LABELS, TALKS, opened, talk

SMALL = {"REFERENCES_CHUNK_LINES": "2", "REFERENCES_CHUNK_STEP": "2"}
SETTINGS = ReferenceSettings(chunk_lines=2, chunk_step=2)


def run(*arguments: str | Path) -> Result:
    texts = ["references", *map(str, arguments)]
    return CliRunner().invoke(app, texts, env=SMALL, catch_exceptions=False)


def dataset(folder: Path, names: tuple[str, ...] = tuple(TALKS), *, labelled: bool = True) -> Path:
    items = {item.value: 0 for labels in LABELS.values() for item in labels}
    every = {f"PHQ8_{key}": 0 for key in ("NoInterest", "Depressed", "Sleep", "Tired")}
    every |= {f"PHQ8_{key}": 0 for key in ("Appetite", "Failure", "Concentrating", "Moving")}
    records = []
    for name in names:
        own = every | items | {item.value: score for item, score in LABELS[name].items()}
        record: dict[str, object] = {"id": name, "text": talk(name).text, "participant_id": name}
        records.append(record | ({"items": own} if labelled else {}))
    path = folder / "talks.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def test_references_are_made_scored_and_checked(tmp_path: Path) -> None:
    made = run("build", dataset(tmp_path), "--out", tmp_path / "refs")
    assert (made.exit_code, made.stdout) == (
        0,
        "6 chunks of 3 interviews with 3 participants, embedder lexical\n",
    )
    unscored = run("check", tmp_path / "refs")
    assert unscored.exit_code == 1
    assert "cannot be used: its chunks have no scores" in unscored.stdout

    scored = run("score", tmp_path / "refs", "--by", "labels")
    assert (scored.exit_code, scored.stdout) == (0, "6 scores, by labels\n")
    checked = run("check", tmp_path / "refs", "--json")
    assert checked.exit_code == 0
    document = json.loads(checked.stdout)
    assert document["problems"] == []
    assert document["items"]["PHQ8_Sleep"] == {"read": 3, "scored": 3, "shown": 3}
    assert document["scoring"]["source"] == "labels"


def test_a_model_scores_chunks_as_interviews_and_is_not_asked_twice(tmp_path: Path) -> None:
    run("build", dataset(tmp_path, labelled=False), "--out", tmp_path / "refs")
    refused = run("score", tmp_path / "refs", "--by", "labels")
    assert refused.exit_code == 2
    assert "no item labels" in refused.stderr

    scored = run("score", tmp_path / "refs", "--by", "model")
    assert scored.exit_code == 0
    assert "6 of 6 chunks complete, 0 failed;" in scored.stderr
    again = run("score", tmp_path / "refs", "--by", "model")
    assert "0 model calls made now" in again.stderr
    assert again.stdout == scored.stdout
    document = json.loads(run("check", tmp_path / "refs", "--json").stdout)
    assert document["scoring"]["models"] == ["baseline"]
    assert sorted(document["scoring"]["prompts"]) == ["evidence", "quantitative"]


def test_check_says_what_does_not_fit_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("build", dataset(tmp_path), "--out", tmp_path / "refs")
    run("score", tmp_path / "refs", "--by", "labels")
    monkeypatch.setitem(SMALL, "REFERENCES_CHUNK_LINES", "4")
    checked = run("check", tmp_path / "refs")
    assert checked.exit_code == 1
    assert "cut into 2 lines every 2, and 4 every 2 are set" in checked.stdout
    rescored = run("score", tmp_path / "refs", "--by", "labels")
    assert rescored.exit_code == 2


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    run("build", dataset(tmp_path), "--out", tmp_path / "refs")
    (tmp_path / "refs" / "readings.npy").write_bytes(b"")
    for arguments in (("check",), ("score", "--by", "labels")):
        refused = run(arguments[0], tmp_path / "refs", *arguments[1:])
        assert refused.exit_code == 2
        assert "'readings.npy' of the references is damaged" in refused.stderr


def test_check_refuses_what_an_assessment_would(tmp_path: Path) -> None:
    run("build", dataset(tmp_path), "--out", tmp_path / "refs")
    run("score", tmp_path / "refs", "--by", "labels")
    record = tmp_path / "refs" / "manifest.json"
    record.write_text(json.dumps(json.loads(record.read_bytes()) | {"chunks": 2}))
    refused = run("check", tmp_path / "refs")
    assert (refused.exit_code, "do not fit together" in refused.stderr) == (2, True)


def test_chunks_that_are_wanted_only_by_now_are_scored_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk of which nothing is read is shown where REFERENCES_SAME_ITEM is false."""
    plain = {"id": "9", "text": "Interviewer: And you?\nParticipant: I work in a garden."}
    with dataset(tmp_path).open("a") as file:
        file.write(f"{json.dumps(plain)}\n")
    run("build", tmp_path / "talks.jsonl", "--out", tmp_path / "refs")
    assert "6 of 6 chunks" in run("score", tmp_path / "refs", "--by", "model").stderr
    monkeypatch.setitem(SMALL, "REFERENCES_SAME_ITEM", "false")
    scored = run("score", tmp_path / "refs", "--by", "model")
    assert (scored.exit_code, "7 of 7 chunks" in scored.stderr) == (0, True), scored.stderr
    modes = {
        stat.S_IMODE(path.stat().st_mode)
        for path in (tmp_path / "refs").rglob("*")
        if path.is_dir()
    }
    assert modes == {0o700}


def test_references_are_made_in_an_empty_folder_that_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talks = dataset(tmp_path)
    (tmp_path / "refs").mkdir()
    monkeypatch.chdir(tmp_path / "refs")
    assert run("build", talks, "--out", ".").exit_code == 0
    assert (tmp_path / "refs" / "manifest.json").exists()


def test_a_folder_has_to_be_named(tmp_path: Path) -> None:
    assert "REFERENCES_DIR" in run("check").stderr
    assert "holds no references" in run("check", tmp_path).stderr


def test_a_server_that_is_not_there_ends_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SMALL, "REFERENCES_EMBEDDER", "openai:any")
    monkeypatch.setitem(SMALL, "OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    refused = run("build", dataset(tmp_path), "--out", tmp_path / "refs")
    assert refused.exit_code == 2
    assert "the embedder gave no vectors: connection_failed" in refused.stderr
    assert not (tmp_path / "refs").exists()


def test_a_split_that_overlaps_is_refused(tmp_path: Path) -> None:
    run("build", dataset(tmp_path, ("301", "302")), "--out", tmp_path / "refs")
    run("score", tmp_path / "refs", "--by", "labels")
    references = opened(SETTINGS.model_copy(update={"dir": tmp_path / "refs"}))

    refuse_overlap(
        open_dataset(dataset(tmp_path, ("303",))), references.artefact.people.shared_with
    )
    with pytest.raises(ArtifactMismatch, match="1 of 2 units"):
        refuse_overlap(
            open_dataset(dataset(tmp_path, ("302", "303"))), references.artefact.people.shared_with
        )
