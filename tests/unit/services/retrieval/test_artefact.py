import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.fakes.references import (
    LEXICAL_SETTINGS,
    TALKS,
    artefact_of,
    made_references,
    opened,
    session,
)

from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    ConfigurationError,
    InputError,
    ModelCallFailed,
)
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.retrieval.build import Session, write_scores
from ai_psychiatrist.services.retrieval.chunks import Reading, chunks_of
from ai_psychiatrist.services.retrieval.embedders import Vectors
from ai_psychiatrist.services.retrieval.identity import identity_of, split_digest
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

PROMPTS = {"evidence": "a", "quantitative": "b"}


class Counting:
    """Gives vectors that are told by the length of a text."""

    def __init__(self, name: str = "ollama:lengths", digest: str = "one") -> None:
        self.name = name
        self.digest = digest

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        del is_query
        return np.array([[1, len(text) % 7] for text in texts], dtype=np.float32)


class Broken(Counting):
    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        del texts, is_query
        raise ModelCallFailed(FailureCode.CONNECTION_FAILED)


def test_chunks_are_consecutive_lines_and_reach_the_end() -> None:
    said = parse_transcript(
        "\n".join(f"Interviewer: q{n}\nParticipant: a{n}\n\n  and more {n}" for n in range(5))
    )
    chunks = tuple(chunks_of(said, lines=8, step=2))

    assert [(chunk.first_line, chunk.lines) for chunk in chunks] == [
        (0, 8),
        (2, 8),
        (4, 8),
        (6, 8),
        (7, 8),
    ]
    assert chunks[0].text.splitlines()[:3] == [
        "Interviewer: q0",
        "Participant: a0",
        "Participant: and more 0",
    ]
    assert chunks[-1].text.endswith("Participant: and more 4")


def test_a_short_interview_is_one_chunk_and_one_of_questions_alone_is_none() -> None:
    assert len(tuple(chunks_of(parse_transcript("P: I am well."), lines=8, step=2))) == 1
    said = parse_transcript("Participant: Hi.\n" + "Interviewer: And?\n" * 12)
    assert [chunk.first_line for chunk in chunks_of(said, lines=4, step=4)] == [0]


def test_chunks_are_tagged_by_what_the_reader_reads_of_the_participant() -> None:
    said = parse_transcript(
        "Interviewer: How do you sleep?\nParticipant: I lie awake every night.\n"
        "Interviewer: And your brother?\nParticipant: My brother is depressed.\n"
        "Interviewer: Your appetite?\nParticipant: I eat well.\n"
    )
    (chunk,) = chunks_of(said, lines=8, step=2)
    assert chunk.readings == {
        Item.SLEEP: Reading.NAMED | Reading.AFFIRMED,
        Item.APPETITE: Reading.NAMED | Reading.DENIED,
    }


def test_the_same_interviews_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        made_references(tmp_path / name)
    one, other = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("one", "other")
    )
    assert one == other


def test_the_owner_alone_can_read_any_of_it(tmp_path: Path) -> None:
    made_references(tmp_path / "out")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").iterdir()}
    assert modes == {0o600}


def test_names_of_people_are_in_no_file(tmp_path: Path) -> None:
    named = Session(
        identity=identity_of(
            parse_transcript("P: I am well."), participant_id="Ada", session_id="Ada-1"
        ),
        chunks=session("301").chunks,
    )
    made_references(tmp_path / "out", [named], is_scored=False)
    assert not any(b"Ada" in path.read_bytes() for path in (tmp_path / "out").iterdir())


def test_what_fails_on_the_way_leaves_nothing_behind(tmp_path: Path) -> None:
    settings = LEXICAL_SETTINGS.model_copy(update={"embedder": "ollama:lengths"})
    with pytest.raises(ModelCallFailed):
        made_references(tmp_path / "out", settings=settings, embedder=Broken())
    assert not list(tmp_path.iterdir())


