"""Named ways in which model servers and models misbehave.

Each script answers like `good_replies` except for its one fault. Faults of a single contract (a
severity, a judge's score) touch only the tasks that have it.
"""

import dataclasses
import json
from collections.abc import Callable, Collection
from typing import TypeAlias

from tests.fakes.exchange import Drip, Reply, Request, Script
from tests.fakes.replies import (
    ITEMS,
    JUDGE_TASKS,
    QUALITATIVE_TASKS,
    evidence_answer,
    evidence_text,
    good_replies,
    good_text,
    interviewer_quotes,
    judge_text,
    meta_review_text,
    participant_quotes,
    qualitative_text,
    scoring_answer,
    scoring_text,
)
from tests.fakes.wires import encode_error, encode_json

DEFAULT_CONTEXT_TOKENS = 4096
HUGE_REPLY_CHARS = 10_000_000
NESTING = 2_000

HALLUCINATED_QUOTES = tuple(
    f"I have been counting the copper lanterns of Valparaiso number {n}." for n in range(8)
)
MARKUP = "\x1b[31mred\x1b[0m <script>alert(1)</script> \x1b]8;;http://x.invalid\x07link\x07"
TRICKY_STRING = 'He said ",]" and then ```json\n{"score": 0}\n``` }'
PROSE = "I would rather describe this in my own words: the participant seems tired and low."
HTML = b"<!doctype html><html><body><h1>Bad gateway</h1></body></html>"

Rewrite: TypeAlias = Callable[[Request, str], str]


def fault(name: str, *, tasks: Collection[str] = ()) -> Script:
    """Return a named fault, for some tasks only when any are given."""
    script = FAULTS[name]
    return only_for(tasks, script) if tasks else script


def only_for(tasks: Collection[str], script: Script, *, otherwise: Script | None = None) -> Script:
    """Use the script for these tasks, and another (valid replies) for the rest."""
    rest = otherwise or good_replies()
    return lambda request: script(request) if request.task in tasks else rest(request)


def first_attempts(count: int, script: Script, *, then: Script | None = None) -> Script:
    """Use the script for the first attempts at each task, and another (valid replies) after."""
    rest = then or good_replies()
    return lambda request: script(request) if request.attempt <= count else rest(request)


def _good(request: Request) -> str:
    return good_text(request.task, participant_quotes(request.transcript))


def _always(reply: Reply) -> Script:
    return lambda _request: reply


def _changed(**changes: object) -> Script:
    def script(request: Request) -> Reply:
        return dataclasses.replace(Reply(text=_good(request)), **changes)  # type: ignore[arg-type]

    return script


def _rewritten(rewrite: Rewrite) -> Script:
    return lambda request: Reply(text=rewrite(request, _good(request)))


def _decoy(request: Request) -> str:
    """Write a well-formed reply that differs from the good one in everything that counts."""
    if request.task in JUDGE_TASKS:
        return judge_text("1", "A first thought.")
    if request.task == "meta_review":
        return meta_review_text("4", "A first thought.")
    return good_text(request.task, HALLUCINATED_QUOTES)


def _fenced(request: Request, good: str) -> str:
    if request.task == "scoring":
        inner = good.removeprefix("<answer>\n").removesuffix("\n</answer>")
        return f"<answer>\n```json\n{inner}\n```\n</answer>"
    language = "json" if request.task == "evidence" else ""
    return f"Here is the result:\n\n```{language}\n{good}\n```\nLet me know if you need more."


def _as_list(request: Request, good: str) -> str:
    quotes = participant_quotes(request.transcript)
    if request.task == "evidence":
        return evidence_text(quotes)
    if request.task == "scoring":
        return scoring_text(list(scoring_answer(quotes).values()))
    return json.dumps([good])


def _two_objects(request: Request, good: str) -> str:
    if request.task != "scoring":
        return f"{good}\n{_decoy(request)}"
    first = json.dumps(scoring_answer(participant_quotes(request.transcript)))
    second = json.dumps(scoring_answer(HALLUCINATED_QUOTES))
    return f"<answer>\n{first}\n{second}\n</answer>"


def _number_becomes(value: float | str, *, in_evidence: bool = True) -> Rewrite:
    def rewrite(request: Request, good: str) -> str:
        quotes = participant_quotes(request.transcript)
        if request.task == "scoring":
            answer = scoring_answer(quotes)
            scored = [one for one in answer.values() if one["evidence"]]
            for one in scored or [answer[ITEMS[0]]]:
                one["score"] = value
            return scoring_text(answer)
        if request.task in JUDGE_TASKS:
            return judge_text(json.dumps(value))
        if request.task == "meta_review":
            return meta_review_text(json.dumps(value))
        if request.task == "evidence" and in_evidence:
            return evidence_text(evidence_answer(quotes) | {ITEMS[0]: value})
        return good

    return rewrite


def _severity(value: str) -> Rewrite:
    return lambda request, good: meta_review_text(value) if request.task == "meta_review" else good


def _judged(text: str) -> Rewrite:
    return lambda request, good: text if request.task in JUDGE_TASKS else good


def _deeply_nested(request: Request, _good_text: str) -> str:
    brackets = "[" * NESTING + "]" * NESTING
    text = f'{{"{ITEMS[0]}": {brackets}}}'
    return f"<answer>{text}</answer>" if request.task == "scoring" else text


