from collections.abc import Sequence

import pytest

from ai_psychiatrist.agents.baseline.signals import analyse
from ai_psychiatrist.domain.drive import Change
from ai_psychiatrist.domain.evidence import Quote
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.counterfactuals.changed_transcripts import (
    ChangedTranscript,
    CitedItem,
    changed_transcripts,
)
from ai_psychiatrist.services.evidence_validation.transcript_index import TranscriptIndex
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

TEXT = (
    "Interviewer: How have you been sleeping?\n"
    "Participant: Badly. I can't sleep nearly every night these days.\n"
    "Interviewer: And your appetite?\n"
    "Participant: No problem there, I eat well.\n"
    "Interviewer: What do you do?\n"
    "Participant: I drive a bus.\n"
)
SLEEP, APPETITE = "I can't sleep nearly every night these days", "I eat well"


def changed(
    text: str = TEXT, cited: Sequence[tuple[Item, int, str]] = ((Item.SLEEP, 3, SLEEP),)
) -> dict[Change, ChangedTranscript]:
    transcript = parse_transcript(text)
    index = TranscriptIndex(transcript)
    items = []
    for item, score, words in cited:
        quote = index.ground(words)
        assert isinstance(quote, Quote)
        items.append(CitedItem(item=item, score=score, quotes=(quote,)))
    return {one.change: one for one in changed_transcripts(transcript, items)}


def words_of(one: ChangedTranscript, turn: int) -> str:
    return one.transcript.words(one.transcript.turns[turn]).strip()


def test_erased_clause_leaves_blanks_in_its_place_and_nothing_else_changes() -> None:
    one = changed()[Change.ERASED]
    assert words_of(one, 1) == "Badly. _ ___'_ _____ ______ _____ _____ _____ ____."
    assert one.transcript.text.replace("_", "") != TEXT
    assert len(one.transcript.text) == len(TEXT)
    assert words_of(one, 3) == "No problem there, I eat well."
    assert one.evidence == {Item.SLEEP.value: ()}


def test_alone_leaves_the_cited_clause_and_the_questions() -> None:
    one = changed()[Change.ALONE]
    assert words_of(one, 1) == f"_____. {SLEEP}."
    assert words_of(one, 0) == "How have you been sleeping?"
    assert words_of(one, 5) == "_ _____ _ ___."
    assert one.evidence == {Item.SLEEP.value: (SLEEP,)}


def test_silent_leaves_nothing_of_the_participant() -> None:
    one = changed()[Change.SILENT]
    said = "".join(map(one.transcript.words, one.transcript.participant_turns()))
    assert not any(character.isalnum() for character in said)
    assert len(one.transcript.text) == len(TEXT)


@pytest.mark.parametrize("change", [Change.REVERSED, Change.TEN_YEARS_BACK])
def test_quote_goes_with_its_clause(change: Change) -> None:
    one = changed()[change]
    (quote,) = one.evidence[Item.SLEEP.value]
    assert quote in one.transcript.text
    assert quote != SLEEP


@pytest.mark.parametrize(
    ("item", "score", "said", "asked"),
    [
        (Item.SLEEP, 3, "I can't sleep nearly every night", "How do you sleep?"),
        (Item.SLEEP, 0, "I sleep fine", "How do you sleep?"),
        (Item.TIRED, 1, "I'm tired on some days", "How is your energy?"),
        (Item.TIRED, 2, "Yes, most days", "Do you feel tired?"),
        (Item.TIRED, 0, "No, not at all", "Do you feel tired?"),
        (Item.APPETITE, 3, "I've had no appetite for two weeks", "And eating?"),
        (Item.DEPRESSED, 0, "my mood has been good i have not felt down at all", "Your mood?"),
        (Item.FAILURE, 3, "i feel guilty and useless nearly every day", "About yourself?"),
    ],
)
def test_reversed_and_past_clauses_are_read_as_that(
    item: Item, score: int, said: str, asked: str
) -> None:
    text = f"Interviewer: {asked}\nParticipant: {said}.\n"
    made = changed(text, [(item, score, said)])
    opposite = analyse(made[Change.REVERSED].transcript).of_item(item)
    assert {one.quote.denies_symptom for one in opposite} == {score > 0}
    past = analyse(made[Change.TEN_YEARS_BACK].transcript).of_item(item)
    assert not any(one.quote.supports_symptom or one.quote.denies_symptom for one in past)


def test_reworded_asks_the_same_in_other_words_and_leaves_the_answers() -> None:
    one = changed()[Change.REWORDED]
    assert words_of(one, 0) == "Let me ask you this: how have you been sleeping?"
    assert words_of(one, 2) == "And your appetite?"
    assert words_of(one, 1) == "Badly. I can't sleep nearly every night these days."
    assert one.evidence == {Item.SLEEP.value: (SLEEP,)}


def test_text_without_questions_is_not_reworded() -> None:
    assert Change.REWORDED not in changed("I can't sleep nearly every night these days.")


def test_change_that_cannot_be_read_as_meant_is_not_made() -> None:
    text = "Interviewer: And your week?\nParticipant: Well, the usual things.\n"
    made = changed(text, [(Item.MOVING, 1, "the usual things")])
    assert Change.REVERSED not in made


def test_items_apart_share_a_transcript_and_items_of_one_turn_do_not() -> None:
    transcript = parse_transcript(TEXT)
    index = TranscriptIndex(transcript)

    def erased(*cited: tuple[Item, str]) -> list[tuple[Item, ...]]:
        items = [
            CitedItem(item=item, score=1, quotes=(quote,))
            for item, words in cited
            if isinstance(quote := index.ground(words), Quote)
        ]
        made = changed_transcripts(transcript, items)
        return [one.items for one in made if one.change is Change.ERASED]

    assert erased((Item.SLEEP, SLEEP), (Item.APPETITE, APPETITE)) == [(Item.SLEEP, Item.APPETITE)]
    assert erased((Item.SLEEP, SLEEP), (Item.TIRED, "Badly.")) == [(Item.SLEEP,), (Item.TIRED,)]


def test_turns_stay_whose_they_are() -> None:
    for one in changed().values():
        turns = one.transcript.turns
        assert [turn.speaker for turn in turns] == [Speaker.INTERVIEWER, Speaker.PARTICIPANT] * 3
        assert [turn.start for turn in turns[1:]] == [turn.end for turn in turns[:-1]]
        assert one.transcript.text.splitlines()[4] == "Interviewer: What do you do?"
