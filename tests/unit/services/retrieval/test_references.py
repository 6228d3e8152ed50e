import asyncio
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from tests.fakes.references import (
    LEXICAL_SETTINGS,
    TALKS,
    artefact_of,
    grounded,
    made_references,
    opened,
    session,
    stranger,
    talk,
)

from ai_psychiatrist.domain.items import NoReferences
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.retrieval.build import Session, write_scores
from ai_psychiatrist.services.retrieval.chunks import chunks_of
from ai_psychiatrist.services.retrieval.identity import Identity, identity_of
from ai_psychiatrist.services.retrieval.references import ItemReferences, Reference
from ai_psychiatrist.services.retrieval.settings import ReferenceSettings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

ASKER = "Interviewer: Sleep?\nParticipant: I lie awake until four, I cannot sleep at night."
QUOTE = "I lie awake until four"


def search(
    settings: ReferenceSettings, excluded: Identity | None = None, item: Item = Item.SLEEP
) -> ItemReferences:
    quotes = grounded(parse_transcript(ASKER), QUOTE)
    references = opened(settings)
    found = references.references_for({item: quotes}, excluded or stranger())
    return asyncio.run(found)[item]


def found_for(
    settings: ReferenceSettings, excluded: Identity | None = None, item: Item = Item.SLEEP
) -> tuple[Reference, ...]:
    found = search(settings, excluded, item)
    assert isinstance(found, tuple)
    return found


def drawn_for(settings: ReferenceSettings, excluded: Identity, seed: int) -> tuple[Reference, ...]:
    quotes = grounded(parse_transcript(ASKER), QUOTE)
    draw = opened(settings).references_for({Item.SLEEP: quotes}, excluded, drawn_by=seed)
    drawn = asyncio.run(draw)[Item.SLEEP]
    assert isinstance(drawn, tuple)
    return drawn


def scores(found: tuple[Reference, ...]) -> list[int]:
    return [reference.shown.score for reference in found]


def test_the_most_alike_comes_first_with_its_score(tmp_path: Path) -> None:
    found = found_for(made_references(tmp_path / "out"))

    assert scores(found) == [3, 2]
    first, second = (reference.shown.similarity or 0.0 for reference in found)
    assert 1 >= first > second > 0
    assert "nearly every night" in found[0].text


def test_no_words_stand_in_what_is_printed_of_references(tmp_path: Path) -> None:
    found = found_for(made_references(tmp_path / "out"))

    assert "awake" not in repr(found)
    assert found[0].shown.digest in repr(found)


@pytest.mark.parametrize(
    "excluded",
    [
        identity_of(parse_transcript("Participant: Other words."), participant_id=301),
        identity_of(parse_transcript("Participant: Other words."), session_id="0301"),
        identity_of(talk("301")),
        identity_of(
            parse_transcript(
                "Patient: i lie awake until four   nearly every night\n\n"
                "Doctor: ...\nPatient: I eat WELL my appetite is good"
            )
        ),
    ],
    ids=["participant", "session", "transcript", "the same words otherwise written"],
)
def test_nobody_is_shown_their_own_words(tmp_path: Path, excluded: Identity) -> None:
    settings = made_references(tmp_path / "out")

    found = found_for(settings, excluded)

    assert scores(found) == [2, 0]
    draws = [drawn_for(settings, excluded, seed) for seed in range(20)]
    assert all(3 not in scores(draw) for draw in draws)


@pytest.mark.parametrize("name", [301.0, "301.0", " ３０１\u200b", "301_P", "301_TRANSCRIPT"])
def test_a_name_is_the_same_however_a_table_or_a_file_writes_it(
    tmp_path: Path, name: float | str
) -> None:
    other = parse_transcript("Participant: Other words.")
    found = found_for(made_references(tmp_path / "out"), identity_of(other, participant_id=name))

    assert scores(found) == [2, 0]


LONG = (
    "Interviewer: How do you sleep, Zoë?\n"
    "Participant: I lie awake until four nearly every night and then I am so tired.\n"
    "Interviewer: And your appetite?\n"
    "Participant: I eat well at the café, my appetite is good, it always was.\n"
    "Interviewer: What else is on your mind?\n"
    "Participant: My sister is ill and I drive there on Sundays to cook for her.\n"
)


@pytest.mark.parametrize(
    "copy",
    [
        unicodedata.normalize("NFD", LONG),
        LONG.replace("awake", "awa\u00adke").replace("well", "we\u200bll"),
        LONG.replace("four", "ｆｏｕｒ"),
        LONG.replace("Interviewer:", "T:")
        .replace("Participant:", "Interviewer:")
        .replace("T:", "P:"),
        LONG.replace("Interviewer:", "Participant:"),
        "Participant: Is this on?\n" + LONG + "Participant: Thank you, goodbye.\n",
        "\n".join(LONG.splitlines()[:4]),
        LONG.replace("nearly every night", "nearly each night").replace("always", "ever"),
    ],
    ids=[
        "letters in parts",
        "marks that are not seen",
        "wide letters",
        "speakers the other way round",
        "all words the participant's",
        "more before and after",
        "its beginning",
        "corrected",
    ],
)
def test_a_copy_without_a_name_is_told_by_its_passages(tmp_path: Path, copy: str) -> None:
    own = parse_transcript(LONG)
    its_own = Session(
        identity=identity_of(own, participant_id="zoë", session_id="a"),
        chunks=tuple(chunks_of(own, lines=2, step=2)),
        labels={Item.SLEEP: 3},
    )
    settings = made_references(tmp_path / "out", [its_own, session("303")])
    excluded = identity_of(parse_transcript(copy))

    assert scores(found_for(settings)) == [3, 2]
    assert scores(found_for(settings, excluded)) == [2]
    assert opened(settings).artefact.people.shared_with([excluded, stranger()]) == 1


