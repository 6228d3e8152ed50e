"""One frozen answer: values with ids, times and digests masked, sentences for people apart."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final, TypeAlias, TypeGuard

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

SENTENCE: Final = "<sentence>"
_FEWEST_SPACES: Final = 2
"""A string with fewer is a name, a code or a label, and stays among the values."""

_MASKS: Final = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b[0-9a-f]{12,}\b"), "<digest>"),
    (re.compile(r"\b127\.0\.0\.1:\d+"), "<host>"),
)
_TIME_KEY: Final = re.compile(
    r"(?:^|_)(?:duration_ms|duration_seconds|elapsed_seconds|created_at|started_at|ended_at)$"
)
"""Of numbers that count time: durations differ from run to run, times of a transcript do not."""
_DIGEST_KEY: Final = "prompt_digest"
"""Of digests by the key of an installation; now and then one has no letter to tell it by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one case was answered."""

    name: str
    """Unique in its area; its first part, up to `/`, names its file."""
    value: Json
    given: Sequence[str] = field(default=(), repr=False)
    """Transcripts and replies: what stands in one of them is a value, however many words it has."""
    masks: Mapping[str, str] = field(default_factory=dict)
    """Exact strings that differ from run to run (folders, keys) → what stands in their place."""
    times: Collection[str] = ()
    """Further keys whose numbers count time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """One answer as it is kept."""

    name: str
    value: Json
    sentences: tuple[str, ...]
    """Those of the value, in its order."""


def frozen(answer: Answer) -> Frozen:
    """Return the answer with everything masked that differs from run to run."""
    sentences: list[str] = []
    given = {_plain(text) for text in answer.given}

    def read(text: str) -> str:
        masked = _masked(text, answer.masks)
        if text.count(" ") < _FEWEST_SPACES or any(_plain(text) in one for one in given):
            return masked
        sentences.append(masked)
        return SENTENCE

    # As JSON, so that an enumeration is its number or word, as in the file.
    value = _walked(json.loads(json.dumps(answer.value)), read, frozenset(answer.times))
    return Frozen(name=answer.name, value=value, sentences=tuple(sentences))


def text_answer(text: str) -> list[str]:
    """Return text for people as a value: one string a line, blank lines left out."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def folder_masks(*folders: Path) -> dict[str, str]:
    """Return masks of folders that are made for one run."""
    return {str(folder): "<folder>" for folder in folders}


def _walked(value: Json, read: Callable[[str], str], times: frozenset[str]) -> Json:
    if isinstance(value, str):
        return read(value)
    if isinstance(value, Mapping):
        return {
            read(key) if " " in key else _masked(key, {}): (
                "<time>"
                if _counts_time(key, one, times)
                else "<digest>"
                if key == _DIGEST_KEY and one
                else _walked(one, read, times)
            )
            for key, one in value.items()
        }
    if isinstance(value, Sequence):
        return [_walked(one, read, times) for one in value]
    return value


def _counts_time(key: str, value: Json, times: frozenset[str]) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and (key in times or _TIME_KEY.search(key) is not None)


def _masked(text: str, masks: Mapping[str, str]) -> str:
    for exact in sorted(masks, key=len, reverse=True):
        text = text.replace(exact, masks[exact])
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return text


def _plain(text: str) -> str:
    return " ".join(text.split())


def differences(old: Json, new: Json, pointer: str = "") -> Iterator[str]:
    """Yield one line for each place where two values differ; the order of keys counts."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            where = f"{pointer}/{key}"
            if key not in new:
                yield f"{where}: gone, was {_short(old[key])}"
            elif key not in old:
                yield f"{where}: new, {_short(new[key])}"
            else:
                yield from differences(old[key], new[key], where)
        if old.keys() == new.keys() and list(old) != list(new):
            yield f"{pointer or '/'}: keys in another order"
    elif _is_list(old) and _is_list(new):
        yield from _list_differences(old, new, pointer)
    elif type(old) is not type(new) or old != new:
        yield f"{pointer or '/'}: {_short(old)} → {_short(new)}"


def _list_differences(old: Sequence[Json], new: Sequence[Json], pointer: str) -> Iterator[str]:
    """Yield what differs between two lists of one length; of others what came in and what went."""
    if len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{pointer}/{number}")
        return
    yield f"{pointer or '/'}: {len(old)} entries → {len(new)}"
    before, after = [repr(one) for one in old], [repr(one) for one in new]
    for _, start, end, new_start, new_end in _changed(before, after):
        if end - start == new_end - new_start:
            for number, (one, other) in enumerate(
                zip(old[start:end], new[new_start:new_end], strict=True), start
            ):
                yield from differences(one, other, f"{pointer}/{number}")
            continue
        for number in range(start, end):
            yield f"{pointer}/{number}: gone, was {_short(old[number])}"
        for number in range(new_start, new_end):
            yield f"{pointer}/{number}: new, {_short(new[number])}"


def _changed(before: list[str], after: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    return (code for code in matcher.get_opcodes() if code[0] != "equal")


def _is_list(value: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


_LONGEST_SHOWN: Final = 120
