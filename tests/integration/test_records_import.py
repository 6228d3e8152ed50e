"""`records import`: what other files held is there again, under this installation's keys."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.integration.command import Finished
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, settings_with
from tests.patience import wait_until

Json = dict[str, Any]
EARLIER: Final = Path(__file__).with_name("earlier_export.jsonl")
"""Written by a version that kept each tenant's assessments in files of its own."""
LINES: Final = EARLIER.read_text("utf-8").splitlines()
WORDS: Final = "I sleep badly"


def imported(folder: Path, file: Path = EARLIER, *options: str) -> Finished:
    command = ["records", "import", str(file), *options]
    return run_here(command, folder, {"DATA_STATE_DIR": str(folder)})


def records_in(lines: list[str], kind: str = "assessment") -> list[Json]:
    return [line for line in map(json.loads, lines) if line["kind"] == kind]


def test_what_an_earlier_version_held_can_be_asked_for_again(tmp_path: Path) -> None:
    done = imported(tmp_path)
    assert (done.code, done.out) == (0, "assessments: 3, interviews: 1\n"), done.err
    rated, other, begun = records_in(LINES)
    (talk,) = records_in(LINES, "interview")
    with client_of(settings_with(tmp_path)) as client:
        listed = client.get("/v1/assessments").json()["assessments"]
        ids = [one["row"]["id"] for one in (begun, other, rated)]
        assert [one["assessment_id"] for one in listed] == ids
        for one in (rated, other):
            place = f"/v1/assessments/{one['row']['id']}"
            text = json.loads(one["parts"]["transcript"])["text"]
            assert client.get(f"{place}/transcript").json()["text"] == text
            result = json.loads(one["parts"]["result"])
            assert client.get(place).json()["quantitative"] == result["quantitative"]
        subject = client.get(f"/v1/subjects/{rated['row']['subject_id']}").json()
        assert (subject["subject"], subject["assessments"]) == ("S-17", 2)
        review = client.get(f"/v1/assessments/{rated['row']['id']}/review").json()
        assert review["phase"] == "revealed"
        # It follows the protocol as it was, and is kept for that: nobody is asked other questions.
        assert client.get(f"/v1/interviews/{talk['id']}").json()["code"] == "protocol_changed"
        # It was under way; here somebody goes on with it.
        job = f"/v1/jobs/{begun['row']['id']}"
        wait_until(lambda: client.get(job, follow_redirects=False).status_code == 303)
    assert all(WORDS.encode() not in path.read_bytes() for path in tmp_path.glob("*.sqlite*"))


def test_what_is_there_already_is_left_as_it_is(tmp_path: Path) -> None:
    assert imported(tmp_path).code == 0
    again = imported(tmp_path)
    assert again.code == 0, again.err
    assert "there already, and left as they are: 4" in again.out
    elsewhere = imported(tmp_path, EARLIER, "--tenant", "clinic")
    assert elsewhere.out == "assessments: 3, interviews: 1\n"


def test_what_is_exported_is_imported_as_it_was(tmp_path: Path) -> None:
    assert imported(tmp_path).code == 0
    out = tmp_path / "again.jsonl"
    command = ["records", "export", "--out", str(out)]
    assert run_here(command, tmp_path, {"DATA_STATE_DIR": str(tmp_path)}).code == 0
    written = records_in(out.read_text("utf-8").splitlines())
    for was, now in zip(records_in(LINES), written, strict=True):
        was["row"].setdefault("kept_from", was["row"]["created_at"])
        was["row"].setdefault("danger_group", None)
        for count in ("to_read", "unread"):
            was["row"].setdefault(count, 0 if "result" in was["parts"] else None)
        was["row"]["state"] = was["row"]["state"].replace("running", "waiting")
        for part in ("row", "subject", "parts", "job", "calls", "events", "shown"):
            assert now[part] == was[part], part
        assert [one["body"] for one in now["reviews"]] == [one["body"] for one in was["reviews"]]


def changed(line: int, **fields: object) -> list[str]:
    content = json.loads(LINES[line])
    for name, value in fields.items():
        content[name] = value
    return [*LINES[:line], json.dumps(content), *LINES[line + 1 :]]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        pytest.param(LINES[:-1], "not whole", id="cut off"),
        pytest.param([*LINES[:2], *LINES[3:]], "not whole", id="a line is missing"),
        pytest.param([*LINES, LINES[1]], "does not write", id="a line more"),
        pytest.param(changed(0, format=2), "another version", id="another format"),
        pytest.param(["{", *LINES[1:]], "line 1", id="no JSON"),
        pytest.param([], "not whole", id="empty"),
        pytest.param(changed(1, parts={"transcript": "{}"}), "an assessment", id="no transcript"),
        pytest.param(changed(1, row={"id": "x"}), "an assessment", id="no columns"),
        pytest.param(changed(1, calls=7), "does not write", id="no list"),
        pytest.param(changed(4, state="{}"), "an interview", id="no interview"),
        pytest.param(changed(4, row={"created_at": "x"}), "an interview", id="no columns of it"),
    ],
)
def test_what_no_export_wrote_is_refused_without_a_word_of_it(
    tmp_path: Path, lines: list[str], words: str
) -> None:
    file = tmp_path / "given.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    refused = imported(tmp_path, file)
    assert refused.code == 2
    assert words in refused.err
    assert WORDS not in refused.err
    assert "Traceback" not in refused.err
