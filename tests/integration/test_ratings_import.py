"""`reviews import`: ratings of tables, Label Studio and INCEpTION, found in stored transcripts."""

import csv
import io
import json
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import Committed, ReviewPhase
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.store.records import Figures, NewRecord
from ai_psychiatrist.store.store import Store
from tests.integration.command import Finished
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, settings_with

RECORD = str(uuid.UUID(int=7))
TEXT = "Interviewer: How do you sleep?\nParticipant: 🙂 I hardly sleep at all.\n"
WORDS = "hardly sleep"
START = TEXT.index(WORDS)
IN_UTF16 = START + 1
SLEEP = Item.SLEEP.value


class Kept:
    """A store with one transcript, and the command beside it."""

    def __init__(self, folder: Path, opened: Store) -> None:
        self.folder = folder
        self.store = opened
        record = NewRecord(
            id=RECORD,
            transcript=parse_transcript(TEXT),
            result=json.dumps({"quantitative": None}).encode(),
            figures=Figures(status="complete"),
            subject="S-17",
        )
        opened.add(record)

    def take(self, content: object, *options: str, name: str = "ratings") -> Finished:
        text = content if isinstance(content, str) else json.dumps(content)
        (self.folder / name).write_text(text, "utf-8")
        command = ["reviews", "import", name, *options]
        done = run_here(command, self.folder, {"DATA_STATE_DIR": str(self.folder)})
        assert WORDS not in done.out + done.err
        return done

    def ratings(self) -> dict[str, Committed]:
        rows = self.store.reviews.of(RECORD)
        return {row.rater: row.said for row in rows if isinstance(row.said, Committed)}


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    app = create_app(settings_with(tmp_path))
    with client_of(app):
        yield Kept(tmp_path, app.state.services.stores.open(LOCAL.tenant))


def table(*rows: Mapping[str, object], columns: str = "assessment_id rater item score") -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns.split())
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def scores(
    rater: str = "ann", *, changed: Mapping[str, object] | None = None
) -> list[dict[str, object]]:
    return [
        {"assessment_id": RECORD, "rater": rater, "item": item.value, "score": 1}
        | ({"score": changed[item.value]} if changed and item.value in changed else {})
        for item in Item
    ]


def task(*results: object, rater: object = 3, **data: object) -> list[Any]:
    annotation = {"id": 1, "completed_by": rater, "result": list(results)}
    return [{"id": 1, "data": {"assessment_id": RECORD, **data}, "annotations": [annotation]}]


def label(start: int, end: int, *, text: str = WORDS, name: str = SLEEP) -> dict[str, object]:
    value = {"start": start, "end": end, "text": text, "labels": [name]}
    return {"type": "labels", "from_name": "item", "value": value}


