"""What is done for a text grows with its length and no faster, whatever the text is."""

import time
from collections.abc import Callable
from functools import partial

import pytest
from tests.attack.counted_work import calls_of, characters_given
from tests.attack.hostile_texts import HOSTILE_TEXTS
from tests.sweeps import HOSTILE_SHAPES

from ai_psychiatrist.agents.baseline.narrative import narrate
from ai_psychiatrist.agents.baseline.signals import analyse
from ai_psychiatrist.domain.evidence import Polarity, Quote
from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.evidence_validation.transcript_index import (
    GroundingMode,
    TranscriptIndex,
)
from ai_psychiatrist.services.language.memory import forget_clauses
from ai_psychiatrist.services.language.timeline import timeline_of
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


@pytest.mark.sweep
@pytest.mark.parametrize("stage", STAGES)
def test_three_times_the_text_is_at_most_four_times_the_work(stage: str, is_whole: bool) -> None:
    work = STAGES[stage]
    # What is read once in a process would make the first small text the dearest.
    work(parse_transcript("Participant: I am tired, and I was sad."))
    for name in HOSTILE_SHAPES.of(list(HOSTILE_TEXTS), is_whole=is_whole):
        small, large = (calls(work, HOSTILE_TEXTS[name](size)) for size in (SMALL, LARGE))

        assert large <= 4 * small + ANYHOW, (name, small, large)


@pytest.mark.parametrize("shape", REPETITIVE)
def test_a_clause_full_of_one_word_takes_few_steps_for_each_character(shape: str) -> None:
    """A clause is short, and what is done for each pair of its phrases still costs much."""
    work = STAGES["baseline"]
    work(parse_transcript("Participant: I am tired, and I was sad."))

    assert calls(work, HOSTILE_TEXTS[shape](6_000)) <= 100 * 6_000


@pytest.mark.parametrize(
    "shape", ["symptoms that differ", "danger in every sentence", "lament", "frequencies"]
)
def test_sentences_of_one_long_turn_are_not_gone_through_in_pairs(shape: str) -> None:
    work = STAGES["baseline"]
    work(parse_transcript("Participant: I am tired, and I was sad."))
    small, large = (calls(work, HOSTILE_TEXTS[shape](size)) for size in (8_000, 24_000))

    assert large <= 3.5 * small, (small, large)


def calls(work: Callable[[Transcript], object], text: str) -> int:
    transcript = parse_transcript(text, OF_ONE)
    forget_clauses()
    return calls_of(lambda: work(transcript))


PLAIN = (
    "Interviewer: How have you been?\nParticipant: I have been tired for weeks and sleep badly.\n"
)
NOISE = ("P:", "P: ", "(P:", "Doctor: ", "I: P: ", "Anna: Tom: ", "P:P:P:P: so it is with me\n")


@pytest.mark.parametrize("noise", NOISE)
def test_labels_as_noise_are_at_most_twice_the_work_of_plain_text(noise: str) -> None:
    labels = SpeakerLabels(given=(("Participant", Speaker.PARTICIPANT),))
    plain, noisy = (
        "Participant: hi\n" + (repeated * 30_000)[:30_000] for repeated in (PLAIN, noise)
    )
    # What is read once in a process would be counted for the first text alone.
    parse_transcript(plain, labels)

    work = {text: calls_of(partial(parse_transcript, text, labels)) for text in (plain, noisy)}

    assert work[noisy] <= 2 * work[plain], work


@pytest.mark.parametrize("text", ["\ufdfa", "\ufdfa ", "\ufdfa: hi\n"])
def test_no_more_than_labels_is_put_in_the_form_that_expands_characters(text: str) -> None:
    """One character of these becomes eighteen: a turn of them is none that is compared."""
    long = "Participant: " + (text * 30_000)[:30_000]

    given = characters_given(partial(parse_transcript, long), nfkc)

    assert given <= len(long) // 2, given


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
