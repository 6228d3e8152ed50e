"""The judge's tasks: each metric of the findings is a share that can be counted."""

import re
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Final

from ai_psychiatrist.agents.baseline import COUNTED
from ai_psychiatrist.agents.baseline.narrative import item_names
from ai_psychiatrist.agents.baseline.signals import Analysis
from ai_psychiatrist.agents.output_models import NOT_ASSESSED, SECTIONS
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.language.frequency import occurrences_in

MOST_QUOTES: Final = 200
"""How many quotes of the findings are looked for in the transcript."""
_QUOTED: Final = re.compile(r'"([^"\n]{2,1000})"|“([^”\n]{2,1000})”')
_BULLET: Final = re.compile(r"\s*[-*•]\s+(\S.*)")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")
_SAYS_PRESENT: Final = re.compile(
    r"\b(?:present|reports?|endorses?|affirms?|describes?|experiences?|struggles?|suffers?)\b"
)
_SAYS_ABSENT: Final = re.compile(
    r"\b(?:denie[sd]|absent|no evidence|not present|no signs?|does not|without|no trouble)\b"
)


def judge_coherence(findings: str, _: Analysis) -> str:
    """Count missing sections and items that are called both present and absent."""
    missing = sum(not _section(findings, tag) for tag in SECTIONS)
    contradicted = sum(_is_contradicted(findings, item) for item in Item)
    return _verdict(
        max(1, 5 - missing - min(contradicted, 3)),
        f"{missing} of {len(SECTIONS)} sections are missing or empty; {contradicted} items are "
        "called both present and absent.",
    )


def judge_completeness(findings: str, analysis: Analysis) -> str:
    """Count the items spoken about in the transcript that the findings name."""
    spoken = [item for item in Item if analysis.of_item(item)]
    told = " ".join(line for line in findings.splitlines() if NOT_ASSESSED not in line.casefold())
    named = sum(_names(told, item) for item in spoken)
    return _verdict(
        _share(named, len(spoken), otherwise=5),
        f"The findings name {named} of the {len(spoken)} items that phrases find in the interview.",
    )


def judge_specificity(findings: str, analysis: Analysis) -> str:
    """Count the statements about symptoms that carry a quote, a number or a frequency."""
    statements = [
        statement
        for statement in _statements(_section(findings, "PHQ8_symptoms"))
        if NOT_ASSESSED not in statement.casefold()
        and any(_names(statement, item) for item in Item)
    ]
    specific = sum(map(_is_specific, statements))
    return _verdict(
        _share(specific, len(statements), otherwise=2 if analysis.signals else 4),
        f"{specific} of {len(statements)} statements about symptoms carry a quote, a number or a "
        "frequency.",
    )


def judge_accuracy(findings: str, analysis: Analysis) -> str:
    """Count the quotes in the findings that the participant said, of so many as are looked for."""
    transcript = analysis.transcript
    # No quote holds a line break, so none is found across two turns.
    spoken = "\n".join(
        _normalised(transcript.words(turn)) for turn in transcript.participant_turns()
    )
    quotes = _quotes(findings)[:MOST_QUOTES]
    said = sum(quote in spoken for quote in quotes)
    return _verdict(
        _share(said, len(quotes), otherwise=2 if analysis.signals else 4),
        f"{said} of {len(quotes)} quotes are the participant's words.",
    )


JUDGES: Final[Mapping[Metric, Callable[[str, Analysis], str]]] = {
    Metric.COHERENCE: judge_coherence,
    Metric.COMPLETENESS: judge_completeness,
    Metric.SPECIFICITY: judge_specificity,
    Metric.ACCURACY: judge_accuracy,
}
"""What answers for each metric: findings and their transcript in, a reply out."""


def _verdict(score: int, counted: str) -> str:
    return f"Explanation: {COUNTED} {counted}\nScore: {score}"


def _share(found: int, of: int, *, otherwise: int) -> int:
    """Return 1-5 in proportion, halves rounded up; `otherwise` when there is nothing."""
    return 1 + (8 * found + of) // (2 * of) if of else otherwise


def _section(findings: str, tag: str) -> str:
    _, is_open, rest = findings.partition(f"<{tag}>")
    content, is_closed, _ = rest.partition(f"</{tag}>")
    return content.strip() if is_open and is_closed else ""


def _is_contradicted(findings: str, item: Item) -> bool:
    told = "\n".join(_QUOTED.sub("", _section(findings, tag)) for tag in SECTIONS[:2])
    lines = [
        line.casefold()
        for sentence in _SENTENCE_END.split(told)
        for line in sentence.splitlines()
        if _names(line, item)
    ]
    says = {(bool(_SAYS_PRESENT.search(line)), bool(_SAYS_ABSENT.search(line))) for line in lines}
    return {(True, False), (False, True)} <= says


def _names(text: str, item: Item) -> bool:
    folded = text.casefold()
    return any(stem in folded for stem in item_names()[item]["mention"])


def _statements(section: str) -> list[str]:
    lines = [line for line in section.splitlines() if line.strip()]
    return lines if len(lines) > 1 else _SENTENCE_END.split(section)


def _is_specific(statement: str) -> bool:
    return (
        _QUOTED.search(statement) is not None
        or any(character.isdigit() for character in statement)
        or bool(occurrences_in(statement))
    )


def _quotes(findings: str) -> list[str]:
    """Return each quote once."""
    lines = _section(findings, "exact_quotes").splitlines()
    marked = (found[1] or found[2] for found in _QUOTED.finditer(findings))
    bullets = (found[1] for found in map(_BULLET.match, lines) if found is not None)
    quotes = (_normalised(written).strip("\"'“”‘’ ") for written in chain(marked, bullets))
    return [quote for quote in dict.fromkeys(quotes) if quote not in {"", NOT_ASSESSED}]


def _normalised(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())
