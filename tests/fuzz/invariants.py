"""What holds after every assessment, whatever the models replied."""

import io
import json
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rich.console import Console

from ai_psychiatrist.cli.report import print_report
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from tests.fuzz.hostile import CANARY
from tests.fuzz.transcripts import Interview
from tests.integration.soundness import (
    Json,
    assert_account_is_whole,
    assert_grounded,
    assert_scores_stand_on_evidence,
)

_STATUSES = {200, 502, 504}
_GRACE_SECONDS = 10.0
_PIECE_CHARACTERS = 24
_PARTS = ("quantitative", "qualitative", "evaluation", "meta_review")


class InvariantBroken(AssertionError):
    """Something that always holds does not."""

    def __init__(self, seed: int, invariant: str, detail: str) -> None:
        super().__init__(seed, invariant, detail)
        self.seed = seed
        self.invariant = invariant
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One assessment from outside."""

    interview: Interview
    status: int
    result: str | None
    """The result as JSON; none where only a problem is to be had."""
    problem: str | None
    report: Assessment | None
    """What a terminal would show."""
    replies: list[str]
    calls: int
    max_calls: int
    log: str
    seconds: float
    deadline_seconds: float


def check(seed: int, observed: Observed) -> Json:
    """Check everything and return the result, or the problem where there is none.

    Raises `InvariantBroken` with the name of the first invariant that does not hold.
    """
    for invariant in _INVARIANTS:
        try:
            invariant(observed)
        except (AssertionError, ValueError, KeyError, TypeError) as error:
            name = invariant.__name__.strip("_")
            raise InvariantBroken(seed, name, f"{type(error).__name__}: {error}") from error
    return strict_json(observed.result or observed.problem or "null")


def strict_json(text: str) -> Json:
    """Read JSON as the standard has it, without NaN and Infinity."""
    value: Json = json.loads(text, parse_constant=_refuse)
    return value


def _refuse(constant: str) -> None:
    msg = f"{constant} is no JSON"
    raise ValueError(msg)


def _status_is_one_of_three(observed: Observed) -> None:
    assert observed.status in _STATUSES, observed.status


def _json_is_strict(observed: Observed) -> None:
    for text in (observed.result, observed.problem):
        if text is not None:
            strict_json(text)
            text.encode("utf-8")


def _deadline_is_kept(observed: Observed) -> None:
    assert observed.seconds <= observed.deadline_seconds + _GRACE_SECONDS, observed.seconds


def _calls_are_bounded(observed: Observed) -> None:
    assert observed.calls <= observed.max_calls, (observed.calls, observed.max_calls)


def _every_call_is_an_attempt(observed: Observed) -> None:
    for result in _results(observed):
        assert len(result["attempts"]) == observed.calls, (len(result["attempts"]), observed.calls)
        for attempt in result["attempts"]:
            assert (attempt["outcome"] == "accepted") == (attempt["code"] is None)
            for tokens in (attempt["input_tokens"], attempt["output_tokens"]):
                assert tokens is None or 0 <= tokens < 2**53, tokens
    if observed.problem is not None:
        assert sum(strict_json(observed.problem)["attempts"].values()) <= observed.calls


def _nothing_is_an_internal_error(observed: Observed) -> None:
    for text in (observed.result, observed.problem):
        if text is not None:
            codes = [failure["code"] for failure in strict_json(text)["failures"]]
            assert "internal_error" not in codes, observed.log[-2_000:]
    for event in ("part_failed", "request_failed"):
        at = observed.log.find(event)
        assert at < 0, observed.log[max(0, at - 400) : at + 400]


def _quotes_are_the_participants(observed: Observed) -> None:
    for result in _results(observed):
        assert_grounded(result, observed.interview.text)


def _scores_stand_on_evidence(observed: Observed) -> None:
    for result in _results(observed):
        assert_scores_stand_on_evidence(result)
        scores = result.get("quantitative", result) or {}
        for item in (scores.get("items") or {}).values():
            told = {(quote["polarity"], quote["timeframe"]) for quote in item["evidence"]}
            of_now = {polarity for polarity, time in told if time != "past"}
            if item["score"] == 0:
                assert "denied" in of_now, item["score"]
            elif item["score"] is not None:
                # What has another reading, too, is no veto over a model.
                is_open = any(not quote["is_plain"] for quote in item["evidence"])
                assert is_open or of_now & {"affirmed", "unclear"}, item["score"]


def _account_is_whole(observed: Observed) -> None:
    for result in _results(observed):
        if result["status"] == "failed":
            assert all(result.get(part) is None for part in _PARTS)
            assert result["failures"]
        elif "evaluation" in result:
            assert_account_is_whole(result)
        else:
            counts = result["grounding"] or {"rejected_count": 0, "validated_count": 0}
            is_lost = counts["rejected_count"] > 0 and counts["validated_count"] == 0
            is_whole = result.get("accepted", True) and not is_lost
            assert result["status"] == ("complete" if is_whole else "partial")


def _danger_stays_high(observed: Observed) -> None:
    turns = parse_transcript(observed.interview.text).turns
    for text in (observed.result, observed.problem):
        if text is None:
            continue
        risk = strict_json(text)["risk"]
        if observed.interview.is_alarming:
            assert risk["level"] == "high", risk["level"]
        for signal in risk["signals"]:
            turn = turns[signal["turn"]]
            assert turn.speaker is not Speaker.INTERVIEWER
            assert turn.words_start <= signal["start"] < signal["end"] <= turn.end


def _report_acts_on_no_terminal(observed: Observed) -> None:
    if observed.report is None:
        return
    shown = io.StringIO()
    console = Console(file=shown, width=100, markup=False, highlight=False, emoji=False)
    print_report(observed.report, console)
    unsafe = {one for one in set(shown.getvalue()) - {"\n"} if unicodedata.category(one)[0] == "C"}
    assert not unsafe, sorted(map(ord, unsafe))


def _log_and_problem_repeat_nothing(observed: Observed) -> None:
    for text in (observed.log, observed.problem or ""):
        assert CANARY not in text.casefold(), text[-2_000:]
        for piece in _pieces(observed.replies):
            assert piece not in text, piece


def _pieces(replies: list[str]) -> Iterator[str]:
    """Cut stretches out of replies that are long enough to be told from our own words."""
    for reply in replies:
        for start in (0, len(reply) // 2, len(reply) - _PIECE_CHARACTERS):
            piece = reply[max(0, start) :][:_PIECE_CHARACTERS]
            if len(piece) == _PIECE_CHARACTERS and len(set(piece)) > 1:
                yield piece


def _results(observed: Observed) -> Iterator[Json]:
    if observed.result is not None:
        yield strict_json(observed.result)


_INVARIANTS: tuple[Callable[[Observed], None], ...] = (
    _status_is_one_of_three,
    _json_is_strict,
    _nothing_is_an_internal_error,
    _deadline_is_kept,
    _calls_are_bounded,
    _every_call_is_an_attempt,
    _quotes_are_the_participants,
    _scores_stand_on_evidence,
    _account_is_whole,
    _danger_stays_high,
    _report_acts_on_no_terminal,
    _log_and_problem_repeat_nothing,
)
