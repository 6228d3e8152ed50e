"""Every file that tools write, through the one way in."""

from pathlib import Path

import pytest

from ai_psychiatrist.domain.errors import (
    SpeakersUnknown,
    TranscriptTooLong,
    TranscriptUnreadable,
)
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.rendering import rendered_for_models
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

FILES = Path(__file__).parents[3] / "data" / "transcripts"
NAMED = {
    "assemblyai/assemblyai.json": "B",
    "deepgram/deepgram_words.json": "1",
    "deepgram/deepgram_utterances.json": "1",
    "deepgram/deepgram_multichannel.json": "channel 1",
    "docx/otter.docx": "Jonas Weber",
    "docx/rev.docx": "Jonas Weber",
    "docx/teams.docx": "Jonas Weber",
    "jsonl/turns.jsonl": "Jonas",
    "rev/rev_ai.json": "1",
    "rev/rev_human.json": "Jonas Weber",
    "sbv/youtube_studio.sbv": "ANNA",
    "srt/labels.srt": "Anna",
    "table/comma.csv": "Jonas",
    "table/tab.tsv": "Jonas",
    "webvtt/teams.vtt": "Anna Schmidt",
    "webvtt/zoom.vtt": "Anna Schmidt",
    "whisper/whisper_cpp_diarized.json": "1",
    "whisperx/whisperx.json": "SPEAKER_01",
    "whisperx/openai_diarized.json": "B",
}
TELLING = (
    "daic-woz/300_TRANSCRIPT.csv",
    "daic-woz/commas.csv",
    "dialogue_json/chat.json",
    "dialogue_json/exchanges.json",
    "dialogue_json/text.json",
    "dialogue_json/turns.json",
    "e-daic/600_Transcript.csv",
    "webvtt/voices.vtt",
)
STRANGERS = ("lie awake", "hardly sleep")


def read(file: str, labels: SpeakerLabels | None = None) -> Transcript:
    path = FILES / file
    return read_transcript(path.read_bytes(), labels or SpeakerLabels(), name=path.name)


def own_words(transcript: Transcript) -> str:
    return " ".join(map(transcript.words, transcript.participant_turns()))


def spoken(transcript: Transcript) -> list[tuple[bool, str]]:
    """Return all words, and whether they are the participant's, joined where they go on."""
    said: list[tuple[bool, str]] = []
    for turn in transcript.turns:
        words = " ".join(transcript.words(turn).split())
        is_own = turn.speaker is Speaker.PARTICIPANT
        if said and said[-1][0] == is_own:
            words = f"{said.pop()[1]} {words}".strip()
        said.append((is_own, words))
    return said


@pytest.mark.parametrize("file", NAMED)
def test_file_that_names_strangers_is_refused_and_lists_them(file: str) -> None:
    with pytest.raises(SpeakersUnknown) as caught:
        read(file)
    assert NAMED[file] in caught.value.labels
    assert len(caught.value.labels) == 2


@pytest.mark.parametrize("file", NAMED)
def test_named_participant_has_no_word_of_the_other(file: str) -> None:
    transcript = read(file, SpeakerLabels(given=((NAMED[file], Speaker.PARTICIPANT),)))
    own = own_words(transcript)
    assert own.strip()
    assert not any(words in own for words in STRANGERS)
    assert any(words in transcript.text for words in STRANGERS)


@pytest.mark.parametrize("file", TELLING)
def test_file_that_tells_who_is_who_is_read(file: str) -> None:
    transcript = read(file)
    assert not transcript.speakers_assumed
    assert not any(words in own_words(transcript) for words in STRANGERS)


RECORDINGS = (
    "assemblyai/assemblyai_without_speakers.json",
    "srt/dialogue.srt",
    "webvtt/youtube_rolling.vtt",
    "whisper/openai_whisper.json",
    "whisper/openai_whisper.tsv",
    "whisper/whisper_cpp.json",
)


@pytest.mark.parametrize("file", RECORDINGS)
def test_recording_that_names_nobody_is_refused_with_the_cure(file: str) -> None:
    with pytest.raises(SpeakersUnknown, match=r"names none .* --participant '\*'") as caught:
        read(file)
    assert caught.value.labels == ()


@pytest.mark.parametrize("file", RECORDINGS)
def test_recording_of_one_person_is_read_when_that_is_said(file: str) -> None:
    transcript = read(file, SpeakerLabels(given=(("*", Speaker.PARTICIPANT),)))
    assert own_words(transcript).split() == transcript.text.split()
    assert not transcript.speakers_assumed
    has_times = "assemblyai" not in file
    assert (transcript.turns[0].start_seconds is not None) is has_times


def test_text_that_names_nobody_says_what_was_assumed() -> None:
    transcript = read("plain_text/monologue.txt")
    assert transcript.speakers_assumed
    assert [note.code for note in transcript.source.notes] == ["speakers_assumed"]


@pytest.mark.parametrize("file", [*NAMED, *TELLING])
def test_models_are_shown_who_is_who(file: str) -> None:
    """What a model is shown, read by itself, gives the same words to the same people."""
    given = ((NAMED[file], Speaker.PARTICIPANT),) if file in NAMED else ()
    transcript = read(file, SpeakerLabels(given=given))
    again = parse_transcript(rendered_for_models(transcript))
    assert spoken(again) == spoken(transcript)


@pytest.mark.parametrize("file", [*NAMED, *TELLING])
def test_turns_tile_the_text(file: str) -> None:
    given = ((NAMED[file], Speaker.PARTICIPANT),) if file in NAMED else ()
    transcript = read(file, SpeakerLabels(given=given))
    text = transcript.text
    assert "".join(text[turn.start : turn.end] for turn in transcript.turns) == text


@pytest.mark.parametrize(
    "file",
    ["jsonl/several_interviews.jsonl", "table/labels.csv", "plain_text/apple_double.txt"],
)
def test_what_is_no_transcript_is_refused(file: str) -> None:
    with pytest.raises(TranscriptUnreadable, match="cannot be read"):
        read(file)


def test_times_of_a_recording_are_kept() -> None:
    transcript = read("webvtt/teams.vtt", SpeakerLabels(given=(("*", Speaker.PARTICIPANT),)))
    assert all(turn.start_seconds is not None for turn in transcript.turns)


def test_assumed_encoding_is_said() -> None:
    transcript = read("plain_text/cp1252.txt", SpeakerLabels(given=(("*", Speaker.PARTICIPANT),)))
    assert transcript.source.encoding == "cp1252"
    assert "encoding_assumed" in [note.code for note in transcript.source.notes]


def test_offsets_count_in_a_text_as_it_was_sent() -> None:
    text = "\ufeffPatient: I am tired."
    transcript = read_transcript(text)
    assert transcript.text == text
    assert transcript.words(transcript.turns[-1]) == "I am tired."


TOO_LONG = {
    "a text of nobody known": b"Anna: hi\nTom: ho\n",
    "words of a table": b"speaker,text\nAnna,hi there to you\nTom,ho\n",
    "a label of a table": b"speaker,text\nAnna of the many names,\nAnna of the many names,hi\n",
    "labels of a table": b"speaker,text\nParticipant,hi\nParticipant,ho\n",
}


@pytest.mark.parametrize("content", TOO_LONG.values(), ids=TOO_LONG)
def test_more_characters_than_are_wanted_are_refused_whoever_says_them(content: bytes) -> None:
    with pytest.raises(TranscriptTooLong, match="API_MAX_TRANSCRIPT_CHARS"):
        read_transcript(content, most_characters=16)
