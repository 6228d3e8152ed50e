"""Hostile transcript files, each through the real command: read, or refused with code 2.

`python -m tests.attack.files` prints the table and ends with 1 when a bound is broken; words
after it choose the attacks whose names hold one of them.
"""

import io
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
"""The command reads files of at most 2²⁵ bytes."""
_TIMES: Final = "00:01.000 --> 00:02.000\n"
_SRT_TIMES: Final = "00:00:01,000 --> 00:00:02,000\n"
_DAIC_WOZ: Final = "start_time\tstop_time\tspeaker\tvalue\n"
_E_DAIC: Final = "Start_Time,End_Time,Text,Confidence\n"
_WORD: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"

Content = Callable[[int], bytes]
"""Of about so many bytes, fewer where more are no worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One hostile file."""

    name: str
    """Its last word is the ending of the file."""
    content: Content

    @property
    def ending(self) -> str:
        """Of the file's name, with the dot."""
        return self.name.rpartition(" ")[2]


def attacks() -> Iterator[Attack]:
    """Yield every attack."""
    for group in (_TEXTS, _SUBTITLES, _TABLES, _JSON):
        for name, text in group.items():
            yield Attack(name=name, content=_encoded(text))
    for name, content in (*_BYTES.items(), *_DOCUMENTS.items()):
        yield Attack(name=name, content=content)


def _encoded(text: Callable[[int], str]) -> Content:
    return lambda size: text(size).encode()


