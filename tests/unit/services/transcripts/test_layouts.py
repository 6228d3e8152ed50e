import pytest
from tests.unit.services.transcripts.layouts import OF_ONE, OF_TWO, OWN, STRANGE, WITHIN

from ai_psychiatrist.domain.errors import SpeakersUnknown
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript


def own_words(transcript: Transcript) -> str:
    return " ".join(transcript.words(turn) for turn in transcript.participant_turns())


@pytest.mark.parametrize("layout", OF_TWO)
def test_text_of_two_people_is_refused_with_the_cure(layout: str) -> None:
    with pytest.raises(SpeakersUnknown, match="--participant"):
        parse_transcript(OF_TWO[layout])


@pytest.mark.parametrize("layout", OF_TWO)
def test_text_of_any_layout_is_read_where_somebody_says_that_it_is_one_persons(layout: str) -> None:
    labels = SpeakerLabels(given=(("*", Speaker.PARTICIPANT),))
    assert own_words(parse_transcript(OF_TWO[layout], labels)) == OF_TWO[layout]


@pytest.mark.parametrize("layout", WITHIN)
def test_lines_of_another_layout_within_a_turn_are_nobodys(layout: str) -> None:
    transcript = parse_transcript(
        f"Interviewer: Hi.\nParticipant: {OWN}\n{WITHIN[layout]}\nParticipant: Bye."
    )
    assert STRANGE not in own_words(transcript)
    assert OWN in own_words(transcript)
    assert "Bye." in own_words(transcript)


@pytest.mark.parametrize("kind", OF_ONE)
def test_text_of_one_person_is_read_whole(kind: str) -> None:
    transcript = parse_transcript(OF_ONE[kind])
    assert transcript.speakers_assumed
    assert own_words(transcript) == OF_ONE[kind]


def test_footer_of_a_program_is_no_speakers() -> None:
    text = f"Interviewer: Hi.\nParticipant: {OWN}\n\nTranscribed by https://otter.ai"
    transcript = parse_transcript(text)
    assert [turn.speaker for turn in transcript.turns[1:]] == [Speaker.PARTICIPANT, Speaker.UNKNOWN]
    assert "otter" not in own_words(transcript)


CELLS = {
    "label_in_a_cell": f"speaker,text\nInterviewer,Hi\nParticipant,{OWN} Interviewer: {STRANGE}\n",
    "label_on_a_line_of_a_cell": (
        f'speaker,text\nInterviewer,Hi\nParticipant,"{OWN}\nInterviewer: {STRANGE}"\n'
    ),
    "name_on_a_line_of_a_cell": (
        f'speaker,text\nInterviewer,Hi\nParticipant,"{OWN} and\nAnna: {STRANGE}"\n'
    ),
    "quoted_line_of_a_cell": f'speaker,text\nInterviewer,Hi\nParticipant,"{OWN}\n> {STRANGE}"\n',
    "cell_without_speakers": f'id,text\n1,"Participant: {OWN}\nInterviewer: {STRANGE}"\n',
    "json": f'[{{"role": "user", "content": "{OWN}\\nInterviewer: {STRANGE}"}}]',
    "voice": f"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Participant>{OWN} Interviewer: {STRANGE}\n",
    "cue": f"1\n00:00:01,000 --> 00:00:02,000\nParticipant: {OWN}\n- {STRANGE}\n",
}


@pytest.mark.parametrize("cell", CELLS)
def test_label_within_the_words_of_a_file_opens_somebody_elses(cell: str) -> None:
    transcript = read_transcript(CELLS[cell])
    assert own_words(transcript).strip().removesuffix(" and") == OWN


@pytest.mark.parametrize("names", [("Anna", "Tom"), ("Tom", "Anna")])
def test_names_in_one_cell_are_refused(names: tuple[str, str]) -> None:
    first, second = names
    with pytest.raises(SpeakersUnknown):
        read_transcript(f'id,text\n1,"Hello. {first}: {OWN} {second}: {STRANGE} {first}: Hm."\n')
