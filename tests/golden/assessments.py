"""Assessments by the rule baseline, by command and from Python, over transcripts of all forms."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.golden.answer import Answer, Json, folder_masks, text_answer
from tests.golden.assessments_options import option_answers, settings_answers
from tests.golden.assessments_parts import in_agent_order, lean, own_transcripts, told
from tests.golden.assessments_python import python_answers
from tests.golden.ways import EXAMPLES, TRANSCRIPTS, Ended, parsed, run, scratch

_ROW: Final = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \|", re.MULTILINE)
_LABEL: Final = re.compile(r"^ +label: (.+)$", re.MULTILINE)
_TOO_LONG: Final = 2_000
_WHOLE: Final = ("interview.txt", "short_interview.txt", "300_TRANSCRIPT.csv", "turns.json")
_Keeping = Callable[[Mapping[str, Any]], dict[str, Any]]


def answers() -> Iterator[Answer]:
    """Yield what each transcript comes to."""
    with scratch() as folder:
        yield from _files(folder)
        yield from _labelled_files(folder)
        yield from _own(folder)
        yield from _made(folder)
    yield from option_answers()
    yield from settings_answers()
    yield from python_answers()


def _files(folder: Path) -> Iterator[Answer]:
    for path in (*sorted(EXAMPLES.glob("*.txt")), *_transcripts()):
        ended = run(["assess", path, "--json"], folder)
        name = f"command/{path.parent.name}/{path.name}"
        keeping = in_agent_order if path.name in _WHOLE else lean
        yield _answer(name, ended, path.read_bytes(), folder, keeping)


def _transcripts() -> list[Path]:
    return sorted(
        path for path in TRANSCRIPTS.rglob("*") if path.is_file() and path.suffix != ".md"
    )


def _labelled_files(folder: Path) -> Iterator[Answer]:
    """Yield what becomes of the files in which somebody has to say who is who."""
    rows = _ROW.findall((TRANSCRIPTS / "README.md").read_text(encoding="utf-8"))
    for name, participant in rows:
        path = TRANSCRIPTS / name
        content = path.read_bytes()
        ended = run(["assess", path, "--json", "--participant", participant], folder)
        yield _answer(f"participant/{name}", ended, content, folder, told)
        labels = _LABEL.findall(run(["assess", path], folder).err)
        if interviewers := [label for label in labels if label != participant]:
            named = [one for label in interviewers for one in ("--interviewer", label)]
            ended = run(["assess", path, "--json", *named], folder)
            yield _answer(f"interviewer/{name}", ended, content, folder, told)


def _own(folder: Path) -> Iterator[Answer]:
    for name, text in own_transcripts().items():
        ended = run(["assess", "-", "--json"], folder, stdin=text.encode())
        yield _answer(f"own/{name}", ended, text.encode(), folder)


def _made(folder: Path) -> Iterator[Answer]:
    """Yield what becomes of content that nobody writes by hand."""
    for name, content in _made_content().items():
        ended = run(["assess", "-", "--json"], folder, stdin=content)
        yield _answer(f"made/{name}", ended, content, folder, told)
    settings = {"API_MAX_TRANSCRIPT_CHARS": str(_TOO_LONG)}
    for name, characters in (("longest", _TOO_LONG), ("too_long", _TOO_LONG + 1)):
        content = b"Participant: I am tired.".ljust(characters, b"!")
        ended = run(["assess", "-", "--json"], folder, settings, stdin=content)
        yield _answer(f"made/{name}", ended, content, folder, told)


def _made_content() -> Mapping[str, bytes]:
    said = "Interviewer: How do you sleep?\nParticipant: I can’t sleep, every night. I’m tired.\n"
    sentence = "I walk to the river and count the boats that pass under the bridge. "
    asked = "Interviewer: And then?\nParticipant: Then I was tired again, that day.\n"
    return {
        "empty": b"",
        "blanks": b" \n\t\r\n \n",
        "byte_order_mark_alone": b"\xef\xbb\xbf",
        "nul": said.replace("sleep", "sl\0ep").encode(),
        "image": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1" + bytes(range(256)),
        "broken_utf_8": said.encode().replace(b"tired", b"tir\xff\xfeed"),
        "latin_1": "Participant: Ça va, I am so déprimée and tired every day.\n".encode("latin-1"),
        "utf_16_without_mark": said.encode("utf-16-le"),
        "utf_32": said.encode("utf-32"),
        "windows_line_ends": said.replace("\n", "\r\n").encode(),
        "old_line_ends": said.replace("\n", "\r").encode(),
        "one_line": said.replace("\n", " ").encode(),
        "huge_turn": f"Participant: {sentence * 300}I feel sad every day. {sentence * 60}".encode(),
        "many_turns": (asked * 300).encode(),
        "long_word": b"Participant: " + b"tired" * 4_000,
        "deep_json": b"[" * 5_000 + b"]" * 5_000,
        "broken_json": b'{"turns": [{"speaker": "Participant", "text": "I am tired',
        "empty_json": b"{}",
        "json_of_numbers": b"[1, 2, 3]",
        "subtitles_without_words": b"WEBVTT\n\n00:01.000 --> 00:02.000\n\n",
        "broken_archive": b"PK\x03\x04 and then no archive",
        "labels_without_words": b"Participant:\nInterviewer:\n",
        "half_a_surrogate": b'[{"role": "user", "content": "I am tired \\ud800 today"}]',
    }


def _answer(
    name: str, ended: Ended, content: bytes, folder: Path, keeping: _Keeping = lean
) -> Answer:
    result = parsed(ended.out)
    out: Json = result
    given = [content.decode("utf-8", "replace")]
    if isinstance(result, Mapping):
        out = keeping(result)
        given += [_text(result)]
    return Answer(
        name=name,
        value={"exit": ended.code, "out": out, "err": text_answer(ended.err)},
        given=given,
        masks=folder_masks(folder, TRANSCRIPTS, EXAMPLES),
    )


def _text(result: Mapping[str, Json]) -> str:
    text = result["transcript_text"]
    return text if isinstance(text, str) else json.dumps(text)
