"""A dialogue without labels is told of, where it is not refused."""

import pytest

from ai_psychiatrist.domain.errors import SpeakersUnknown
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

DIALOGUES = (
    "Any trouble sleeping?\nEvery night.\nAppetite?\nGone.\n",
    "Any thoughts of suicide? Yes, most days. A plan? Not really.",
    "Good morning.\nMorning.\nHow's the sleep?\nBad.\nAnd the mood?\nLow.\n",
    "- any trouble with sleep\n- yes every night\n- and appetite\n- gone\n",
)
OWN_WORDS = (
    "I am tired all the time. Why do I bother? I lie awake for hours. I don't think they care.",
    "- can't sleep\n- no appetite\n- crying every day\n",
    "I sleep badly and I feel low nearly every day.",
)


def notes(text: str) -> dict[str, int]:
    """Return what was noted of a text, with how often."""
    return {note.code: note.count for note in read_transcript(text).source.notes}


@pytest.mark.parametrize("text", DIALOGUES)
def test_answered_questions_without_labels_are_told_of(text: str) -> None:
    assert notes(text).get("possible_dialogue", 0) > 0


@pytest.mark.parametrize("text", OWN_WORDS)
def test_what_one_asks_oneself_is_no_dialogue(text: str) -> None:
    assert set(notes(text)) == {"speakers_assumed"}


def test_a_dialogue_that_addresses_somebody_is_refused() -> None:
    with pytest.raises(SpeakersUnknown):
        read_transcript("How have you been feeling?\nNot great.\nDo you sleep?\nNo.\n")
