"""What a look at one model found, as findings with their cures."""

from collections.abc import Iterator, Mapping
from typing import Final

from ai_psychiatrist.cli.checkup import CheckLevel, CheckResult
from ai_psychiatrist.config import Settings
from ai_psychiatrist.llm.doctor import (
    SCHEMA_FIELDS,
    THINKING_FIELDS,
    Check,
    CheckOutcome,
    ModelProbe,
)
from ai_psychiatrist.llm.providers import OPENAI_CHAT, provider_of

_NOT_TRIED: Final = "not tried"
_NO_SCHEMA_CURE: Final = (
    "Set MODEL_OUTPUT_MODE=text, and for interviews INTERVIEW_OUTPUT_MODE to tool or text."
)
_PERMANENT: Final = {
    "temperature": "an empty MODEL_TEMPERATURE",
    **dict.fromkeys(THINKING_FIELDS, "an empty MODEL_THINKING"),
    **dict.fromkeys(SCHEMA_FIELDS, "MODEL_OUTPUT_MODE=text"),
}
"""Parameter → the setting with which it is never sent."""


def model_findings(probe: ModelProbe, settings: Settings) -> Iterator[CheckResult]:
    """Yield one finding for each step of the look, in their order."""
    if probe.address is None:
        words = "runs in this process and sends nothing to anybody"
        yield CheckResult(check="server", level=CheckLevel.OK, words=words, model=probe.model)
        return
    yield _finding(probe, "server", probe.reachable, f"answers at {probe.address}")
    yield _finding(probe, "key", probe.key_accepted, _key_words(probe, settings))
    yield _finding(probe, "model", probe.model_present, "is there")
    yield _finding(
        probe,
        "first reply",
        probe.first_reply,
        _speed_words(probe),
        {"seconds": probe.reply_seconds, "tokens_per_second": probe.tokens_per_second},
    )
    schema_words = _schema_words(probe, settings)
    yield _extra(probe, "JSON schema", probe.json_schema, schema_words, _NO_SCHEMA_CURE)
    yield _extra(probe, "log-probabilities", probe.log_probabilities, "are told", None)
    yield from _oddities(probe, settings.model.thinking_of(probe.model))


def _oddities(probe: ModelProbe, thinking: str | None) -> Iterator[CheckResult]:
    """Yield what a server does otherwise than others, where it does; all of it is borne."""
    if probe.first_reply.is_ok and (thinking or probe.thinks):
        yield _thinking(probe, thinking)
    if probe.left_out:
        settings = {_PERMANENT[name]: None for name in probe.left_out if name in _PERMANENT}
        yield CheckResult(
            check="parameters",
            level=CheckLevel.WARN if settings else CheckLevel.OK,
            words=f"refused, and left out from then on: {', '.join(probe.left_out)}",
            cure=f"To send none from the start: {', '.join(settings)}." if settings else None,
            model=probe.model,
            facts={"left_out": list(probe.left_out)},
        )
    if probe.odd_fields:
        count, names = len(probe.odd_fields), ", ".join(probe.odd_fields)
        field, whose = ("field is", "it is") if count == 1 else ("fields are", "they are")
        words = f"{count} {field} missing or odd: {names}; {whose} bookkeeping"
        yield CheckResult(
            check="envelope",
            level=CheckLevel.OK,
            words=words,
            model=probe.model,
            facts={"odd_fields": list(probe.odd_fields)},
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
    facts = {"set": thinking, "thinks": probe.thinks}
    return CheckResult(
        check="thinking", level=level, words=words, cure=cure, model=probe.model, facts=facts
    )


def _finding(
    probe: ModelProbe,
    check: str,
    step: Check,
    words: str,
    facts: Mapping[str, object] | None = None,
) -> CheckResult:
    if step.outcome is CheckOutcome.FAILED:
        return CheckResult(
            check=check,
            level=CheckLevel.FAIL,
            words=f"{probe.address}: {_reason(step)}",
            cure=step.cure,
            model=probe.model,
            facts=_failure_facts(step),
        )
    is_tried = step.outcome is CheckOutcome.OK
    return CheckResult(
        check=check,
        level=CheckLevel.OK if is_tried else CheckLevel.SKIP,
        words=words if is_tried else _NOT_TRIED,
        model=probe.model,
        facts=(facts or {}) if is_tried else {},
    )


def _extra(probe: ModelProbe, check: str, step: Check, words: str, cure: str | None) -> CheckResult:
    """Return the finding of what an assessment does without: at worst a warning."""
    if step.outcome is not CheckOutcome.FAILED:
        return _finding(probe, check, step, words)
    return CheckResult(
        check=check,
        level=CheckLevel.OK if cure is None else CheckLevel.WARN,
        words=f"not offered ({_reason(step)}){'; nothing needs it yet' if cure is None else ''}",
        cure=cure,
        model=probe.model,
        facts=_failure_facts(step),
    )


def _reason(step: Check) -> str:
    status = "" if step.http_status is None else f", HTTP {step.http_status}"
    return f"{'failed' if step.code is None else step.code.value}{status}"


def _failure_facts(step: Check) -> Mapping[str, object]:
    code = None if step.code is None else step.code.value
    return {"code": code, "http_status": step.http_status}


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


def _schema_words(probe: ModelProbe, settings: Settings) -> str:
    if settings.model.output_mode == "auto" and provider_of(probe.model) is OPENAI_CHAT:
        return "is kept to; MODEL_OUTPUT_MODE=native has every agent's reply held to its own"
    return "is kept to"


def _speed_words(probe: ModelProbe) -> str:
    if probe.reply_seconds is None:
        return "came"
    speed = probe.tokens_per_second
    told = "" if speed is None else f", {speed:.1f} tokens a second with the wait"
    return f"after {probe.reply_seconds:.1f} s{told}"
