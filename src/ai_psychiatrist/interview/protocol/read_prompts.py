"""Read the guidelines of a protocol's agents."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from ai_psychiatrist.interview.protocol.fields import required
from ai_psychiatrist.interview.protocol.placeholders import check_no_places
from ai_psychiatrist.interview.protocol.records import AgentVerb, FixedGoals, GeneratedGoals
from ai_psychiatrist.validation.config.given_file import FileUnusable, decoded, read_bounded
from ai_psychiatrist.validation.config.lint.node import Node

FOLDER: Final = "prompts"
_LONGEST: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """Guidelines by agent, and the digest of their files."""

    texts: dict[AgentVerb, str] = field(repr=False)
    digest: bytes


def needed_prompts(
    goals: FixedGoals | GeneratedGoals | None, *, extracts_facts: bool, looks_for_drift: bool
) -> tuple[AgentVerb, ...]:
    """Return the agents that an interview led by a model asks."""
    left_out: set[AgentVerb] = set()
    if isinstance(goals, FixedGoals):
        left_out.add(AgentVerb.GENERATE_GOALS)
    if not extracts_facts:
        left_out.add(AgentVerb.EXTRACT_FACTS)
    if not looks_for_drift:
        left_out.add(AgentVerb.DETECT_DRIFT)
    return tuple(verb for verb in AgentVerb if verb not in left_out)


def read_prompts(root: Node, folder: Path, needed: tuple[AgentVerb, ...]) -> Prompts:
    """Read the guidelines that the protocol names; those that nothing uses are reported."""
    node = required(root, "prompts") if needed else root.child("prompts")
    named = {} if node is None else node.entries(of="files of guidelines")
    if node is not None:
        node.refuse_unknown_keys([verb.value for verb in AgentVerb])
    texts: dict[AgentVerb, str] = {}
    digest = hashlib.sha256()
    for verb in AgentVerb:
        entry = named.get(verb.value)
        if entry is None:
            if verb in needed and node is not None:
                node.error("missing_prompt", f"there are no guidelines for {verb.value!r}")
            continue
        if verb not in needed:
            entry.error("unused_prompt", f"this protocol never asks {verb.value!r}")
        text = _read(entry, folder)
        if text is not None:
            texts[verb] = text
            digest.update(f"{verb.value}\0{len(text)}\0{text}".encode())
    _check_folder(root, folder, {str(entry.value) for entry in named.values()})
    return Prompts(texts=texts, digest=digest.digest())


def _read(node: Node, folder: Path) -> str | None:
    name = node.text()
    if name is None:
        return None
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts or parts.suffix != ".md":
        node.error("prompt_file", "guidelines are a Markdown file inside the protocol's folder")
        return None
    try:
        text = decoded(read_bounded(folder / parts)).strip()
    except FileUnusable as error:
        node.error("prompt_file", f"the file {name!r} cannot be used: {error}")
        return None
    if not text or len(text) > _LONGEST:
        what = "holds no text" if not text else f"is longer than {_LONGEST} characters"
        node.error("prompt_file", f"the file {name!r} {what}")
        return None
    check_no_places(node, text, what="a text of guidelines")
    return text


def _check_folder(root: Node, folder: Path, named: set[str]) -> None:
    """Warn of guidelines that the protocol does not name: often it misspells them."""
    there = folder / FOLDER
    files = sorted(there.glob("*.md")) if there.is_dir() else []
    for file in files:
        if f"{FOLDER}/{file.name}" not in named:
            root.warn("unused_file", f"nothing names the file '{FOLDER}/{file.name}'")