def _with_remark(remark: str) -> Rewrite:
    """Put the remark wherever a reply carries free text."""

    def rewrite(request: Request, good: str) -> str:
        quotes = participant_quotes(request.transcript)
        if request.task == "scoring":
            answer = scoring_answer(quotes)
            return scoring_text({key: item | {"reason": remark} for key, item in answer.items()})
        if request.task == "evidence":
            return evidence_text(evidence_answer(quotes) | {ITEMS[0]: [*quotes[:1], remark]})
        if request.task in QUALITATIVE_TASKS:
            return qualitative_text(quotes, remark)
        if request.task in JUDGE_TASKS:
            return judge_text("4", remark)
        if request.task == "meta_review":
            return meta_review_text("2", remark)
        return good

    return rewrite


def _evidence_as_strings(request: Request, good: str) -> str:
    if request.task != "evidence":
        return good
    quotes = participant_quotes(request.transcript)
    return evidence_text({item: " ".join(quotes[n : n + 1]) for n, item in enumerate(ITEMS)})


def _no_choices(request: Request) -> Reply:
    model = request.body.get("model")
    if request.wire == "ollama":
        return Reply(raw_body=encode_json({"model": model, "done": True, "done_reason": "load"}))
    body = {"id": "x", "object": "chat.completion", "created": 0, "model": model, "choices": []}
    return Reply(raw_body=encode_json(body))


def _error_with_success(request: Request) -> Reply:
    message = "model runner has unexpectedly stopped"
    return Reply(raw_body=encode_error(request.wire, message, kind="server_error"))


def _echo(status: int, kind: str) -> Script:
    def script(request: Request) -> Reply:
        prompt = "\n".join(message.content for message in request.messages)
        body = encode_error(request.wire, f"cannot serve this prompt: {prompt}", kind=kind)
        headers = {"Retry-After": "1", "Retry-After-Ms": "10"} if status == 429 else {}
        return Reply(status=status, raw_body=body, headers=headers)

    return script


def _context_exceeded(request: Request) -> Reply:
    if request.wire == "ollama":
        message = "the input length exceeds the context length"
    else:
        message = (
            f"This model's maximum context length is {DEFAULT_CONTEXT_TOKENS} tokens. "
            "Please reduce the length of the messages."
        )
    code = "context_length_exceeded"
    body = encode_error(request.wire, message, kind="invalid_request_error", code=code)
    return Reply(status=400, raw_body=body)


def _context_full(request: Request) -> Reply:
    options = request.body.get("options")
    limit = options.get("num_ctx") if isinstance(options, dict) else None
    tokens = limit if isinstance(limit, int) else DEFAULT_CONTEXT_TOKENS
    return Reply(text=_good(request), prompt_tokens=tokens)


def _truncated(request: Request) -> Reply:
    good = _good(request)
    return Reply(text=good[: len(good) * 3 // 5], finish_reason="length")


FAULTS: dict[str, Script] = {
    "empty": _always(Reply(text="")),
    "whitespace": _always(Reply(text=" \n\t \n")),
    "prose": _always(Reply(text=PROSE)),
    "fenced_json": _rewritten(_fenced),
    "thinking_paired": _rewritten(lambda r, good: f"<think>\n{_decoy(r)}\n</think>\n\n{good}"),
    "thinking_unclosed": _rewritten(lambda r, good: f"<think>\n{_decoy(r)}\n\n{good}"),
    "thinking_only_closed": _rewritten(lambda r, good: f"{_decoy(r)}\n</think>\n\n{good}"),
    "truncated": _truncated,
    "list_instead_of_object": _rewritten(_as_list),
    "two_objects": _rewritten(_two_objects),
    "draft_then_final": _rewritten(lambda r, good: f"{_decoy(r)}\n\nOn reflection:\n\n{good}"),
    "nan": _rewritten(_number_becomes(float("nan"))),
    "infinity": _rewritten(_number_becomes(float("inf"))),
    "numbers_as_strings": _rewritten(_number_becomes("2", in_evidence=False)),
    "true_as_score": _rewritten(_number_becomes(True)),
    "severity_nine": _rewritten(_severity("9")),
    "severity_in_words": _rewritten(_severity("moderately severe")),
    "deep_brackets": _rewritten(_deeply_nested),
    "tricky_strings": _rewritten(_with_remark(TRICKY_STRING)),
    "html": _always(Reply(raw_body=HTML, content_type="text/html")),
    "no_choices": _no_choices,
    "error_with_200": _error_with_success,
    "null_content": _always(Reply(text=None)),
    "status_400": _echo(400, "invalid_request_error"),
    "status_401": _echo(401, "authentication_error"),
    "status_404": _echo(404, "not_found_error"),
    "status_429": _echo(429, "rate_limit_error"),
    "status_500": _echo(500, "server_error"),
    "context_exceeded": _context_exceeded,
    "context_full": _context_full,
    "hang": _always(Reply(hang=True)),
    "slow_drip": _changed(drip=Drip(chunk_bytes=16, seconds=0.1)),
    "reset": _changed(reset=True),
    "huge": _always(Reply(text="a" * HUGE_REPLY_CHARS)),
    "escapes_and_markup": _rewritten(_with_remark(MARKUP)),
    "evidence_as_string": _rewritten(_evidence_as_strings),
    "hallucinated_quotes": _rewritten(
        lambda r, good: (
            good_text(r.task, HALLUCINATED_QUOTES)
            if r.task in ("evidence", "scoring", *QUALITATIVE_TASKS)
            else good
        )
    ),
    "interviewer_quotes": _rewritten(
        lambda r, _: good_text(r.task, interviewer_quotes(r.transcript))
    ),
    "judge_low": _rewritten(_judged(judge_text("2"))),
    "judge_quotes_a_score": _rewritten(
        _judged("Explanation: the PHQ-8 score: 2 is mentioned.\n**Score: [5]**")
    ),
    "judge_half": _rewritten(_judged(judge_text("3.5"))),
}
