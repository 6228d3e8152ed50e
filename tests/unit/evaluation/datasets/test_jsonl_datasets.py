import json
from pathlib import Path

import pytest
from tests.unit.evaluation.datasets.corpora import found

from ai_psychiatrist.domain.errors import InputError, TranscriptUnreadable
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import (
    Dataset,
    DatasetKind,
    IssueCode,
    SpeakerFilter,
)
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels

TALK = "Interviewer: how are you\nParticipant: fine"


def opened(
    folder: Path,
    *records: object,
    speakers: SpeakerFilter = SpeakerFilter.BOTH,
    labels: SpeakerLabels | None = None,
) -> Dataset:
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path = folder / "talks.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return open_dataset(path, speakers=speakers, labels=labels or SpeakerLabels())


def turns(*spoken: tuple[str, str], **fields: object) -> dict[str, object]:
    said = [{"speaker": speaker, "text": words} for speaker, words in spoken]
    return {"id": "a", "turns": said} | fields


@pytest.mark.parametrize(
    "record",
    [
        pytest.param({"unit_id": "a", "text": TALK}, id="text"),
        pytest.param(turns(("doctor", "how are you"), ("patient", "fine")), id="turns"),
        pytest.param(turns(("doctor ", "how are\n you"), ("patient", " fine")), id="loose"),
        pytest.param(
            {
                "sample_id": "a",
                "conversations": [
                    [
                        {"role": "therapist", "text": "how are you"},
                        {"role": "patient", "text": "fine"},
                    ]
                ],
            },
            id="exchanges",
        ),
    ],
)
def test_every_form_of_a_line_gives_the_same_text(tmp_path: Path, record: object) -> None:
    dataset = opened(tmp_path, record)
    assert dataset.kind is DatasetKind.JSONL
    assert [unit.unit_id for unit in dataset.units] == ["a"]
    assert dataset.transcript("a").text == TALK


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"items": [0, 1, 2, 3, 0, 1, 2, 3]}, id="list"),
        pytest.param({"phq8_items": [0, 1, 2, 3, 0, 1, 2, 3], "total": 12}, id="other_name"),
        pytest.param(
            {
                "items": dict(zip([item.value for item in Item], [0, 1, 2, 3] * 2, strict=True)),
                "binary": 1,
            },
            id="by_name",
        ),
    ],
)
def test_labels_of_a_line_are_read(tmp_path: Path, fields: dict[str, object]) -> None:
    record = {"id": "a", "text": TALK, "participant_id": 7, "split": "dev"} | fields
    (unit,) = opened(tmp_path, record).units
    assert unit.labels is not None
    assert tuple(unit.labels.items.values()) == (0, 1, 2, 3, 0, 1, 2, 3)
    assert (unit.labels.total, unit.labels.binary) == (12, True)
    assert (unit.participant_id, unit.split) == (7, "dev")


@pytest.mark.parametrize("name", ["record_id", "filename", "Study ID"])
def test_a_line_is_named_by_the_identifiers_of_label_files(tmp_path: Path, name: str) -> None:
    dataset = opened(tmp_path, {name: "S-17", "participant_id": 4, "text": TALK, "total": 7})
    (unit,) = dataset.units
    assert (unit.unit_id, unit.participant_id) == ("S-17", 4)
    assert unit.labels is not None
    assert unit.labels.total == 7


@pytest.mark.parametrize(("said", "binary"), [("yes", True), ("No", False), ("TRUE", True)])
def test_a_flag_may_be_a_word(tmp_path: Path, said: str, binary: bool) -> None:
    (unit,) = opened(tmp_path, {"id": "a", "text": TALK, "phq8_binary": said}).units
    assert unit.labels is not None
    assert unit.labels.binary is binary


def test_a_second_rater_is_read_beside_the_first(tmp_path: Path) -> None:
    second = {Item.SLEEP.value: 2, Item.MOVING.value: None}
    fields = {"id": "a", "text": TALK, "items": [1] * 8, "second_items": second}
    (unit,) = opened(tmp_path, fields).units
    assert unit.labels is not None
    assert unit.labels.total == 8
    assert unit.labels.second_items[Item.SLEEP] == 2
    assert unit.labels.second_items[Item.MOVING] is None
    assert unit.labels.second_items[Item.TIRED] is None


