"""The identifiers of a folder's units: a session's number, or a file's name without its ending."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_LAST: Final = 10**9
"""Behind every number of a session."""


class UnitNames:
    """Finds the unit that a file is, and the one that a row of a table means."""

    def __init__(self, sessions: Mapping[int, Sequence[Path]], others: Sequence[Path]) -> None:
        """`others`: files of an interview each."""
        numbered = {str(number): paths for number, paths in sessions.items()}
        self._others = _others(others, taken=numbered)
        self.files: dict[str, Sequence[Path]] = {**numbered, **self._others}
        """Of each unit, in order; several only where a session is there more than once."""
        self._by_file = {path.name: at for at, paths in self.files.items() for path in paths}
        self._has_participants = bool(sessions) or not self._others

    def of_file(self, written: str) -> str | None:
        """Return the unit of a file's name, with or without its ending, or a session's number."""
        name = written.strip().rpartition("/")[2]
        known = self._by_file.get(name, name)
        return next((at for at in (known, _participant(name)) if at in self.files), None)

    def of_label(self, written: str) -> str:
        """Return the unit of a row of labels, there or not; "" for what can be none."""
        known = self._by_file.get(written, written)
        if known in self._others:
            return known
        number = _participant(written) if self._has_participants else ""
        return number or (written if self._others else "")

    def number(self, unit_id: str) -> int | None:
        """Return the number of a participant of a corpus."""
        is_participant = self._has_participants and unit_id not in self._others
        return int(unit_id) if is_participant and _NUMBER.fullmatch(unit_id) else None

    def order(self, unit_id: str) -> tuple[int, str]:
        """Return what units are sorted by: numbers of participants first, then names."""
        number = self.number(unit_id)
        return (_LAST, unit_id) if number is None else (number, "")


def _others(paths: Sequence[Path], *, taken: Iterable[str]) -> dict[str, Sequence[Path]]:
    """Return identifier → file; what is the stem of several files, or a session's, is none's."""
    stems = Counter(path.stem for path in paths)
    unusable = {*taken, *(path.name for path in paths)}
    unusable |= {stem for stem, count in stems.items() if count > 1}
    return {path.name if path.stem in unusable else path.stem: [path] for path in paths}


def _participant(written: str) -> str:
    """Return the number of a participant in its one spelling; "" for what is no number."""
    number = written.strip().removesuffix("_P").removesuffix(".0")
    return str(int(number)) if _NUMBER.fullmatch(number) else ""
