"""Gold scores over HTTP, on the page, by command, and in what is exported."""

import csv
import io
import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import Adjudicated
from ai_psychiatrist.store.store import Store
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, settings_with
from tests.integration.stored import TEXT, rate, store

RECORD = str(uuid.UUID(int=7))
PLACE = f"/v1/assessments/{RECORD}"
ANN = [0, 1, 2, 3, 0, 1, 2, 3]
BEN = [0, 1, 2, 3, 0, 1, 2, None]
LAST = list(Item)[-1].value
REASON = "said in turn 2"


class Study:
    """A server, and the store behind it with an assessment that two people have rated."""

    def __init__(self, client: httpx.Client, folder: Path, opened: Store) -> None:
        self.client = client
        self.folder = folder
        self.store = opened
        store(opened, RECORD, ANN, subject="S-17")
        for rater, scores in (("local:ann", ANN), ("local:ben", BEN)):
            rate(opened, RECORD, rater, scores)

    def gold(self, **items: object) -> httpx.Response:
        return self.client.post(f"{PLACE}/review/gold", json={"items": items})

    def run(self, *arguments: str) -> tuple[int, str]:
        done = run_here(arguments, self.folder, {"DATA_STATE_DIR": str(self.folder)})
        return done.code, done.out + done.err


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    app = create_app(settings_with(tmp_path))
    with client_of(app) as client:
        yield Study(client, tmp_path, app.state.services.stores.open(LOCAL.tenant))


def test_what_raters_agree_on_is_taken_and_differences_need_a_score_with_its_reason(
    study: Study,
) -> None:
    undecided = study.gold()
    assert (undecided.status_code, undecided.json()["field"]) == (422, "items")
    assert LAST in undecided.json()["detail"]
    assert study.gold(**{LAST: {"score": 2}}).status_code == 422
    answer = study.gold(**{LAST: {"score": 2, "reason": REASON}})
    assert answer.status_code == 201, answer.text
    row = answer.json()
    assert (row["kind"], row["mine"], row["raters"]) == ("gold", True, ["local:ann", "local:ben"])
    assert [one["score"] for one in row["gold"].values()] == [*ANN[:-1], 2]
    assert row["gold"][LAST]["reason"] == REASON
    assert study.client.get(f"{PLACE}/review").json()["rows"] == [row]


def test_a_correction_is_a_further_row_and_the_last_one_counts(study: Study) -> None:
    study.gold(**{LAST: {"score": 2, "reason": REASON}})
    study.gold(**{LAST: {"cannot_tell": True, "reason": "not asked"}})
    said = [row.said for row in study.store.reviews.of(RECORD)]
    assert sum(isinstance(one, Adjudicated) for one in said) == 2
    text = study.client.get("/v1/export?what=ratings&format=csv&with_words=true").text
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["kind"] == "gold"]
    last = [
        (one["score"], one["cannot_tell"], one["reason"]) for one in rows if one["item"] == LAST
    ]
    assert last == [("2", "false", REASON), ("", "true", "not asked")]
    assert {one["rater"] for one in rows} == {LOCAL.id}
    lines = study.client.get("/v1/export?what=ratings").text.splitlines()
    gold = [row for row in map(json.loads, lines) if row["kind"] == "gold"]
    # A reason may quote the interview, and nobody asked for words here.
    assert (len(gold), {row["reason"] for row in gold}) == (16, {None})


@pytest.mark.parametrize(
    "item",
    [{"score": 2, "cannot_tell": True}, {}, {"score": 4}, {"score": 1, "reason": "x" * 2001}],
    ids=["both", "neither", "no score", "a long reason"],
)
def test_what_is_no_gold_score_is_refused(study: Study, item: dict[str, object]) -> None:
    assert study.gold(**{LAST: item}).status_code == 422


def test_one_rating_is_nothing_to_adjudicate(study: Study) -> None:
    alone = str(uuid.UUID(int=8))
    store(study.store, alone, ANN, subject="S-18")
    rate(study.store, alone, "local:ann", ANN)
    answer = study.client.post(f"/v1/assessments/{alone}/review/gold", json={"items": {}})
    assert (answer.status_code, answer.json()["code"]) == (409, "too_few_raters")
    assert study.client.get(f"/assessments/{alone}/adjudicate").status_code == 409
    assert study.client.post(f"/v1/assessments/{alone}/review").json()["phase"] == "blind"