def test_what_a_killed_program_left_is_removed_and_a_running_ones_is_not(tmp_path: Path) -> None:
    killed, running, other = (
        tmp_path / name for name in (".out.draft-abcd1234", ".out.draft-wxyz9876", ".out.mine")
    )
    for folder in (killed, running, other):
        folder.mkdir()
        (folder / "chunks.jsonl").write_text("words")
    descriptor = os.open(running, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    made_references(tmp_path / "out")
    os.close(descriptor)
    assert {path.name for path in tmp_path.iterdir()} == {"out", running.name, other.name}


def test_a_folder_with_content_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something"):
        made_references(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_interviews_without_a_chunk_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no interview"):
        made_references(tmp_path / "out", [])


SCORES = "scores-000000000000.npy"
"""As it would be named."""
FILES = (
    "bm25_chunks.npy",
    "bm25_starts.npy",
    "bm25_weights.npy",
    "bm25_words.json",
    "chunks.jsonl",
    "offsets.npy",
    "readings.npy",
    SCORES,
    "session_of.npy",
    "sessions.jsonl",
)


def placed(folder: Path, name: str) -> Path:
    """Return where a file is; that of the scores is named by what it holds."""
    return next(folder.glob("scores-*.npy")) if name == SCORES else folder / name


def test_every_file_has_its_digest_in_the_record(tmp_path: Path) -> None:
    artefact = artefact_of(made_references(tmp_path / "out"))
    named = set(artefact.manifest.files)
    assert {placed(tmp_path / "out", name).name for name in FILES} == named
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == named | {"manifest.json"}


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_or_missing_file_is_refused(tmp_path: Path, name: str) -> None:
    settings = made_references(tmp_path / "out")
    path = placed(tmp_path / "out", name)
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ArtifactMismatch, match=f"{path.name}.* is damaged"):
        opened(settings)
    path.unlink()
    with pytest.raises(ArtifactMismatch, match=f"{path.name}.*cannot be read"):
        opened(settings)


@pytest.mark.parametrize("name", ["chunks.jsonl", "bm25_words.json", SCORES])
def test_a_record_that_leaves_out_a_file_is_refused(tmp_path: Path, name: str) -> None:
    """Else anything could stand in its place."""
    settings = made_references(tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    record = json.loads(path.read_bytes())
    name = placed(tmp_path / "out", name).name
    del record["files"][name]
    path.write_text(json.dumps(record))
    with pytest.raises(ArtifactMismatch, match=f"names no {name}"):
        opened(settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("session_of.npy", -1),
        ("session_of.npy", 3),
        ("readings.npy", 8),
        ("offsets.npy", 0),
        ("bm25_chunks.npy", 6),
        ("bm25_starts.npy", 99),
        (SCORES, 4),
        (SCORES, -2),
    ],
)
def test_values_that_cannot_be_are_refused_whatever_the_record_says(
    tmp_path: Path, name: str, value: int
) -> None:
    """An array of another artefact may have any; nobody may be shown as somebody else."""
    settings = made_references(tmp_path / "out")
    path = placed(tmp_path / "out", name)
    array = np.load(path)
    array.flat[len(array) // 2] = value
    put_in_place(path, array)
    with pytest.raises(ArtifactMismatch, match=f"{path.name}.* values that cannot be"):
        opened(settings)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".npy")])
def test_arrays_that_do_not_fit_together_are_refused_whatever_the_record_says(
    tmp_path: Path, name: str
) -> None:
    settings = made_references(tmp_path / "out")
    path = placed(tmp_path / "out", name)
    put_in_place(path, np.load(path)[:-1])
    with pytest.raises(ArtifactMismatch, match="do not fit together; build them again"):
        opened(settings)


