"""Valid replies for every task, with quotes that are really in the transcript."""

import json
import re
from collections.abc import Sequence

from tests.fakes.exchange import Reply, Request, Script

ITEMS = (
    "PHQ8_NoInterest",
    "PHQ8_Depressed",
    "PHQ8_Sleep",
    "PHQ8_Tired",
    "PHQ8_Appetite",
    "PHQ8_Failure",
    "PHQ8_Concentrating",
    "PHQ8_Moving",
)
JUDGE_TASKS = ("judge_coherence", "judge_completeness", "judge_specificity", "judge_accuracy")
QUALITATIVE_TASKS = ("qualitative", "qualitative_refine")
TASKS = (*QUALITATIVE_TASKS, "evidence", "scoring", *JUDGE_TASKS, "meta_review", "danger")

TOKENS = {"1": 0.6, "2": 0.2, " 2": 0.05, "N": 0.1, "I": 0.05}
"""How likely each first token of a belief is."""

SHORTEST_QUOTE_CHARS = 12

_PARTICIPANT_LINE = re.compile(
    r"^[ \t]*(?:Participant|Patient|P)[ \t]*:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE
)
_INTERVIEWER_LINE = re.compile(
    r"^[ \t]*(?:Ellie|Interviewer|Therapist|I)[ \t]*:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE
)
_SENTENCE = re.compile(r"[^.?!]+[.?!]?")

ItemAnswer = dict[str, object]


def good_replies(quotes: int = 8) -> Script:
    """Answer each task as its contract says, with at most `quotes` participant sentences."""

    def reply(request: Request) -> Reply:
        text = good_text(request.task, participant_quotes(request.transcript, quotes))
        return Reply(text=text, tokens=TOKENS if request.task == "belief_tokens" else None)

    return reply


def good_text(task: str, quotes: Sequence[str]) -> str:
    """Write the valid reply for a task from the given quotes."""
    if task == "evidence":
        return evidence_text(evidence_answer(quotes))
    if task == "scoring":
        return scoring_text(scoring_answer(quotes))
    if task in QUALITATIVE_TASKS:
        return qualitative_text(quotes)
    if task in JUDGE_TASKS:
        return judge_text("4")
    if task == "belief_tokens":
        return "1"
    others = {
        "judges": judges_text(),
        "meta_review": meta_review_text("2"),
        "danger": danger_text(),
    }
    return others.get(task, "Understood.")


def participant_quotes(transcript: str, limit: int = 8) -> list[str]:
    """Take the first long enough sentence of each participant line, until there are `limit`."""
    return _first_sentences(_PARTICIPANT_LINE, transcript, limit)


def interviewer_quotes(transcript: str, limit: int = 8) -> list[str]:
    """Take the first long enough sentence of each interviewer line, until there are `limit`."""
    return _first_sentences(_INTERVIEWER_LINE, transcript, limit)


def evidence_answer(quotes: Sequence[str]) -> dict[str, object]:
    """Give each item at most one quote: the one that names it, or else one that names none."""
    placed: dict[str, object] = {}
    for quote in sorted(quotes, key=lambda quote: _named(quote) is None):
        item = _named(quote) or next((item for item in ITEMS if item not in placed), None)
        if item is not None:
            placed.setdefault(item, [quote])
    return {item: placed.get(item, []) for item in ITEMS}


def scoring_answer(quotes: Sequence[str]) -> dict[str, ItemAnswer]:
    """Score the items that have a quote 1 and leave the others as N/A.

    Some quotes are denials, and a higher score on one would be sent back to the model.
    """
    return {
        item: {
            "evidence": evidence,
            "reason": "The participant says so." if evidence else "Not mentioned.",
            "score": 1 if evidence else "N/A",
            "confidence": 4 if evidence else 1,
        }
        for item, evidence in evidence_answer(quotes).items()
    }


_NAMED_BY = {
    "PHQ8_Depressed": ("hopeless", "sad ", "felt down", "feel down", "really down"),
    "PHQ8_Sleep": ("sleep", "wake", "awake"),
    "PHQ8_Tired": ("tired", "exhausted", "energy"),
    "PHQ8_Appetite": ("appetite", " eat "),
    "PHQ8_Failure": ("failure",),
}


def _named(quote: str) -> str | None:
    folded = quote.casefold()
    return next((item for item, words in _NAMED_BY.items() if any(map(folded.count, words))), None)


def evidence_text(answer: object) -> str:
    """Write an evidence reply."""
    return json.dumps(answer, ensure_ascii=False)


def scoring_text(answer: object) -> str:
    """Write a scoring reply."""
    return f"<answer>\n{json.dumps(answer, ensure_ascii=False)}\n</answer>"


def qualitative_text(quotes: Sequence[str], remark: str = "The participant is tired.") -> str:
    """Write a qualitative reply whose sections all carry the remark."""
    listed = "\n".join(f"- {quote}" for quote in quotes)
    return (
        f"<assessment>\n{remark}\n</assessment>\n"
        f"<PHQ8_symptoms>\n{remark}\n</PHQ8_symptoms>\n"
        f"<social_factors>\n{remark}\n</social_factors>\n"
        f"<biological_factors>\n{remark}\n</biological_factors>\n"
        f"<risk_factors>\n{remark}\n</risk_factors>\n"
        f"<exact_quotes>\n{listed}\n</exact_quotes>"
    )


def judge_text(score: str, explanation: str = "The parts follow from one another.") -> str:
    """Write a judge's reply."""
    return f"Explanation: {explanation}\nScore: {score}"


def judges_text(**scores: str) -> str:
    """Write a judge's reply about all metrics, 4 where no score is given; none leaves one out."""
    given = dict.fromkeys((task.removeprefix("judge_") for task in JUDGE_TASKS), "4") | scores
    return "\n".join(
        f"<{metric}>\n{judge_text(score)}\n</{metric}>" for metric, score in given.items() if score
    )


def meta_review_text(severity: str, explanation: str = "Several symptoms are present.") -> str:
    """Write a meta-review reply."""
    return f"<severity>{severity}</severity>\n<explanation>{explanation}</explanation>"


def danger_text(*quotes: str, **sign: str) -> str:
    """Write a danger agent's reply: a sign of high danger for each quote, none without any."""
    plain = {"kind": "intent", "polarity": "affirmed", "level": "high"} | sign
    return json.dumps({"signs": [{"quote": quote, **plain} for quote in quotes]})


def _first_sentences(line: re.Pattern[str], transcript: str, limit: int) -> list[str]:
    found: list[str] = []
    for match in line.finditer(transcript):
        if len(found) == limit:
            break
        sentence = _first_sentence(match[1])
        if sentence and sentence not in found:
            found.append(sentence)
    return found


def _first_sentence(words: str) -> str | None:
    sentences = (sentence.strip() for sentence in _SENTENCE.findall(words))
    return next((s for s in sentences if len(s) >= SHORTEST_QUOTE_CHARS), None)
