"""What to do about a failed model call, in a sentence that names the variable or the command."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.failures import (
    AttemptOutcome,
    FailureCategory,
    FailureCode,
    RejectionCode,
)
from ai_psychiatrist.llm.endpoints import NO_ROOM
from ai_psychiatrist.llm.providers import OLLAMA, OPENAI_CHAT, Provider, provider_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why calls to one model failed, and what to do about it."""

    model: str
    code: FailureCode
    http_status: int | None
    cure: str
    address: str | None = None
    """URL that was tried, without name and password; `None` for a model of this process."""


_ANY_MODEL: Final = {
    FailureCode.RATE_LIMITED: (
        "{server} takes no more calls now, or the account's quota is spent: wait, lower "
        "MODEL_MAX_CONCURRENCY, or look at the account."
    ),
    FailureCode.BACKEND_ERROR: "{server} failed on its side; its log says why.",
    FailureCode.BROKEN_OFF: (
        "{server} broke its response off, and waiting did not help: look at its log, and at what "
        "is between it and this program."
    ),
    FailureCode.MODEL_TOO_LARGE: (
        "{server} has not enough memory for {model!r}: choose a smaller model or a more strongly "
        "quantised one, or free memory there."
    ),
    FailureCode.REQUEST_REFUSED: "{server} does not serve such a request; its log says why.",
    FailureCode.MALFORMED_RESPONSE: (
        "{server} does not answer as {provider} does; check {url_variable}."
    ),
    FailureCode.CONTENT_FILTERED: (
        "The filter of {server} withheld the reply; name another model in MODEL_FALLBACKS."
    ),
    FailureCode.CONTEXT_TRUNCATED: (
        "The prompt is longer than the window of {model!r}: have {server} serve it with a larger "
        "one, or choose another model."
    ),
    FailureCode.CONNECTION_FAILED: "Nothing answers at {server}: start it, or set {url_variable}.",
    FailureCode.TIMED_OUT: (
        "{server} did not answer in time: raise PYDANTIC_AI_TIMEOUT_SECONDS, or choose a faster "
        "model."
    ),
    FailureCode.NOT_AUTHORISED: "{server} does not accept the key: set {key_variable}.",
    FailureCode.MODEL_NOT_FOUND: (
        "{server} has no model {model!r}: check the name, and {url_variable}."
    ),
    FailureCode.OUTPUT_REJECTED: (
        "No reply of {model!r} was acceptable: choose a larger model, or name one in "
        "MODEL_FALLBACKS; where replies were cut off (truncated), raise MODEL_MAX_OUTPUT_TOKENS."
    ),
    FailureCode.UNGROUNDED_EVIDENCE: (
        "None of the quotes that {model!r} gave as evidence is in the participant's words, and "
        "QUANTITATIVE_EVIDENCE_QUOTE_FAIL_ON_ALL_REJECTED=true then fails the scores: choose a "
        "larger model, or set it to false, which leaves the items unknown."
    ),
    FailureCode.CALL_BUDGET_SPENT: "The calls of the assessment are spent: raise MODEL_MAX_CALLS.",
    FailureCode.DEADLINE_EXCEEDED: (
        "The time of the request was over: raise API_REQUEST_TIMEOUT_SECONDS, or choose a faster "
        "model."
    ),
}
_ONE_PROVIDER: Final = {
    (OLLAMA.name, FailureCode.MODEL_NOT_FOUND): "On {server}, run: ollama pull {model}",
    (OLLAMA.name, FailureCode.NOT_AUTHORISED): (
        "{server} requires credentials, and Ollama has no key: ask its operator."
    ),
    (OLLAMA.name, FailureCode.CONNECTION_FAILED): (
        "Nothing answers at {server}: run: ollama serve, or set OLLAMA_HOST."
    ),
    (OLLAMA.name, FailureCode.CONTEXT_TRUNCATED): (
        "The prompt is longer than the window of {model!r}: raise OLLAMA_NUM_CTX."
    ),
    (OPENAI_CHAT.name, FailureCode.MODEL_NOT_FOUND): (
        "{server} has no model {model!r}: check the name, and OPENAI_BASE_URL, which mostly ends "
        "in /v1."
    ),
}
_NO_ROOM: Final = (
    "{server} has no room now, or is still starting: wait, raise MODEL_BUSY_WAITS_SECONDS, or "
    "lower MODEL_MAX_CONCURRENCY."
)
_ALL_THINKING: Final = (
    "{tokens} of a reply of {model!r} went into thinking, and none into an answer: {what}."
)
_LESS_THINKING: Final = (
    "set MODEL_THINKING to off or low, or raise MODEL_MAX_OUTPUT_TOKENS; ai-psychiatrist doctor "
    "tries which of them helps"
)
_WITHOUT_HINT: Final = "The log says more; ai-psychiatrist doctor looks for the cause."


