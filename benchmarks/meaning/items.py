"""How often the rule baseline's proposals for the items are what a person labelled."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from ai_psychiatrist.agents.baseline.scoring import scored_items
from ai_psychiatrist.agents.baseline.signals import Analysis, Signal, analyse
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from benchmarks.meaning.agreement import kappa_row, share_of
from benchmarks.meaning.sets import Record, transcript_of

PRESENT: Final = "present"
DENIED: Final = "denied"
CONTRADICTORY: Final = "contradictory"
NOT_SPOKEN_OF: Final = "not spoken of"
UNKNOWN: Final = "unknown"
_OTHER_STATUSES: Final = ("past", "other_person", "hypothetical", "other_sense", "unclear")
_LEAST_CONFIDENCES: Final = (1, 2, 3, 4)
COLUMNS: Final = (
    "of 1–3, right | of zeros, right | of present, scored 1–3 | of denied, zero |\n"
    "| --- | ---: | ---: | ---: | ---: |"
)

Means = Literal["stated", "inferred", "answer", "none"]
"""How the quotes of a proposal carry it: in words, by a doing, by the question, not at all."""
_MEANS: Final[tuple[Means, ...]] = ("stated", "inferred", "answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What a person took an item for; a score, 0–3, where the words give one."""

    status: str
    score: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An item of a statement or a conversation: labels and what is proposed."""

    item: Item
    gold: Label
    second: Label | None
    score: int | None
    confidence: int
    means: Means

    @property
    def is_symptom(self) -> bool:
        """Whether 1, 2 or 3 is proposed."""
        return bool(self.score)

    @property
    def is_zero(self) -> bool:
        """Whether 0 is proposed."""
        return self.score == 0


def findings(records: Iterable[Record]) -> list[Finding]:
    """Propose scores for every item of every record, as a run of the baseline does."""
    return [found for record in records for found in _findings(record)]


def _findings(record: Record) -> Iterator[Finding]:
    analysis = analyse(parse_transcript(transcript_of(record)))
    proposed = scored_items(analysis, {item.value: analysis.quotes(item) for item in Item})
    gold, second = gold_of(record), record.get("second")
    for item in Item:
        proposal = proposed[item.value]
        assert isinstance(proposal, dict)
        yield Finding(
            item=item,
            gold=gold[item],
            second=_labels(second["items"])[item] if second else None,
            score=proposal["score"] if isinstance(proposal["score"], int) else None,
            confidence=proposal["confidence"] or 0,
            means=_means(analysis, item, proposal["evidence"]),
        )


def gold_of(record: Record) -> Mapping[Item, Label]:
    """Return the first labels of all items."""
    if "items" in record:
        return _labels(record["items"])
    return {item: _said_of(item, record["labels"]) for item in Item}


def _labels(items: Mapping[str, Any]) -> Mapping[Item, Label]:
    unknown = {"status": UNKNOWN, "score": None}
    told = {item: items.get(item, unknown) for item in Item}
    return {item: Label(status=one["status"], score=one.get("score")) for item, one in told.items()}


def _said_of(item: Item, labels: Iterable[Record]) -> Label:
    """Return what all labels of a statement say of one item."""
    own = [label for label in labels if label["item"] == item]
    statuses = {label["status"] for label in own}
    if {PRESENT, DENIED} <= statuses:
        return Label(status=CONTRADICTORY, score=None)
    order = (PRESENT, DENIED, *_OTHER_STATUSES)
    status = next((one for one in order if one in statuses), NOT_SPOKEN_OF)
    scores = {label["score"] for label in own if label["status"] == status} - {None}
    return Label(status=status, score=scores.pop() if len(scores) == 1 else None)


def _means(analysis: Analysis, item: Item, evidence: Sequence[str]) -> Means:
    signals = [one for one in analysis.of_item(item) if one.quote.text in evidence]
    return min(map(_means_of, signals), key=_MEANS.index, default="none")


def _means_of(signal: Signal) -> Means:
    if signal.is_answer:
        return "answer"
    return "stated" if signal.is_stated else "inferred"


def agreed(found: Iterable[Finding]) -> list[Finding]:
    """Keep the items to which both people gave one status, and the scores they share."""
    return [
        one
        if one.gold == one.second
        else replace(one, gold=Label(status=one.gold.status, score=None))
        for one in found
        if one.second is not None and one.gold.status == one.second.status
    ]


def agreement_rows(found: Sequence[Finding]) -> Iterator[str]:
    """Yield lines on how far first and second labels agree."""
    both = [(one.gold, one.second) for one in found if one.second is not None]
    yield kappa_row("items: status", [(one.status, other.status) for one, other in both])
    yield kappa_row(
        "items: score, where both give one",
        [
            (one.score, other.score)
            for one, other in both
            if one.score is not None and other.score is not None
        ],
    )


def tables(found: Sequence[Finding]) -> Iterator[str]:
    """Yield the lines of all tables of one set."""
    yield f"| item | {COLUMNS}"
    for item in Item:
        yield row(item.label, [one for one in found if one.item is item])
    yield row("all", found)
    yield ""
    yield "| score, where both give one | exact |\n| --- | ---: |"
    scored = [one for one in found if one.gold.score is not None and one.score is not None]
    yield f"| labelled 0–3 | {share_of(scored, _is_exact)} |"
    symptoms = [one for one in scored if one.gold.score and one.score]
    yield f"| labelled 1–3, proposed 1–3 | {share_of(symptoms, _is_exact)} |"
    yield ""
    yield from _proposals_by_status(found)
    yield ""
    yield f"| proposals alone | {COLUMNS}"
    for least in _LEAST_CONFIDENCES:
        yield row(f"confidence ≥ {least}", only(found, [f.confidence >= least for f in found]))
    for means in _MEANS:
        yield row(means, only(found, [one.means == means for one in found]))


def only(found: Sequence[Finding], is_kept: Sequence[bool]) -> list[Finding]:
    """Take back all proposals but those that are kept; the labels stay."""
    return [
        one if kept else replace(one, score=None) for one, kept in zip(found, is_kept, strict=True)
    ]


def _is_exact(one: Finding) -> bool:
    return one.score == one.gold.score


def row(name: str, of: Sequence[Finding]) -> str:
    """Write a line of the table of findings: how many are right, and how much is found."""
    symptoms = [one for one in of if one.is_symptom]
    zeros = [one for one in of if one.is_zero]
    present = [one for one in of if one.gold.status == PRESENT]
    denied = [one for one in of if one.gold.status == DENIED]
    cells = (
        share_of(symptoms, lambda one: one.gold.status == PRESENT),
        share_of(zeros, lambda one: one.gold.status == DENIED),
        share_of(present, lambda one: one.is_symptom),
        share_of(denied, lambda one: one.is_zero),
    )
    return f"| {name} | {' | '.join(map(str, cells))} |"


def _proposals_by_status(found: Sequence[Finding]) -> Iterator[str]:
    yield "| labelled | items | 1–3 | 0 | no score |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for status, count in Counter(one.gold.status for one in found).most_common():
        own = [one for one in found if one.gold.status == status]
        symptoms = sum(one.is_symptom for one in own)
        zeros = sum(one.is_zero for one in own)
        yield f"| {status} | {count} | {symptoms} | {zeros} | {count - symptoms - zeros} |"
