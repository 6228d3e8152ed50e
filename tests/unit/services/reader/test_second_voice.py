import asyncio
from dataclasses import replace

import pytest
from tests.attack.counted_work import calls_of
from tests.fakes.captured_events import captured_events
from tests.fakes.scripted_reader import ScriptedReader, reading_by

from ai_psychiatrist.domain.risk import (
    ReaderStatus,
    RiskCategory,
    RiskGroup,
    RiskKind,
    RiskLevel,
    RiskPolarity,
    RiskReport,
    RiskSource,
)
from ai_psychiatrist.infrastructure.runtime import current_runtime, using_runtime
from ai_psychiatrist.services.reader.danger import with_second_voice
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

DESPAIR = "Interviewer: How is the house?\nParticipant: They'd all be better off without me.\n"
NAMED = "Interviewer: How is the house?\nParticipant: Most nights I want to be dead.\n"
ASKED = "Interviewer: Are you having thoughts of suicide?\nParticipant: Some days, yeah.\n"
UNLISTED = "Interviewer: And the boat?\nParticipant: The tide can have me on Sunday.\n"


def voiced(text: str, reader: ScriptedReader) -> RiskReport:
    transcript = parse_transcript(text)
    reading = reading_by(reader, transcript)
    return asyncio.run(with_second_voice(detect_risk(transcript), transcript, reading))


def test_what_the_reader_does_not_share_is_found_by_words_alone_and_no_alarm() -> None:
    report = voiced(DESPAIR, ScriptedReader())
    (signal,) = report.signals
    assert signal.group is RiskGroup.FOUND_BY_WORDS_ALONE
    assert signal.polarity is detect_risk(parse_transcript(DESPAIR)).signals[0].polarity
    assert (signal.level, report.level) == (RiskLevel.LOW, RiskLevel.LOW)


def test_what_the_reader_shares_stays_as_it_is() -> None:
    alone = detect_risk(parse_transcript(DESPAIR))
    assert voiced(DESPAIR, ScriptedReader(danger={"better off": 0.9})).signals == alone.signals


@pytest.mark.parametrize("text", [NAMED, ASKED], ids=["named", "asked"])
def test_a_danger_that_is_named_or_asked_for_stands_whatever_the_reader_says(text: str) -> None:
    alone = detect_risk(parse_transcript(text))
    assert alone.level.rank >= RiskLevel.MODERATE.rank
    assert voiced(text, ScriptedReader()).signals == alone.signals


def test_what_is_told_near_a_danger_of_the_same_sort_stands_and_of_another_does_not() -> None:
    despair = "Interviewer: And?\nParticipant: They'd all be better off without me.\n"
    stapler = "Interviewer: And?\nParticipant: I could cope if he threw the stapler at me.\n"
    by_sort = {
        one.category: one for one in voiced(f"{NAMED}{despair}{stapler}", ScriptedReader()).signals
    }
    assert by_sort[RiskCategory.SUICIDAL_IDEATION].is_shared
    assert not by_sort[RiskCategory.ABUSE].is_shared


def test_what_alarms_is_not_told_again_as_a_passage_to_read_first() -> None:
    reader = ScriptedReader(danger={"tide": 0.9}, ngrams={"tide": 0.9})
    assert not voiced(UNLISTED, reader).reader.read_first
    alone = ScriptedReader(danger={"tide": 0.9}, ngrams={"tide": 0.3})
    assert len(voiced(UNLISTED, alone).reader.read_first) == 1


def test_reader_and_ngrams_together_make_a_sign_of_their_own() -> None:
    reader = ScriptedReader(danger={"tide": 0.9}, ngrams={"tide": 0.9})
    report = voiced(UNLISTED, reader)
    (signal,) = report.signals
    assert signal.source is RiskSource.READER
    assert (signal.kind, signal.polarity) == (RiskKind.UNSPECIFIED, RiskPolarity.UNCLEAR)
    assert (signal.level, signal.group) == (RiskLevel.MODERATE, RiskGroup.READ_NOW)
    assert UNLISTED[signal.start : signal.end] == "The tide can have me on Sunday."
    assert report.signal_count == 1


