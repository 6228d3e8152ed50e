"""Hostile transcript files, each through the real command: read, or refused with code 2.

`python -m tests.attack.files` prints the table and ends with 1 when a bound is broken; words
after it choose the attacks whose names hold one of them.
"""

import io
import json
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.attack.ended_command import EndedCommand, ended_command

MOST_SECONDS: Final = 10.0
MOST_MEGABYTES: Final = 600.0
CANARY: Final = "zimtschnecke"
"""Stands in every file among the words; no message may hold it."""
_SIZE: Final = 30_000_000
_TIMES: Final = "00:01.000 --> 00:02.000\n"
_SRT_TIMES: Final = "00:00:01,000 --> 00:00:02,000\n"
_DAIC_WOZ: Final = "start_time\tstop_time\tspeaker\tvalue\n"
_E_DAIC: Final = "Start_Time,End_Time,Text,Confidence\n"
_WORD: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"

Content = Callable[[], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One hostile file."""

    name: str
    """Its last word is the ending of the file."""
    content: Content


def attacks() -> Iterator[Attack]:
    """Yield every attack."""
    for group in (_TEXTS, _SUBTITLES, _TABLES, _JSON):
        for name, text in group.items():
            yield Attack(name=name, content=_encoded(text))
    for name, content in (*_BYTES.items(), *_DOCUMENTS.items()):
        yield Attack(name=name, content=content)


def _encoded(text: Callable[[], str]) -> Content:
    return lambda: text().encode()


def _filled(unit: str, before: str = CANARY) -> Callable[[], str]:
    return lambda: before + unit * ((_SIZE - len(before)) // len(unit))


def _counted(form: str, count: int, before: str = "") -> Callable[[], str]:
    return lambda: before + "".join(form.format(number) for number in range(count))


_TEXTS: Final[Mapping[str, Callable[[], str]]] = {
    "one line of 30 MB .txt": _filled("a"),
    "one turn of 30 MB .txt": _filled("word ", f"Participant: {CANARY}"),
    "labels by the hundred thousand .txt": _counted(f"{CANARY}{{}}: a\n", 300_000),
    "two labels in turn, 30 MB .txt": _filled(f"I: {CANARY}?\nP: no\n", ""),
    "colons .txt": _filled(":"),
    "label without an end .txt": _filled("A b "),
    "line ends .txt": _filled("\n"),
    "brackets .txt": _filled("["),
    "bold labels without an end .txt": _filled("**"),
    "times in brackets .txt": _filled("[00:01] "),
    "nul .txt": _filled("\0"),
    "blanks before a colon .txt": lambda: CANARY + " " * _SIZE + ": a",
    "speakers by the hundred thousand .txt": _counted(
        f"{CANARY}{{}} = participant, ", 300_000, "speakers: "
    ),
}
_SUBTITLES: Final[Mapping[str, Callable[[], str]]] = {
    "one cue of 30 MB .vtt": _filled("word ", f"WEBVTT\n\n{_TIMES}<v {CANARY}>"),
    "a million cues .vtt": lambda: f"WEBVTT\n\n{_TIMES}{CANARY}\n\n" + f"{_TIMES}x\n\n" * 1_000_000,
    "as many cues as are read .vtt": _counted(
        f"{_TIMES}<v A{{}}>{CANARY}\n\n", 99_000, "WEBVTT\n\n"
    ),
    "voices without an end .vtt": _filled("<v ", f"WEBVTT\n\n{_TIMES}{CANARY}"),
    "voices in a cue .vtt": _filled("<v A>b", f"WEBVTT\n\n{_TIMES}{CANARY}"),
    "lines in a cue .vtt": _filled("a\n", f"WEBVTT\n\n{_TIMES}{CANARY}"),
    "arrows .vtt": _filled("-->\n", f"WEBVTT\n\n{_TIMES}{CANARY}\n\n"),
    "a note of 30 MB .vtt": _filled("a", f"WEBVTT\n\n{_TIMES}{CANARY}\n\nNOTE speakers: "),
    "a million cues .srt": lambda: f"1\n{_SRT_TIMES}{CANARY}\n\n" + f"1\n{_SRT_TIMES}\n" * 900_000,
    "a million cues .sbv": lambda: f"0:00:01.000,0:00:02.000\n{CANARY}\n\n" * 800_000,
}
_TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "ten million cells in few rows .csv": lambda: (
        f"speaker,text{',' * 9_998}\n{CANARY}" + ("," * 9_999 + "\n") * 1_000
    ),
    "ten million cells in many rows .csv": lambda: (
        f"speaker,text\nA,{CANARY}\n" + "A,b\n" * 5_000_000
    ),
    "ten million cells in many rows .tsv": lambda: (
        f"speaker\ttext\nA\t{CANARY}\n" + "A\tb\n" * 5_000_000
    ),
    "ten million blank cells .csv": lambda: f"speaker,text\nA,{CANARY}\n" + ",\n" * 5_000_000,
    "one cell of 30 MB .csv": _filled("a", f"speaker,text\nA,{CANARY}"),
    "a quote that never closes .csv": _filled("a\n", f'speaker,text\nA,"{CANARY}'),
    "quotes .csv": _filled('"', f"speaker,text\nA,{CANARY}"),
    "a header of 30 MB .csv": _filled("a,", f"speaker,text,{CANARY}"),
    "a million rows of DAIC-WOZ .csv": lambda: _DAIC_WOZ + f"1\t2\tEllie\t{CANARY}\n" * 900_000,
    "a row of 30 MB of DAIC-WOZ .csv": _filled("a_(", f"{_DAIC_WOZ}1\t2\tEllie\t{CANARY}"),
    "a million rows of E-DAIC .csv": lambda: _E_DAIC + f"1,2,{CANARY},1\n" * 1_000_000,
    "quotes of E-DAIC .csv": _filled('"', f"{_E_DAIC}1,2,{CANARY},1\n1,2,"),
    "rows that open quotes of E-DAIC .csv": lambda: _E_DAIC + f'1,2,"{CANARY},1\n' * 190_000,
}
_JSON: Final[Mapping[str, Callable[[], str]]] = {
    "lists 100,000 deep .json": lambda: "[" * 100_000 + f'"{CANARY}"' + "]" * 100_000,
    "objects 100,000 deep .json": lambda: '{"a":' * 100_000 + f'"{CANARY}"' + "}" * 100_000,
    "lists that never close .json": lambda: f'["{CANARY}",' + "[" * _SIZE,
    "30 MB of numbers .json": lambda: f'["{CANARY}"' + ",1" * (_SIZE // 2) + "]",
    "30 MB of keys .json": lambda: (
        f'{{"text": "{CANARY}"' + "".join(f',"k{number}":1' for number in range(2_000_000)) + "}"
    ),
    "30 MB of empty objects .json": lambda: f'[{{"text": "{CANARY}"}}' + ",{}" * (_SIZE // 3) + "]",
    "a string of 30 MB .json": lambda: json.dumps({"text": CANARY + "a" * _SIZE}),
    "escapes of 30 MB .json": lambda: f'{{"text": "{CANARY}' + "\\u0061" * (_SIZE // 6) + '"}',
    "a number of 30 MB .json": lambda: f'{{"text": "{CANARY}", "duration": ' + "1" * _SIZE + "}",
    "a million segments of Whisper .json": lambda: (
        f'{{"text": "{CANARY}", "segments": ['
        + ",".join(['{"start":1,"end":2,"text":"a"}'] * 900_000)
        + "]}"
    ),
    "a million turns .jsonl": lambda: f'{{"speaker":"A","text":"{CANARY}"}}\n' * 700_000,
    "a million blank records .jsonl": lambda: f'{{"text":"{CANARY}"}}\n' + "{}\n" * 5_000_000,
}
_BYTES: Final[Mapping[str, Content]] = {
    "no encoding .txt": lambda: CANARY.encode() + bytes(range(256)) * 100_000,
    "UTF-16 of 30 MB .txt": lambda: f"Participant: {CANARY}{'a ' * 7_000_000}".encode("utf-16"),
    "half a surrogate .txt": lambda: f"Participant: {CANARY}".encode("utf-16") + b"\x00\xd8",
}


def _document(body: str, *, prologue: str = "", more: Mapping[str, bytes] | None = None) -> bytes:
    """Make a document of Word whose main part has this body."""
    part = f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'
    return _archive({"word/document.xml": (prologue + part).encode(), **(more or {})})


def _archive(parts: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("[Content_Types].xml", _CONTENT_TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        for name, content in parts.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _paragraph(words: str) -> str:
    return f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p>"


def _entities() -> str:
    """Each entity is ten of the one before: a billion words of one line."""
    declared = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 10))
    return f'<!DOCTYPE w:document [<!ENTITY e0 "{CANARY}">{declared}]>'


def _lying() -> bytes:
    """Make an archive whose directory says that 500 MB are ten bytes."""
    packed = bytearray(_document(_paragraph(CANARY) + " " * 500_000_000))
    entry = packed.rindex(b"PK\x01\x02")
    packed[entry + 24 : entry + 28] = (10).to_bytes(4, "little")
    return bytes(packed)


_PARTS: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_CONTENT_TYPES: Final = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels"'
    ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_PARTS}"/></Types>'
)
_RELATIONS: Final = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Target="word/document.xml" Type="http://schemas.openxmlformats.org'
    '/officeDocument/2006/relationships/officeDocument"/></Relationships>'
)
_DOCUMENTS: Final[Mapping[str, Content]] = {
    "blanks of 1 GB, packed .docx": lambda: _document(_paragraph(CANARY) + " " * 1_000_000_000),
    "a paragraph of 200 MB, packed .docx": lambda: _document(
        _paragraph(CANARY + "a" * 200_000_000)
    ),
    "a part of 1 GB beside the document .docx": lambda: _document(
        _paragraph(CANARY), more={"word/styles.xml": b" " * 1_000_000_000}
    ),
    "a size that lies .docx": _lying,
    "100,000 parts .docx": lambda: _document(
        _paragraph(CANARY), more={f"word/{number}.xml": b"" for number in range(100_000)}
    ),
    "a million paragraphs .docx": lambda: _document(_paragraph(CANARY) * 1_000_000),
    "elements 1,000,000 deep .docx": lambda: _document(
        "<w:p>" * 1_000_000 + CANARY + "</w:p>" * 1_000_000
    ),
    "attributes by the million .docx": lambda: _document(
        "<w:p " + "".join(f'a{number}="" ' for number in range(1_000_000)) + f">{CANARY}</w:p>"
    ),
    "entities of entities .docx": lambda: _document(_paragraph("&e9;"), prologue=_entities()),
    "one entity very often .docx": lambda: _document(
        _paragraph("&e;" * 100_000),
        prologue=f'<!DOCTYPE w:document [<!ENTITY e "{CANARY * 10_000}">]>',
    ),
    "an entity of a file .docx": lambda: _document(
        _paragraph(f"{CANARY} &e;"),
        prologue='<!DOCTYPE w:document [<!ENTITY e SYSTEM "file:///etc/hostname">]>',
    ),
    "an archive that is cut off .docx": lambda: _document(_paragraph(CANARY))[:-30],
}


def is_held(ended: EndedCommand) -> bool:
    """Whether the file was read or refused, within the bounds and without a word of it said."""
    is_bounded = ended.seconds <= MOST_SECONDS and ended.megabytes <= MOST_MEGABYTES
    is_clear = CANARY not in ended.err and "Traceback" not in ended.err + ended.out
    return ended.code in {0, 2} and is_bounded and is_clear


def ended_attack(attack: Attack) -> EndedCommand:
    """Give the file of one attack to the command, in a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / f"interview{attack.name.rpartition(' ')[2]}"
        file.write_bytes(attack.content())
        return ended_command(["assess", str(file)], Path(name))


def main() -> int:
    """Print one line for each attack, and return 1 when a bound did not hold."""
    broken = 0
    wanted = sys.argv[1:]
    for attack in attacks():
        if wanted and not any(word in attack.name for word in wanted):
            continue
        ended = ended_attack(attack)
        broken += not is_held(ended)
        mark = "  " if is_held(ended) else "!!"
        code = "-" if ended.code is None else ended.code
        numbers = f"{ended.seconds:6.2f} s {ended.waited_seconds:6.2f} s {ended.megabytes:5.0f} MB"
        said = ended.err.strip().splitlines()
        last = (said[-1] if said else "").replace(CANARY, "***")
        sys.stdout.write(f"{mark} {attack.name:44} {numbers} {code:>3}  {last[:80]}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{broken} bounds broken\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
