"""JSON of speech recognisers: what is said, by whom and when."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ai_psychiatrist.services.transcripts.formats.chat_json import DIALOGUES
from ai_psychiatrist.services.transcripts.formats.json_records import Record
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
)

_WRAPPERS: Final = ("response", "data", "transcript")
"""Fields in which an interface hands on what it was asked for."""
_MILLISECONDS: Final = 1_000
_TICKS: Final = 10_000_000
_PAUSE_SECONDS: Final = 1.0
"""Parts what one speaker says, so that another channel can come between."""
_GOOGLE_TIMES: Final = ("startTime", "endTime")
_ITEM_TIMES: Final = ("start_time", "end_time")
_REV_KINDS: Final = frozenset({"text", "punct", "unknown"})
_NOBODY: Final = frozenset({"UU", "?"})
"""What Speechmatics and whisper.cpp write where they cannot tell who speaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What is said in one go, or one word of it."""

    text: str = field(repr=False)
    label: str | None = field(repr=False)
    """Whom the file names for all of it, with the channel where several were recorded."""
    number: int
    """Of the record."""
    start: float | None = None
    end: float | None = None
    channel: str | None = None
    """`None` where all that is said shares one."""
    words: Sequence["Stretch"] = field(default=(), repr=False)
    """May be none; else those of the text, in its order, with speakers of their own."""


Reader = Callable[[Record], Iterable[Stretch]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recogniser:
    form: str
    wrote: Callable[[Mapping[str, object]], bool]
    """Whether a whole file's fields are those of this one."""
    stretches: Reader


def read_recognised(whole: Record) -> FileReading | None:
    """Read what a recogniser wrote; `None` for an object that none of them writes.

    Raises `FileRefused` for the words of two forms in one object, for words that are not those of
    their text, and for channels without times to order them by.
    """
    lists = sum(isinstance(whole.fields.get(name), list) for name in (*_LISTS, *DIALOGUES))
    if lists > 1:
        raise FileRefused(FileFault.UNKNOWN_FORM)
    for one in _RECOGNISERS:
        if one.wrote(whole.fields):
            for stretch in _in_order(one.stretches(whole)):
                _add(stretch, whole)
            return replace(whole.gathering.reading(one.form), is_recording=True)
    held = [name for name in _WRAPPERS if isinstance(whole.fields.get(name), dict)]
    is_wrapped = len(held) == 1 and not lists and "text" not in whole.fields
    return read_recognised(whole.record(held[0])) if is_wrapped else None


def is_of_sentences(items: Sequence[object]) -> bool:
    """Tell a list of the sentences that Fireflies exports."""
    return bool(items) and isinstance(items[0], dict) and "sentence" in items[0]


def _add(stretch: Stretch, whole: Record) -> None:
    """Add what is said, cut where words name another speaker than the whole or than one another.

    Of a stretch that is cut, words without a speaker stay without one.
    """
    labels = {word.label for word in stretch.words if word.label} | {stretch.label}
    for run in [stretch] if len(labels) == 1 else _cut_by_word(stretch):
        whole.gathering.add(run.label, run.text, line=stretch.number, start=run.start, end=run.end)


def _cut_by_word(stretch: Stretch) -> Iterator[Stretch]:
    """Tile the text: what no word covers has no speaker, if it is more than punctuation."""
    runs: list[tuple[str | None, list[Stretch], int]] = []
    text, at = stretch.text, 0
    for word in stretch.words:
        written = word.text.strip()
        found = text.find(written, at)
        if found < 0:
            raise FileRefused(FileFault.BROKEN_ROW, stretch.number)
        if not written:
            continue
        if any(map(str.isalnum, text[at:found])) and (not runs or runs[-1][0] is not None):
            runs.append((None, [], at if runs else 0))
        if not runs or runs[-1][0] != word.label:
            runs.append((word.label, [], found if runs else 0))
        runs[-1][1].append(word)
        at = found + len(written)
    if any(map(str.isalnum, text[at:])) and runs and runs[-1][0] is not None:
        runs.append((None, [], at))
    ends = [*(begin for _, _, begin in runs[1:]), len(text)]
    for (label, words, begin), end in zip(runs, ends, strict=True):
        start, stop = (words[0].start, words[-1].end) if words else (None, None)
        yield Stretch(
            label=label, text=text[begin:end], number=stretch.number, start=start, end=stop
        )


