"""Reads the transcripts of Rev: monologues of words and of the marks between them."""

from collections import Counter
from typing import Final

from ai_psychiatrist.services.transcripts.formats.gathering import Gathering
from ai_psychiatrist.services.transcripts.formats.json_records import Record
from ai_psychiatrist.services.transcripts.utterances import FileReading, Form

_KINDS: Final = frozenset({"text", "punct", "unknown"})


def read_rev(whole: Record) -> FileReading:
    """Read the monologues in order; a speaker without a name of his own goes by his number."""
    gathering = Gathering(Form.REV)
    names = _names(whole)
    for monologue in whole.records("monologues"):
        elements = list(monologue.parts("elements"))
        number = monologue.numbered_label("speaker")
        gathering.add(
            names.get(number, number) if number is not None else None,
            "".join(_value(element) for element in elements),
            line=monologue.number,
            start=_first(elements, gathering, "ts", "timestamp"),
            end=_first(elements[::-1], gathering, "end_ts", "end_timestamp"),
        )
    return gathering.reading()


def _names(whole: Record) -> dict[str, str]:
    """Return the names by number, but for those that two speakers share."""
    names: dict[str, str] = {}
    for speaker in whole.records("speakers"):
        number, name = speaker.numbered_label("id"), speaker.label("name")
        if number is not None and name is not None:
            names[number] = name
    shared = Counter(names.values())
    return {number: name for number, name in names.items() if shared[name] == 1}


def _value(element: Record) -> str:
    if element.text("type") not in _KINDS:
        raise element.refused()
    return element.text("value")


def _first(elements: list[Record], gathering: Gathering, name: str, written: str) -> float | None:
    """Return the first time of the elements: seconds from machines, a clock's from people."""
    for element in elements:
        if element.fields.get(name) is not None:
            return element.seconds(name, gathering)
        if (clock := element.optional_text(written)) is not None:
            return gathering.written_seconds(clock, element.number)
    return None