def test_a_plain_denial_of_what_was_asked_stays_one() -> None:
    text = "Interviewer: Are you having thoughts of suicide?\nParticipant: No, never.\n"
    report = voiced(text, ScriptedReader(danger={"No": 1.0}, ngrams={"No": 1.0}))
    assert report.level is RiskLevel.NONE
    longer = text.replace("No, never.", "No, never. The tide can have me.")
    report = voiced(longer, ScriptedReader(danger={"tide": 1.0}, ngrams={"tide": 1.0}))
    assert report.level is not RiskLevel.NONE


@pytest.mark.parametrize(
    "reader",
    [
        ScriptedReader(danger={"tide": 1.0}, ngrams={"tide": 0.2}),
        ScriptedReader(danger={"tide": 0.1}, ngrams={"tide": 1.0}),
    ],
    ids=["reader alone", "n-grams alone"],
)
def test_one_voice_alone_is_no_alarm(reader: ScriptedReader) -> None:
    assert not voiced(UNLISTED, reader).signals


def test_the_passages_ranked_highest_are_told_without_a_level() -> None:
    words = ["one here", "two here", "three here", "four here", "five here"]
    text = "".join(f"Interviewer: Well?\nParticipant: It is {one}.\n" for one in words)
    values = dict(zip(words, (0.31, 0.9, 0.4, 0.05, 0.5), strict=True))
    report = voiced(text, ScriptedReader(danger=values, ngrams=dict.fromkeys(words, 0.2)))
    told = [text[one.start : one.end] for one in report.reader.read_first]
    assert told == ["It is two here.", "It is five here.", "It is three here."]
    assert not report.signals


def test_the_network_reads_only_what_rules_or_ngrams_look_at() -> None:
    text = f"{DESPAIR}Interviewer: And?\nParticipant: The shed is full.\n"
    reader = ScriptedReader()
    voiced(text, reader)
    assert [one.words for one in reader.seen] == ["They'd all be better off without me."]


def test_a_reader_that_fails_leaves_the_rules_alone_and_says_so_without_words() -> None:
    with captured_events() as events:
        report = voiced(DESPAIR, ScriptedReader(fails=True))
    assert report.signals == detect_risk(parse_transcript(DESPAIR)).signals
    assert report.reader.status is ReaderStatus.FAILED
    assert [one["event"] for one in events] == ["reader_failed"]
    assert "better" not in str(events)


def test_voices_that_are_heard_twice_say_the_same() -> None:
    reader = ScriptedReader(
        danger={"tide": 0.9, "better off": 0.0}, ngrams={"tide": 0.9, "better off": 0.9}
    )
    transcript = parse_transcript(f"{UNLISTED}{DESPAIR}")
    reading = reading_by(reader, transcript)
    once = asyncio.run(with_second_voice(detect_risk(transcript), transcript, reading))
    assert asyncio.run(with_second_voice(once, transcript, reading)) == once


def test_signs_and_passages_of_one_long_turn_are_not_gone_through_in_pairs() -> None:
    reader = ScriptedReader(danger={"dead": 0.9}, ngrams={"dead": 0.9})

    def calls(sentences: int) -> int:
        transcript = parse_transcript(
            f"Participant: {'Most nights I want to be dead. ' * sentences}"
        )
        report, reading = detect_risk(transcript), reading_by(reader, transcript)

        def work() -> None:
            asyncio.run(with_second_voice(report, transcript, reading))

        with using_runtime(replace(current_runtime(), works_inline=True)):
            return calls_of(work)

    assert calls(600) <= 4 * calls(200)
    assert calls(4_000) <= 500 * 4_000
