"""Lines of a text: where they end, what of them is invisible, and the times written in them."""

import re
from dataclasses import dataclass, field, replace
from typing import Final

from ai_psychiatrist.domain.transcript import MAX_TURNS, Turn
from ai_psychiatrist.services.transcripts.utterances import FileFault, FileRefused, Roles

BREAKS: Final = r"\r\n\v\f\x85\u2028\u2029"
"""Characters that end a line, for a class of a regular expression."""
GAP: Final = rf"[^\S{BREAKS}]"
"""A blank within a line."""
END: Final = rf"(?:\r\n|[{BREAKS}])"
LINE_END: Final = re.compile(END)
INVISIBLE: Final = (
    "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad\u202a\u202b\u202c\u202d\u202e"
    "\u2066\u2067\u2068\u2069"
)
"""Characters that are not seen; for a class of a regular expression as well."""
_DATE: Final = r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}-[A-Za-z]{3}-\d{2,4})"
_TIME: Final = (
    r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,6}|-\d{1,2})?"
    rf"(?:Z|[+-]\d\d:?\d\d|{GAP}?(?:[AaPp]\.?[Mm]\b\.?|Uhr\b))?"
)
_TIME_SPAN: Final = (
    rf"(?:{_DATE}(?:T|,?{GAP}))?{_TIME}"
    rf"(?:{GAP}?(?:-->|->|-|–|to){GAP}?{_TIME})?"
)
STAMP: Final = rf"[\[(<{{#|]?{GAP}?{_TIME_SPAN}{GAP}?[\])>}}#|]?"
"""A time or a span of time, with or without its date and brackets, on one line."""
CLOCK: Final = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d{2}(?:[.,]\d{1,9})?)")
"""One time of a recording: `h:mm:ss` or `m:ss`."""
MOST_SECONDS: Final = 7 * 24 * 3_600.0
"""Of a recording: later times are dates, or mistakes."""
_INVISIBLE: Final = re.compile(f"[{INVISIBLE}]")
_BARE_CLOCK: Final = r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,6})?"
_UNSAID: Final = re.compile(
    rf"[\x00-\x1f\x7f-\x9f\s{INVISIBLE}]+"
    rf"|[\[(<{{#]{GAP}?{_BARE_CLOCK}(?:{GAP}?(?:-->|->|-|–|to){GAP}?{_BARE_CLOCK})?{GAP}?[\])>}}#]"
    r"|(?<![\w:])\d{1,3}:\d{2}:\d{2}(?:[.,]\d{1,6})?(?![\w:])"
)
MOST_UTTERANCES: Final = 10 * MAX_TURNS
"""How many utterances a file has at most, before those of one speaker are joined."""
_MOST_LINES: Final = 5 * MOST_UTTERANCES
FILE_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_SPEAKERS_MARK: Final = re.compile(r"speakers\s*:", re.IGNORECASE)
_LONGEST_SPEAKERS_LINE: Final = 4_000


def seconds_of(stamp: str) -> float | None:
    """Return the first time of a stamp in seconds; `None` for none, and for one too late."""
    found = CLOCK.search(stamp)
    if found is None:
        return None
    hours, minutes, seconds = found.groups()
    total = int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds.replace(",", "."))
    return total if total <= MOST_SECONDS else None


def has_words(text: str) -> bool:
    """Return whether anything is left of a text without blanks, control characters and times."""
    at = 0
    while (unsaid := _UNSAID.match(text, at)) is not None:
        at = unsaid.end()
    return at < len(text)


@dataclass(frozen=True, slots=True)
class VisibleText:
    """A text without its invisible characters, and where its characters stood."""

    text: str = field(repr=False)
    _places: list[int]
    """Where each of its characters, and its end, stand in the text as received."""

    def placed(self, turn: Turn) -> Turn:
        """Return a turn of the visible text with its offsets in the text as received."""
        is_last = turn.end == len(self.text)
        return replace(
            turn,
            start=self._before(turn.start),
            words_start=self._places[turn.words_start],
            end=self._places[turn.end] if is_last else self._before(turn.end),
        )

    def _before(self, offset: int) -> int:
        """Return the place behind the character before, so that what was removed follows it."""
        return self._places[offset - 1] + 1 if offset else 0


def without_invisible(text: str) -> VisibleText | None:
    """Return what is seen of a text; `None` where that is all of it."""
    if _INVISIBLE.search(text) is None:
        return None
    places = [at for at, character in enumerate(text) if character not in INVISIBLE]
    return VisibleText("".join(map(text.__getitem__, places)), [*places, len(text)])


def lines_of(text: str) -> list[str]:
    """Cut a text at its line ends, without a byte order mark.

    Raises `FileRefused` for more lines than the longest transcript has.
    """
    if text.count("\n") + text.count("\r") > 2 * _MOST_LINES:
        raise FileRefused(FileFault.TOO_LARGE)
    lines = FILE_LINE_END.split(text.removeprefix("\ufeff"))
    if len(lines) > _MOST_LINES:
        raise FileRefused(FileFault.TOO_LARGE)
    return lines


def on_one_line(words: str) -> str:
    """Put a space in the place of each run of white space, line breaks as well."""
    return " ".join(words.split())


def speakers_named(line: str) -> Roles:
    """Return label and role of each speaker as `speakers: Anna = participant, Tom = other` says.

    Nothing for any other line.
    """
    mark = _SPEAKERS_MARK.match(line.strip()) if len(line) <= _LONGEST_SPEAKERS_LINE else None
    if mark is None:
        return ()
    pairs = [part.rpartition("=") for part in line.strip()[mark.end() :].split(",")]
    named = tuple((on_one_line(label), role.strip()) for label, _, role in pairs)
    return named if all(label and role for label, role in named) else ()