@pytest.mark.parametrize(
    ("given", "read"),
    [(7, 7), (7.0, 7), ("anna", "anna"), (" p 7 ", "p 7"), ("", None), (7.5, None), (True, None)],
)
def test_participants_are_named_by_a_number_or_a_short_text(
    tmp_path: Path, given: object, read: object
) -> None:
    (unit,) = opened(tmp_path, {"id": "a", "text": TALK, "participant_id": given}).units
    assert unit.participant_id == read


@pytest.mark.parametrize(
    "items", [[0, 1], "01230123", {"PHQ8_Sleep": 1, "mood": 2}, {"Sleep": 1, "sleep": 1}]
)
def test_items_of_another_form_make_the_label_unusable(tmp_path: Path, items: object) -> None:
    dataset = opened(tmp_path, {"id": "a", "text": TALK, "items": items, "total": 3})
    assert dataset.units[0].labels is None
    assert IssueCode.VALUE_UNREADABLE in found(dataset)


@pytest.mark.parametrize(
    ("speaker", "shown", "code"),
    [
        pytest.param("Guest_family", "Other Speaker", IssueCode.SPEAKER_OTHER, id="family"),
        pytest.param("Guest_family_2", "Other Speaker", IssueCode.SPEAKER_OTHER, id="second"),
        pytest.param("patient_guest", "Other Speaker", IssueCode.SPEAKER_OTHER, id="guest"),
        pytest.param("guest_clinician", "Interviewer", None, id="clinician"),
        pytest.param("Zoltan", "Interviewer", IssueCode.INTERVIEWER_ASSUMED, id="unknown"),
    ],
)
def test_nobody_else_is_taken_for_the_participant(
    tmp_path: Path, speaker: str, shown: str, code: IssueCode | None
) -> None:
    dataset = opened(tmp_path, turns(("patient", "hm"), (speaker, "she is sad"), total=3))
    transcript = dataset.transcript("a")
    assert transcript.text == f"Participant: hm\n{shown}: she is sad"
    again = parse_transcript(transcript.text)
    assert [turn.speaker for turn in again.turns] == [turn.speaker for turn in transcript.turns]
    assert found(dataset) == ({} if code is None else {code: ["a"]})
    assert "Zoltan" not in repr(dataset)


def test_labels_of_the_settings_are_known(tmp_path: Path) -> None:
    labels = SpeakerLabels(participant=("Zoltan",))
    dataset = opened(tmp_path, turns(("Zoltan", "hm")), labels=labels)
    assert dataset.transcript("a").text == "Participant: hm"


def test_line_break_in_words_starts_no_turn(tmp_path: Path) -> None:
    dataset = opened(tmp_path, turns(("doctor", "so\r\nPatient: i want to die"), ("patient", "no")))
    transcript = parse_transcript(dataset.transcript("a").text)
    assert [transcript.words(turn) for turn in transcript.participant_turns()] == ["no"]


