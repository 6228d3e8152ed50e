"""What holds for every result, whatever the model replied."""

from collections.abc import Iterator
from typing import Any

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from tests.fakes.replies import ITEMS

Json = dict[str, Any]


def reported_quotes(result: Json) -> Iterator[Json]:
    """Yield every quote that a result reports as the participant's words."""
    scores = result.get("quantitative", result) or {}
    for item in (scores.get("items") or {}).values():
        yield from item["evidence"]
    rounds = (result.get("evaluation") or {}).get("rounds", [])
    for findings in [result.get("qualitative", result), *(one["qualitative"] for one in rounds)]:
        quotes = (findings or {}).get("supporting_quotes") or []
        yield from (quote for quote in quotes if quote["verified"])


def assert_grounded(result: Json, transcript_text: str) -> None:
    """Check that each reported quote is cut out of the participant's turns, and nothing else."""
    turns = parse_transcript(transcript_text).turns
    for signal in result["risk"]["signals"]:
        assert transcript_text[signal["start"] : signal["end"]] == signal["text"]
        assert turns[signal["turn"]].speaker is not Speaker.INTERVIEWER
    for quote in reported_quotes(result):
        assert quote["segments"]
        cuts = [transcript_text[part["start"] : part["end"]] for part in quote["segments"]]
        assert " ".join(cuts) == quote["text"]
        for part in quote["segments"]:
            turn = turns[part["turn"]]
            assert turn.speaker is Speaker.PARTICIPANT
            assert turn.words_start <= part["start"] < part["end"] <= turn.end


def assert_scores_stand_on_evidence(result: Json) -> None:
    """Check that no score goes without the words that it needs, and totals are what items say."""
    scores = result.get("quantitative", result) or {}
    items = scores.get("items")
    if items is None:
        return
    assert tuple(items) == ITEMS
    for item in items.values():
        assert (item["score"] is None) != (item["unknown_reason"] is None)
        polarities = {quote["polarity"] for quote in item["evidence"]}
        if item["score"] == 0:
            assert "denied" in polarities
        elif item["score"] is not None:
            assert item["score"] in (1, 2, 3)
            # A denial that has another reading, too, is no veto over a model.
            is_open = any(not quote["is_plain"] for quote in item["evidence"])
            assert is_open or polarities - {"denied"}
    known = sum(item["score"] or 0 for item in items.values())
    unknown = sum(item["score"] is None for item in items.values())
    assert scores["total_score"] == (None if unknown else known)
    assert scores["total_score_min"] == known
    assert scores["total_score_max"] == known + 3 * unknown
    assert scores["na_count"] == unknown


def assert_account_is_whole(result: Json) -> None:
    """Check that every attempt says how it ended, and every missing part is listed as failed."""
    for attempt in result["attempts"]:
        assert (attempt["outcome"] == "accepted") == (attempt["code"] is None)
    parts = ("quantitative", "qualitative", "evaluation", "meta_review")
    missing = [part for part in parts if result[part] is None]
    if result["quantitative"] is not None and not result["quantitative"]["accepted"]:
        missing.append("quantitative")
    # What could be read of a meta-review stands, and is no whole one without its severity.
    if "severity_not_read" in (result["meta_review"] or {}).get("warnings", ()):
        missing.append("meta_review")
    evaluation = result["evaluation"] or {}
    metrics = ("coherence", "completeness", "specificity", "accuracy")
    if any(evaluation.get(metric) is None for metric in metrics):
        missing.append("judge")
    grounding = result["grounding"] or {"rejected_count": 0, "validated_count": 0}
    if grounding["rejected_count"] and not grounding["validated_count"]:
        missing.append("evidence")
        codes = {failure["code"] for failure in result["failures"]}
        assert "ungrounded_evidence" in codes
    missing += [
        failure["stage"]
        for failure in result["failures"]
        if "part" in failure["context"]
        and (failure["severity"], failure["stage"])
        in {("error", "evidence"), ("error", "qualitative")}
    ]
    assert result["status"] == ("partial" if missing else "complete")
    if missing:
        assert result["failures"]


def assert_sound(result: Json, transcript_text: str) -> None:
    """Check everything that a full result promises."""
    assert_grounded(result, transcript_text)
    assert_scores_stand_on_evidence(result)
    assert_account_is_whole(result)
