import pytest

from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

LATE = {
    "text": "[999:00:00] Interviewer: Hi.\n[999:00:05] Participant: Bad.",
    "table": "speaker,text,start\nInterviewer,Hi,1700000000\nParticipant,Bad,1700000005\n",
    "srt": (
        "1\n999:00:00,000 --> 999:00:01,000\nInterviewer: Hi\n\n"
        "2\n999:00:02,000 --> 999:00:03,000\nParticipant: Bad\n"
    ),
    "json": '[{"speaker": "Participant", "text": "Bad", "start": 1e9}]',
    "daic_woz": (
        "start_time\tstop_time\tspeaker\tvalue\n1e9\t1e9\tEllie\thi\n1e9\t1e9\tParticipant\tbad\n"
    ),
}


@pytest.mark.parametrize("form", LATE)
def test_time_that_no_recording_has_is_left_out_and_noted(form: str) -> None:
    transcript = read_transcript(LATE[form])
    assert {turn.start_seconds for turn in transcript.turns} == {None}
    (note,) = transcript.source.notes
    assert note.code == "time_unreadable"
    assert note.line is not None
