"""Challenges are what their truth says: places, polarities, frequencies, pairs of interviews."""

from collections import Counter
from pathlib import Path

import pytest
from tests.unit.evaluation.challenge.made import SMALL, read, small_contents, written

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.evaluation.challenge.folder import (
    INTERVIEWS,
    MANIFEST,
    NOISE_RATES,
    TRUTH,
    Difficulty,
    Span,
    read_challenge,
    read_interviews,
)
from ai_psychiatrist.evaluation.challenge.make import (
    ChallengeRecipe,
    challenge_contents,
    make_challenge,
)
from ai_psychiatrist.evaluation.challenge.wordings import wordings
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript


def test_the_same_recipe_gives_the_same_bytes_and_another_seed_others() -> None:
    assert challenge_contents(SMALL) == small_contents()
    other = challenge_contents(ChallengeRecipe(size=SMALL.size, seed=SMALL.seed + 1))
    assert not {*_ids(other)} & {*_ids(small_contents())}


def _ids(contents: dict[str, bytes]) -> list[bytes]:
    return [line[:27] for line in contents["interviews.jsonl"].splitlines()]


def test_more_participants_change_none_of_the_others() -> None:
    fewer = challenge_contents(ChallengeRecipe(size=1, seed=SMALL.seed))["truth.jsonl"]
    assert {*fewer.splitlines()} < {*small_contents()["truth.jsonl"].splitlines()}


def test_evidence_stands_in_turns_of_the_participant(tmp_path: Path) -> None:
    texts, truth = read(tmp_path)
    count = 0
    for unit_id, one in truth.items():
        turns = list(read_transcript(texts[unit_id]).participant_turns())
        spans: list[Span] = [span for item in one.items.values() for span in item.spans]
        for span in (*spans, *one.danger):
            count += 1
            inside = [turn.words_start <= span.start < span.end <= turn.end for turn in turns]
            assert inside.count(True) == 1
    assert count > 100


def test_the_score_is_how_often_the_evidence_says(tmp_path: Path) -> None:
    texts, truth = read(tmp_path)
    often = [
        (score, words)
        for spoken in (
            wordings().talk.often,
            *(language.often for language in wordings().languages.values()),
        )
        for score, wordings in spoken.items()
        for words in wordings
    ]
    seen: Counter[int] = Counter()
    for unit_id, one in truth.items():
        for item in one.items.values():
            if item.score is None or one.noise:
                continue
            seen[item.score] += 1
            said = " ".join(texts[unit_id][span.start : span.end] for span in item.spans)
            polarities = {span.polarity for span in item.spans}
            assert polarities == {Polarity.AFFIRMED if item.score else Polarity.DENIED}
            if item.score:
                longest = max((len(words), score) for score, words in often if words in said)
                assert longest[1] == item.score
    assert all(seen[score] > 10 for score in range(4))


def test_items_that_nobody_can_know_are_of_every_kind_that_hides_them(tmp_path: Path) -> None:
    _, truth = read(tmp_path)
    unknown = Counter(
        one.difficulty
        for one in truth.values()
        for item in one.items.values()
        if item.score is None
    )
    for hiding in (Difficulty.PAST, Difficulty.ANOTHER, Difficulty.QUOTES):
        assert unknown[hiding] > SMALL.size * 2


def test_noise_changes_words_and_not_the_truth(tmp_path: Path) -> None:
    texts, truth = read(tmp_path)
    by_participant: dict[str, dict[float, str]] = {}
    for unit_id, one in truth.items():
        if one.noise is not None:
            by_participant.setdefault(one.participant, {})[one.noise] = unit_id
    assert len(by_participant) == SMALL.size
    for units in by_participant.values():
        assert tuple(sorted(units)) == NOISE_RATES
        clean = units[0.0]
        shares = []
        for rate in NOISE_RATES[1:]:
            noisy = units[rate]
            assert [one.score for one in truth[noisy].items.values()] == [
                one.score for one in truth[clean].items.values()
            ]
            before, after = Counter(texts[clean].split()), Counter(texts[noisy].split())
            shares.append((before - after).total() / before.total())
        assert shares == sorted(shares)
        assert shares[0] == pytest.approx(0.08, abs=0.05)


def test_injection_adds_one_line_and_nothing_else(tmp_path: Path) -> None:
    texts, truth = read(tmp_path)
    pairs: dict[str, dict[bool, list[str]]] = {}
    for unit_id, one in truth.items():
        if one.injected is not None:
            lines = texts[unit_id].splitlines()
            pairs.setdefault(one.participant, {})[one.injected] = lines
    assert len(pairs) == SMALL.size
    for pair in pairs.values():
        added = Counter(pair[True]) - Counter(pair[False])
        assert added.total() == 1
        assert Counter(pair[True]) - added == Counter(pair[False])


def test_what_a_system_sees_names_no_difficulty(tmp_path: Path) -> None:
    folder = written(tmp_path)
    (folder / TRUTH).unlink()
    assert len(read_interviews(folder)) == SMALL.size * (len(Difficulty) + 4)
    seen = (folder / INTERVIEWS).read_text("utf-8")
    for difficulty in Difficulty:
        assert f"{difficulty}-" not in seen
    ids = _ids(small_contents())
    assert ids == sorted(ids)


def test_danger_is_in_every_patient_of_it_and_in_some_others(tmp_path: Path) -> None:
    texts, truth = read(tmp_path)
    for unit_id, one in truth.items():
        assert len(one.danger) == one.is_dangerous or one.noise
        assert one.is_dangerous or one.difficulty is not Difficulty.DANGER
        assert all(texts[unit_id][span.start : span.end].strip() for span in one.danger)


@pytest.mark.parametrize("name", ["interviews.jsonl", "truth.jsonl"])
def test_files_that_were_changed_are_refused(tmp_path: Path, name: str) -> None:
    folder = written(tmp_path)
    (tmp_path / name).write_bytes(small_contents()[name] + b"\n")
    with pytest.raises(ArtifactMismatch, match=name):
        read_challenge(folder)


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"seed": 1}'])
def test_folders_that_are_no_challenge_are_refused(tmp_path: Path, content: bytes) -> None:
    folder = written(tmp_path)
    (folder / MANIFEST).write_bytes(content)
    with pytest.raises(InputError, match=r"challenge\.json"):
        read_interviews(folder)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        make_challenge(tmp_path, SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


@pytest.mark.parametrize("size", [0, -1, 1_001])
def test_sizes_out_of_range_are_refused(tmp_path: Path, size: int) -> None:
    with pytest.raises(InputError, match="--size"):
        make_challenge(tmp_path / "new", ChallengeRecipe(size=size))
