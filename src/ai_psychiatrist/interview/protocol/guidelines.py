"""Read the guidelines of a protocol's agents, which lie beside its file."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from ai_psychiatrist.interview.protocol.placeholders import check_no_places
from ai_psychiatrist.interview.protocol.records import AgentVerb, DriftPolicy, ProtocolKind
from ai_psychiatrist.validation.config.document import Document, FileUnusable, decoded, read_bounded

_FOLDER: Final = "prompts"
_LONGEST: Final = 20_000


def read_guidelines(document: Document, folder: Path) -> dict[AgentVerb, str]:
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
        text = _read(document, verb, named.get(verb), folder)
        if text is not None:
            guidelines[verb] = text
    there = folder / _FOLDER
    for path in sorted(there.glob("*.md")) if there.is_dir() else []:
        if f"{_FOLDER}/{path.name}" not in named.values():
            # Often the protocol misspells them.
            document.warn((), "unused_file", f"nothing names the file '{_FOLDER}/{path.name}'")
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


def _read(document: Document, verb: AgentVerb, name: object, folder: Path) -> str | None:
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