def hint(
    code: FailureCode, *, model: str, address: str | None = None, http_status: int | None = None
) -> str:
    """Return what to do when calls to a model end with a code.

    `model`: as in the settings; `address`: the URL that was tried, of which no password is shown;
    `http_status`: what the backend answered with.
    """
    of_provider = _ONE_PROVIDER.get((model.partition(":")[0], code))
    sentence = of_provider or _ANY_MODEL.get(code, _WITHOUT_HINT)
    if code is FailureCode.BACKEND_ERROR and http_status in NO_ROOM:
        sentence = _NO_ROOM
    return _filled(sentence, model, address)


def thinking_hint(model: str, tokens: int | None, what: str = _LESS_THINKING) -> str:
    """Return what to do when a model thinks, and gives no answer; `tokens`: of its reply."""
    told = f"All {tokens:,} tokens" if tokens else "All"
    return _filled(_ALL_THINKING, model, None, tokens=told, what=what)


def _filled(sentence: str, model: str, address: str | None, **more: str) -> str:
    provider = provider_of(model) or Provider(name=model, url_variable="MODEL_DEFAULT")
    return sentence.format(
        model=model.partition(":")[2] or model,
        server=f"the server of {provider.name}" if address is None else shown_address(address),
        provider=provider.name,
        url_variable=provider.url_variable,
        key_variable=provider.key_variable,
        **more,
    )


def reasons_of(assessment: Assessment, addresses: Mapping[str, str | None]) -> tuple[Reason, ...]:
    """Return each reason of what is missing once, in order; `addresses`: by the model's name."""
    thinking = _thinking(assessment)
    reasons = []
    for model, code, status in dict.fromkeys(_decisive(assessment)):
        address = addresses.get(model)
        reason = reason_of(code, model=model, http_status=status, address=address)
        if code is FailureCode.OUTPUT_REJECTED and model in thinking:
            reason = replace(reason, cure=thinking_hint(model, thinking[model]))
        reasons.append(reason)
    return tuple(reasons)


def _thinking(assessment: Assessment) -> dict[str, int | None]:
    """Return model → most tokens of a reply, where a failed agent got thinking alone."""
    failed = {failure.stage for failure in assessment.failures}
    found: dict[str, int | None] = {}
    for attempt in assessment.attempts:
        if attempt.agent in failed and attempt.code is RejectionCode.ONLY_THINKING:
            tokens = max(found.get(attempt.model) or 0, attempt.output_tokens or 0)
            found[attempt.model] = tokens or None
    return found


def _decisive(assessment: Assessment) -> Iterator[tuple[str, FailureCode, int | None]]:
    """Yield the calls that failed; the rejected ones of an agent that failed count as such.

    A model whose evidence had the scores fail comes after them: its replies were accepted.
    """
    failed = {failure.stage for failure in assessment.failures}
    for attempt in assessment.attempts:
        if attempt.outcome is AttemptOutcome.REJECTED and attempt.agent in failed:
            yield attempt.model, FailureCode.OUTPUT_REJECTED, None
        elif isinstance(attempt.code, FailureCode):
            yield attempt.model, attempt.code, attempt.http_status
    for failure in assessment.failures:
        is_skipped = failure.category is FailureCategory.STAGE_SKIPPED
        if is_skipped and failure.code is FailureCode.UNGROUNDED_EVIDENCE:
            yield str(failure.context["model"]), failure.code, None


def reason_of(
    code: FailureCode, *, model: str, http_status: int | None, address: str | None
) -> Reason:
    """Return one reason with its hint."""
    return Reason(
        model=model,
        code=code,
        http_status=http_status,
        cure=hint(code, model=model, address=address, http_status=http_status),
        address=None if address is None else shown_address(address),
    )


def shown_address(url: str) -> str:
    """Return a URL without what may hold credentials: name, password, query and fragment."""
    parts = urlsplit(url)
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
    return urlunsplit(bare)
