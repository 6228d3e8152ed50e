"""The one way in: an interview in any form becomes a transcript of known speakers."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from ai_psychiatrist.domain.transcript import MAX_TURNS, Note, Source, Speaker, Transcript, Turn
from ai_psychiatrist.services.transcripts.formats.daic_woz import DEFAULT_POLICY, RowPolicy
from ai_psychiatrist.services.transcripts.formats.known import read_content
from ai_psychiatrist.services.transcripts.label_lines import labels_inside, last_words_of
from ai_psychiatrist.services.transcripts.own_words import Setting, speech_spans
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript, refuse_unusable
from ai_psychiatrist.services.transcripts.refusals import (
    refusal_of,
    several_unnamed,
    too_long,
    too_many_turns,
)
from ai_psychiatrist.services.transcripts.rendering import rendered
from ai_psychiatrist.services.transcripts.several_voices import count_of_answered
from ai_psychiatrist.services.transcripts.speaker_labels import (
    DEFAULT_LABELS,
    EVERYBODY,
    SpeakerLabels,
    assumptions,
    given_roles,
    known_labels,
    label_key,
    speakers_of,
)
from ai_psychiatrist.services.transcripts.utterances import (
    FileReading,
    FileRefused,
    Form,
    Noted,
    PlainText,
    ReadingNote,
    Utterance,
)


def read_transcript(
    content: bytes | str,
    labels: SpeakerLabels = DEFAULT_LABELS,
    *,
    name: str = "",
    rows: RowPolicy = DEFAULT_POLICY,
    field: str = "transcript_text",
    most_characters: float = math.inf,
) -> Transcript:
    """Read an interview of any form, recognised by its content, with the speaker of each turn.

    `name`: of the file, a hint where the content leaves two readings open. `field`: what the
    caller gave, for the error. Raises `SpeakersUnknown` where nobody has said who the participant
    is, `TranscriptTooLong`, and `TranscriptUnreadable` for what cannot be read without losing
    what was said.
    """
    if isinstance(content, str):
        refuse_unusable(content)
    try:
        reading = read_content(content, name=name, rows=rows)
    except FileRefused as error:
        raise refusal_of(error, field=field) from None
    if _characters(reading) > most_characters:
        raise too_long(most_characters, field=field)
    if reading.speakers and not labels.given:
        labels = replace(labels, given=given_roles(dict(reading.speakers), field="speakers"))
    source = Source(
        form=reading.form,
        encoding=None if isinstance(content, str) else reading.encoding,
        notes=_tally(reading.notes),
        is_rendered=isinstance(reading, FileReading) or _is_recoded(content, reading),
    )
    if isinstance(reading, FileReading):
        transcript = _of_file(reading, labels, source)
    else:
        # Offsets count in a text exactly as it was given, a mark of its encoding included.
        is_as_given = isinstance(content, str) and reading.form == Form.TEXT
        text = content if is_as_given and isinstance(content, str) else reading.text
        transcript = parse_transcript(text, labels, source=source)
        if transcript.speakers_assumed and reading.is_of_several:
            raise several_unnamed("its paragraphs differ in how they look")
    if transcript.speakers_assumed:
        assumed = Note(code=ReadingNote.SPEAKERS_ASSUMED, count=1, line=None)
        noted = (*transcript.source.notes, assumed, *_dialogue_in(transcript.text))
        transcript = replace(transcript, source=replace(transcript.source, notes=noted))
    if len(transcript.text) > most_characters:
        raise too_long(most_characters, field=field)
    return transcript


def _dialogue_in(text: str) -> Iterator[Note]:
    """Yield a warning where a text without labels goes in questions and answers."""
    answered = count_of_answered(text)
    if answered:
        yield Note(code=ReadingNote.POSSIBLE_DIALOGUE, count=answered, line=None)


def _is_recoded(content: bytes | str, reading: PlainText) -> bool:
    """Whether a text is not what was given: of a document, or of bytes in another encoding."""
    is_as_given = isinstance(content, str) or content == reading.text.encode()
    return reading.form != Form.TEXT or not is_as_given


def _characters(reading: FileReading | PlainText) -> int:
    """Count what is said, before anything is made of it."""
    if isinstance(reading, PlainText):
        return len(reading.text)
    labels = {said.label or "" for said in reading.utterances}
    return sum(map(len, labels)) + sum(len(said.words) for said in reading.utterances)


def _of_file(reading: FileReading, labels: SpeakerLabels, source: Source) -> Transcript:
    utterances = reading.utterances
    found = [said.label for said in utterances if said.label is not None]
    if found:
        speakers = speakers_of(found, labels)
        is_everybodys = EVERYBODY in dict(labels.given)
        cut = utterances if is_everybodys else list(_cut_inside(utterances, speakers, labels))
        known = {note.code for note in source.notes}
        made = _notes_of(found, speakers, labels, set_aside=len(cut) - len(utterances))
        notes = (note for note in made if note.code not in known)
        return rendered(cut, speakers, replace(source, notes=(*source.notes, *notes)))
    return _of_lines(reading, labels, source)


def _notes_of(
    found: Sequence[str], speakers: Mapping[str, Speaker], labels: SpeakerLabels, *, set_aside: int
) -> Iterator[Note]:
    """Yield what was assumed about speakers, and how many stretches have none."""
    times = Counter(found)
    assumed = assumptions(found, speakers, labels)
    counts = {
        ReadingNote.WORDS_SET_ASIDE: set_aside,
        **{code: sum(times[name] for name in names) for code, names in assumed.items()},
    }
    yield from (
        Note(code=code, count=count, line=None) for code, count in counts.items() if count > 0
    )


def _cut_inside(
    utterances: Sequence[Utterance], speakers: Mapping[str, Speaker], labels: SpeakerLabels
) -> Iterator[Utterance]:
    """Take out what another's label opens within the participant's words."""
    last_words = last_words_of(speakers)
    inside_of = labels_inside(last_words, labels)
    own = {label for label, speaker in speakers.items() if speaker is Speaker.PARTICIPANT}
    own_keys = frozenset(map(label_key, own))
    setting = Setting(names=frozenset(last_words) | known_labels(labels), own=own_keys)
    for said in utterances:
        if said.label not in own:
            yield said
            continue
        inside = inside_of(said.words, 0, len(said.words))
        others = (one.start() for one in inside if label_key(one["label"]) not in own_keys)
        at = next(others, len(said.words))
        for span in speech_spans(said.words, 0, at, setting):
            if words := said.words[span.start : span.end].strip():
                yield replace(said, label=said.label if span.is_own else None, words=words)
        if words := said.words[at:].strip():
            yield replace(said, label=None, words=words)


def _of_lines(reading: FileReading, labels: SpeakerLabels, source: Source) -> Transcript:
    """Read utterances that the form names no speakers for like the lines of a text."""
    utterances = reading.utterances
    text = "\n".join(said.words for said in utterances)
    transcript = parse_transcript(text, labels, source=source)
    has_times = any(said.start_seconds is not None for said in utterances)
    if transcript.speakers_assumed and (has_times or reading.is_recording):
        # Everybody in the room was recorded: a text can be one person's, an interview is not.
        raise several_unnamed("it is of a recording")
    starts = [0, *accumulate(len(said.words) + 1 for said in utterances)]
    if len(transcript.turns) == 1 and transcript.turns[0].label is None:
        (whole,) = transcript.turns
        if len(utterances) > MAX_TURNS:
            raise too_many_turns()
        spoken = [
            replace(whole, index=at, start=start, words_start=start, end=end)
            for at, (start, end) in enumerate(
                zip(starts[:-1], [*starts[1:-1], len(text)], strict=True)
            )
        ]
    else:
        spoken = list(transcript.turns)
    return replace(transcript, turns=tuple(_timed(turn, starts, utterances) for turn in spoken))


def _timed(turn: Turn, starts: Sequence[int], utterances: Sequence[Utterance]) -> Turn:
    first = utterances[bisect_right(starts, turn.start) - 1]
    last = utterances[min(bisect_right(starts, turn.end - 1), len(utterances)) - 1]
    return replace(
        turn,
        start_seconds=first.start_seconds if turn.start_seconds is None else turn.start_seconds,
        end_seconds=last.end_seconds,
    )


def _tally(notes: Sequence[Noted]) -> tuple[Note, ...]:
    """Join notes of one code, in the order in which they are first met."""
    lines: dict[ReadingNote, list[int | None]] = {}
    for noted in notes:
        lines.setdefault(noted.note, []).append(noted.line)
    return tuple(Note(code=code, count=len(seen), line=seen[0]) for code, seen in lines.items())
