"""The commands on datasets as people use them: what they print where, and how they end."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ai_psychiatrist.cli.app import app

WHOLE = '{"id": "a", "text": "Doctor: hi\\nPatient: hello", "total": 3}\n'
SECRET = "i have told nobody about marigold street"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["evaluate", "datasets", *map(str, arguments)])


def written(folder: Path, content: str) -> Path:
    path = folder / "talks.jsonl"
    path.write_text(content, encoding="utf-8")
    return path


def test_made_dataset_is_checked_with_every_oddity_in_a_table(tmp_path: Path) -> None:
    made = run("make", tmp_path / "made", "--units", "20", "--seed", "3")
    assert (made.exit_code, made.stderr) == (0, "")
    checked = run("check", tmp_path / "made")
    assert (checked.exit_code, checked.stderr) == (1, "")
    assert "units   20, 19 with a text (speakers: both)" in checked.stdout
    for code in ("item_recovered", "apple_double", "interruption", "total_not_sum"):
        assert code in checked.stdout


def test_json_names_every_place_and_what_was_done(tmp_path: Path) -> None:
    run("make", tmp_path / "made", "--units", "20", "--form", "e-daic")
    checked = run("check", tmp_path / "made", "--json", "--speakers", "participant-only")
    document = json.loads(checked.stdout)
    assert (document["kind"], document["speakers"]) == ("e-daic", "participant-only")
    assert (document["units"], document["readable_units"], document["is_whole"]) == (20, 19, False)
    recovered = [group for group in document["oddities"] if group["code"] == "item_recovered"]
    assert recovered == [
        {
            "code": "item_recovered",
            "cost": "nothing",
            "action": "filled with the total minus the other seven",
            "places": [{"where": "319", "line": None, "rows": 1}],
        }
    ]


def test_columns_that_labels_are_read_from_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Interviewer: Hello.\nParticipant: Hello.\n", "utf-8")
    series = ",".join(f"phq8_{number}" for number in range(1, 9))
    rows = f"record_id,{series},phq8_total,site,note of the day\na,0,1,2,3,0,1,2,0,9,north,x\n"
    (tmp_path / "scores.csv").write_text(rows, "utf-8")
    told = run("check", tmp_path).stdout.splitlines()
    items = series.replace(",", ", ")
    line = f"scores.csv: unit id record_id; total phq8_total; items {items}; groups site"
    assert f"from    {line}" in told
    (file,) = json.loads(run("check", tmp_path, "--json").stdout)["label_files"]
    assert (file["file"], file["columns"]["unit_id"], file["kept"]) == (
        *("scores.csv", "record_id", ["site"]),
    )


def test_dataset_without_any_loss_ends_well(tmp_path: Path) -> None:
    checked = run("check", written(tmp_path, WHOLE))
    assert (checked.exit_code, checked.stderr) == (0, "")
    assert checked.stdout.endswith("nothing odd\n")


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(f'{{"id": "b", "text": "{SECRET}', id="no_json"),
        pytest.param(f'{{"id": "b", "text": "Doctor: {SECRET}"}}', id="no_participant"),
        pytest.param(
            f'{{"id": "b", "turns": [{{"speaker": "{SECRET}", "text": "{SECRET}"}}]}}',
            id="unknown_speaker",
        ),
        pytest.param(f'{{"id": "b", "text": "P: hi", "total": "{SECRET}"}}', id="label"),
    ],
)
@pytest.mark.parametrize("as_json", [True, False])
def test_nothing_that_was_said_is_printed(tmp_path: Path, line: str, as_json: bool) -> None:
    path = written(tmp_path, f"{WHOLE}{line}\n")
    checked = run("check", path, *(["--json"] if as_json else []))
    assert checked.exit_code == 1
    assert "marigold" not in checked.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["check", "nowhere"], "there is no file or folder of this name", id="no_path"),
        pytest.param(["check", "."], "a dataset is a DAIC-WOZ", id="no_dataset"),
        pytest.param(["check", ".", "--kind", "text", "--codes", "all"], "--codes", id="option"),
        pytest.param(["make", "few", "--units", "3"], "--units is at least 20", id="too_few"),
    ],
)
def test_bad_input_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run(*arguments)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert says in ended.stderr


def test_name_that_would_act_on_a_terminal_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[2J.txt").write_bytes(b"\x00\x01\xff")
    checked = run("check", tmp_path)
    assert checked.exit_code == 1
    assert "\x1b" not in checked.stdout


def test_a_folder_with_a_table_of_interviews_alone_is_told_first_how_to_read_it(
    tmp_path: Path,
) -> None:
    labels = "id,transcript,phq8_total,odd\n1,Patient: hm,-99,5\n"
    (tmp_path / "labels.csv").write_text(labels, encoding="utf-8")
    checked = run("check", tmp_path)
    _, _, hints = checked.stdout.partition("what to do:\n")
    assert hints.lstrip().startswith("texts_in_table in labels.csv: where each row is an interview")
    assert "--missing=-99" in hints


@pytest.fixture
def first_names(tmp_path: Path) -> Path:
    """A folder of two files, of which one has labels that nobody knows, and of a document."""
    folder = tmp_path / "interviews"
    folder.mkdir()
    (folder / "a.txt").write_text("Tom: how are you\nAnna: well\n", encoding="utf-8")
    (folder / "b.txt").write_text("Doctor: hi\nPatient: well\n", encoding="utf-8")
    (folder / "c.pdf").write_bytes(b"%PDF-1.7")
    return folder


def test_labels_that_nobody_knows_are_listed_with_the_cure(first_names: Path) -> None:
    checked = run("check", first_names)
    assert checked.exit_code == 1
    assert "a.txt  Tom, Anna" in checked.stdout
    assert "--participant LABEL" in checked.stdout
    document = json.loads(run("check", first_names, "--json").stdout)
    (group,) = (one for one in document["oddities"] if one["code"] == "speakers_unknown")
    assert group["places"] == [
        {"where": "a.txt", "line": None, "rows": 1, "labels": ["Tom", "Anna"]}
    ]


def test_labels_named_on_the_command_line_are_known_in_all_files(first_names: Path) -> None:
    named = run("check", first_names, "--participant", "Anna", "--interviewer", "Tom", "--json")
    document = json.loads(named.stdout)
    assert (document["units"], document["readable_units"]) == (2, 2)
    assert document["not_read"] == {"other_form": 1}


@pytest.mark.parametrize(
    ("label", "says"), [("*", "speakers.csv"), (" ", "1-60 characters"), ("x" * 61, "1-60")]
)
@pytest.mark.parametrize("option", ["--participant", "--interviewer"])
def test_label_that_can_be_none_is_refused(
    first_names: Path, option: str, label: str, says: str
) -> None:
    ended = run("check", first_names, option, label)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert says in ended.stderr
    assert option in ended.stderr


def test_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    path = written(tmp_path, WHOLE)
    ended = run("make", tmp_path)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "is not empty" in ended.stderr
    assert path.read_text() == WHOLE