def _stretch(
    record: Record,
    text: str,
    *,
    speaker: str | None = None,
    channel: str | None = None,
    times: tuple[str, str] = ("start", "end"),
    per_second: int = 1,
    words: Sequence[Stretch] = (),
) -> Stretch:
    """Return words that a record gives the times of, in its fields `times`."""
    return Stretch(
        text=text,
        label=_of_channel(channel, speaker),
        number=record.number,
        start=record.seconds(times[0], per_second=per_second),
        end=record.seconds(times[1], per_second=per_second),
        channel=channel,
        words=words,
    )


def _by_speaker(words: Iterable[Stretch]) -> Iterator[Stretch]:
    """Join the words of each channel up to a pause, or to where the speaker changes."""
    by_channel: dict[str | None, list[Stretch]] = {}
    for word in words:
        by_channel.setdefault(word.channel, []).append(word)
    for own in by_channel.values():
        run: list[Stretch] = []
        end: float | None = None
        for word in own:
            # Blanks are those of the words before them, and so is their time.
            if word.text.strip():
                is_apart = (
                    None not in {end, word.start}
                    and (word.start or 0) - (end or 0) > _PAUSE_SECONDS
                )
                if run and (word.label != run[0].label or is_apart):
                    yield _joined(run, end)
                    run, end = [], None
                end = end if word.end is None else word.end
            run.append(word)
        yield _joined(run, end)


def _joined(run: Sequence[Stretch], end: float | None) -> Stretch:
    return replace(run[0], text="".join(word.text for word in run), end=end)


def _channels(records: Sequence[Record], name: str) -> list[str | None]:
    """Return the channel of each record, nothing for each where they share one."""
    channels = [record.value(name) for record in records]
    is_parted = len({str(channel) for channel in channels}) > 1
    return [str(one) if is_parted and one is not None else None for one in channels]


def _of_channel(channel: str | None, speaker: str | None) -> str | None:
    if channel is None:
        return speaker
    name = channel if channel.startswith("ch") else f"channel {channel}"
    return name if speaker is None else f"{name} speaker {speaker}"


