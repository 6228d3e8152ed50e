"""Reads the JSON that programs and services for speech recognition write."""

from collections.abc import Callable, Iterator
from typing import Final

from ai_psychiatrist.services.transcripts.formats.by_word import Word, WordGroup, gather
from ai_psychiatrist.services.transcripts.formats.deepgram import read_deepgram
from ai_psychiatrist.services.transcripts.formats.dialogue_json import DIALOGUES
from ai_psychiatrist.services.transcripts.formats.gathering import Gathering
from ai_psychiatrist.services.transcripts.formats.json_records import Record
from ai_psychiatrist.services.transcripts.formats.rev import read_rev
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
)

_MILLISECONDS: Final = 1_000

Reader = Callable[[Record], FileReading]


def speech_reader(whole: Record) -> Reader | None:
    """Tell by the names of its fields who wrote an object; `None` where no tool did.

    Raises `FileRefused` for the words of two forms in one object.
    """
    fields = whole.fields
    if sum(isinstance(fields.get(name), list) for name in (*_READERS, *DIALOGUES)) > 1:
        raise FileRefused(FileFault.UNKNOWN_FORM)
    for name, reader in _READERS.items():
        if isinstance(fields.get(name), list):
            return reader
    results = fields.get("results")
    if isinstance(results, dict) and ("channels" in results or "utterances" in results):
        return read_deepgram
    words = fields.get("words")
    if not isinstance(words, list) or not isinstance(fields.get("text"), str):
        return None
    is_openai = any(isinstance(word, dict) and "word" in word for word in words)
    if is_openai:
        return _read_whisper
    return _read_assemblyai if {"audio_url", "utterances"} & set(fields) else None


def _read_whisper(whole: Record) -> FileReading:
    """Read segments; those of WhisperX and of later services name speakers."""
    segments = list(whole.records("segments"))
    has_speakers = "word_segments" in whole.fields or any(
        "speaker" in part.fields
        for segment in segments
        for part in (segment, *segment.parts("words"))
    )
    gathering = Gathering(Form.WHISPERX if has_speakers else Form.WHISPER)
    for segment in segments:
        gather(_word_group(segment, gathering, text="text", word="word"), gathering)
    if not segments:
        gathering.add(None, whole.optional_text("text") or "", line=1)
    return gathering.reading()


def _read_whisper_cpp(whole: Record) -> FileReading:
    """Read segments; where they only say that somebody else goes on, nobody knows who it is."""
    gathering = Gathering(Form.WHISPER)
    for segment in whole.records("transcription"):
        has_times = segment.fields.get("offsets") is not None
        times = segment.record("offsets") if has_times else Record(fields={}, number=segment.number)
        label = segment.label("speaker")
        if segment.fields.get("speaker_turn_next") is True:
            raise FileRefused(FileFault.SPEAKERS_UNKNOWN, segment.number)
        gathering.add(
            None if label == "?" else label,
            segment.text("text"),
            line=segment.number,
            start=times.seconds("from", gathering, per_second=_MILLISECONDS),
            end=times.seconds("to", gathering, per_second=_MILLISECONDS),
        )
    return gathering.reading()


def _read_assemblyai(whole: Record) -> FileReading:
    gathering = Gathering(Form.ASSEMBLYAI)
    groups = list(whole.records("utterances")) or [whole]
    for group in groups:
        gather(
            _word_group(group, gathering, text="text", word="text", per_second=_MILLISECONDS),
            gathering,
        )
    return gathering.reading()


def _word_group(
    record: Record, gathering: Gathering, *, text: str, word: str, per_second: int = 1
) -> WordGroup:
    return WordGroup(
        label=record.label("speaker"),
        text=record.text(text),
        words=tuple(_words(record, gathering, word, per_second)),
        number=record.number,
        start=record.seconds("start", gathering, per_second=per_second),
        end=record.seconds("end", gathering, per_second=per_second),
    )


def _words(record: Record, gathering: Gathering, name: str, per_second: int) -> Iterator[Word]:
    for word in record.parts("words"):
        yield Word(
            written=word.text(name),
            label=word.label("speaker"),
            start=word.seconds("start", gathering, per_second=per_second),
            end=word.seconds("end", gathering, per_second=per_second),
        )


_READERS: Final[dict[str, Reader]] = {
    "segments": _read_whisper,
    "transcription": _read_whisper_cpp,
    "monologues": read_rev,
    "utterances": _read_assemblyai,
}
