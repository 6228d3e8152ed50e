"""Interviews held by the command, and what is kept of how one ended."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.golden.answer import Answer, Json, folder_masks, text_answer
from tests.golden.ways import Ended, parsed, run

Settings: TypeAlias = Mapping[str, str]

INCIDENT: Final = (
    *("--input", "title=The lunch"),
    *("--input", "summary=Somebody ate the lunch of somebody else."),
    *("--input", "interviewee_name=Sam"),
    *("--input", "interviewee_role=a colleague"),
)
_ID: Final = re.compile(r"(?<![\w-])[\w-]{32}(?![\w-])")
_ALIKE: Final = ("interview_id", "schema_version", "notice", "protocol_version", "title")
"""Of an interview: the same in all of a protocol."""
_DIGIT: Final = re.compile(r"[\d_A-Z-]")


def hold(
    folder: Path,
    *arguments: str | Path,
    said: Sequence[str] | bytes = (),
    settings: Settings | None = None,
) -> Ended:
    """Hold an interview with what a person says, a line an answer."""
    lines = said if isinstance(said, bytes) else "".join(f"{line}\n" for line in said).encode()
    return run(["interview", *arguments], folder, settings, stdin=lines)


def ids_in(*texts: str) -> list[str]:
    """Return the ids of interviews in these texts, in their order."""
    found = (each for text in texts for each in _ID.findall(text) if _DIGIT.search(each))
    return list(dict.fromkeys(found))


def answer_of(
    name: str,
    folder: Path,
    *held: Ended,
    said: Collection[str] = (),
    is_whole: bool = False,
    more: Mapping[str, Json] | None = None,
    masks: Mapping[str, str] | None = None,
) -> Answer:
    """Return what one command, or several one after another, came to."""
    ids = ids_in(*(text for each in held for text in (each.err, each.out)))
    values = [_value(each, is_whole=is_whole) for each in held]
    return Answer(
        name=name,
        value={"sessions": values, **(more or {})},
        given=list(said),
        masks={
            **{each: f"<interview {number}>" for number, each in enumerate(ids, start=1)},
            **folder_masks(folder),
            folder.name: "<folder>",
            **(masks or {}),
        },
    )


def brief(value: Any) -> Any:
    """Return a value without what is null or empty."""
    if isinstance(value, dict):
        named = {key: brief(one) for key, one in value.items()}
        return {key: one for key, one in named.items() if one not in (None, [], {}, "")}
    if isinstance(value, list):
        return [brief(one) for one in value]
    return value


def _value(ended: Ended, *, is_whole: bool) -> Json:
    out: Any = parsed(ended.out)
    if not is_whole and isinstance(out, dict) and "interview" in out:
        out = _shortened(out)
    return {"exit": ended.code, "out": out, "err": text_answer(ended.err)}


def _shortened(document: dict[str, Any]) -> Json:
    """Return interview and report, with nothing twice and nothing that is empty."""
    interview, report = dict(document["interview"]), document["report"]
    operator = dict(interview.pop("operator"))
    said = [{one["speaker"]: one["text"]} for one in interview.pop("messages")]
    known = {**interview, **operator}
    for name in _ALIKE:
        interview.pop(name)
    if operator["items"] is not None:
        operator["items"] = {key: _unlabelled(one) for key, one in operator["items"].items()}
        operator["goals"] = [_goal(one) for one in operator["goals"]]
    own = None
    if report is not None:
        own = {key: one for key, one in report.items() if key not in known or known[key] != one}
        # A whole digest would be masked.
        own["inputs_hash"] = f"{report['inputs_hash'][:8]}…"
    return {
        "dialogue": said,
        **brief(interview),
        "operator": brief(operator),
        "report": brief(own),
    }


def _unlabelled(value: dict[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in value.items() if key != "label"}


def _goal(value: dict[str, Any]) -> str:
    return f"{value['id']}: {value['status']},{value['confidence']},{value['asks']}"
