"""Load protocols that come with the package, and those of a folder."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.interview.protocol.checks import check_protocol
from ai_psychiatrist.interview.protocol.guidelines import read_guidelines
from ai_psychiatrist.interview.protocol.records import AgentVerb, InterviewProtocol
from ai_psychiatrist.validation.config.document import (
    Document,
    TooManyProblems,
    read_document,
    validate_model,
)
from ai_psychiatrist.validation.config.problem import LintProblem, unusable_file
from ai_psychiatrist.validation.nearest import did_you_mean

PROTOCOL_FILE: Final = "protocol.yaml"
BUILTIN_PROTOCOLS: Final = ("phq8", "incident")
_FOLDER: Final = Path(__file__).parent.parent / "protocols"


def load_protocol(name_or_folder: str | Path) -> InterviewProtocol:
    """Load a protocol by the name of a built-in one, or from its folder or protocol file.

    A text without a path separator is a name. Raises `ConfigurationError` with the file and line
    of the first errors that the lint finds. Warnings are not shown.
    """
    folder = _folder(name_or_folder)
    document, protocol = _read(folder)
    if protocol is not None:
        return protocol
    file = f"{folder.name}/{PROTOCOL_FILE}" if folder.name else PROTOCOL_FILE
    raise ConfigurationError(unusable_file("protocol", file, document.problems))


def lint_protocol(folder: Path) -> list[LintProblem]:
    """Return everything that is wrong with a protocol, by line, found in one pass.

    `folder`: the folder, or the protocol file in it; lines are those of the protocol file.
    """
    document, _ = _read(_folder(folder))
    return document.problems


def is_protocol(path: Path) -> bool:
    """Whether a path is a protocol's folder or its file, and no pipeline file."""
    return path.name == PROTOCOL_FILE or (path.is_dir() and (path / PROTOCOL_FILE).is_file())


def _read(folder: Path) -> tuple[Document, InterviewProtocol | None]:
    """Read a protocol and the files that it names; there is none where a problem is an error."""
    document = read_document(folder / PROTOCOL_FILE, what=PROTOCOL_FILE)
    if not document.is_readable:
        return document, None
    try:
        check_protocol(document)
        guidelines = read_guidelines(document, folder)
        protocol = validate_model(document, InterviewProtocol)
    except TooManyProblems:
        return document, None
    if protocol is None or document.has_errors:
        return document, None
    return document, protocol.complete(_digest(document.content, guidelines), guidelines)


def _digest(content: bytes, guidelines: Mapping[AgentVerb, str]) -> str:
    beside = hashlib.sha256()
    for verb, text in guidelines.items():
        lines = text.replace("\r\n", "\n")
        beside.update(f"{verb.value}\0{len(lines)}\0{lines}".encode())
    return hashlib.sha256(hashlib.sha256(content).digest() + beside.digest()).hexdigest()


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
