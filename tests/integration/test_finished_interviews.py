"""What a finished interview adds to its assessment: on pages, in the list, in every export."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import jsonschema_rs
import pytest

from ai_psychiatrist.api.app import create_app
from tests.fakes.fhir_bundles import faults_of
from tests.integration.command_here import move_records, run_here
from tests.integration.running_app import client_of, settings_with
from tests.integration.test_interview_http import Json, answered, begin, of_kind, option

PLACE: Final = "/v1/assessments"
TEXT: Final = (
    "Interviewer: How do you sleep?\nParticipant: I sleep badly nearly every night.\n"
    "Interviewer: And your mood?\nParticipant: I feel down most days.\n"
)
WORDS: Final = "every day, canary"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with client_of(create_app(settings_with(tmp_path))) as opened:
        yield opened


def stored(client: httpx.Client, **fields: str) -> Json:
    made = client.post(PLACE, json={"transcript_text": TEXT, **fields})
    assert made.status_code == 201, made.text
    found: Json = made.json()
    return found


def ended(client: httpx.Client, interview: Json) -> Json:
    """Say the second answer to all items that are asked, and leave it so."""
    while interview["question"] is not None:
        is_asked = interview["question"]["purpose"] == "ask"
        chosen = option(interview, score=1) if is_asked else of_kind(interview, "confirm")
        interview = answered(client, interview, option_id=chosen)
    assert interview["state"] == "done"
    return interview


def asked(client: httpx.Client, assessment: Json) -> Json:
    """Hold an interview about the unknown items; the first answer is in words."""
    begun = begin(client, assessment=assessment)
    return ended(client, answered(client, begun, text=WORDS))


def rows(client: httpx.Client, what: str = "results", **query: str) -> list[dict[str, str]]:
    given = {"what": what, "format": "csv", **query}
    answer = client.get("/v1/export", params=given)
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_pages_and_list_show_both_totals_and_which_score_is_from_where(
    client: httpx.Client,
) -> None:
    assessment, other = stored(client, subject="P-017"), stored(client)
    place = f"/assessments/{assessment['assessment_id']}"
    assert "with the interview" not in client.get(place).text + client.get("/").text
    total = asked(client, assessment)["operator"]["total"]
    scores = assessment["quantitative"]
    low, high = scores["total_score_min"], scores["total_score_max"]
    assert (total["total_score"], low < high) == (total["total_score_min"], True)
    whole = f"{total['total_score']}, {total['severity_label']}"
    page, front = (client.get(path).text for path in (place, "/"))
    assert (
        f"From the transcript <strong>{low} to {high}</strong>; "
        f"with the interview <strong>{whole}</strong>."
    ) in page
    assert f"Total from the transcript: {low} to {high} of 24" in page
    assert front.count(f"with the interview {total['total_score']}<") == 1
    rated, first = client.get(PLACE).json()["assessments"]
    assert rated["assessment_id"] == other["assessment_id"]
    assert rated["interview_total_min"] is None
    assert first["interview_total_min"] == first["interview_total_max"] == total["total_score"]
    assert (first["total_min"], first["total_max"]) == (low, high)

    file = client.get(f"{PLACE}/{assessment['assessment_id']}/html").text
    assert "Study id: <bdi" in file
    assert "P-017" not in re.findall("<title>.*</title>", file)[0]
    assert f"With the interview: {whole}" in file
    assert file.count("interview, answer ") == scores["na_count"]
    assert file.count("<td>transcript</td>") == 8 - scores["na_count"]
    assert WORDS.partition(",")[0] in file
    # What is stored of the assessment itself stays as it was.
    same = client.get(f"{PLACE}/{assessment['assessment_id']}").json()
    assert {**same, "duration_ms": 0} == {**assessment, "duration_ms": 0}


def test_exports_have_the_answers_and_the_total_with_them(client: httpx.Client) -> None:
    assessment, other = stored(client, subject="P-017"), stored(client)
    interview = asked(client, assessment)
    total, items = interview["operator"]["total"], interview["operator"]["items"]
    begin(client)
    hashed = hashlib.sha256(interview["interview_id"].encode()).hexdigest()

    plain, row = rows(client)
    assert (plain["assessment_id"], plain["interview"]) == (other["assessment_id"], "")
    assert (row["interview"], row["subject"]) == (hashed, "P-017")
    assert row["with_interview_total"] == str(total["total_score"])
    assert (row["with_interview_severity"], row["severity"]) == (total["severity_label"], "")
    assert (row["severity_min"], row["total"]) == ("mild", "")
    assert row["severity_max"] != row["severity_min"]
    for key, item in items.items():
        is_answer = item["source"] == "answer"
        found = (row[key], row[f"interview_{key}"])
        assert found == (("", str(item["score"])) if is_answer else (str(item["score"]), ""))

    by_item = rows(client, "items", assessment_id=assessment["assessment_id"], with_words="true")
    answers = [one for one in by_item if one["interview_score"]]
    assert len(answers) == assessment["quantitative"]["na_count"]
    assert [one["score"] for one in answers] == [""] * len(answers)
    assert any(one["interview_quote"] in WORDS for one in answers if one["interview_quote"])
    without = client.get("/v1/export", params={"what": "items"}).text
    assert (WORDS.partition(",")[0] in without, "interview_quote" in without) == (False, False)

    about, apart = rows(client, "interviews")
    assert (about["interview"], about["assessment_id"]) == (hashed, assessment["assessment_id"])
    assert (about["subject"], about["state"], about["total"]) == (
        "P-017",
        "done",
        str(total["total_score"]),
    )
    assert {key: about[f"{key}_from"] for key in items} == {
        key: one["source"] for key, one in items.items()
    }
    assert (apart["assessment_id"], apart["subject"], apart["state"]) == ("", "", "awaiting")
    named = {"assessment_id": [one["assessment_id"] for one in (assessment, other)]}
    chosen = client.get("/v1/export", params={"what": "interviews", **named})
    assert (len(chosen.text.splitlines()), chosen.headers["X-Left-Out"]) == (1, "1")
    book = client.get("/v1/export", params={"what": "interviews", "format": "xlsx"})
    assert book.content.startswith(b"PK")
    for query, field in (({"format": "fhir"}, "what"), ({"with_words": "true"}, "with_words")):
        refused = client.get("/v1/export", params={"what": "interviews", **query})
        assert (refused.status_code, refused.json()["field"]) == (422, field)


def test_bundles_have_the_answers_beside_what_the_transcript_says(
    client: httpx.Client, public_data: Path
) -> None:
    assessment = stored(client)
    interview = asked(client, assessment)
    again = begin(client, assessment=assessment, ask_all=True)
    held = answered(client, again, text="I want to kill myself.")
    assert held["state"] == "safety_hold"
    given = {"format": "fhir", "with_words": "true"}
    bundle = json.loads(client.get("/v1/export", params=given).text)
    assert not faults_of(bundle)
    schema = json.loads((public_data / "fhir" / "fhir_r4.schema.json").read_bytes())
    jsonschema_rs.validator_for(schema).validate(bundle)
    observed = {
        one["resource"]["code"]["coding"][0]["code"]: one["resource"]
        for one in bundle["entry"]
        if one["resource"]["resourceType"] == "Observation"
    }
    answers = [code for code in observed if code.endswith("-answered")]
    assert len(answers) == assessment["quantitative"]["na_count"]
    with_it = observed["phq8-total-with-interview"]
    assert with_it["valueInteger"] == interview["operator"]["total"]["total_score"]
    assert "valueRange" in observed["phq8-total"]
    assert "kill myself" in observed["danger-signs-in-interview"]["note"][0]["text"]


def test_an_interview_about_an_assessment_is_moved_and_erased_with_it(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with client_of(create_app(settings_with(first))) as client:
        interview = asked(client, stored(client))
        answered(client, begin(client, assessment=stored(client)), text="I want to kill myself.")
        before = client.get(PLACE).json()["assessments"]
        table = rows(client, "interviews")
    move_records(first, second)
    with client_of(create_app(settings_with(second))) as client:
        after = client.get(PLACE).json()["assessments"]
        assert [one["unread"] for one in after] == [1, 0]
        for name in ("interview_total_min", "danger", "unread", "to_read"):
            assert [one[name] for one in after] == [one[name] for one in before]
        assert rows(client, "interviews") == table
        place = f"/v1/interviews/{interview['interview_id']}"
        assert client.get(place).status_code == 200
        about = rows(client, "interviews")[1]["assessment_id"]
        assert client.delete(f"{PLACE}/{about}").status_code == 204
        assert client.get(place).status_code == 404


def test_commands_take_a_study_id_or_an_assessment_with_one_interview(tmp_path: Path) -> None:
    with client_of(create_app(settings_with(tmp_path))) as client:
        assessment = stored(client, subject="P 17")
        held = answered(client, begin(client, assessment=assessment), text="I want to kill myself.")
        apart = begin(client)

        def command(*arguments: str) -> tuple[int, str, str]:
            given = {"DATA_STATE_DIR": str(tmp_path)}
            done = run_here(["interview", *arguments], tmp_path, given)
            return done.code, done.out, done.err

        lines = command("list")[1].splitlines()
        assert re.fullmatch(
            rf"{held['interview_id']}  phq8 +safety_hold +\S+  high, 1 not yet read  P 17", lines[0]
        )
        assert re.fullmatch(rf"{apart['interview_id']}  phq8 +awaiting +\S+  -", lines[1])
        assert command("reopen", "P 17", "--reason", "Called; safe.")[0] == 0
        second = begin(client, assessment=assessment)
        code, _, said = command("link", assessment["assessment_id"])
        assert code == 2
        assert all(one["interview_id"] in said for one in (held, second))
        assert "awaiting, begun 20" in said
        ended(client, second)
        assert command("link", "P 17")[1].startswith("http")
        assert command("link", "P 17", "--revoke")[0] == 0
        assert command("delete", "P 17")[0] == 2
        assert command("delete", second["interview_id"])[0] == 0
        assert command("delete", assessment["assessment_id"])[0] == 0
        assert command("delete", "P 17")[0] == 2
        assert [line.split()[0] for line in command("list")[1].splitlines()] == [
            apart["interview_id"]
        ]
