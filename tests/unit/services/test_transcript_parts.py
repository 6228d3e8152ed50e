"""A long transcript in the parts in which models are shown it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.rendering import parts_for_models

MOST = 400
ANSWERS = st.lists(
    st.text("ab .。é", min_size=1, max_size=900).filter(str.strip), min_size=1, max_size=40
)


def talk(answers: list[str]) -> str:
    pairs = enumerate(answers)
    return "".join(f"Interviewer: And {at}?\nParticipant: {said}\n" for at, said in pairs)


@given(ANSWERS)
def test_parts_fit_and_hold_every_turn(answers: list[str]) -> None:
    transcript = parse_transcript(talk(answers))
    parts = parts_for_models(transcript, MOST)
    if len(transcript.text) <= MOST:
        assert parts == ()
        return
    # The label of a turn that is cut stands before each of its pieces.
    assert max(map(len, parts)) <= MOST + len("Participant: ")
    for turn in transcript.turns:
        is_cut = turn.end - turn.start > MOST - MOST // 8
        words = transcript.words(turn).strip()
        assert is_cut or any(words in part for part in parts)
    held = "".join("".join(parts).split())
    assert all(words in held for words in transcript.text.split())


def test_an_answer_stands_with_its_question() -> None:
    answers = [f"I said {'so ' * (number % 70)}much." for number in range(60)]
    transcript = parse_transcript(talk(answers))
    parts = parts_for_models(transcript, MOST)
    assert len(parts) > len(transcript.text) // MOST
    for at, said in enumerate(answers):
        assert any(f"And {at}?\nParticipant: {said}" in part for part in parts)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        pytest.param("I sleep badly. " * 100, ".", id="sentences"),
        pytest.param("never " * 300, "r", id="words"),
        pytest.param("x" * 1500, "x", id="neither"),
    ],
)
def test_a_long_turn_is_cut_where_it_hurts_least(text: str, ends: str) -> None:
    parts = parts_for_models(parse_transcript(text), MOST)
    assert len(parts) > 3
    shown = [part.removeprefix("Participant: ") for part in parts]
    places = [text.find(part) for part in shown]
    assert min(places) == 0
    assert all(part[-1] in ends for part in shown)


def test_labels_that_the_first_line_alone_explains_are_written_for_models() -> None:
    text = "speakers: Bob = participant, Ann = interviewer\n"
    text += "".join(f"Ann: And {at}?\nBob: Well, {'no, ' * 20}.\n" for at in range(20))
    transcript = parse_transcript(text)
    _, *others = parts_for_models(transcript, MOST)
    for part in others:
        labels = {line.partition(":")[0] for line in part.splitlines()}
        assert labels == {"Interviewer", "Participant"}
