"""How often grounding and reading are right on sets labelled by hand before tuning.

The sets are frozen: `labelled/grounding_pairs.jsonl` and `labelled/utterances.jsonl`.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ai_psychiatrist.domain.evidence import Polarity, Quote, UnverifiedQuote
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.evidence_validation.support import AssertionClassifier
from ai_psychiatrist.services.evidence_validation.tokens import tokenise
from ai_psychiatrist.services.evidence_validation.transcript_index import (
    GroundingMode,
    TranscriptIndex,
)
from ai_psychiatrist.services.language.timeline import timeline_of
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

LABELLED: Final = Path(__file__).with_name("labelled")
_OUTCOMES: Final = {
    Polarity.AFFIRMED: "support",
    Polarity.DENIED: "denial",
    Polarity.UNCLEAR: "unclear",
}
MODES: Final[tuple[GroundingMode, ...]] = ("substring", "fuzzy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one labelled quote."""

    id: str
    kind: str
    expected: str
    found: str
    """support, denial, unclear or refuse; `wrong_spans` when it was found somewhere else."""


def read_lines(name: str) -> list[dict[str, str]]:
    """Read one labelled set."""
    text = (LABELLED / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def records_in(file: Path) -> list[dict[str, Any]]:
    """Read a set from a file, compressed where it is sealed."""
    content = file.read_bytes()
    text = (gzip.decompress(content) if is_sealed(file) else content).decode("utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def is_sealed(file: Path) -> bool:
    """Return whether nobody is to read a file: of it totals alone are printed."""
    return file.suffix == ".gz"


def grounding_verdicts(mode: GroundingMode) -> list[Verdict]:
    """Ground every pair of the set."""
    return [
        Verdict(
            id=pair["id"],
            kind=pair["kind"],
            expected=pair["expect"],
            found=_found(pair, mode),
        )
        for pair in read_lines("grounding_pairs.jsonl")
    ]


def _found(pair: Mapping[str, str | Sequence[str]], mode: GroundingMode) -> str:
    transcript = parse_transcript(str(pair["transcript"]))
    result = TranscriptIndex(transcript).ground(str(pair["quote"]), mode=mode)
    if isinstance(result, UnverifiedQuote):
        return "refuse"
    if pair["segments"] and not _same_place(result, pair["segments"], transcript.text):
        return "wrong_spans"
    return _OUTCOMES[AssertionClassifier(transcript).for_narrative(result).polarity]


def _same_place(quote: Quote, segments: Sequence[str], text: str) -> bool:
    found = [tokenise(text[part.start : part.end]).words for part in quote.segments]
    return found == [tokenise(segment).words for segment in segments]


def utterance_errors(label: str) -> Counter[tuple[str, str]]:
    """Count (expected, found) where a label of the utterances is read wrongly."""
    pairs = ((line[label], _read(line)[label]) for line in read_lines("utterances.jsonl"))
    return Counter(pair for pair in pairs if pair[0] != pair[1])


def _read(line: Mapping[str, str]) -> dict[str, str]:
    words, quote = line["utterance"], line["quote"]
    start = words.index(quote)
    end = start + len(quote)
    question = line["question"]
    lines = [f"Interviewer: {question}"] if question else []
    transcript = parse_transcript("\n".join([*lines, f"Participant: {words}"]))
    polarity = _polarity(transcript, quote, Item(line["item"]))
    times = timeline_of(words)
    return {
        "polarity": polarity.value,
        "frequency": times.frequency_of(start, end, polarity).value,
        "timeframe": times.timeframe_of(start, end).value,
    }


def _polarity(transcript: Transcript, quote: str, item: Item) -> Polarity:
    """Return what a quote says of an item; unclear where it is refused."""
    found = TranscriptIndex(transcript).ground(quote)
    if isinstance(found, UnverifiedQuote):
        return Polarity.UNCLEAR
    (read,) = AssertionClassifier(transcript).for_item([found], item)
    return read.polarity


def grounding_table() -> Iterable[str]:
    """Yield the lines of the grounding table."""
    columns = (
        "mode",
        "right",
        "lies accepted as support",
        "lies accepted as denial",
        "truths refused",
        "support read as denial",
        "denial read as support",
        "either read as unclear",
        "wrong place",
    )
    yield f"| {' | '.join(columns)} |"
    yield f"| --- |{' ---: |' * (len(columns) - 1)}"
    for mode in MODES:
        verdicts = grounding_verdicts(mode)
        counts = Counter((verdict.expected, verdict.found) for verdict in verdicts)
        right = sum(counts[kind, kind] for kind in ("support", "denial", "refuse"))
        yield (
            f"| {mode} | {right} of {len(verdicts)} | {counts['refuse', 'support']} "
            f"| {counts['refuse', 'denial']} "
            f"| {counts['support', 'refuse'] + counts['denial', 'refuse']} "
            f"| {counts['support', 'denial']} | {counts['denial', 'support']} "
            f"| {sum(found == 'unclear' for _, found in counts.elements())} "
            f"| {sum(found == 'wrong_spans' for _, found in counts.elements())} |"
        )


def utterance_table() -> Iterable[str]:
    """Yield the lines of the table of polarity, frequency and time."""
    total = len(read_lines("utterances.jsonl"))
    yield "| fact | right | most frequent errors |"
    yield "| --- | ---: | --- |"
    for label in ("polarity", "frequency", "timeframe"):
        errors = utterance_errors(label)
        worst = ", ".join(f"{a}→{b} {n}" for (a, b), n in errors.most_common(4))
        yield f"| {label} | {total - errors.total()} of {total} | {worst} |"


def main() -> None:
    """Print the tables."""
    print("\n".join(grounding_table()))
    print()
    print("\n".join(utterance_table()))


if __name__ == "__main__":
    main()
