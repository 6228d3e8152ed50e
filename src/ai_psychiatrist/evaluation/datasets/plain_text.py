"""Interviews that are plain text, with or without speaker labels."""

from ai_psychiatrist.domain.errors import TranscriptUnreadable
from ai_psychiatrist.domain.transcript import SpeakerLabels, parse_transcript
from ai_psychiatrist.evaluation.datasets.dataset import SpeakerFilter
from ai_psychiatrist.evaluation.datasets.lines import Line, on_one_line, render
from ai_psychiatrist.evaluation.datasets.oddities import OddityCode
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions


def plain_text_oddity(text: str, labels: SpeakerLabels) -> OddityCode | None:
    """Tell what is odd about the speakers of a text; `NO_…` when it cannot be used."""
    try:
        transcript = parse_transcript(text, labels)
    except TranscriptUnreadable:
        return OddityCode.NO_PARTICIPANT if text.strip() else OddityCode.NO_WORDS
    return OddityCode.SPEAKERS_ASSUMED if transcript.speakers_assumed else None


def rendered_plain_text(text: str, options: ReadingOptions) -> str:
    """Return a text as it is, or the lines of it that the speaker filter keeps."""
    transcript = parse_transcript(text, options.labels)
    if options.speakers is SpeakerFilter.BOTH or transcript.speakers_assumed:
        return text
    lines = [
        Line(speaker=turn.speaker, words=on_one_line(transcript.words(turn)))
        for turn in transcript.turns
    ]
    return render(lines, options.speakers)