def _filled(unit: str, before: str = CANARY, after: str = "") -> Callable[[int], str]:
    around = len(before + after)
    return lambda size: before + unit * ((size - around) // len(unit)) + after


def _counted(form: str, most: int, before: str = "", after: str = "") -> Callable[[int], str]:
    """Fill in the numbers from 0."""
    longest = len(form.format(most))
    return lambda size: (
        before
        + "".join(map(form.format, range(min(most, (size - len(before + after)) // longest))))
        + after
    )


_TEXTS: Final[Mapping[str, Callable[[int], str]]] = {
    "one long line .txt": _filled("a"),
    "one long turn .txt": _filled("word ", f"Participant: {CANARY}"),
    "labels that differ .txt": _counted(f"{CANARY}{{}}: a\n", 300_000),
    "two labels in turn .txt": _filled(f"I: {CANARY}?\nP: no\n", ""),
    "colons .txt": _filled(":"),
    "label without an end .txt": _filled("A b "),
    "line ends .txt": _filled("\n"),
    "brackets .txt": _filled("["),
    "bold labels without an end .txt": _filled("**"),
    "times in brackets .txt": _filled("[00:01] "),
    "nul .txt": _filled("\0"),
    "blanks before a colon .txt": _filled(" ", CANARY, ": a"),
    "speakers that differ .txt": _counted(f"{CANARY}{{}} = participant, ", 300_000, "speakers: "),
    "a role that is none, and words .txt": _filled("A: b\n", f"speakers: A = {CANARY}\n"),
}
_SUBTITLES: Final[Mapping[str, Callable[[int], str]]] = {
    "one long cue .vtt": _filled("word ", f"WEBVTT\n\n{_TIMES}<v Anna>{CANARY} "),
    "short cues .vtt": _filled(f"{_TIMES}x\n\n", f"WEBVTT\n\n{_TIMES}{CANARY}\n\n"),
    "as many cues as are read .vtt": _counted(
        f"{_TIMES}<v A{{}}>{CANARY}\n\n", 99_000, "WEBVTT\n\n"
    ),
    "voices without an end .vtt": _filled("<v ", f"WEBVTT\n\n{_TIMES}{CANARY}"),
    "voices in a cue .vtt": _filled("<v A>b", f"WEBVTT\n\n{_TIMES}{CANARY}"),
    "lines in a cue .vtt": _filled("a\n", f"WEBVTT\n\n{_TIMES}{CANARY}"),
    "arrows .vtt": _filled("-->\n", f"WEBVTT\n\n{_TIMES}{CANARY}\n\n"),
    "a long note .vtt": _filled("a", f"WEBVTT\n\n{_TIMES}{CANARY}\n\nNOTE speakers: "),
    "short cues .srt": _filled(f"1\n{_SRT_TIMES}\n", f"1\n{_SRT_TIMES}{CANARY}\n\n"),
    "short cues .sbv": _filled(f"0:00:01.000,0:00:02.000\n{CANARY}\n\n", ""),
}
_TABLES: Final[Mapping[str, Callable[[int], str]]] = {
    "many cells in few rows .csv": _filled(
        "," * 9_999 + "\n", f"speaker,text{',' * 9_998}\n{CANARY}"
    ),
    "many cells in many rows .csv": _filled("A,b\n", f"speaker,text\nA,{CANARY}\n"),
    "many cells in many rows .tsv": _filled("A\tb\n", f"speaker\ttext\nA\t{CANARY}\n"),
    "blank cells .csv": _filled(",\n", f"speaker,text\nA,{CANARY}\n"),
    "one long cell .csv": _filled("a", f"speaker,text\nA,{CANARY}"),
    "one long label .csv": _filled("Zz", "speaker,text\n", f",{CANARY}\nParticipant,no\n"),
    "a quote that never closes .csv": _filled("a\n", f'speaker,text\nA,"{CANARY}'),
    "quotes .csv": _filled('"', f"speaker,text\nA,{CANARY}"),
    "a long header .csv": _filled("a,", f"speaker,text,{CANARY}"),
    "short rows of DAIC-WOZ .csv": _filled(f"1\t2\tEllie\t{CANARY}\n", _DAIC_WOZ),
    "a long row of DAIC-WOZ .csv": _filled("a_(", f"{_DAIC_WOZ}1\t2\tEllie\t{CANARY}"),
    "short rows of E-DAIC .csv": _filled(f"1,2,{CANARY},1\n", _E_DAIC),
    "quotes of E-DAIC .csv": _filled('"', f"{_E_DAIC}1,2,{CANARY},1\n1,2,"),
    "rows that open quotes of E-DAIC .csv": _counted(f'1,2,"{CANARY},1\n', 190_000, _E_DAIC),
}
_JSON: Final[Mapping[str, Callable[[int], str]]] = {
    "lists 100,000 deep .json": lambda _: "[" * 100_000 + f'"{CANARY}"' + "]" * 100_000,
    "objects 100,000 deep .json": lambda _: '{"a":' * 100_000 + f'"{CANARY}"' + "}" * 100_000,
    "lists that never close .json": _filled("[", f'["{CANARY}",'),
    "numbers .json": _filled(",1", f'["{CANARY}"', "]"),
    "keys that differ .json": _counted(',"k{}":1', 2_000_000, f'{{"text": "{CANARY}"', "}"),
    "empty objects .json": _filled(",{}", f'[{{"text": "{CANARY}"}}', "]"),
    "a long string .json": _filled("a", f'{{"text": "{CANARY}', '"}'),
    "escapes .json": _filled("\\u0061", f'{{"text": "{CANARY}', '"}'),
    "a long number .json": _filled("1", f'{{"text": "{CANARY}", "duration": ', "}"),
    "short segments of Whisper .json": _filled(
        '{"start":1,"end":2,"text":"a"},',
        f'{{"text": "{CANARY}", "segments": [',
        '{"start":1,"end":2,"text":"a"}]}',
    ),
    "short turns .jsonl": _filled(f'{{"speaker":"A","text":"{CANARY}"}}\n', ""),
    "blank records .jsonl": _filled("{}\n", f'{{"text":"{CANARY}"}}\n'),
}
_BYTES: Final[Mapping[str, Content]] = {
    "no encoding .txt": lambda size: CANARY.encode() + bytes(range(256)) * (size // 256 - 1),
    "UTF-16 .txt": lambda size: _filled("a ", f"Participant: {CANARY}")(size // 2 - 1).encode(
        "utf-16"
    ),
    "half a surrogate .txt": lambda _: f"Participant: {CANARY}".encode("utf-16") + b"\x00\xd8",
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
    "blanks of 900 MB, packed .docx": lambda _: _document(_paragraph(CANARY) + " " * 900_000_000),
    "a paragraph of 200 MB, packed .docx": lambda _: _document(
        _paragraph(CANARY + "a" * 200_000_000)
    ),
    "a part of 900 MB beside the document .docx": lambda _: _document(
        _paragraph(CANARY), more={"word/styles.xml": b" " * 900_000_000}
    ),
    "a size that lies .docx": lambda _: _lying(),
    "parts by the ten thousand .docx": lambda size: _document(
        _paragraph(CANARY), more={f"word/{number}.xml": b"" for number in range(size // 300)}
    ),
    "a million paragraphs .docx": lambda _: _document(_paragraph(CANARY) * 1_000_000),
    "elements 1,000,000 deep .docx": lambda _: _document(
        "<w:p>" * 1_000_000 + CANARY + "</w:p>" * 1_000_000
    ),
    "attributes by the million .docx": lambda _: _document(
        "<w:p " + "".join(f'a{number}="" ' for number in range(1_000_000)) + f">{CANARY}</w:p>"
    ),
    "entities of entities .docx": lambda _: _document(_paragraph("&e9;"), prologue=_entities()),
    "one entity very often .docx": lambda _: _document(
        _paragraph("&e;" * 100_000),
        prologue=f'<!DOCTYPE w:document [<!ENTITY e "{CANARY * 10_000}">]>',
    ),
    "an entity of a file .docx": lambda _: _document(
        _paragraph(f"{CANARY} &e;"),
        prologue='<!DOCTYPE w:document [<!ENTITY e SYSTEM "file:///etc/hostname">]>',
    ),
    "an archive that is cut off .docx": lambda _: _document(_paragraph(CANARY))[:-30],
}


def is_held(ended: EndedCommand) -> bool:
    """Whether the file was read or refused, within the bounds and without a word of it said."""
    is_bounded = ended.seconds <= MOST_SECONDS and ended.megabytes <= MOST_MEGABYTES
    is_clear = CANARY not in ended.err and "Traceback" not in ended.err + ended.out
    return ended.code in {0, 2} and is_bounded and is_clear


def ended_attack(attack: Attack) -> EndedCommand:
    """Give the file of one attack to the command, in a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / f"interview{attack.ending}"
        file.write_bytes(attack.content(_SIZE))
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
