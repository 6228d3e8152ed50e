import random
from pathlib import Path
from typing import Final

import pytest

from ai_psychiatrist.services.transcripts.formats.known import read_content
from ai_psychiatrist.services.transcripts.utterances import FileReading, FileRefused, Utterance

FILES = Path(__file__).parents[3] / "data" / "transcripts"
WHOLE: Final = {
    path.name: path.read_bytes() for path in sorted(FILES.rglob("*.*")) if path.suffix != ".md"
}
PIECES: Final = (
    *b'" { } [ ] , ; : \\ null true -1 1e999 NaN [] {} "x" --> </v> \\ud800 \\u0000'.split(),
    *(b"\n", b"\r", b"\t", b"\x00", b"\xff", b"9" * 30, b"\xc3\xa9"),
)


def damaged(content: bytes, dice: random.Random) -> bytes:
    held = bytearray(content)
    for _ in range(dice.choice((1, 1, 2, 5))):
        at = dice.randrange(len(held) + 1)
        removed = dice.choice((0, 0, 1, 4, 200))
        other = dice.choice(list(WHOLE.values()))
        start = dice.randrange(len(other))
        held[at : at + removed] = dice.choice((*PIECES, b"", other[start : start + 300]))
    return bytes(held)


def is_in_shape(said: Utterance) -> bool:
    texts = [said.words] if said.label is None else [said.words, said.label]
    are_lines = all(text == " ".join(text.split()) != "" for text in texts)
    times = (said.start_seconds, said.end_seconds)
    return are_lines and all(time is None or time >= 0 for time in times)


@pytest.mark.parametrize("name", WHOLE)
def test_damaged_file_is_read_in_shape_or_refused(name: str) -> None:
    dice = random.Random(name)  # noqa: S311 - the same on every run
    for _ in range(150):
        content = damaged(WHOLE[name], dice)
        try:
            reading = read_content(content, name=dice.choice((name, "")))
        except FileRefused:
            continue
        if isinstance(reading, FileReading):
            assert reading.utterances
            assert all(map(is_in_shape, reading.utterances))
        else:
            reading.text.encode("utf-8")