def test_an_adjudicator_who_rates_blind_sees_nothing_before_committing(study: Study) -> None:
    study.store.reviews.begin(RECORD, LOCAL.id)
    answer = study.gold(**{LAST: {"score": 2, "reason": REASON}})
    assert (answer.status_code, answer.json()["code"]) == (403, "still_blind")
    page = study.client.get(f"/assessments/{RECORD}/adjudicate", follow_redirects=False)
    assert (page.status_code, page.headers["location"]) == (303, f"/assessments/{RECORD}/rate")


def test_whoever_adjudicates_is_no_blind_rater_afterwards(study: Study) -> None:
    study.gold(**{LAST: {"score": 2, "reason": REASON}})
    assert study.client.post(f"{PLACE}/review").json()["phase"] == "seen"


def test_a_rater_sees_gold_scores_after_committing_alone(study: Study) -> None:
    study.gold(**{LAST: {"score": 2, "reason": REASON}})
    study.client.post("/v1/session", json={"rater": "Cy"})
    before = study.client.get(f"{PLACE}/review").json()
    assert (before["phase"], before["rows"]) == ("unseen", [])
    rate(study.store, RECORD, "local:cy", ANN)
    kinds = [row["kind"] for row in study.client.get(f"{PLACE}/review").json()["rows"]]
    assert kinds.count("gold") == 1


def test_decisions_of_a_file_are_taken_in_all_or_none(study: Study) -> None:
    other = str(uuid.UUID(int=8))
    store(study.store, other, ANN, subject="S-18")
    for rater, scores in (("local:ann", ANN), ("local:ben", BEN)):
        rate(study.store, other, rater, scores)
    file = study.folder / "decisions.csv"
    head = "assessment_id,item,score,reason\n"
    file.write_text(f"{head}{RECORD},{LAST},2,{REASON}\n{other},{LAST},2,\n", "utf-8")
    code, said = study.run("reviews", "adjudicate", str(file), "--by", "senior-rater")
    assert (code, REASON in said) == (2, False)
    assert "the assessment of line 3: PHQ8_Moving: a rater says something else" in said
    file.write_text(f"{head}{RECORD},{LAST},2,{REASON}\n{RECORD},{LAST},3,{REASON}\n", "utf-8")
    code, said = study.run("reviews", "adjudicate", str(file), "--by", "senior-rater")
    assert (code, "line 3: PHQ8_Moving of this assessment is decided in line 2" in said) == (
        2,
        True,
    )
    assert len(study.store.reviews.of(RECORD)) == 2
    file.write_text(f"{head}{RECORD},{LAST},2,{REASON}\n{other},{LAST},cannot tell,x\n", "utf-8")
    assert study.run("reviews", "adjudicate", str(file), "--by", "senior-rater")[0] == 0
    row = study.store.reviews.of(RECORD)[-1]
    assert row.rater == "local:senior-rater"
    assert isinstance(row.said, Adjudicated)
    assert row.said.items[-1].score == 2


def test_gold_scores_move_to_another_store(study: Study, tmp_path: Path) -> None:
    study.gold(**{LAST: {"score": 2, "reason": REASON}})
    assert study.run("records", "export", "--out", "all.jsonl")[0] == 0
    new = tmp_path / "new"
    done = run_here(
        ["records", "import", str(tmp_path / "all.jsonl")], tmp_path, {"DATA_STATE_DIR": str(new)}
    )
    assert done.code == 0, done.err
    with client_of(settings_with(new)) as client:
        text = client.get("/v1/export?what=ratings&format=csv&with_words=true").text
    assert REASON in text


def test_labels_are_gold_scores_first_and_else_what_raters_agree_on(study: Study) -> None:
    agreed, single, seen = (str(uuid.UUID(int=number)) for number in (8, 9, 10))
    for record_id in (agreed, single, seen):
        store(study.store, record_id, ANN, subject=f"S-{record_id[-1]}")
    for rater, scores in (("local:ann", ANN), ("local:ben", BEN)):
        rate(study.store, agreed, rater, scores)
    rate(study.store, single, "local:ann", ANN)
    study.store.reviews.note_shown("local:ben", [seen])
    rate(study.store, seen, "local:ben", BEN)
    study.gold(**{LAST: {"score": 2, "reason": REASON}})

    code, said = study.run("reviews", "labels", "--out", "labels.csv")
    assert code == 0
    assert "labelled assessments: 3 (1 of gold, 1 of one rater, 1 of several raters)" in said
    assert "items without a label, since raters differ: 1" in said
    assert "made after the program's scores were seen: 1" in said
    rows = {
        row["id"]: row for row in csv.DictReader(io.StringIO(labels_in(study.folder, "labels.csv")))
    }
    assert [rows[one][LAST] for one in (RECORD, agreed, single)] == ["2", "", "3"]

    study.run("reviews", "labels", "--out", "raters.csv", "--source", "committed")
    assert f"{RECORD},0,1,2,3,0,1,2,\r\n" in labels_in(study.folder, "raters.csv")
    study.run("reviews", "labels", "--out", "ann.csv", "--source", "single", "--rater", "local:ann")
    assert f"{agreed},0,1,2,3,0,1,2,3\r\n" in labels_in(study.folder, "ann.csv")
    study.run("reviews", "labels", "--out", "named.csv", "--by", "subject")
    assert "\r\nS-17,0,1," in labels_in(study.folder, "named.csv")
    code, said = study.run("reviews", "labels", "--out", "none.csv", "--source", "single")
    assert (code, "--rater" in said) == (2, True)
    command = ("reviews", "labels", "--out", "none.csv", "--source", "single", "--rater", "ann")
    code, said = study.run(*command)
    assert (code, "there are local:ann, local:ben" in said) == (2, True)
    assert not (study.folder / "none.csv").exists()


