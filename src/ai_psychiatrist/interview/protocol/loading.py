"""Load protocols that come with the package, and those of a folder, with their guidelines."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.interview.protocol.checks import check_protocol
from ai_psychiatrist.interview.protocol.placeholders import check_no_places
from ai_psychiatrist.interview.protocol.records import (
    AgentVerb,
    DriftPolicy,
    InterviewProtocol,
    ProtocolKind,
)
from ai_psychiatrist.validation.config.document import (
    Document,
    FileUnusable,
    TooManyProblems,
    decoded,
    read_bounded,
    read_document,
    validate_model,
)
from ai_psychiatrist.validation.config.problem import LintProblem, unusable_file
from ai_psychiatrist.validation.nearest import did_you_mean

PROTOCOL_FILE: Final = "protocol.yaml"
BUILTIN_PROTOCOLS: Final = ("phq8", "incident")
_FOLDER: Final = Path(__file__).parent.parent / "protocols"
_PROMPTS: Final = "prompts"
_LONGEST: Final = 20_000


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


def load_protocols(folders: tuple[Path, ...]) -> dict[str, InterviewProtocol]:
    """Return the built-in protocols and those of the folders, by their ids.

    Raises `ConfigurationError` for one that cannot be used or whose id is taken.
    """
    loaded = {name: load_protocol(name) for name in BUILTIN_PROTOCOLS}
    for folder in folders:
        try:
            protocol = load_protocol(folder)
        except ConfigurationError as error:
            msg = f"INTERVIEW_PROTOCOLS: {error}"
            raise ConfigurationError(msg) from None
        if protocol.id in loaded:
            msg = f"INTERVIEW_PROTOCOLS: two protocols have the id {protocol.id!r}; rename one"
            raise ConfigurationError(msg)
        loaded[protocol.id] = protocol
    return loaded


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
        guidelines = _guidelines(document, folder)
        protocol = validate_model(document, InterviewProtocol)
    except TooManyProblems:
        return document, None
    if protocol is None or document.has_errors:
        return document, None
    return document, protocol.complete(_digest(document.content, guidelines), guidelines)


def _guidelines(document: Document, folder: Path) -> dict[AgentVerb, str]:
    """Read the files that a protocol file names; report what is missing and what nothing uses."""
    file = document.value
    if not isinstance(file, dict) or file.get("kind") not in list(ProtocolKind):
        return {}
    given = file.get("prompts", {})
    named = given if isinstance(given, dict) else {}
    needed = _needed(file) if file["kind"] == ProtocolKind.GOALS else set()
    guidelines: dict[AgentVerb, str] = {}
    for verb in AgentVerb:
        if verb in named and verb not in needed:
            message = f"this protocol never asks {verb.value!r}"
            document.error(("prompts", verb.value), "unused_prompt", message)
        if verb not in named and verb in needed and "prompts" in file:
            message = f"there are no guidelines for {verb.value!r}"
            document.error(("prompts",), "missing_prompt", message)
        text = _guideline(document, verb, named.get(verb), folder)
        if text is not None:
            guidelines[verb] = text
    there = folder / _PROMPTS
    for path in sorted(there.glob("*.md")) if there.is_dir() else []:
        if f"{_PROMPTS}/{path.name}" not in named.values():
            # Often the protocol misspells them.
            document.warn((), "unused_file", f"nothing names the file '{_PROMPTS}/{path.name}'")
    return guidelines


def _needed(file: Mapping[str, object]) -> set[AgentVerb]:
    """Return the agents that an interview led by a model asks."""
    needed, goals = set(AgentVerb), file.get("goals")
    if isinstance(goals, dict) and "fixed" in goals:
        needed.remove(AgentVerb.GENERATE_GOALS)
    if file.get("facts") is False:
        needed.remove(AgentVerb.EXTRACT_FACTS)
    if file.get("drift") == DriftPolicy.NEVER:
        needed.remove(AgentVerb.DETECT_DRIFT)
    return needed


def _guideline(document: Document, verb: AgentVerb, name: object, folder: Path) -> str | None:
    if not isinstance(name, str) or not name.strip():
        return None
    location, path = ("prompts", verb.value), PurePosixPath(name.strip())
    if path.is_absolute() or ".." in path.parts or path.suffix != ".md":
        message = "guidelines are a Markdown file inside the protocol's folder"
        document.error(location, "prompt_file", message)
        return None
    try:
        text = decoded(read_bounded(folder / path)).strip()
    except FileUnusable as error:
        document.error(location, "prompt_file", f"the file {name!r} cannot be used: {error}")
        return None
    if not text or len(text) > _LONGEST:
        what = "holds no text" if not text else f"is longer than {_LONGEST} characters"
        document.error(location, "prompt_file", f"the file {name!r} {what}")
        return None
    check_no_places(document, location, text, what="a text of guidelines")
    return text


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
