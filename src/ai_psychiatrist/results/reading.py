"""Read a result back from its JSON, and its transcript as it was when it was assessed."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Annotated, Final

import orjson
from pydantic import AliasPath, BaseModel, ConfigDict, Field, ValidationError

from ai_psychiatrist.domain.assessment import SCHEMA_VERSION, Assessment
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.evidence import Segment
from ai_psychiatrist.domain.transcript import Speaker, Transcript, TranscriptAccount, Turn
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.rendering import WRITTEN_LABELS
from ai_psychiatrist.services.transcripts.speaker_labels import DEFAULT_LABELS, SpeakerLabels

_CURE: Final = "make one with `ai-psychiatrist assess FILE --json`"


def result_of(content: bytes, *, field: str) -> Assessment:
    """Return the whole assessment that JSON holds.

    Raises `InputError`, in which `field` says where it came from, for anything else and for a
    result of another schema version; nothing of the content is repeated.
    """
    try:
        found: object = orjson.loads(content)
    except orjson.JSONDecodeError:
        msg = f"{field}: it is no JSON; {_CURE}"
        raise InputError(msg, field=field) from None
    _refuse_other(found, field)
    try:
        return Assessment.model_validate_json(content)
    except ValidationError as error:
        place = ".".join(_named(error.errors(include_input=False)[0]["loc"]))
        msg = f"{field}: it holds no whole assessment: {place} is missing or wrong; {_CURE}"
        raise InputError(msg, field=field) from None


def transcript_sha256_of(result: Assessment) -> str | None:
    """Return the SHA-256 of the transcript in UTF-8, where the result tells it; 64 hex digits."""
    if result.transcript_text is not None:
        return hashlib.sha256(result.transcript_text.encode()).hexdigest()
    certified = _certified(result)
    return None if certified is None else certified.transcript_sha256


def program_of(result: Assessment) -> str | None:
    """Return the version of the program that made a result, where its certificate tells it."""
    certified = _certified(result)
    return None if certified is None else certified.program


class _Certified(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    program: Annotated[str, Field(min_length=1, max_length=64)] = Field(
        validation_alias=AliasPath("certificate", "program")
    )
    transcript_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] = Field(
        validation_alias=AliasPath("certificate", "transcript", "sha256")
    )


def _certified(result: Assessment) -> _Certified | None:
    if result.certificate is None:
        return None
    try:
        return _Certified.model_validate_json(result.certificate.text)
    except ValidationError:
        return None


def _refuse_other(found: object, field: str) -> None:
    if not isinstance(found, dict) or "schema_version" not in found:
        msg = f"{field}: it holds no result: schema_version is not there; {_CURE}"
    elif found["schema_version"] != SCHEMA_VERSION:
        msg = (
            f"{field}: its schema_version is not {SCHEMA_VERSION!r}, the one that is read; assess "
            "the interview again, or use the version of the program that made it"
        )
    elif "quantitative" not in found:
        msg = f"{field}: it holds a part of an assessment, and the whole is wanted; {_CURE}"
    else:
        return
    raise InputError(msg, field=field)


def _named(place: tuple[int | str, ...]) -> list[str]:
    """Return those steps of a place that are names of fields: keys of tables are the file's own."""
    known = {one.name for one in fields(Assessment)}
    return [str(step) for step in place[:1] if step in known] or ["a field"]


_FIELD: Final = "transcript_text"
_EVERYBODY: Final = ("*", Speaker.PARTICIPANT)
_ROLE_OF_LABEL: Final = {label: role for role, label in WRITTEN_LABELS.items()}


def transcript_again(
    result: Assessment, text: str, labels: SpeakerLabels = DEFAULT_LABELS
) -> Transcript:
    """Cut the text of a result into the turns that it counts.

    `labels`: those of the settings that it was made with. Raises `InputError` where the text is
    not the one that was assessed.
    """
    ways = _readings(result.transcript, text, labels)
    found = next((one for one in ways if _is_cut_alike(result, one)), None)
    if found is None:
        msg = (
            f"{_FIELD}: this is not the text that was assessed, or the speakers were named "
            "otherwise; give the text exactly as it was sent"
        )
        raise InputError(msg, field=_FIELD)
    return replace(found, turns=tuple(_timed(found.turns, result.transcript.turn_seconds)))


def _readings(read: TranscriptAccount, text: str, labels: SpeakerLabels) -> Iterator[Transcript]:
    """Yield the ways in which a text can be read, the likeliest first."""
    named = tuple((one.label, one.role) for one in read.speakers if one.label)
    for given in (labels, replace(labels, given=named), replace(labels, given=(_EVERYBODY,))):
        try:
            yield parse_transcript(text, given)
        except InputError:
            continue
    yield _line_by_line(text, read)


def _line_by_line(text: str, read: TranscriptAccount) -> Transcript:
    """Read a text that was made from a file: a line an utterance."""
    roles = {one.label: one.role for one in read.speakers}
    shown = {one.role: one.label for one in read.speakers}
    turns: list[Turn] = []
    at = 0
    for index, line in enumerate(text.splitlines(keepends=True)):
        label, colon, _ = line.partition(": ")
        known = roles.get(label) or _ROLE_OF_LABEL.get(label) if colon else None
        role = known or Speaker.PARTICIPANT
        turns.append(
            Turn(
                index=index,
                speaker=role,
                start=at,
                words_start=at + len(label) + 2 if known else at,
                end=at + len(line),
                label=label if label in roles else shown.get(role),
            )
        )
        at += len(line)
    return Transcript(text=text, turns=tuple(turns), speakers_assumed=False)


def _is_cut_alike(result: Assessment, transcript: Transcript) -> bool:
    read, turns = result.transcript, transcript.turns
    wanted: Counter[Speaker] = Counter()
    for one in read.speakers:
        wanted[one.role] += one.turns
    return (
        len(turns) == read.turns
        and Counter(turn.speaker for turn in turns) == wanted
        and _is_the_text(result, transcript)
    )


def _is_the_text(result: Assessment, transcript: Transcript) -> bool:
    """Whether every quote and every sign of danger is where the result has it."""
    return all(
        all(_is_within(part, transcript.turns) for part in parts)
        and _bare("".join(transcript.text[part.start : part.end] for part in parts)) == _bare(said)
        for parts, said in _said(result)
    )


def _said(result: Assessment) -> Iterator[tuple[Sequence[Segment], str]]:
    for sign in result.risk.signals:
        yield (Segment(turn=sign.turn, start=sign.start, end=sign.end),), sign.text
    items = None if result.quantitative is None else result.quantitative.items
    for item in (items or {}).values():
        yield from ((quote.segments, quote.text) for quote in item.evidence)


def _is_within(part: Segment, turns: Sequence[Turn]) -> bool:
    if not 0 <= part.turn < len(turns):
        return False
    turn = turns[part.turn]
    return turn.words_start <= part.start < part.end <= turn.end


def _bare(words: str) -> str:
    return "".join(words.split())


def _timed(turns: Sequence[Turn], seconds: Sequence[float | None]) -> Iterator[Turn]:
    for turn in turns:
        at = seconds[turn.index] if turn.index < len(seconds) else None
        yield turn if at is None else replace(turn, start_seconds=at)