def test_the_reader_of_datasets_takes_the_labels(study: Study) -> None:
    study.gold(**{LAST: {"score": 2, "reason": REASON}})
    corpus = study.folder / "corpus"
    corpus.mkdir()
    (corpus / f"{RECORD}.txt").write_text(
        "Interviewer: Hello?\nParticipant: I sleep badly.\n", "utf-8"
    )
    assert study.run("reviews", "labels", "--out", "corpus/labels.csv")[0] == 0
    code, said = study.run("evaluate", "datasets", "check", "corpus")
    assert (code, "labels  1, 1 with all eight items" in said) == (0, True), said


def labels_in(folder: Path, name: str) -> str:
    return (folder / name).read_bytes().decode()


def test_the_page_shows_ratings_side_by_side_to_admins_alone(study: Study) -> None:
    text = "Interviewer: How do you sleep?\nParticipant: I sleep badly every night.\n"
    made = study.client.post("/v1/assessments", json={"transcript_text": text}).json()
    record_id = made["assessment_id"]
    for rater, scores in (("local:ann", ANN), ("local:ben", BEN)):
        rate(study.store, record_id, rater, scores)
    page = study.client.get(f"/assessments/{record_id}/adjudicate").text
    assert "<bdi>ann</bdi>: <strong>3</strong>" in page
    assert "<bdi>ben</bdi>: <strong>cannot tell</strong>" in page
    assert page.count('class="differs"') == 1
    items = {LAST: {"score": 2, "reason": REASON}}
    gold = f"/v1/assessments/{record_id}/review/gold"
    assert study.client.post(gold, json={"items": items}).status_code == 201
    again = study.client.get(f"/assessments/{record_id}/adjudicate").text
    assert f'value="{REASON}"' in again
    assert study.client.get("/assessments/none/adjudicate").status_code == 404


def test_what_raters_differ_on_is_found_in_the_list_and_settled_one_after_another(
    study: Study,
) -> None:
    alike, single, blind = (str(uuid.UUID(int=number)) for number in range(20, 23))
    for record in (alike, single, blind):
        store(study.store, record, ANN, subject=record)
    made = study.client.post("/v1/assessments", json={"transcript_text": TEXT})
    second = made.json()["assessment_id"]
    for record, other in ((second, BEN), (alike, ANN), (blind, BEN)):
        rate(study.store, record, "local:ann", ANN)
        rate(study.store, record, "local:ben", other)
    rate(study.store, single, "local:ann", ANN)
    study.store.reviews.begin(blind, LOCAL.id)

    def listed() -> set[str]:
        page = study.client.get("/", params={"adjudicate": "open"}).text
        assert "raters differ, not adjudicated" in page
        return set(re.findall(r'name="id" value="([^"]+)"', page))

    assert listed() == {RECORD, second}
    place, decided = f"/assessments/{second}/adjudicate", {LAST: {"score": 3, "reason": REASON}}
    assert "1 more assessment on which raters differ has no gold" in study.client.get(place).text
    gold = study.client.post(f"/v1/assessments/{second}/review/gold", json={"items": decided})
    assert gold.status_code == 201
    settled = study.client.get(place, params={"saved": "1"}).text
    assert f'href="/assessments/{RECORD}/adjudicate">Next to adjudicate<' in settled
    assert listed() == {RECORD}
    study.gold(**decided)
    assert "No other assessment on which raters differ waits" in study.client.get(place).text
    assert listed() == set()
    assert "Nothing matches." in study.client.get("/", params={"adjudicate": "open"}).text
