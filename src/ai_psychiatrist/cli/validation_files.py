"""What `validate` reads and writes."""

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.validation.jsonl.outputs import Outputs, output_file

STANDARD: Final = Path("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """What is read and written; `None` stands for a standard stream, or for nothing."""

    source: Path | None
    context: Path | None
    valid: Path | None
    failures: Path | None
    coercions: Path | None
    following: Path | None
    summary: Path | None
    run: Path | None

    def refuse_the_same_twice(self) -> None:
        """Raise `InputError` when two outputs would be one file."""
        options = {"--valid": self.valid, "--failures": self.failures}
        options |= {"--coercions": self.coercions, "--summary": self.summary}
        options |= {"--next": self.following}
        taken: dict[Path, str] = {}
        for option, path in options.items():
            if path is None or (path.exists() and not path.is_file()):
                continue
            other = taken.setdefault(path.resolve(), option)
            if other != option:
                msg = f"{other} and {option} name the same file"
                raise InputError(msg, field=option)

    @property
    def source_bytes(self) -> int | None:
        """How much is to be read, `None` when it is not known before."""
        source = self.source
        if source is None or source.suffix == ".gz" or not source.is_file():
            return None
        return source.stat().st_size


def open_outputs(files: Files, stack: ExitStack, *, is_schema_alone: bool) -> Outputs:
    """Open what is written; it appears when the stack is closed without an error."""

    def opened(path: Path | None, field: str) -> BinaryIO | None:
        return None if path is None else stack.enter_context(output_file(path, field=field))

    failures = files.failures
    if failures is None and is_schema_alone:
        failures = Path(os.devnull)
    return Outputs(
        valid=opened(files.valid, "--valid") or sys.stdout.buffer,
        failures=opened(failures, "--failures") or sys.stderr.buffer,
        coercions=opened(files.coercions, "--coercions"),
        following=opened(files.following, "--next"),
    )