def document(*spans: Mapping[str, object], **about: str) -> dict[str, object]:
    known = {"documentTitle": f"{RECORD}.txt", "documentId": "ann"} | about
    return {
        "%FEATURE_STRUCTURES": [
            {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": TEXT},
            {"%ID": 2, "%TYPE": "a.DocumentMetaData", "begin": 0, "end": 9, **known},
            {"%ID": 3, "%TYPE": "a.Token", "begin": 0, "end": 11},
            *spans,
        ]
    }


def test_scores_of_a_table_are_ratings_of_each_rater_and_a_second_import_changes_nothing(
    kept: Kept,
) -> None:
    file = table(*scores(), *scores("ben", changed={SLEEP: "cannot tell"}))
    assert kept.take(file).out == "ratings stored: 2, there already: 0\n"
    found = kept.ratings()
    assert found.keys() == {"import:ann", "import:ben"}
    ben = {one.item: one.score for one in found["import:ben"].items}
    assert (ben[Item.SLEEP], ben[Item.TIRED]) == (None, 1)
    assert (found["import:ann"].has_evidence, found["import:ann"].phase) == (
        False,
        ReviewPhase.BLIND,
    )
    assert kept.take(file).out == "ratings stored: 0, there already: 2\n"
    changed = kept.take(table(*scores(changed={SLEEP: 3})))
    assert (changed.code, "never changed" in changed.err) == (2, True)


WIDE = ",".join(f"PHQ8 {number}" for number in range(1, 9))
SPELT = {
    "a row an item": table(*scores()).replace("assessment_id,rater,item", "Record ID,Rater,Item"),
    "items by numbers": "assessment_id,rater,item,score\n"
    + "".join(f"{RECORD},ann,phq8_{number},1\n" for number in range(1, 9)),
    "items by words": table(*scores()).replace(SLEEP, "Trouble falling asleep"),
    "a row a rater": f"record_id;Rater ID;{WIDE.replace(',', ';')}\n{RECORD};ann{';1' * 8}\n",
    "by the participant": f"participant,rater,{WIDE}\nS-17,ann{',1' * 8}\n",
}


@pytest.mark.parametrize("content", SPELT.values(), ids=SPELT)
def test_columns_and_items_are_known_by_the_names_that_files_of_labels_have(
    kept: Kept, content: str
) -> None:
    assert kept.take(content).out == "ratings stored: 1, there already: 0\n"
    assert [one.score for one in kept.ratings()["import:ann"].items] == [1] * 8


def test_raters_who_had_seen_the_scores_count_as_such(kept: Kept) -> None:
    assert kept.take(table(*scores()), "--seen").code == 0
    assert kept.ratings()["import:ann"].phase is ReviewPhase.SEEN


def test_an_export_of_ratings_is_taken_in_as_it_is(kept: Kept) -> None:
    columns = "assessment_id rater item kind score cannot_tell start end"
    rows: list[dict[str, object]] = [one | {"kind": "committed"} for one in scores()]
    rows[0] |= {"score": "", "cannot_tell": "true"}
    span = {"kind": "committed_evidence", "score": "", "start": START, "end": START + 6}
    later = {"kind": "missed", "score": "", "start": 0, "end": 4}
    assert kept.take(table(*rows, rows[1] | span, rows[1] | later, columns=columns)).code == 0
    items = kept.ratings()["import:ann"].items
    assert (items[0].score, items[1].score, len(items[1].evidence)) == (None, 1, 1)


@pytest.mark.parametrize("start", [START, IN_UTF16], ids=["code points", "UTF-16"])
def test_spans_of_label_studio_are_found_however_characters_are_counted(
    kept: Kept, start: int
) -> None:
    spans = task(label(start, start + len(WORDS)), rater={"id": 3, "email": "ann@x.org"})
    assert kept.take(spans, "--format", "label-studio").code == 0
    said = kept.ratings()["import:ann@x.org"]
    (span,) = next(one.evidence for one in said.items if one.item is Item.SLEEP)
    assert TEXT[span.start : span.end] == WORDS
    assert (said.has_scores, said.has_evidence) == (False, True)


def test_spans_and_scores_of_one_rater_come_together(kept: Kept) -> None:
    (kept.folder / "scores.csv").write_text(table(*scores("3")), "utf-8")
    spans = task(label(START, START + len(WORDS)))
    options = ("--format", "label-studio", "--scores", "scores.csv")
    assert kept.take(spans, *options).out == "ratings stored: 1, there already: 0\n"
    said = kept.ratings()["import:3"]
    assert (said.has_scores, said.has_evidence) == (True, True)


def test_scores_may_be_choices_of_the_items(kept: Kept) -> None:
    chosen = [
        {"type": "choices", "from_name": item.value, "value": {"choices": ["2 - often"]}}
        for item in Item
    ]
    assert kept.take(task(*chosen), "--format", "label-studio").code == 0
    assert {one.score for one in kept.ratings()["import:3"].items} == {2}


def test_a_document_of_inception_is_one_persons_marks(kept: Kept) -> None:
    span = {"%ID": 9, "%TYPE": "custom.Span", "begin": IN_UTF16, "end": IN_UTF16 + len(WORDS)}
    assert kept.take(document(span | {"label": "Sleep"}), "--format", "inception").code == 0
    (found,) = (one for one in kept.ratings()["import:ann"].items if one.evidence)
    assert found.item is Item.SLEEP
    assert TEXT[found.evidence[0].start : found.evidence[0].end] == WORDS


def test_somebody_who_marked_nothing_has_looked(kept: Kept) -> None:
    assert kept.take(document(), "--format", "inception").code == 0
    said = kept.ratings()["import:ann"]
    assert (said.has_scores, said.has_evidence, any(one.evidence for one in said.items)) == (
        False,
        True,
        False,
    )


GOOD = label(START, START + len(WORDS))
REFUSED = {
    "words elsewhere": (task(GOOD, label(2, 14)), "label-studio", "task 1, result 2: its words"),
    "interviewer": (task(label(13, 16, text="How")), "label-studio", "participant"),
    "other label": (task(label(START, START + 6, name="Mood")), "label-studio", "no item"),
    "a relation": (task({"type": "relation", "value": {}}), "label-studio", "task 1, result 1"),
    "no assessment": ([{"data": {}, "annotations": []}], "label-studio", "assessment_id"),
    "not its shape": ({"data": 1}, "label-studio", "it is not as label-studio exports"),
    "not JSON": ("{", "inception", "no valid JSON"),
    "no user": (document(documentId=""), "inception", "1-60 characters"),
    "other record": (document(documentTitle="x"), "inception", "no assessment is stored"),
    "other subject": (
        SPELT["by the participant"].replace("S-17", "S-18"),
        "csv",
        "line 2: no assessment is stored under its id, nor a subject",
    ),
    "a column twice": ("rater,Rater ID\n", "csv", "mean the same"),
    "seven items": (table(*scores()[1:]), "csv", "PHQ8_NoInterest are missing"),
    "score four": (table(*scores(changed={SLEEP: 4})), "csv", "line 4: a score is 0 to 3"),
    "two scores": (table(*scores(), scores()[2] | {"score": 2}), "csv", "line 10"),
    "no columns": ("assessment_id,item\n", "csv", "the columns rater are missing"),
    "a cell too few": (table(*scores()) + "x,y\n", "csv", "line 10"),
    "no CSV": (table(*scores()) + "x" * 200_000, "csv", "it is no line of a CSV"),
    "nothing said": (table(*scores(changed={SLEEP: ""})), "csv", "line 4: give a score"),
    "not the text": (
        table(
            {"assessment_id": RECORD, "rater": "a", "item": SLEEP, "start": START, "end": START + 4}
            | {"text": "abcd"},
            columns="assessment_id rater item start end text",
        ),
        "csv",
        "line 2: its words",
    ),
}


@pytest.mark.parametrize(("content", "form", "why"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused_by_its_place_and_nothing_is_stored(
    kept: Kept, content: object, form: str, why: str
) -> None:
    done = kept.take(content, "--format", form)
    assert (done.code, why in done.err) == (2, True), done.err
    assert kept.ratings() == {}


def test_a_file_that_is_not_there_or_no_text_is_named(kept: Kept) -> None:
    (kept.folder / "odd.csv").write_bytes(b"\xff\xfe\x00")
    for name, why in (("none.csv", "cannot be read"), ("odd.csv", "UTF-8")):
        done = run_here(
            ["reviews", "import", name], kept.folder, {"DATA_STATE_DIR": str(kept.folder)}
        )
        assert (done.code, why in done.err) == (2, True), done.err