@pytest.mark.parametrize(
    ("line", "code", "where"),
    [
        pytest.param("{oops secret", IssueCode.LINE_UNREADABLE, "talks.jsonl", id="no_json"),
        pytest.param('["secret"]', IssueCode.LINE_UNREADABLE, "talks.jsonl", id="no_object"),
        pytest.param('{"id": "b"}', IssueCode.LINE_UNREADABLE, "talks.jsonl", id="no_talk"),
        pytest.param(
            '{"id": "b", "turns": [{"speaker": 1, "text": "secret"}]}',
            IssueCode.LINE_UNREADABLE,
            "talks.jsonl",
            id="speaker_is_a_number",
        ),
        pytest.param(
            json.dumps({"id": "a", "text": TALK}), IssueCode.ID_REPEATED, "a", id="repeated"
        ),
        pytest.param(
            json.dumps({"id": "b", "text": TALK, "participant_id": ["secret"]}),
            IssueCode.PARTICIPANT_UNUSABLE,
            "b",
            id="participant_is_a_list",
        ),
        pytest.param(json.dumps({"text": TALK}), IssueCode.ID_MISSING, "line-2", id="no_id"),
        pytest.param(
            '{"id": "b", "turns": [{"speaker": "doctor", "text": "secret"}]}',
            IssueCode.SPEAKERS_UNKNOWN,
            "b",
            id="no_participant",
        ),
        pytest.param(
            json.dumps({"id": "b", "text": TALK, "depr": 2, "speakers": None}),
            IssueCode.FIELDS_UNKNOWN,
            "talks.jsonl",
            id="unknown_field",
        ),
        pytest.param('{"id": "b", "turns": []}', IssueCode.NO_WORDS, "b", id="no_turns"),
        pytest.param('{"id": "b", "text": " "}', IssueCode.NO_WORDS, "b", id="blank_text"),
        pytest.param(
            '{"id": "b", "text": "secret"}', IssueCode.SPEAKERS_ASSUMED, "b", id="no_labels"
        ),
    ],
)
def test_odd_line_is_listed_with_its_number(
    tmp_path: Path, line: str, code: IssueCode, where: str
) -> None:
    dataset = opened(tmp_path, {"id": "a", "text": TALK}, line)
    (oddity,) = (odd for odd in dataset.issues if odd.code is not IssueCode.NO_LABELS)
    assert (oddity.code, oddity.where, oddity.line) == (code, where, 2)
    assert dataset.transcript("a").text == TALK
    assert "secret" not in repr(dataset)


def test_unit_without_participant_is_kept_and_has_no_text(tmp_path: Path) -> None:
    dataset = opened(tmp_path, turns(("doctor", "she sleeps badly")))
    assert [unit.unit_id for unit in dataset.units] == ["a"]
    assert dataset.unreadable == {"a"}
    with pytest.raises(TranscriptUnreadable) as caught:
        dataset.transcript("a")
    assert "sleeps" not in str(caught.value)


def test_missing_labels_are_told_by_unit_once_others_have_some(tmp_path: Path) -> None:
    first, second = {"id": "a", "text": TALK, "total": 3}, {"id": "b", "text": TALK}
    assert found(opened(tmp_path, second)) == {IssueCode.NO_LABELS: ["."]}
    assert found(opened(tmp_path, first, second)) == {IssueCode.LABEL_MISSING: ["b"]}


def test_lines_between_blank_ones_are_read_at_their_place(tmp_path: Path) -> None:
    dataset = opened(
        tmp_path,
        "\ufeff" + json.dumps({"id": "ä", "text": TALK}),
        "",
        "  ",
        turns(
            ("patient", "ü"),
        ),
    )
    assert [dataset.transcript(unit.unit_id).text for unit in dataset.units] == [
        TALK,
        "Participant: ü",
    ]


def test_progress_ends_with_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    path.write_text(json.dumps({"id": "a", "text": TALK}) + "\n")
    told: list[tuple[int, int]] = []
    open_dataset(path, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(path.stat().st_size, path.stat().st_size)]


def test_file_that_is_no_jsonl_is_refused(tmp_path: Path) -> None:
    (tmp_path / "talks.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="is no dataset"):
        open_dataset(tmp_path / "talks.parquet")


def test_public_conversations_are_all_accounted_for(public_data: Path) -> None:
    dataset = open_dataset(public_data / "transcripts" / "conversations.jsonl")
    assert len(dataset.units) == 422
    assert set(found(dataset)) == {
        IssueCode.FIELDS_UNKNOWN,
        IssueCode.NO_LABELS,
        IssueCode.SPEAKER_OTHER,
        IssueCode.SPEAKERS_UNKNOWN,
        IssueCode.WORDS_SET_ASIDE,
    }
    assert set(found(dataset)[IssueCode.SPEAKERS_UNKNOWN]) == dataset.unreadable
    for unit in dataset.units:
        if unit.unit_id not in dataset.unreadable:
            assert not parse_transcript(dataset.transcript(unit.unit_id).text).speakers_assumed


def test_public_interviews_with_scores_are_whole(public_data: Path) -> None:
    dataset = open_dataset(public_data / "scores" / "synthetic_interviews_phq8.jsonl")
    assert set(found(dataset)) == {IssueCode.FIELDS_UNKNOWN}
    assert dataset.is_whole
    totals = [unit.labels.total for unit in dataset.units if unit.labels]
    assert (len(totals), totals[0], totals[-1]) == (10, 0, 24)