def _in_order(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return what is said in several channels in the order of time."""
    found = list(stretches)
    if all(one.channel is None for one in found):
        return found
    timed: list[tuple[float, int, Stretch]] = []
    for at, stretch in enumerate(found):
        if stretch.start is None:
            raise FileRefused(FileFault.BROKEN_ROW, stretch.number)
        timed.append((stretch.start, at, stretch))
    return [stretch for _, _, stretch in sorted(timed, key=lambda placed: placed[:2])]


def _whisper(whole: Record) -> Iterator[Stretch]:
    segments = list(whole.records("segments"))
    for segment in segments:
        words = [
            _stretch(word, word.text("word"), speaker=word.label("speaker"))
            for word in segment.parts("words")
        ]
        yield _stretch(segment, segment.text("text"), speaker=segment.label("speaker"), words=words)
    if not segments:
        yield Stretch(text=whole.optional_text("text") or "", label=None, number=1)


def _names_speakers(fields: Mapping[str, object]) -> bool:
    """Tell the segments of WhisperX and of later services, which name speakers."""
    segments = [one for one in _list(fields, "segments") if isinstance(one, dict)]
    words = [word for one in segments for word in _list(one, "words") if isinstance(word, dict)]
    return "word_segments" in fields or any("speaker" in part for part in (*segments, *words))


def _whisper_cpp(whole: Record) -> Iterator[Stretch]:
    """Read segments; refuse those that only mark a change of speakers without naming them."""
    for segment in whole.records("transcription"):
        times = segment.record("offsets") if segment.value("offsets") is not None else segment
        label = segment.label("speaker")
        if segment.fields.get("speaker_turn_next") is True:
            raise FileRefused(FileFault.SPEAKERS_UNKNOWN, segment.number)
        yield Stretch(
            text=segment.text("text"),
            label=None if label in _NOBODY else label,
            number=segment.number,
            start=times.seconds("from", per_second=_MILLISECONDS),
            end=times.seconds("to", per_second=_MILLISECONDS),
        )


def _assemblyai(whole: Record) -> Iterator[Stretch]:
    for group in list(whole.records("utterances")) or [whole]:
        said = [
            _stretch(one, one.text("text"), speaker=one.label("speaker"), per_second=_MILLISECONDS)
            for one in (group, *group.parts("words"))
        ]
        yield replace(said[0], words=said[1:])


def _rev(whole: Record) -> Iterator[Stretch]:
    """Read the monologues; a speaker without a name of his own goes by his number."""
    names = {one.label("id"): one.label("name") for one in whole.records("speakers")}
    names.pop(None, None)
    shared = Counter(names.values())
    for monologue in whole.records("monologues"):
        elements = list(monologue.parts("elements"))
        if any(element.text("type") not in _REV_KINDS for element in elements):
            raise monologue.refused()
        number = monologue.label("speaker")
        name = names.get(number)
        yield Stretch(
            text="".join(element.text("value") for element in elements),
            label=name if name is not None and shared[name] == 1 else number,
            number=monologue.number,
            start=_first_time(elements, "ts", "timestamp"),
            end=_first_time(elements[::-1], "end_ts", "end_timestamp"),
        )


def _first_time(elements: Iterable[Record], *names: str) -> float | None:
    """Return the first time of the elements: seconds from machines, a clock's from people."""
    for element in elements:
        for name in names:
            if element.fields.get(name) is not None:
                return element.seconds(name)
    return None


def _deepgram(whole: Record) -> Iterator[Stretch]:
    """Read the utterances, or else the first alternative of each channel.

    Of an alternative count the words, else the paragraphs, else the whole text.
    """
    results = whole.record("results")
    utterances = list(results.records("utterances"))
    for one, channel in zip(utterances, _channels(utterances, "channel"), strict=True):
        yield _stretch(
            one,
            one.text("transcript"),
            speaker=one.label("speaker"),
            channel=channel,
            words=list(_deepgram_words(one, channel)),
        )
    found = [] if utterances else list(results.records("channels"))
    for one in found:
        name = str(one.number - 1) if len(found) > 1 else None
        for alternative in list(one.parts("alternatives"))[:1]:
            yield from _deepgram_alternative(alternative, name)


def _deepgram_words(record: Record, channel: str | None) -> Iterator[Stretch]:
    for word in record.parts("words"):
        written = "punctuated_word" if word.optional_text("punctuated_word") else "word"
        yield _stretch(
            word, f" {word.text(written)}", speaker=word.label("speaker"), channel=channel
        )


def _deepgram_alternative(alternative: Record, channel: str | None) -> Iterator[Stretch]:
    words = list(_deepgram_words(alternative, channel))
    yield from _by_speaker(words)
    if words:
        return
    if alternative.value("paragraphs") is None:
        yield _stretch(alternative, alternative.text("transcript"), channel=channel)
        return
    for paragraph in alternative.record("paragraphs").parts("paragraphs"):
        speaker = paragraph.label("speaker")
        for sentence in paragraph.parts("sentences"):
            yield _stretch(sentence, sentence.text("text"), speaker=speaker, channel=channel)


def _aws(whole: Record) -> Iterable[Stretch]:
    """Read the items of AWS Transcribe; in older files only the segments name their speakers."""
    results = whole.record("results")
    items = list(results.records("items"))
    named: dict[str, str | None] = {}
    if isinstance(results.value("speaker_labels"), dict):
        for segment in results.record("speaker_labels").parts("segments"):
            for item in segment.parts("items"):
                named[str(item.fields.get("start_time"))] = item.label("speaker_label")
    words: list[Stretch] = []
    before: dict[str | None, str | None] = {}
    for item, channel in zip(items, _channels(items, "channel_label"), strict=True):
        is_mark = item.text("type") == "punctuation"
        speaker = item.label("speaker_label") or named.get(str(item.fields.get("start_time")))
        before[channel] = before.get(channel, speaker) if is_mark else speaker
        content = _first_alternative(item).text("content")
        words.append(
            _stretch(
                item,
                content if is_mark else f" {content}",
                speaker=before[channel],
                channel=channel,
                times=_ITEM_TIMES,
            )
        )
    if not items:
        return [_stretch(one, one.text("transcript")) for one in results.records("transcripts")]
    return _by_speaker(words)


def _first_alternative(record: Record, name: str = "alternatives") -> Record:
    alternative = next(record.parts(name), None)
    if alternative is None:
        raise record.refused()
    return alternative


def _azure_fast(whole: Record) -> Iterator[Stretch]:
    phrases = list(whole.records("phrases"))
    return _azure(phrases, phrases, "text", "Milliseconds", _MILLISECONDS)


def _azure_batch(whole: Record) -> Iterator[Stretch]:
    """Read the phrases that were recognised, each as it would be displayed."""
    phrases = [one for one in whole.records("recognizedPhrases") if one.value("nBest")]
    best = [_first_alternative(one, "nBest") for one in phrases]
    return _azure(phrases, best, "display", "InTicks", _TICKS)


def _azure(
    phrases: Sequence[Record], words: Sequence[Record], text: str, unit: str, per_second: int
) -> Iterator[Stretch]:
    times = (f"offset{unit}", f"duration{unit}")
    channels = _channels(phrases, "channel")
    for phrase, best, channel in zip(phrases, words, channels, strict=True):
        said = _stretch(
            phrase,
            best.text(text),
            speaker=phrase.label("speaker"),
            channel=channel,
            times=times,
            per_second=per_second,
        )
        has_end = said.start is not None and said.end is not None
        yield replace(said, end=round((said.start or 0) + (said.end or 0), 7) if has_end else None)


def _google(whole: Record) -> Iterator[Stretch]:
    """Read the results of Google Speech-to-Text, of its first and its second version.

    With speakers, the last result of the first version has the words of all results again.
    """
    results = [one for one in whole.records("results") if one.value("alternatives")]
    channels = _channels(results, "channelTag")
    said = [
        (_first_alternative(one), channel) for one, channel in zip(results, channels, strict=True)
    ]
    words = [list(_google_words(alternative, channel)) for alternative, channel in said]
    if words and any(word.label for word in words[-1]):
        first = next(one[0] for one in words if one)
        is_repeated = len(words) > 1 and words[-1][0].start == first.start
        for own in words[-1:] if is_repeated or not any(words[:-1]) else words:
            yield from _by_speaker(own)
        return
    for (alternative, channel), own in zip(said, words, strict=True):
        yield Stretch(
            text=alternative.optional_text("transcript") or "",
            label=_of_channel(channel, None),
            number=alternative.number,
            start=own[0].start if own else None,
            end=own[-1].end if own else None,
            channel=channel,
        )


def _google_words(alternative: Record, channel: str | None) -> Iterator[Stretch]:
    for word in alternative.parts("words"):
        label = word.label("speakerLabel", "speakerTag")
        yield _stretch(
            word,
            f" {word.text('word')}",
            # A tag of zero is that of words whose speaker was not asked for.
            speaker=None if label == "0" else label,
            channel=channel,
            times=("startOffset", "endOffset") if "endOffset" in word.fields else _GOOGLE_TIMES,
        )


def _speechmatics(whole: Record) -> Iterator[Stretch]:
    """Read the words and marks; languages that part no words have an empty delimiter."""
    gap = " "
    if isinstance(whole.value("metadata"), dict):
        pack = whole.record("metadata").value("language_pack_info")
        gap = str(pack.get("word_delimiter", gap)) if isinstance(pack, dict) else gap
    results = [one for one in whole.records("results") if one.value("alternatives")]
    words: list[Stretch] = []
    for one, channel in zip(results, _channels(results, "channel"), strict=True):
        best = _first_alternative(one)
        label = best.label("speaker")
        is_attached = one.optional_text("type") == "punctuation"
        words.append(
            _stretch(
                one,
                f"{'' if is_attached else gap}{best.text('content')}",
                speaker=None if label in _NOBODY else label,
                channel=channel,
                times=_ITEM_TIMES,
            )
        )
    return _by_speaker(words)


def _elevenlabs(whole: Record) -> Iterator[Stretch]:
    """Read the words and the blanks between them, of one transcript or of one for each channel."""
    wholes = list(whole.records("transcripts")) or [whole]
    for one, channel in zip(wholes, _channels(wholes, "channel_index"), strict=True):
        words = [
            _stretch(word, word.text("text"), speaker=word.label("speaker_id"), channel=channel)
            for word in one.parts("words")
        ]
        if "".join(word.text for word in words).split() != one.text("text").split():
            raise one.refused()
        yield from _by_speaker(words)


def _fireflies(whole: Record) -> Iterator[Stretch]:
    for one in whole.records("sentences"):
        is_exported = "sentence" in one.fields
        yield _stretch(
            one,
            one.text("sentence" if is_exported else "text"),
            speaker=one.label("speaker_name", "speaker_id"),
            times=_GOOGLE_TIMES if is_exported else _ITEM_TIMES,
        )


def _list(fields: Mapping[str, object], name: str) -> list[object]:
    value = fields.get(name)
    return value if isinstance(value, list) else []


def _has_list(name: str) -> Callable[[Mapping[str, object]], bool]:
    return lambda fields: isinstance(fields.get(name), list)


def _has_results(*names: str) -> Callable[[Mapping[str, object]], bool]:
    """Tell an object of results by one of their fields."""
    return lambda fields: (
        isinstance(results := fields.get("results"), dict) and not results.keys().isdisjoint(names)
    )


def _has_words(*names: str) -> Callable[[Mapping[str, object]], bool]:
    """Tell a text with a list of words, of which one has one of the fields."""
    return lambda fields: (
        isinstance(fields.get("text"), str)
        and any(
            isinstance(word, dict) and not word.keys().isdisjoint(names)
            for word in _list(fields, "words")
        )
    )


def _is_of_assemblyai(fields: Mapping[str, object]) -> bool:
    has_words = isinstance(fields.get("words"), list) and isinstance(fields.get("text"), str)
    return has_words and not {"audio_url", "utterances"}.isdisjoint(fields)


def _is_of_speechmatics(fields: Mapping[str, object]) -> bool:
    return isinstance(fields.get("results"), list) and "metadata" in fields and "format" in fields


_RECOGNISERS: Final = (
    _Recogniser(
        form=Form.WHISPERX,
        wrote=lambda fields: _has_list("segments")(fields) and _names_speakers(fields),
        stretches=_whisper,
    ),
    _Recogniser(form=Form.WHISPER, wrote=_has_list("segments"), stretches=_whisper),
    _Recogniser(form=Form.WHISPER, wrote=_has_list("transcription"), stretches=_whisper_cpp),
    _Recogniser(form=Form.REV, wrote=_has_list("monologues"), stretches=_rev),
    _Recogniser(form=Form.ASSEMBLYAI, wrote=_has_list("utterances"), stretches=_assemblyai),
    _Recogniser(form="azure", wrote=_has_list("phrases"), stretches=_azure_fast),
    _Recogniser(form="azure", wrote=_has_list("recognizedPhrases"), stretches=_azure_batch),
    _Recogniser(form="fireflies", wrote=_has_list("sentences"), stretches=_fireflies),
    _Recogniser(form="elevenlabs", wrote=_has_list("transcripts"), stretches=_elevenlabs),
    _Recogniser(
        form=Form.DEEPGRAM, wrote=_has_results("channels", "utterances"), stretches=_deepgram
    ),
    _Recogniser(form="aws", wrote=_has_results("items", "transcripts"), stretches=_aws),
    _Recogniser(form="speechmatics", wrote=_is_of_speechmatics, stretches=_speechmatics),
    _Recogniser(form="google", wrote=_has_list("results"), stretches=_google),
    _Recogniser(
        form="elevenlabs", wrote=_has_words("speaker_id", "logprob"), stretches=_elevenlabs
    ),
    _Recogniser(form=Form.WHISPER, wrote=_has_words("word"), stretches=_whisper),
    _Recogniser(form=Form.ASSEMBLYAI, wrote=_is_of_assemblyai, stretches=_assemblyai),
)
"""The first that fits reads a file: the more special before the more general."""
_LISTS: Final = (
    "segments transcription monologues utterances phrases recognizedPhrases sentences transcripts"
).split()
