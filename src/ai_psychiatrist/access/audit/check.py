"""Whether a trail is as it was written: every row, their order, and its end."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from ai_psychiatrist.access.audit.entry import Row, first_previous
from ai_psychiatrist.access.audit.head import Head
from ai_psychiatrist.access.audit.seals import Seals


class Fault(StrEnum):
    """What is wrong with a trail at one place."""

    EDITED = "edited"
    """The row does not say what it said."""
    FOREIGN = "foreign"
    """This installation did not write the row."""
    MISSING = "missing"
    """The row is gone."""
    OUT_OF_ORDER = "out of order"
    """The row does not follow the one before it."""
    HEAD_DIFFERS = "head differs"
    """The row is another one than the head names."""
    HEAD_FORGED = "head forged"
    """This installation did not write the head."""
    HEAD_MISSING = "head missing"
    """The trail has rows, and the file of its head is gone."""
    HEAD_UNREADABLE = "head unreadable"
    """The file of the head cannot be read."""
    UNREADABLE = "file unreadable"
    """The file of the rows is none of a trail, or cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault and where it is: numbers of the first and the last row, 0 for a whole file."""

    fault: Fault
    first: int
    last: int
    reason: str = ""
    """Why a file cannot be read."""

    def __str__(self) -> str:
        if not self.first:
            return f"{self.fault}: {self.reason}" if self.reason else str(self.fault)
        rows = f"row {self.first}" if self.first == self.last else f"rows {self.first}-{self.last}"
        return f"{rows}: {self.fault}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was found in a trail."""

    end: Head | None
    """The last row that is there."""
    findings: tuple[Finding, ...]
    unanswered: int = 0
    """Rows behind the head: the process was ended before it answered their requests."""

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


def check_rows(rows: Iterable[Row], seals: Seals, heads: Iterable[Head]) -> Checked:
    """Check each row, that it follows the one before, and that the heads name rows of the trail."""
    walk = _Walk(seals=seals, previous=first_previous(seals.tenant))
    named = tuple(heads)
    found: list[Finding] = []
    for row in rows:
        found += walk.faults_of(row)
        if any(head.n == row.n and head.digest != row.digest for head in named):
            found.append(_at(Fault.HEAD_DIFFERS, row.n))
    last = max((head.n for head in named), default=0)
    if last > walk.n:
        found.append(Finding(fault=Fault.MISSING, first=walk.n + 1, last=last))
    end = Head(n=walk.n, digest=walk.previous) if walk.n else None
    return Checked(end=end, findings=tuple(found))


@dataclass(slots=True, kw_only=True)
class _Walk:
    seals: Seals
    previous: str
    n: int = 0

    def faults_of(self, row: Row) -> Iterator[Finding]:
        """Yield what is wrong with the next row, and go on from it."""
        is_next = row.n == self.n + 1
        if row.n > self.n + 1:
            yield Finding(fault=Fault.MISSING, first=self.n + 1, last=row.n - 1)
        if row.own_digest() != row.digest:
            yield _at(Fault.EDITED, row.n)
        elif not self.seals.is_own(row.seal, "row", row.digest):
            yield _at(Fault.FOREIGN, row.n)
        if is_next and row.previous != self.previous:
            yield _at(Fault.OUT_OF_ORDER, row.n)
        self.n, self.previous = row.n, row.digest


def _at(fault: Fault, n: int) -> Finding:
    return Finding(fault=fault, first=n, last=n)
