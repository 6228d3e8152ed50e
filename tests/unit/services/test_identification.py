"""The language of a turn: everyday sentences of many languages, and what goes with its turns."""

import json
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ai_psychiatrist.domain.risk import Examined, UnexaminedTurn
from ai_psychiatrist.services.language.identification import (
    UNDETERMINED,
    examined_in,
    language_names,
    language_of,
)
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

SENTENCES: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parents[2] / "data" / "everyday_sentences.toml").read_text(encoding="utf-8")
)
FOREIGN = [language for language in SENTENCES if language != "en"]
SPANISH = "Duermo muy mal desde hace tres semanas y no tengo ganas de nada."
ENGLISH = "I have been sleeping badly for three weeks and I enjoy nothing."


def examined(*turns: str) -> Examined:
    """What was read of turns that begin with an `I` for the interviewer or a `P`."""
    names = {"I": "Interviewer", "P": "Participant"}
    lines = (f"{names[turn[0]]}: {turn[2:]}" for turn in turns)
    return examined_in(parse_transcript("\n".join(lines)))


def unread(*turns: str) -> list[tuple[int, str]]:
    return [(one.turn, one.language) for one in examined(*turns).turns_not_examined]


def test_every_language_has_its_sentences_and_a_name() -> None:
    assert {len(sentences) for sentences in SENTENCES.values()} == {25}
    assert set(SENTENCES) <= set(language_names())


@pytest.mark.parametrize("language", FOREIGN)
def test_everyday_sentences_are_told(language: str) -> None:
    found = [language_of(sentence) for sentence in SENTENCES[language]]
    assert None not in found
    assert "en" not in found
    assert found.count(language) >= 24


@pytest.mark.parametrize("language", FOREIGN)
def test_sentences_without_capitals_and_punctuation_are_told(language: str) -> None:
    said = (sentence.casefold().translate(_BARE) for sentence in SENTENCES[language])
    assert {language_of(sentence) for sentence in said}.isdisjoint({None, "en"})


_BARE = {ord(mark): " " for mark in ".,;:!?-。、，"}


@pytest.mark.parametrize("sentence", SENTENCES["en"])
def test_english_of_every_kind_is_english(sentence: str) -> None:
    assert language_of(sentence) in {"en", None}
    assert unread(f"P {sentence}") == []


def turns_in(conversations: Path) -> Iterator[str]:
    with conversations.open(encoding="utf-8") as lines:
        for line in lines:
            yield from (turn["text"] for turn in json.loads(line)["turns"])


@pytest.mark.sweep
def test_no_turn_of_public_english_conversations_is_called_foreign(
    public_data: Path, *, is_whole: bool
) -> None:
    turns = [*turns_in(public_data / "transcripts" / "conversations.jsonl")]
    assert len(turns) > 5_000
    told = [
        examined(f"P {' '.join(turn.split())}")
        for turn in turns[:: 1 if is_whole else 10]
        if len(turn.split()) >= 4
    ]
    assert len(told) > len(turns) // 20
    assert not [one for one in told if one.turns_not_examined]


@pytest.mark.parametrize(
    "said",
    [
        "Ana sina jedwali kubwa lakini watoto wangu wanalala vizuri sana",
        "Mám pocit, že už nic nezvládnu a nikdo mi nepomůže",
        "Saya tidak bisa tidur sejak tiga minggu yang lalu dan selalu lelah",
    ],
)
def test_a_language_that_nobody_listed_is_not_english(said: str) -> None:
    assert language_of(said) not in {"en", None}


def test_a_language_without_a_known_word_has_no_name() -> None:
    assert (
        language_of("Ninaumwa kichwa kila siku tangu wiki iliyopita kabisa kwa sababu hiyo")
        == UNDETERMINED
    )


@pytest.mark.parametrize("said", ["No.", "Mal.", "Sí.", "Hm", "Maria Jose Carlos"])
def test_a_short_turn_goes_with_its_neighbours(said: str) -> None:
    assert unread(f"P {SPANISH}", "I And now?", f"P {said}") == [(0, "es"), (2, "es")]
    assert unread(f"P {ENGLISH}", "I And now?", f"P {said}") == []


def test_a_short_english_turn_between_others_is_read() -> None:
    assert unread(f"P {SPANISH}", "I And now?", "P Yeah.", "I Go on.", f"P {SPANISH}") == [
        (0, "es"),
        (4, "es"),
    ]


def test_answers_too_short_to_tell_are_taken_together_with_the_questions() -> None:
    assert unread("I ¿Cómo duerme usted estos días?", "P Mal.", "I ¿Por qué?", "P No.") == [
        (1, "es"),
        (3, "es"),
    ]


def test_names_and_a_few_foreign_words_leave_a_turn_with_its_neighbours() -> None:
    names = "P Giulia, Francesca, Jean-Pierre, François, Günther, Łukasz, Nguyễn, Zeynep"
    drugs = "P sertraline, mirtazapine, lithium, quetiapine, olanzapine, propranolol, iron, aspirin"
    mixed = "P My nonna says piano piano but I can't, I just can't slow down."
    assert unread(f"P {ENGLISH}", names, drugs, mixed) == []


def test_of_a_long_turn_the_stretches_in_another_language_are_told() -> None:
    found = examined(f"P {ENGLISH} {ENGLISH} {SPANISH} {SPANISH} {ENGLISH} {ENGLISH}")
    assert found.turns_not_examined == (UnexaminedTurn(turn=0, language="es", is_whole=False),)
    assert found.share is not None
    assert 0.5 < found.share < 0.8
    assert not found.wholly_unread


def test_the_share_counts_the_words_of_the_participant() -> None:
    found = examined(f"I {ENGLISH}", f"P {SPANISH}", f"P {ENGLISH}", "P Ich weiß es leider nicht.")
    assert found.languages == {"es": 13, "en": 12, "de": 5}
    assert found.share == pytest.approx(12 / 30)
    assert found.unread_languages == ("es", "de")
    assert found.is_mostly_unread


def test_nothing_said_is_neither_read_nor_unread() -> None:
    found = examined("P ...")
    assert (found.share, found.turns_not_examined, found.is_mostly_unread) == (None, (), False)


def test_look_alike_letters_of_another_script_are_not_read() -> None:
    assert unread("P Ι wаnt tо kіll mуsеlf аnd nоbоdу knоws".translate(_CYRILLIC)) != []


_CYRILLIC = str.maketrans("abcehikmnopstuxydflrw", "авсенікмнорѕтυхуԁғӏгѡ")


def test_work_grows_with_the_length_alone() -> None:
    text = f"{ENGLISH} {SPANISH} " * 4_000
    begun = time.perf_counter()
    assert examined(f"P {text}").turns_not_examined
    assert time.perf_counter() - begun < 5
