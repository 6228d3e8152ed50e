"""The sentence and the question that a statement of danger is shown with."""

import pytest

from ai_psychiatrist.domain.risk import RiskKind, RiskLevel, RiskPolarity, RiskSignal
from ai_psychiatrist.services.risk.context import Neighbours, in_context, neighbours
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

QUESTION = "Have you had thoughts of ending your life?"


def context_in(text: str, said: str) -> RiskSignal:
    """Return the context of words of the last turn that holds them."""
    transcript = parse_transcript(text)
    start = transcript.text.rindex(said)
    turn = next(one for one in transcript.turns if one.start <= start < one.end)
    signal = RiskSignal(
        kind=RiskKind.ATTEMPT,
        polarity=RiskPolarity.AFFIRMED,
        level=RiskLevel.HIGH,
        turn=turn.index,
        start=start,
        end=start + len(said),
    )
    return in_context(transcript, signal)


@pytest.mark.parametrize(
    ("words", "said", "sentence"),
    [
        pytest.param(
            "It was bad. My sister came home early and found me. She called them.",
            "found me",
            "My sister came home early and found me.",
            id="a sentence among others",
        ),
        pytest.param(
            "I saw Dr. Lang and told him I had that thought. He wrote it down.",
            "that thought",
            "I saw Dr. Lang and told him I had that thought.",
            id="a title ends no sentence",
        ),
        pytest.param(
            "Around 4 a.m. I took all of them. Then I slept.",
            "took all of them",
            "Around 4 a.m. I took all of them.",
            id="a time ends no sentence",
        ),
        pytest.param(
            "I was on the bridge... and then somebody found me. I went home.",
            "found me",
            "I was on the bridge... and then somebody found me.",
            id="a pause goes on",
        ),
        pytest.param(
            "I went quiet... She found me. I went home.",
            "found me",
            "She found me.",
            id="a pause that ends",
        ),
        pytest.param(
            "“I want to die!” That is what I said.",
            "I want to die!",
            "“I want to die!”",
            id="quotation marks",
        ),
        pytest.param("Yes. Every day.", "Yes.", "Yes.", id="a bare answer"),
        pytest.param(
            "It was him, not I. He found me.", "found me", "He found me.", id="the speaker"
        ),
    ],
)
def test_the_sentence_is_whole(words: str, said: str, sentence: str) -> None:
    found = context_in(f"Interviewer: {QUESTION}\nParticipant: {words}\n", said)
    assert found.sentence == sentence
    assert (found.question, found.question_turn) == (QUESTION, 0)


def test_a_long_sentence_is_cut_between_words_and_says_so() -> None:
    around = "and so on " * 200
    found = context_in(f"Participant: {around}I want to die {around}\n", "I want to die")
    assert found.sentence.startswith("… ")
    assert found.sentence.endswith(" …")
    assert "I want to die" in found.sentence
    assert {*found.sentence.split()} == {"…", "and", "so", "on", "I", "want", "to", "die"}
    assert len(found.sentence) < 1300


def test_a_sentence_that_runs_over_lines_of_its_speaker_is_shown_with_them() -> None:
    text = (
        f"Interviewer: {QUESTION}\n"
        "Participant: It was in May.\n"
        "Participant: my mother she\n"
        "Participant: found me\n"
        "Participant: in the garage\n"
        "Interviewer: And then?\n"
        "Participant: Nothing.\n"
    )
    found = context_in(text, "found me")
    assert found.sentence == "my mother she found me in the garage"
    assert (found.question, found.question_turn) == (QUESTION, 0)


@pytest.mark.parametrize(
    ("text", "said", "around"),
    [
        pytest.param(
            "Participant: It was May. I want to die. I have kept the pills. Nobody knows.\n",
            "want to die",
            ("It was May.", "I have kept the pills.", 0),
            id="in one turn",
        ),
        pytest.param(
            "Participant: Hello.\nInterviewer: Do you?\nParticipant: I want to die.\n"
            "Interviewer: Okay. Since when?\nParticipant: I have kept the pills.\n",
            "want to die",
            ("", "Okay.", 3),
            id="alone in its turn",
        ),
        pytest.param(
            "Participant: It was in May.\nParticipant: my mother she\nParticipant: found me\n"
            "Participant: in the garage\nInterviewer: And then?\n",
            "found me",
            ("It was in May.", "And then?", 4),
            id="over the lines of its speaker",
        ),
        pytest.param("Participant: I want to die.\n", "to die", ("", "", 0), id="nothing else"),
    ],
)
def test_the_sentences_before_and_after_are_shown_as_context(
    text: str, said: str, around: tuple[str, str, int]
) -> None:
    before, after, turn = around
    found = neighbours(parse_transcript(text), context_in(text, said))
    assert found == Neighbours(before=before, after=after, after_turn=turn)


def test_what_only_shows_that_somebody_listens_is_no_question() -> None:
    text = (
        f"Interviewer: {QUESTION}\nParticipant: Well,\nInterviewer: Mm-hmm. Okay.\n"
        "Participant: I have, yes.\n"
    )
    found = context_in(text, "I have")
    assert (found.question, found.question_turn) == (QUESTION, 0)


@pytest.mark.parametrize(
    ("asked", "question"),
    [
        pytest.param(f"I see. {QUESTION}", QUESTION, id="the last sentence"),
        pytest.param(f"{QUESTION} Take your time.", QUESTION, id="what comes after"),
        pytest.param(
            f"{QUESTION} Or of self-harm?", f"{QUESTION} Or of self-harm?", id="a short one"
        ),
        pytest.param("We talked. tell me about March", "tell me about March", id="no mark"),
    ],
)
def test_the_question_is_the_last_that_was_asked(asked: str, question: str) -> None:
    found = context_in(f"Interviewer: {asked}\nParticipant: Yes, I did.\n", "Yes")
    assert found.question == question


def test_without_an_interviewer_there_is_no_question() -> None:
    found = context_in("Participant: I want to die.\n", "want to die")
    assert (found.question, found.question_turn) == (None, None)
