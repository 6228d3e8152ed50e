"""Replies that were labelled before the reader was run on them: none is read as something else.

`sealed_replies.jsonl` stays as it was written; the labels that turned out to be wrong stand in
`sealed_replies_corrections.jsonl` with the reason.
"""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ai_psychiatrist.agents.extractors import (
    extract_evidence,
    extract_judge_metric,
    extract_meta_review,
    extract_quantitative,
)
from ai_psychiatrist.llm.replies import ReplyRejected

FOLDER = Path(__file__).parents[1] / "data"
WHOLE, READ = 305, 288


def _lines(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


CORRECTED = {line["id"]: line for line in _lines("sealed_replies_corrections.jsonl")}
REPLIES = [line | CORRECTED.get(line["id"], {}) for line in _lines("sealed_replies.jsonl")]


def _scores(reply: str) -> object:
    items = extract_quantitative(reply).items
    return {key: [item.score, list(item.evidence)] for key, item in items.items()}


READERS: dict[object, Callable[[str], object]] = {
    "evidence": lambda reply: extract_evidence(reply).quotes,
    "scoring": _scores,
    "judge": lambda reply: extract_judge_metric(reply).score,
    "meta": lambda reply: extract_meta_review(reply).severity,
}


def _outcome(line: dict[str, object]) -> str:
    try:
        value = READERS[line["format"]](str(line["reply"]))
    except ReplyRejected:
        return "refused"
    others = line.get("also", [])
    assert isinstance(others, list)
    allowed = [] if line["expect"] == "refused" else [line["value"], *others]
    return "right" if value in allowed else "wrong"


@pytest.mark.parametrize("form", READERS)
def test_a_sealed_reply_is_read_right_or_refused(form: str) -> None:
    replies = [line for line in REPLIES if line["format"] == form]
    assert replies
    wrong = [line["id"] for line in replies if _outcome(line) == "wrong"]
    assert not wrong, "\n".join(map(str, wrong))


def test_as_many_sealed_replies_are_read_as_before() -> None:
    outcomes = Counter(_outcome(line) for line in REPLIES if line["expect"] == "value")
    assert outcomes.total() == WHOLE
    assert outcomes["right"] >= READ