def test_a_sentence_that_others_say_as_well_makes_nobody_the_same(tmp_path: Path) -> None:
    said = TALKS["301"][0][1]
    other = parse_transcript(f"Participant: {said} " + " ".join(f"word{at}" for at in range(40)))

    found = found_for(made_references(tmp_path / "out"), identity_of(other))

    assert scores(found) == [3, 2]


def test_all_sessions_of_a_person_are_left_out(tmp_path: Path) -> None:
    """A second session of 301 goes under a name of its own, and says other words."""
    second = session("303")
    second_of_301 = type(second)(
        identity=identity_of(talk("303"), participant_id="301", session_id="301b"),
        chunks=second.chunks,
        labels=second.labels,
    )
    settings = made_references(tmp_path / "out", [session("301"), second_of_301])

    assert len(found_for(settings)) == 1
    excluded = identity_of(talk("303"))
    assert search(settings, excluded) is NoReferences.NONE_LEFT


def test_words_that_nobody_said_search_for_nothing(tmp_path: Path) -> None:
    references = opened(made_references(tmp_path / "out"))

    with pytest.raises(TypeError, match="only with grounded quotes") as caught:
        asyncio.run(references.references_for({Item.SLEEP: (QUOTE,)}, stranger()))  # type: ignore[dict-item]

    assert QUOTE not in str(caught.value)
    found = asyncio.run(references.references_for({Item.SLEEP: ()}, stranger()))
    assert found[Item.SLEEP] is NoReferences.NO_EVIDENCE


def test_only_chunks_about_the_item_are_shown_unless_that_is_off(tmp_path: Path) -> None:
    settings = made_references(tmp_path / "out")
    artefact = artefact_of(settings)
    everywhere = np.full_like(artefact.scores, 1)
    write_scores(tmp_path / "out", artefact.manifest, everywhere, models=("model",))

    assert search(settings, item=Item.MOVING) is NoReferences.NONE_LEFT
    anything = settings.model_copy(update={"same_item": False})
    assert found_for(anything, item=Item.MOVING)


def test_a_score_that_its_own_words_contradict_is_passed_over(tmp_path: Path) -> None:
    """Two say that they lie awake, one that she sleeps well; all are scored 0."""
    settings = made_references(tmp_path / "out")
    artefact = artefact_of(settings)
    nothing = np.zeros_like(artefact.scores)
    write_scores(tmp_path / "out", artefact.manifest, nothing, models=("model",))

    found = found_for(settings)
    assert scores(found) == [0]
    assert "I sleep well" in found[0].text
    unchecked = settings.model_copy(update={"check": "off"})
    assert "awake" in found_for(unchecked)[0].text


def test_the_floor_leaves_out_what_is_not_alike(tmp_path: Path) -> None:
    settings = made_references(tmp_path / "out")
    likeness = [reference.shown.similarity or 0.0 for reference in found_for(settings)]

    higher = settings.model_copy(update={"min_similarity": likeness[1]})
    assert scores(found_for(higher)) == [3]
    highest = settings.model_copy(update={"min_similarity": 1.0})
    assert search(highest) is NoReferences.BELOW_FLOOR


def test_references_stay_within_their_tokens(tmp_path: Path) -> None:
    settings = made_references(tmp_path / "out")
    first = found_for(settings)[0]

    tokens = -(-len(first.text) // 4)
    short = settings.model_copy(update={"max_tokens": tokens})
    assert found_for(short) == (first,)
    shortest = settings.model_copy(update={"max_tokens": 16})
    assert search(shortest) is NoReferences.OVER_BUDGET


def test_a_draw_is_the_same_for_the_same_seed_and_another_for_others(tmp_path: Path) -> None:
    settings = made_references(tmp_path / "out").model_copy(update={"top_k": 1})
    draws = [drawn_for(settings, stranger(), seed)[0].shown.chunk for seed in range(12)]

    assert draws == [drawn_for(settings, stranger(), seed)[0].shown.chunk for seed in range(12)]
    assert len(set(draws)) == len(TALKS)
    assert drawn_for(settings, stranger(), 0)[0].shown.similarity is None


def test_chunks_of_one_person_are_shown_once(tmp_path: Path) -> None:
    """Chunks overlap: the second most alike would nearly always be the same lines again."""
    overlapping = LEXICAL_SETTINGS.model_copy(update={"chunk_lines": 2, "chunk_step": 1})
    given = [session(name, overlapping) for name in TALKS]
    settings = made_references(tmp_path / "out", given, settings=overlapping)

    found = found_for(settings.model_copy(update={"top_k": 20}))

    texts = [reference.text for reference in found]
    assert len(texts) == len(set(texts)) == 3
