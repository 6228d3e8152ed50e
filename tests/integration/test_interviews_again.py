"""A second interview about an assessment: what it asks, and which answers count everywhere."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from ai_psychiatrist.api.app import create_app
from tests.fakes.fhir_bundles import faults_of
from tests.integration.command_here import move_records, run_here
from tests.integration.running_app import client_of, settings_with
from tests.integration.test_interview_http import Json, answered, begin, of_kind, option
from tests.integration.test_interview_links import answered as answered_by
from tests.integration.test_interview_links import opened, person_at

PLACE: Final = "/v1/assessments"
TEXT: Final = "Interviewer: How do you sleep?\nParticipant: I sleep badly nearly every night.\n"
FIRST_WORDS: Final = "every day, canary"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with client_of(create_app(settings_with(tmp_path))) as opened:
        yield opened


def assessed(client: httpx.Client, **fields: str) -> Json:
    made = client.post(PLACE, json={"transcript_text": TEXT, **fields})
    assert made.status_code == 201, made.text
    found: Json = made.json()
    return found


def asked_about(interview: Json) -> list[str]:
    return [goal["item"] for goal in interview["operator"]["goals"]]


def answer_items(client: httpx.Client, interview: Json, scores: list[int | None]) -> Json:
    """Choose a frequency for each item that is asked, refuse where there is none, and stop."""
    for score in scores:
        chosen = of_kind(interview, "decline") if score is None else option(interview, score=score)
        interview = answered(client, interview, option_id=chosen)
    if interview["question"] is not None:
        interview = answered(client, interview, stop=True)
    assert interview["state"] == "done"
    return interview


def begun_with_words(client: httpx.Client, assessment: Json) -> Json:
    """Begin an interview whose first answer is in words, read back and confirmed."""
    interview = answered(client, begin(client, assessment=assessment), text=FIRST_WORDS)
    return answered(client, interview, option_id=of_kind(interview, "confirm"))


def exported(client: httpx.Client, what: str, **query: str) -> list[dict[str, str]]:
    given = {"what": what, "format": "csv", **query}
    answer = client.get("/v1/export", params=given)
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


def everywhere(client: httpx.Client, assessment: Json) -> tuple[dict[str, int], tuple[int, int]]:
    """Return scores with the interviews and the bounds of the total; all places have to agree."""
    record = assessment["assessment_id"]
    (row,) = exported(client, "results", assessment_id=record)
    keys = [name.removeprefix("interview_") for name in row if name.startswith("interview_PHQ8_")]
    scores = {key: int(row[key] or row[f"interview_{key}"] or -1) for key in keys}
    total = int(row["with_interview_total_min"]), int(row["with_interview_total_max"])
    unknown = list(scores.values()).count(-1)
    known = sum(one for one in scores.values() if one >= 0)
    assert total == (known, known + 3 * unknown)

    by_item = exported(client, "items", assessment_id=record, with_words="true")
    assert scores == {
        one["item"]: int(one["score"] or one["interview_score"] or -1) for one in by_item
    }
    latest = exported(client, "interviews", assessment_id=record)[0]
    assert scores == {key: int(latest[key] or -1) for key in keys}
    assert total == (int(latest["total_min"]), int(latest["total_max"]))
    lines = client.get("/v1/export", params={"what": "results", "assessment_id": record}).text
    assert json.loads(lines)["with_interview_total_min"] == total[0]

    (listed,) = (
        one for one in client.get(PLACE).json()["assessments"] if one["assessment_id"] == record
    )
    assert total == (listed["interview_total_min"], listed["interview_total_max"])
    words = f"{total[0]}" if unknown == 0 else f"{total[0]} to {total[1]}"
    assert f"with the interview {words}<" in client.get("/").text

    shown = re.compile(r'<tr><th scope="row">([^<]+)</th><td>(\d|unknown)</td>\n<td>')
    for path in (f"/assessments/{record}", f"{PLACE}/{record}/html"):
        page = client.get(path).text
        found = [-1 if one == "unknown" else int(one) for _, one in shown.findall(page)]
        assert found == list(scores.values()), path
        assert (
            f"ith the interview: {words}" in page or f"with the interview <strong>{words}" in page
        )

    bundle = json.loads(client.get("/v1/export", params={"format": "fhir"}).text.splitlines()[0])
    assert not faults_of(bundle)
    observed = {
        one["resource"]["code"]["coding"][0]["code"]: one["resource"]
        for one in bundle["entry"]
        if one["resource"]["resourceType"] == "Observation"
    }
    with_it = observed["phq8-total-with-interview"]
    assert total[0] == with_it.get(
        "valueInteger", with_it.get("valueRange", {}).get("low", {}).get("value")
    )
    for key in keys:
        if row[f"interview_{key}"]:
            code = observed[f"{key}-answered"]["valueCodeableConcept"]["coding"][0]["code"]
            assert code == row[f"interview_{key}"]
        else:
            assert f"{key}-answered" not in observed
    return scores, total


def test_the_second_interview_asks_only_what_is_unknown_and_nothing_is_lost(
    client: httpx.Client,
) -> None:
    assessment = assessed(client)
    unknown = [
        key for key, one in assessment["quantitative"]["items"].items() if one["score"] is None
    ]
    first = answer_items(client, begun_with_words(client, assessment), [1, None])
    assert asked_about(first) == unknown
    before, _ = everywhere(client, assessment)
    assert [before[key] for key in unknown[:3]] == [3, 1, -1]

    second = begin(client, assessment=assessment)
    assert asked_about(second) == unknown[2:]
    # While it is not done, the first one counts.
    assert everywhere(client, assessment)[0] == before
    second = answer_items(client, second, [2])
    scores, _ = everywhere(client, assessment)
    assert scores == {**before, unknown[2]: 2}

    items = second["operator"]["items"]
    hashed = hashlib.sha256(first["interview_id"].encode()).hexdigest()
    earlier = items[unknown[0]]
    assert (earlier["source"], earlier["interview"], earlier["answer_turn"]) == (
        "earlier_answer",
        hashed,
        1,
    )
    assert (earlier["quote"]["text"] in FIRST_WORDS, earlier["confirmed_turn"]) == (True, 2)
    assert (items[unknown[2]]["source"], items[unknown[2]]["interview"]) == ("answer", None)
    assert second["operator"]["total"]["total_score_min"] == sum(
        x for x in scores.values() if x > 0
    )
    report = client.post(f"/v1/interviews/{second['interview_id']}/report").json()
    assert report["items"] == items
    latest, oldest = exported(client, "interviews")
    assert [latest[f"{key}_from"] for key in unknown[:3]] == ["earlier_answer"] * 2 + ["answer"]
    assert oldest[f"{unknown[2]}_from"] == "none"
    page = client.get(f"/assessments/{assessment['assessment_id']}").text
    link = f'<a href="/interviews/{first["interview_id"]}#turn-1">interview of 20'
    assert link in page
    assert 'id="turn-1"' in client.get(f"/interviews/{first['interview_id']}").text


def test_asked_about_everything_each_item_has_the_latest_answer(client: httpx.Client) -> None:
    assessment = assessed(client)
    first = answer_items(client, begin(client, assessment=assessment), [1, 2])
    second = begin(client, assessment=assessment, ask_all=True)
    assert asked_about(second) == asked_about(first)
    changed, declined = asked_about(second)[:2]
    second = answer_items(client, second, [3, None])
    scores, _ = everywhere(client, assessment)
    assert (scores[changed], scores[declined]) == (3, 2)
    items = second["operator"]["items"]
    assert [items[key]["source"] for key in (changed, declined)] == ["answer", "earlier_answer"]
    assert [one["act"] for one in items[declined]["said"]] == ["refusal"]
    page = client.get(f"/assessments/{assessment['assessment_id']}").text
    assert page.count("asked again since, without an answer that scores") == 1


@pytest.mark.parametrize("ask_all", [False, True])
def test_the_person_sees_nothing_of_the_earlier_interview(
    client: httpx.Client, ask_all: bool
) -> None:
    assessment = assessed(client)
    first = answer_items(client, begun_with_words(client, assessment), [1])
    second = begin(client, assessment=assessment, ask_all=ask_all, link=True)
    token = second["link"]["address"].partition("#")[2]
    with person_at(client) as person:
        assert opened(person, token).is_success
        state = person.get("/interview/state").json()
        count = len(asked_about(first)) - (0 if ask_all else 2)
        assert state["progress"] == {"number": 1, "of": count}
        assert state["changeable"] == []
        # Refused, it shows as refused, whatever was answered before.
        for number in (1, 2):
            state = answered_by(person, state, option_id=of_kind(state, "decline")).json()
            assert [one["item"] for one in state["changeable"]] == asked_about(second)[:number]
            assert "canary" not in json.dumps(state)


def test_a_deleted_interview_counts_no_more_and_what_it_answered_is_asked_again(
    client: httpx.Client,
) -> None:
    assessment = assessed(client)
    first = answer_items(client, begun_with_words(client, assessment), [])
    second = answer_items(client, begin(client, assessment=assessment), [1])
    (answered_first, answered_second) = (asked_about(one)[0] for one in (first, second))
    before = client.get(f"/v1/interviews/{second['interview_id']}").json()
    assert everywhere(client, assessment)[0][answered_first] == 3
    assert client.delete(f"/v1/interviews/{first['interview_id']}").status_code == 204
    scores, _ = everywhere(client, assessment)
    assert (scores[answered_first], scores[answered_second]) == (-1, 1)
    found = client.get(f"/v1/interviews/{second['interview_id']}").json()
    item = found["operator"]["items"][answered_first]
    assert (item["unknown_reason"], item["quote"]) == ("not_asked", None)
    assert found["state_hash"] != before["state_hash"]
    assert "canary" not in json.dumps(found)
    assert answered_first in asked_about(begin(client, assessment=assessment))


def test_of_interviews_at_the_same_time_no_answer_is_lost(client: httpx.Client) -> None:
    assessment = assessed(client)
    older, newer = begin(client, assessment=assessment), begin(client, assessment=assessment)
    assert asked_about(older) == asked_about(newer)
    first, second = asked_about(older)[:2]
    answer_items(client, newer, [1])
    answer_items(client, older, [2, 3])
    scores, _ = everywhere(client, assessment)
    assert (scores[first], scores[second]) == (1, 3)


def test_where_all_is_answered_nothing_more_is_asked(client: httpx.Client) -> None:
    assessment = assessed(client)
    count = assessment["quantitative"]["na_count"]
    first = begin(client, assessment=assessment)
    for _ in range(count):
        first = answered(client, first, option_id=option(first, score=1))
    answered(client, first, option_id=of_kind(first, "confirm"))
    scores, _ = everywhere(client, assessment)
    page = client.get(f"/assessments/{assessment['assessment_id']}").text
    assert "Nothing is unknown any more." in page
    assert '<input type="hidden" name="all" value="all">' in page
    second = begin(client, assessment=assessment)
    assert (second["state"], second["end_reason"]) == ("done", "all_resolved")
    assert everywhere(client, assessment)[0] == scores


def test_the_page_tells_what_is_asked_and_offers_to_ask_everything(client: httpx.Client) -> None:
    assessment = assessed(client)
    path = f"/assessments/{assessment['assessment_id']}"
    answer_items(client, begin(client, assessment=assessment), [1])
    unknown = [
        one["label"]
        for one in client.get(f"/v1/interviews/{_latest(client)}")
        .json()["operator"]["items"]
        .values()
        if one["score"] is None
    ]
    page = client.get(path).text
    assert f"about what is still unknown ({', '.join(unknown)})" in page
    assert 'type="checkbox" name="all"' in page
    count = assessment["quantitative"]["na_count"]
    for form, asked in (({"protocol": "phq8"}, len(unknown)), ({"all": "all"}, count)):
        assert client.post(f"{path}/interview", data=form).status_code == 303
        found = client.get(f"/v1/interviews/{_latest(client)}").json()
        assert len(found["operator"]["goals"]) == asked
        answer_items(client, found, [])


def _latest(client: httpx.Client) -> str:
    return str(client.get("/v1/interviews").json()["interviews"][0]["interview_id"])


def test_moved_to_another_store_the_same_answers_count(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with client_of(create_app(settings_with(first))) as client:
        assessment = assessed(client)
        answer_items(client, begin(client, assessment=assessment), [1, 2])
        answer_items(client, begin(client, assessment=assessment, ask_all=True), [3])
        before = everywhere(client, assessment)
    move_records(first, second)
    with client_of(create_app(settings_with(second))) as client:
        assert everywhere(client, assessment) == before


def test_the_command_says_what_was_answered_and_asks_it_again_if_told_to(tmp_path: Path) -> None:
    with client_of(create_app(settings_with(tmp_path))) as client:
        assessment = assessed(client)
        answer_items(client, begin(client, assessment=assessment), [2])
    result, lines = tmp_path / "result.json", tmp_path / "answers.txt"
    result.write_text(json.dumps(assessment), encoding="utf-8")
    lines.write_text("stop\n", encoding="utf-8")

    def held(*options: str) -> tuple[Json, str]:
        given = ["interview", "--protocol", "phq8", "--from", str(result), "--answers", str(lines)]
        done = run_here([*given, "--json", *options], tmp_path, {"DATA_STATE_DIR": str(tmp_path)})
        assert done.code == 1, done.err
        return json.loads(done.out)["interview"], done.err

    everything, told = held("--ask-all")
    assert "answered in an earlier interview" not in told
    rest, told = held()
    answered_before = asked_about(everything)[0]
    assert asked_about(rest) == asked_about(everything)[1:]
    label = rest["operator"]["items"][answered_before]["label"]
    assert (
        f"answered in an earlier interview: {label}; to ask about them too, add --ask-all" in told
    )
    done = run_here(
        ["interview", "--resume", rest["interview_id"]], tmp_path, {"DATA_STATE_DIR": str(tmp_path)}
    )
    assert "an earlier interview, answer 1" in " ".join(done.out.split())
