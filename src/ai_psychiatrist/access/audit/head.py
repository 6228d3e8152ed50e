"""The last row of a trail, kept apart from it and signed: what shows that rows at its end went."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.access.audit.entry import first_previous
from ai_psychiatrist.access.audit.errors import AuditUnusable
from ai_psychiatrist.access.audit.seals import Seals
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.infrastructure.private_files import make_folders, write_whole

_HEAD: Final = re.compile(r"([0-9]{1,15}):([0-9a-f]{64})")
_MOST_BYTES: Final = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Number and digest of a trail's last row."""

    n: int
    digest: str

    def __str__(self) -> str:
        return f"{self.n}:{self.digest}"

    @classmethod
    def parse(cls, text: str) -> "Head":
        """Read what `audit head` printed; raises `InputError`."""
        found = _HEAD.fullmatch(text.strip())
        if found is None:
            msg = "--head: write it as `ai-psychiatrist audit head` printed it, NUMBER:DIGEST"
            raise InputError(msg, field="--head")
        return cls(n=int(found[1]), digest=found[2])


def first_head(tenant: str) -> Head:
    """Return the head of a trail without rows: what its first row follows."""
    return Head(n=0, digest=first_previous(tenant))


class HeadForged(AuditUnusable):
    """The file of the head was not written by this installation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadFile:
    """Where the head of one trail is kept."""

    path: Path
    seals: Seals

    def read(self) -> Head | None:
        """Return the head, `None` where none was written.

        Raises `HeadForged` for a file of somebody else, and `AuditUnusable`.
        """
        try:
            written = read_regular(self.path, most_bytes=_MOST_BYTES, follows_links=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            msg = f"the head of the audit trail cannot be read: {reason_of(error)}"
            raise AuditUnusable(msg) from None
        text, _, seal = written.decode("ascii", "replace").strip().partition(" ")
        if not _HEAD.fullmatch(text) or not self.seals.is_own(seal, "head", text):
            msg = "the head of the audit trail was changed, or signed with another key"
            raise HeadForged(msg)
        return Head.parse(text)

    def write(self, head: Head) -> None:
        """Replace the head; it is on the disk when this returns. Raises `AuditUnusable`."""
        line = f"{head} {self.seals.seal('head', str(head))}\n"
        try:
            make_folders(self.path.parent)
            write_whole(self.path, [line.encode()])
        except OSError as error:
            msg = f"the head of the audit trail cannot be written: {error.strerror}"
            raise AuditUnusable(msg) from None
