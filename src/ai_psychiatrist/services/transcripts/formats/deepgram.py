"""Reads the responses of Deepgram: utterances, or the words and paragraphs of its channels."""

from collections.abc import Iterator, Sequence
from typing import Final

from ai_psychiatrist.services.transcripts.formats.by_word import Word, WordGroup, gather
from ai_psychiatrist.services.transcripts.formats.gathering import Gathering
from ai_psychiatrist.services.transcripts.formats.json_records import Record
from ai_psychiatrist.services.transcripts.utterances import FileReading, Form

_PAUSE_SECONDS: Final = 1.0
"""Parts what one speaker says, so that another channel can come between."""


def read_deepgram(whole: Record) -> FileReading:
    """Read what is said in the order of time; several channels are several speakers.

    Of what a channel may hold, the first of its alternatives counts, as its words or else its
    paragraphs. Raises `FileRefused` where channels have no times to order them by.
    """
    gathering = Gathering(Form.DEEPGRAM)
    results = whole.record("results")
    groups = list(_utterances(results, gathering)) or list(_channels(results, gathering))
    for group in groups:
        gather(group, gathering)
    return gathering.reading()


def _utterances(results: Record, gathering: Gathering) -> Iterator[WordGroup]:
    utterances = list(results.records("utterances"))
    channels = [utterance.numbered_label("channel") for utterance in utterances]
    is_parted = len(set(channels)) > 1
    read = [
        _word_group(utterance, gathering, channel if is_parted else None)
        for utterance, channel in zip(utterances, channels, strict=True)
    ]
    return iter(_in_order(read) if is_parted else read)


def _channels(results: Record, gathering: Gathering) -> Iterator[WordGroup]:
    channels = list(results.records("channels"))
    is_parted = len(channels) > 1
    read: list[WordGroup] = []
    for channel in channels:
        alternative = next(channel.parts("alternatives"), None)
        name = str(channel.number - 1) if is_parted else None
        if alternative is not None:
            read += _of_alternative(alternative, gathering, name)
    return iter(_in_order(read) if is_parted else read)


def _word_group(utterance: Record, gathering: Gathering, channel: str | None) -> WordGroup:
    return WordGroup(
        label=_label(channel, utterance.numbered_label("speaker")),
        text=utterance.text("transcript"),
        words=tuple(_words(utterance, gathering, channel)),
        number=utterance.number,
        start=utterance.seconds("start", gathering),
        end=utterance.seconds("end", gathering),
    )


def _label(channel: str | None, speaker: str | None) -> str | None:
    if channel is None:
        return speaker
    return f"channel {channel}" if speaker is None else f"channel {channel} speaker {speaker}"


def _words(record: Record, gathering: Gathering, channel: str | None) -> Iterator[Word]:
    for word in record.parts("words"):
        yield Word(
            written=word.optional_text("punctuated_word") or word.text("word"),
            label=_label(channel, word.numbered_label("speaker")),
            start=word.seconds("start", gathering),
            end=word.seconds("end", gathering),
        )


def _of_alternative(
    alternative: Record, gathering: Gathering, channel: str | None
) -> list[WordGroup]:
    number = alternative.number
    if words := list(_words(alternative, gathering, channel)):
        return [_joined(run, number) for run in _runs(words)]
    if alternative.fields.get("paragraphs") is not None:
        return list(_sentences(alternative.record("paragraphs"), gathering, channel))
    text = alternative.text("transcript")
    label = _label(channel, None)
    return [WordGroup(label=label, text=text, words=(), number=number, start=None, end=None)]


def _runs(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Part words where the speaker changes, or somebody else has time to speak."""
    run: list[Word] = []
    for word in words:
        if run and (word.label != run[-1].label or _is_apart(run[-1].end, word.start)):
            yield run
            run = []
        run.append(word)
    if run:
        yield run


def _is_apart(end: float | None, start: float | None) -> bool:
    return end is not None and start is not None and start - end > _PAUSE_SECONDS


def _joined(run: Sequence[Word], number: int) -> WordGroup:
    return WordGroup(
        label=run[0].label,
        text=" ".join(word.written for word in run),
        words=(),
        number=number,
        start=run[0].start,
        end=run[-1].end,
    )


def _sentences(
    paragraphs: Record, gathering: Gathering, channel: str | None
) -> Iterator[WordGroup]:
    for paragraph in paragraphs.parts("paragraphs"):
        label = _label(channel, paragraph.numbered_label("speaker"))
        for sentence in paragraph.parts("sentences"):
            yield WordGroup(
                label=label,
                text=sentence.text("text"),
                words=(),
                number=paragraph.number,
                start=sentence.seconds("start", gathering),
                end=sentence.seconds("end", gathering),
            )


def _in_order(groups: Sequence[WordGroup]) -> list[WordGroup]:
    timed: list[tuple[float, int, WordGroup]] = []
    for at, group in enumerate(groups):
        if group.start is None:
            raise Record(fields={}, number=group.number).refused()
        timed.append((group.start, at, group))
    return [group for _, _, group in sorted(timed, key=lambda placed: placed[:2])]
