"""Who is who, told before anything is assessed."""

from pathlib import Path
from typing import Any

import pytest

from tests.integration.running_app import client_of, settings_with

_UNKNOWN = "Tom: How do you sleep?\nEva: Badly.\nTom: And since when?\nEva: Since March."


def _preview(tmp_path: Path, **sent: Any) -> tuple[int, dict[str, Any]]:
    with client_of(settings_with(tmp_path)) as client:
        answer = client.post("/v1/transcripts/preview", **sent)
    return answer.status_code, answer.json()


def test_known_labels_are_told_with_their_first_words(tmp_path: Path) -> None:
    text = "Interviewer: How do you sleep?\nParticipant: Badly."
    status, told = _preview(tmp_path, json={"transcript_text": text})
    assert status == 200
    assert told["is_open"] is False
    assert told["speakers"] == [
        {"label": "Interviewer", "role": "interviewer", "turns": 1, "said": ["How do you sleep?"]},
        {"label": "Participant", "role": "participant", "turns": 1, "said": ["Badly."]},
    ]


def test_unknown_labels_are_open_and_show_their_words(tmp_path: Path) -> None:
    status, told = _preview(tmp_path, json={"transcript_text": _UNKNOWN})
    assert status == 200
    assert told["is_open"] is True
    assert told["speakers"] == [
        {
            "label": "Tom",
            "role": None,
            "turns": 2,
            "said": ["How do you sleep?", "And since when?"],
        },
        {"label": "Eva", "role": None, "turns": 2, "said": ["Badly.", "Since March."]},
    ]


def test_labels_that_somebody_named_are_settled(tmp_path: Path) -> None:
    sent = {"transcript_text": _UNKNOWN, "speakers": {"Eva": "participant"}}
    _, told = _preview(tmp_path, json=sent)
    assert told["is_open"] is False
    assert [one["role"] for one in told["speakers"]] == ["interviewer", "participant"]


def test_a_recording_without_names_offers_all_words(tmp_path: Path) -> None:
    cues = b"1\n00:00:01,000 --> 00:00:02,000\nI sleep badly\n"
    _, told = _preview(tmp_path, content=cues, headers={"Content-Type": "application/x-subrip"})
    assert told["is_open"] is True
    assert told["speakers"] == [{"label": "*", "role": None, "turns": 1, "said": ["I sleep badly"]}]


@pytest.mark.parametrize(
    "body", [{}, {"transcript_text": None}, {"transcript_text": ""}], ids=["none", "null", "empty"]
)
def test_what_is_no_transcript_is_refused(tmp_path: Path, body: dict[str, Any]) -> None:
    status, told = _preview(tmp_path, json=body)
    assert (status, told["field"]) == (422, "transcript_text")
