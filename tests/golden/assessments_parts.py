"""What is kept of an assessment where the whole of it would say the same again and again."""

import tomllib
from collections.abc import Mapping, Sequence
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
    """Return how a result came about: every call, what was refused, how it was judged."""
    evaluation = result["evaluation"] or {}
    findings = result["qualitative"] or {}
    return {
        "attempts": _attempts(result["attempts"]),
        "failures": result["failures"],
        "grounding": result["grounding"],
        "danger_model": result["risk"]["model"],
        "findings": {key: one for key, one in findings.items() if key != "supporting_quotes"},
        "quotes": [_quote(one) for one in findings.get("supporting_quotes") or ()],
        "rounds": [
            {metric: _metric(one) for metric, one in round_["scores"].items()}
            for round_ in evaluation.get("rounds") or ()
        ],
        "kept_round": evaluation.get("iteration"),
        "meta_review": result["meta_review"],
        "answered_by": {agent: one["answered_by"] for agent, one in result["models"].items()},
    }


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


def _attempts(attempts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write one line a call, without blanks, in the order of agents and of the calls of each."""
    return [
        "|".join(
            (
                one["agent"],
                one["model"],
                one["path"],
                one["outcome"],
                str(one["code"] or one["http_status"] or ""),
                f"http={one['http_status']}",
                f"characters={one['reply_characters']}",
                f"repaired={one['repaired']}",
                f"coercions={one['coercions']}",
                f"tokens={one['input_tokens']}>{one['output_tokens']}",
            )
        )
        for one in sorted(attempts, key=lambda one: str(one["agent"]))
    ]


def _signal(signal: Mapping[str, Any]) -> str:
    keys = ("group", "kind", "polarity", "level", "source", "turn", "start", "end")
    return "|".join(str(signal[key]) for key in keys)


def _item(item: Mapping[str, Any]) -> Json:
    if not _is_spoken_of(item):
        return [item["unknown_reason"], item["proposed_score"], item["reason"]]
    optional = ("not_examined_cause", "unread_answer", "no_references", "drive")
    return {
        "score": item["score"] if item["score"] is not None else item["unknown_reason"],
        "proposed": item["proposed_score"],
        "frequency": item["frequency"],
        "confidence": item["confidence"],
        "evidence": [_quote(one) for one in item["evidence"]],
        "unverified": [one["reason"] for one in item["unverified_quotes"]],
        "reason": item["reason"],
        "warnings": item["warnings"],
        **{key: item[key] for key in optional if item[key]},
        **({"references": len(item["references"])} if item["references"] else {}),
    }


def _quote(quote: Mapping[str, Any]) -> str:
    """Write where a quote stands and how it reads, without blanks."""
    if "segments" not in quote or not quote["segments"]:
        return str(quote.get("reason") or quote.get("match") or "nowhere")
    places = "+".join(f"{at['turn']}:{at['start']}-{at['end']}" for at in quote["segments"])
    keys = ("match", "polarity", "frequency", "timeframe", "relevance")
    return "|".join([places, *(str(quote[key]) for key in keys if key in quote)])


def _metric(metric: Mapping[str, Any]) -> str:
    return "|".join([str(metric["score"]), *metric["warnings"]])
