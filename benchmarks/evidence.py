"""What the evidence checks cost: indexing, grounding with and without polarity, schema."""

import json
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS
from ai_psychiatrist.domain.transcript import Transcript, parse_transcript
from ai_psychiatrist.services.evidence_validation import (
    normalize_for_quote_match,
    validate_evidence_schema,
)
from ai_psychiatrist.services.evidence_validation.transcript_index import TranscriptIndex
from benchmarks.transcripts import synthetic_interview

SIZE_CHARACTERS: Final = 200_000
QUOTES: Final = 50
REPEATS: Final = 15


def median_ms(work: Callable[[], object]) -> float:
    """Return the median time of some runs, in milliseconds."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def real_conversations() -> str | None:
    """Join public conversations up to the size, where they are at hand."""
    folder = os.environ.get("TEST_DATA_DIR")
    if folder is None:
        return None
    lines: list[str] = []
    path = Path(folder) / "transcripts" / "conversations.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        for turn in json.loads(line)["turns"]:
            speaker = "Doctor" if turn["speaker"] == "doctor" else "Patient"
            lines.append(f"{speaker}: {' '.join(turn['text'].split())}")
    return "\n".join(lines)[:SIZE_CHARACTERS]


def quotes_of(transcript: Transcript, choose: random.Random) -> tuple[list[str], list[str]]:
    """Return cuts of what the participant says, and the same words in another order."""
    turns = [
        words
        for turn in transcript.participant_turns()
        if len(words := transcript.words(turn).split()) >= QUOTES // 5
    ]
    present = []
    for words in choose.sample(turns, QUOTES):
        length = choose.randint(5, 10)
        start = choose.randint(0, len(words) - length)
        present.append(" ".join(words[start : start + length]))
    absent = [" ".join(choose.sample(words := quote.split(), len(words))) for quote in present]
    return present, absent


def grounding_rows(name: str, text: str) -> list[str]:
    """Measure one transcript, with plain substring search as the control."""
    transcript = parse_transcript(text)
    present, absent = quotes_of(transcript, random.Random(0))  # noqa: S311 - repeatable
    mixed = present[: QUOTES // 2] + absent[: QUOTES // 2]
    plain = normalize_for_quote_match(text)
    build = median_ms(lambda: _index_with(transcript, present[0]))
    rows = [
        ("index", build, "20 ms"),
        (
            "second index, made at the first miss",
            _first_miss(transcript, present[0], absent[0]),
            "–",
        ),
        (f"{QUOTES} quotes, half of them absent", _ground(transcript, mixed, absent[-1]), "1 ms"),
        (f"{QUOTES} absent quotes", _ground(transcript, absent, absent[-1]), "1 ms"),
        (f"{QUOTES} present quotes", _ground(transcript, present, absent[-1]), "1 ms"),
        ("control: normalise for substring search", _normalise(text), "–"),
        (f"control: {QUOTES} substring searches", _search(plain, mixed), "–"),
    ]
    return [f"| {name} | {what} | {taken:.2f} | {target} |" for what, taken, target in rows]


def _first_miss(transcript: Transcript, present: str, absent: str) -> float:
    return median_ms(lambda: _index_with(transcript, absent)) - median_ms(
        lambda: _index_with(transcript, present)
    )


def _index_with(transcript: Transcript, quote: str) -> TranscriptIndex:
    """Index a transcript, as the first look-up of a quote does."""
    index = TranscriptIndex(transcript)
    index.ground(quote)
    return index


def _ground(transcript: Transcript, quotes: Sequence[str], miss: str) -> float:
    """Time the first check of each quote: facts of its clauses included, nothing remembered."""
    times = []
    for _ in range(REPEATS):
        index = _index_with(transcript, miss)
        start = time.perf_counter()
        for quote in quotes:
            index.ground(quote)
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def _normalise(text: str) -> float:
    return median_ms(lambda: normalize_for_quote_match(text))


def _search(plain: str, quotes: Sequence[str]) -> float:
    return median_ms(lambda: [normalize_for_quote_match(quote) in plain for quote in quotes])


def main() -> None:
    """Print the table."""
    print("| transcript of 200 kB | work | ms | target |")
    print("| --- | --- | ---: | ---: |")
    texts = {"synthetic": synthetic_interview(SIZE_CHARACTERS), "public": real_conversations()}
    for name, text in texts.items():
        for row in grounding_rows(name, text) if text else []:
            print(row)
    reply = {key: ["some words of the participant"] * 6 for key in PHQ8_DOMAIN_KEYS}
    print(f"| – | evidence schema check | {_schema(reply):.3f} | 1 ms |")


def _schema(reply: object) -> float:
    return median_ms(lambda: validate_evidence_schema(reply))


if __name__ == "__main__":
    main()
