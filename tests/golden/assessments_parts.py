"""What is kept of an assessment where the whole of it would say the same again and again."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.golden.answer import Json

_OWN: Final = Path(__file__).with_name("assessments_transcripts.toml")


def own_transcripts() -> dict[str, str]:
    """Return the invented interviews, by group and name."""
    groups = tomllib.loads(_OWN.read_text(encoding="utf-8"))
    return {
        f"{group}/{name}": text for group, found in groups.items() for name, text in found.items()
    }


def told(result: Mapping[str, Any]) -> dict[str, Json]:
    """Return what a result says of the interview: signs of danger, scores and their evidence."""
    quantitative = result["quantitative"] or {}
    return {
        "status": result["status"],
        "mode": result["mode"],
        "transcript": result["transcript"],
        "speakers_assumed": result["speakers_assumed"],
        "risk": result["risk"]["level"],
        "signals": [_signal(one) for one in result["risk"]["signals"]],
        "examined": result["risk"]["examined"],
        "total": [quantitative.get(key) for key in ("total_score_min", "total_score_max")],
        "items": {key: _item(one) for key, one in (quantitative.get("items") or {}).items()},
        "severity": (result["meta_review"] or {}).get("severity_label"),
    }


def accounted(result: Mapping[str, Any]) -> dict[str, Json]:
    """Return how a result came about: every call of a model, what was refused, how it was judged.

    What the rule baseline says is left out: it says the same whatever the others do.
    """
    evaluation = result["evaluation"] or {}
    findings = result["qualitative"] or {}
    answered_by = {agent: "+".join(one["answered_by"]) for agent, one in result["models"].items()}
    parts: dict[str, dict[str, Json]] = {
        "qualitative": {
            "findings": {key: one for key, one in findings.items() if key != "supporting_quotes"},
            "quotes": [_quote(one) for one in findings.get("supporting_quotes") or ()],
        },
        "judge": {
            "rounds": [_round(one["scores"]) for one in evaluation.get("rounds") or ()],
            "kept_round": evaluation.get("iteration"),
        },
        "meta_review": {"meta_review": result["meta_review"]},
    }
    attempts = in_agent_order(result)["attempts"]
    return {
        "attempts": [_attempt(one) for one in attempts if one["model"] != _BASELINE],
        "failures": [_failure(one) for one in result["failures"]],
        "grounding": _pairs(result["grounding"] or {}),
        "danger_model": _pairs(result["risk"]["model"]),
        "answered_by": _pairs(answered_by),
        **{
            key: one
            for agent, part in parts.items()
            for key, one in part.items()
            if answered_by[agent] != _BASELINE
        },
    }


_BASELINE: Final = "baseline"


def in_agent_order(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result with its calls ordered by agent: several are under way at a time."""
    return {**result, "attempts": sorted(result["attempts"], key=lambda one: str(one["agent"]))}


def lean(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result without what it says of every interview, and without what it says twice."""
    kept = {key: one for key, one in result.items() if key not in _OF_EVERY_INTERVIEW}
    if quantitative := result["quantitative"]:
        items = {
            key: item if _is_spoken_of(item) else item["unknown_reason"]
            for key, item in quantitative["items"].items()
        }
        kept["quantitative"] = {**quantitative, "items": items}
    if evaluation := result["evaluation"]:
        kept["evaluation"] = {**evaluation, "rounds": len(evaluation["rounds"])}
    return kept


_OF_EVERY_INTERVIEW: Final = ("notice", "models", "prompts", "attempts")


def _is_spoken_of(item: Mapping[str, Any]) -> bool:
    told_by = ("evidence", "unverified_quotes", "unread_answer", "warnings")
    return item["score"] is not None or any(item[key] for key in told_by)


def _attempt(attempt: Mapping[str, Any]) -> str:
    """Write a call without blanks, and without what most calls have in common."""
    keys = ("agent", "model", "path", "outcome", "code")
    optional = ("http_status", "repaired", "coercions")
    return "|".join(
        [
            *(str(attempt[key] or "") for key in keys),
            *(f"{key}={attempt[key]}" for key in optional if attempt[key]),
            f"characters={attempt['reply_characters']}",
            f"tokens={attempt['input_tokens']}>{attempt['output_tokens']}",
        ]
    )


def _failure(failure: Mapping[str, Any]) -> list[Json]:
    keys = ("stage", "category", "severity", "code")
    line = "|".join(str(failure[key] or "") for key in keys)
    return [line, failure["message"], *([failure["context"]] if failure["context"] else [])]


def _pairs(table: Mapping[str, Any]) -> str:
    """Write the plain fields of a table without blanks."""
    return "|".join(f"{key}={one}" for key, one in table.items() if not isinstance(one, dict))


def _round(scores: Mapping[str, Any]) -> str:
    """Write the scores of one round, and what of them could not be read."""
    return "|".join(
        "+".join([f"{metric}={one['score']}", *one["warnings"]]) for metric, one in scores.items()
    )


def _signal(signal: Mapping[str, Any]) -> str:
    keys = ("group", "kind", "polarity", "level", "source", "turn", "start", "end")
    return "|".join(str(signal[key]) for key in keys)


def _item(item: Mapping[str, Any]) -> list[Json]:
    """Write an item in lines: its score and what it was made of, its quotes, and the rest."""
    score = item["score"] if item["score"] is not None else item["unknown_reason"]
    keys = ("proposed_score", "frequency", "confidence")
    line = "|".join([str(score), *(f"{key}={item[key]}" for key in keys)])
    if not _is_spoken_of(item):
        return [line, item["reason"]]
    lists = {
        "warnings": item["warnings"],
        "unverified": [one["reason"] for one in item["unverified_quotes"]],
        "references": [one["score"] for one in item["references"]],
    }
    optional = ("not_examined_cause", "unread_answer", "no_references", "drive")
    return [
        line,
        *(_quote(one) for one in item["evidence"]),
        *(f"{key}={'+'.join(map(str, one))}" for key, one in lists.items() if one),
        *({key: item[key]} for key in optional if item[key]),
        item["reason"],
    ]


def _quote(quote: Mapping[str, Any]) -> str:
    """Write where a quote stands and how it reads, without blanks."""
    if "segments" not in quote or not quote["segments"]:
        return str(quote.get("reason") or quote.get("match") or "nowhere")
    places = "+".join(f"{at['turn']}:{at['start']}-{at['end']}" for at in quote["segments"])
    keys = ("match", "polarity", "frequency", "timeframe", "relevance")
    return "|".join([places, *(str(quote[key]) for key in keys if key in quote)])