def put_in_place(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an array of an artefact, and its digest into the record."""
    np.save(path, array)
    manifest = path.parent / "manifest.json"
    record = json.loads(manifest.read_bytes())
    record["files"][path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(record))


@pytest.mark.parametrize("content", [None, b"{}", b"no JSON", b'{"format": 1}', b'{"format": 3}'])
def test_a_folder_without_a_usable_record_is_refused(tmp_path: Path, content: bytes | None) -> None:
    settings = made_references(tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ArtifactMismatch, match="build"):
        opened(settings)


def test_no_folder_is_told_with_the_name_of_the_setting() -> None:
    with pytest.raises(ConfigurationError, match="REFERENCES_DIR"):
        opened(LEXICAL_SETTINGS)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"chunk_lines": 3}, "cut into 2 lines every 2, and 3 every 2 are set"),
        ({"chunk_step": 1}, "and 2 every 1 are set"),
        ({"embedder": "onnx"}, "made with the embedder lexical, and onnx is set"),
    ],
)
def test_other_settings_than_it_was_made_with_are_refused(
    tmp_path: Path, changed: dict[str, object], reason: str
) -> None:
    settings = made_references(tmp_path / "out").model_copy(update=changed)
    with pytest.raises(ArtifactMismatch, match=reason):
        opened(settings)


def test_another_version_of_the_embedder_is_refused(tmp_path: Path) -> None:
    named = LEXICAL_SETTINGS.model_copy(update={"embedder": "ollama:lengths"})
    settings = made_references(tmp_path / "out", settings=named, embedder=Counting())

    assert artefact_of(settings, embedder=Counting()).manifest.embedder.dimensions == 2
    with pytest.raises(ArtifactMismatch, match="another version"):
        opened(settings, embedder=Counting(digest="two"))


def test_scores_under_other_prompts_are_refused(tmp_path: Path) -> None:
    settings = made_references(tmp_path / "out", is_scored=False)
    with pytest.raises(ArtifactMismatch, match="references score"):
        opened(settings)
    unscored = artefact_of(settings)
    scores = np.ones_like(unscored.scores)
    write_scores(tmp_path / "out", unscored.manifest, scores, models=("ollama:m",), prompts=PROMPTS)

    assert opened(settings, prompts=PROMPTS).artefact.manifest.scoring is not None
    with pytest.raises(ArtifactMismatch, match="other prompts of quantitative"):
        opened(settings, prompts=PROMPTS | {"quantitative": "c"})
    assert artefact_of(settings).scores.all()


def test_new_scores_take_the_place_of_those_before_at_once(tmp_path: Path) -> None:
    settings = made_references(tmp_path / "out")
    before = artefact_of(settings)
    scores = np.zeros_like(before.scores)
    write_scores(tmp_path / "out", before.manifest, scores, models=("ollama:m",))

    assert not artefact_of(settings).scores.any()
    assert len(list((tmp_path / "out").glob("scores-*"))) == 1
    assert before.scores.any(), "what is open goes on with what it has"


def test_labels_become_scores_only_where_the_words_speak_for_them(tmp_path: Path) -> None:
    """301's appetite is good and labelled 0; 302's mood is low and labelled 2; 303's sleep 2."""
    artefact = artefact_of(made_references(tmp_path / "out"))
    scored = {
        (chunk, item.value): int(artefact.scores[chunk, column])
        for chunk in range(artefact.manifest.chunks)
        for column, item in enumerate(Item)
        if artefact.scores[chunk, column] >= 0
    }
    assert scored == {
        (0, "PHQ8_Sleep"): 3,
        (1, "PHQ8_Appetite"): 0,
        (2, "PHQ8_Sleep"): 0,
        (3, "PHQ8_Depressed"): 2,
        (4, "PHQ8_Sleep"): 2,
        (5, "PHQ8_NoInterest"): 3,
    }
    assert artefact.manifest.scoring is not None
    assert artefact.manifest.scoring.scored == 6


def test_a_split_has_one_digest_in_any_order_and_another_for_others() -> None:
    people = [session(name).identity for name in TALKS]
    assert split_digest(people) == split_digest(reversed(people))
    assert split_digest(people) != split_digest(people[1:])
