"""What is done for a text grows with its length and no faster, whatever the text is."""

import time
from collections.abc import Callable
from functools import partial

import pytest
from tests.attack.counted_work import calls_of
from tests.attack.hostile_texts import HOSTILE_TEXTS

from ai_psychiatrist.agents.baseline.narrative import narrate
from ai_psychiatrist.agents.baseline.signals import analyse
from ai_psychiatrist.domain.evidence import Polarity, Quote
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.evidence_validation.transcript_index import (
    GroundingMode,
    TranscriptIndex,
)
from ai_psychiatrist.services.language.timeline import timeline_of
from ai_psychiatrist.services.risk.clause_memory import forget_clauses
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.speaker_labels import EVERYBODY, SpeakerLabels

OF_ONE = SpeakerLabels(given=((EVERYBODY, Speaker.PARTICIPANT),))
SMALL, LARGE = 600, 1_800
ANYHOW = 1_500
"""Calls that a stage may make whatever the length is."""
REPETITIVE = (
    "one word",
    "two words",
    "one letter",
    "one ideograph",
    "no",
    "repeated start",
    "repeated starts nested",
    "repeats of four words",
    "cut off",
    "numbers in words",
    "one clause without a stop",
    "symptom in one clause",
)


def read_whole_turn(transcript: Transcript) -> None:
    times = timeline_of(transcript.text)
    times.frequency_of(0, len(transcript.text), Polarity.UNCLEAR)
    times.timeframe_of(0, len(transcript.text))


STAGES: dict[str, Callable[[Transcript], object]] = {
    "parse": lambda transcript: parse_transcript(transcript.text, OF_ONE),
    "index": lambda transcript: TranscriptIndex(transcript).ground("no such words"),
    "read": read_whole_turn,
    "risk": detect_risk,
    "baseline": lambda transcript: narrate(analyse(transcript), 2),
}


@pytest.mark.parametrize("stage", STAGES)
def test_three_times_the_text_is_at_most_four_times_the_work(stage: str) -> None:
    work = STAGES[stage]
    # What is read once in a process would make the first small text the dearest.
    work(parse_transcript("Participant: I am tired, and I was sad."))
    for name, shape in HOSTILE_TEXTS.items():
        small, large = (calls(work, shape(size)) for size in (SMALL, LARGE))

        assert large <= 4 * small + ANYHOW, (name, small, large)


def calls(work: Callable[[Transcript], object], text: str) -> int:
    transcript = parse_transcript(text, OF_ONE)
    forget_clauses()
    return calls_of(lambda: work(transcript))


@pytest.mark.parametrize("mode", ["substring", "fuzzy"])
@pytest.mark.parametrize("shape", REPETITIVE)
def test_a_quote_of_repetitive_text_takes_few_steps_for_each_word(
    shape: str, mode: GroundingMode
) -> None:
    """Quotes that stand there, that end in another word, and that leave out every second one."""
    text = HOSTILE_TEXTS[shape](20_000) + " today tired"
    index = TranscriptIndex(parse_transcript(text))
    middle = text[len(text) // 2 :][:3_000]

    for quote in (middle, f"{middle} today", " ".join([*text.split()[:800:2], "today"])):
        work = calls_of(partial(index.ground, quote, mode=mode))

        assert work <= 40 * len(text), work


@pytest.mark.parametrize("gap", [" ", "\t", "\u2003\u00a0"])
def test_a_long_gap_between_quoted_words_is_gone_through_once(gap: str) -> None:
    index = TranscriptIndex(parse_transcript(f"Participant: tired{gap * 30_000}sad"))
    start = time.process_time()

    assert isinstance(index.ground("tired sad"), Quote)

    assert time.process_time() - start < 1.0
