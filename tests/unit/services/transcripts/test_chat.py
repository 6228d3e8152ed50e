import pytest

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.formats.known import read_content
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript
from ai_psychiatrist.services.transcripts.utterances import FileFault, FileReading, FileRefused

HEAD = "@UTF8\n@Begin\n@Participants:\tPAR Anna Participant, INV Investigator, MOT Mother\n"


def test_only_main_tiers_are_said_and_times_are_taken_out() -> None:
    reading = read_content(
        HEAD + "*PAR:\twell I \x150_900\x15\n\tam tired . \x15900_2500\x15\n%mor:\tx\n@End"
    )
    assert isinstance(reading, FileReading)
    (said,) = reading.utterances
    assert (said.label, said.words) == ("PAR", "well I am tired .")
    assert (said.start_seconds, said.end_seconds) == (0.0, 2.5)


def test_the_header_says_who_is_who_of_those_who_speak() -> None:
    transcript = read_transcript(HEAD + "*INV:\tand ?\n*PAR:\ttired .\n*MOT:\tyes .\n")
    assert [turn.speaker for turn in transcript.turns] == [
        Speaker.INTERVIEWER,
        Speaker.PARTICIPANT,
        Speaker.OTHER,
    ]


@pytest.mark.parametrize(
    ("text", "fault", "line"),
    [
        ("@Begin\n*PAR:\thi .\nand so on\n", FileFault.BROKEN_ROW, 3),
        ("@UTF8\n@Begin\n@End\n", FileFault.NO_WORDS, None),
    ],
)
def test_what_is_no_tier_is_refused(text: str, fault: FileFault, line: int | None) -> None:
    with pytest.raises(FileRefused) as caught:
        read_content(text)
    assert (caught.value.fault, caught.value.line) == (fault, line)
