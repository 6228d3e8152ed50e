"""Find the sections of a pipeline file, and read the two that only hold settings."""

import math
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.nearest import did_you_mean, nearest
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

DEFAULT_DEADLINE_SECONDS: Final = 600.0

_REQUIRED: Final = ("pipeline", "prompts", "schemas", "api", "processing")
_OPTIONAL: Final = ("validation", "post_process", "name", "description", "version")
_API_KEYS: Final = frozenset(
    {
        "retry",
        "subprocess_timeout_seconds",
        "poll_interval_seconds",
        "realtime",
        "provider",
        "model",
        "temperature",
        "max_tokens",
    }
)
_RETRY_KEYS: Final = frozenset(
    {"max_attempts", "initial_delay_seconds", "backoff_multiplier", "max_delay_seconds"}
)
_PROCESSING_KEYS: Final = frozenset(
    {"strategy", "chunk_size", "repeat", "items", "positions", "validation_retry", "inputs"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sections:
    """The sections of a file; `None` for one that is missing and was reported, or is optional."""

    pipeline: Node | None
    prompts: Node | None
    schemas: Node | None
    api: Node | None
    processing: Node | None
    validation: Node | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What the sections of settings say about running a step."""

    retry: RetryLimits
    deadline_seconds: float


def find_sections(root: Node) -> Sections:
    """Find every section; a misspelt one is reported once and read as what it was meant to be."""
    if not isinstance(root.value, dict):
        root.error("wrong_shape", "the file has to be a mapping of sections")
        return Sections(
            pipeline=None, prompts=None, schemas=None, api=None, processing=None, validation=None
        )
    found = _by_name(root)
    for name in _REQUIRED:
        if name not in found:
            root.error("missing_section", f"the section {name!r} is missing")
        elif found[name].value is None:
            found[name].error(
                "empty_section",
                f"the section {name!r} is empty; write {{}} if nothing is to be set",
            )
    return Sections(
        pipeline=_mapping(found, "pipeline"),
        prompts=_mapping(found, "prompts"),
        schemas=_mapping(found, "schemas"),
        api=_mapping(found, "api"),
        processing=_mapping(found, "processing"),
        validation=_mapping(found, "validation"),
    )


def _by_name(root: Node) -> dict[str, Node]:
    known = (*_REQUIRED, *_OPTIONAL)
    entries = root.entries(of="sections")
    found = {name: node for name, node in entries.items() if name in known}
    for name, node in entries.items():
        meant = nearest(name, set(known) - set(entries))
        if name in known:
            continue
        if meant is None:
            node.warn("unknown_section", f"the section {name!r} is not read")
        else:
            node.error("unknown_section", f"{name!r} is no section; did you mean {meant!r}?")
            found[meant] = node
    return found


def _mapping(found: dict[str, Node], name: str) -> Node | None:
    node = found.get(name)
    if node is None or node.value is None:
        return None
    node.entries(of="settings")
    return node if isinstance(node.value, dict) else None


def entries_under(section: Node | None, key: str) -> dict[str, Node]:
    """Return the entries of a mapping inside a section; none where it is missing."""
    child = None if section is None else section.child(key)
    return {} if child is None else child.entries(of="steps")


def read_folder(section: Node | None, key: str, *, default: str) -> str:
    """Return the name of the folder that a section keeps its files in."""
    child = None if section is None else section.child(key)
    return default if child is None else child.text() or default


def read_check_formats(section: Node | None) -> bool:
    """Return whether `format` in schemas is to be asserted."""
    child = None if section is None else section.child("check_formats")
    if child is None:
        return True
    if not isinstance(child.value, bool):
        child.error("wrong_shape", "schemas.check_formats is true or false")
    return child.value is not False


def read_settings(sections: Sections) -> RunSettings:
    """Read limits and deadline from the sections of settings."""
    default = RetryLimits()
    _check_keys(sections)
    return RunSettings(
        retry=RetryLimits(
            provider_attempts=_attempts(sections.api, "retry") or default.provider_attempts,
            validation_attempts=_attempts(sections.processing, "validation_retry")
            or default.validation_attempts,
        ),
        deadline_seconds=_deadline(sections.api),
    )


def _check_keys(sections: Sections) -> None:
    expected = (
        (sections.prompts, {"template_dir", "templates"}),
        (sections.schemas, {"schema_dir", "files", "check_formats"}),
        (sections.api, _API_KEYS),
        (sections.processing, _PROCESSING_KEYS),
    )
    for section, known in expected:
        if section is not None:
            section.suspect_unknown_keys(known)


def _attempts(section: Node | None, key: str) -> int | None:
    retry = None if section is None else section.child(key)
    if retry is None:
        return None
    retry.entries(of="settings")
    retry.suspect_unknown_keys(_RETRY_KEYS)
    limit = retry.child("max_attempts")
    return None if limit is None else limit.whole_number()


def _deadline(api: Node | None) -> float:
    child = None if api is None else api.child("subprocess_timeout_seconds")
    if child is None:
        return DEFAULT_DEADLINE_SECONDS
    seconds = child.number()
    if seconds is None:
        return DEFAULT_DEADLINE_SECONDS
    if seconds <= 0 or not math.isfinite(seconds):
        child.error("deadline", "the deadline has to be longer than 0 seconds")
        return DEFAULT_DEADLINE_SECONDS
    return float(seconds)


def report_orphans(entries: dict[str, Node], *, steps: list[str], lacking: list[str]) -> None:
    """Report entries for steps that the pipeline does not have.

    `lacking`: steps without such an entry; a single one is most likely meant.
    """
    for name, node in entries.items():
        if name in steps:
            continue
        meant = did_you_mean(name, lacking) or did_you_mean(name, steps)
        if not meant and len(lacking) == 1:
            meant = f"; did you mean {lacking[0]!r}, which has none?"
        known = f"; steps: {', '.join(steps)}" if steps else ""
        node.error("orphan", f"the pipeline has no step {name!r}{meant or known}")
