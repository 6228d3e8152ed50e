"""Load protocols that come with the package, and those of a folder."""

import os
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.interview.protocol.folder import PROTOCOL_FILE, read_protocol
from ai_psychiatrist.interview.protocol.records import InterviewProtocol
from ai_psychiatrist.validation.config.nearest import did_you_mean
from ai_psychiatrist.validation.config.problem import LintProblem, refusal

BUILTIN_PROTOCOLS: Final = ("phq8", "incident")
_FOLDER: Final = Path(__file__).parent.parent / "protocols"


def load_protocol(name_or_folder: str | Path) -> InterviewProtocol:
    """Load a protocol by the name of a built-in one, or from its folder or protocol file.

    A text without a path separator is a name. Raises `ConfigurationError` with the file and line
    of the first errors that the lint finds. Warnings are not shown.
    """
    folder = _folder(name_or_folder)
    reading = read_protocol(folder)
    if reading.protocol is not None:
        return reading.protocol
    file = f"{folder.name}/{PROTOCOL_FILE}" if folder.name else PROTOCOL_FILE
    raise ConfigurationError(refusal("protocol", file, reading.problems))


def lint_protocol(folder: Path) -> list[LintProblem]:
    """Return everything that is wrong with a protocol, by line, found in one pass.

    `folder`: the folder, or the protocol file in it; lines are those of the protocol file.
    """
    return read_protocol(_folder(folder)).problems


def is_protocol(path: Path) -> bool:
    """Whether a path is a protocol's folder or its file, and no pipeline file."""
    return path.name == PROTOCOL_FILE or (path.is_dir() and (path / PROTOCOL_FILE).is_file())


def _folder(source: str | Path) -> Path:
    if isinstance(source, str) and not any(sep in source for sep in (os.sep, os.altsep or os.sep)):
        if source not in BUILTIN_PROTOCOLS:
            known = ", ".join(BUILTIN_PROTOCOLS)
            hint = did_you_mean(source, BUILTIN_PROTOCOLS)
            msg = f"there is no protocol {source!r}{hint}; there are {known}, or give a folder"
            raise ConfigurationError(msg)
        return _FOLDER / source
    path = Path(source)
    return path.parent if path.name == PROTOCOL_FILE else path
