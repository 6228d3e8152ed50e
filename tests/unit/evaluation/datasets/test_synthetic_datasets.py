import asyncio
import csv
import random
from pathlib import Path

import numpy as np
import pytest
from tests.unit.evaluation.datasets.corpora import found

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, IssueCode, Labels
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset
from ai_psychiatrist.evaluation.datasets.synthetic.cohort import item_model
from ai_psychiatrist.evaluation.datasets.synthetic.generator import (
    CorpusKind,
    DatasetRecipe,
    make_dataset,
)
from ai_psychiatrist.evaluation.datasets.synthetic.interview import sayings
from ai_psychiatrist.services.transcripts.formats.daic_woz import Interruption373
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript
from ai_psychiatrist.services.transcripts.transcript_store import TranscriptStore

UNITS = 60


@pytest.fixture(scope="module")
def daic_woz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("daic"))


def made(folder: Path, *, seed: int = 0, form: CorpusKind = "daic-woz", units: int = UNITS) -> Path:
    make_dataset(folder, DatasetRecipe(units=units, seed=seed, form=form))
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def labels_of(dataset: Dataset) -> dict[str, Labels | None]:
    return {unit.unit_id: unit.labels for unit in dataset.units}


def drawn(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    chance = random.Random(1)  # noqa: S311
    return np.array([list(item_model().draw(chance).values()) for _ in range(count)], dtype=float)


def test_same_recipe_gives_the_same_bytes(daic_woz: Path, tmp_path: Path) -> None:
    assert files_of(made(tmp_path / "again")) == files_of(daic_woz)
    assert files_of(made(tmp_path / "other", seed=1)) != files_of(daic_woz)


def test_more_units_change_no_interview(daic_woz: Path, tmp_path: Path) -> None:
    fewer = {
        name: content
        for name, content in files_of(made(tmp_path, units=20)).items()
        if "_P/" in name
    }
    assert len(fewer) == 20
    assert fewer.items() <= files_of(daic_woz).items()


def test_every_quirk_is_there_and_found(daic_woz: Path) -> None:
    places = found(open_dataset(daic_woz))
    assert {
        IssueCode.TRANSCRIPT_MISSING: ["307"],
        IssueCode.LABEL_MISSING: ["308"],
        IssueCode.ITEMS_BLANK: ["304"],
        IssueCode.TOTAL_NOT_SUM: ["305"],
        IssueCode.VALUE_OUT_OF_RANGE: ["306"],
        IssueCode.ITEM_RECOVERED: ["319"],
        IssueCode.BINARY_NOT_TOTAL: ["409"],
        IssueCode.CODED_LINE: ["301_P/301_TRANSCRIPT.csv"],
        IssueCode.SPEAKER_SPELLING: ["302_P/302_TRANSCRIPT.csv"],
        IssueCode.APPLE_DOUBLE: ["__MACOSX/300_P/._300_TRANSCRIPT.csv"],
        IssueCode.INTERRUPTION: ["373_P/373_TRANSCRIPT.csv", "444_P/444_TRANSCRIPT.csv"],
        IssueCode.NO_INTERVIEWER: [f"{at}_P/{at}_TRANSCRIPT.csv" for at in (451, 458, 480)],
    }.items() <= places.items()
    assert {
        IssueCode.SYNC_MARK,
        IssueCode.SMALL_TALK,
        IssueCode.SCRUBBED,
        IssueCode.UNRECOGNISED_WORDS,
        IssueCode.NONVERBAL,
        IssueCode.BLANK_WORDS,
    } <= set(places)


def test_interruption_is_left_out_under_every_window(daic_woz: Path) -> None:
    talk = sayings().interruption_talk
    texts = {
        window: open_dataset(daic_woz, interruption_373=window).transcript("373").text
        for window in Interruption373
    }
    interrupted = {window for window, text in texts.items() if any(said in text for said in talk)}
    assert interrupted == {Interruption373.KEEP}


def test_answers_that_look_like_blanks_are_speech(daic_woz: Path) -> None:
    lines = open_dataset(daic_woz).transcript("303").text.splitlines()
    for words in ("nan", "null", '"', "None"):
        assert f"Participant: {words}" in lines


def test_server_reads_the_same_text_as_the_dataset(daic_woz: Path) -> None:
    dataset, store = open_dataset(daic_woz), TranscriptStore(daic_woz)
    for unit in dataset.units:
        if unit.unit_id not in dataset.unreadable:
            stored = asyncio.run(store.read(int(unit.unit_id)))
            served = read_transcript(stored.content, name=stored.name)
            assert served == dataset.transcript(unit.unit_id)


@pytest.mark.parametrize("form", ["daic-woz", "e-daic"])
def test_labels_are_recovered_where_they_can_be(tmp_path: Path, form: CorpusKind) -> None:
    dataset = open_dataset(made(tmp_path, form=form))
    assert dataset.kind == form
    labels = labels_of(dataset)
    recovered, corrected, two_blank = labels["319"], labels["409"], labels["304"]
    assert recovered is not None
    assert corrected is not None
    assert two_blank is not None
    assert recovered.is_recovered
    assert sum(filter(None, recovered.items.values())) == recovered.total
    assert corrected.binary is True
    assert [item for item, score in two_blank.items.items() if score is None] == [
        Item.SLEEP,
        Item.MOVING,
    ]
    assert (labels["306"], labels["308"]) == (None, None)


def test_answers_of_every_score_have_several_wordings_of_their_own() -> None:
    for topic in sayings().items.values():
        by_score = [sayings().answers(topic, score) for score in range(4)]
        assert all(len(set(answers)) >= 6 for answers in by_score)
        said = [answer for answers in by_score for answer in answers]
        assert len(set(said)) == len(said)
        assert not any("{" in answer for answer in said)


def test_readme_says_that_no_figure_counts(daic_woz: Path) -> None:
    readme = (daic_woz / "README.md").read_text()
    assert "No figure measured on it" in readme
    assert "| 319 | one blank item" in readme


@pytest.mark.parametrize("name", ["interview.txt", ".hidden"])
def test_folder_with_anything_in_it_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match="is not empty"):
        made(tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / name]


def test_too_few_units_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 20"):
        made(tmp_path / "few", units=19)


def test_more_units_than_sessions_get_numbers_beyond(tmp_path: Path) -> None:
    numbers = [int(unit.unit_id) for unit in open_dataset(made(tmp_path, units=200)).units]
    assert len(set(numbers)) == 200
    assert not {342, 394, 398, 460} & set(numbers)


def test_drawn_items_go_together_as_peoples_answers_do(public_data: Path) -> None:
    with (public_data / "scores" / "nhanes_2013_2018_items.csv").open() as file:
        rows = [[row[f"q{at}"] for at in range(1, 9)] for row in csv.DictReader(file)]
    real = np.array([row for row in rows if all(row)], dtype=float)
    made_up = drawn(20_000)
    for score in (1, 2, 3):
        shares = abs((real >= score).mean(axis=0) - (made_up >= score).mean(axis=0))
        assert shares.max() < 0.015
    assert abs(np.corrcoef(real.T) - np.corrcoef(made_up.T)).max() < 0.04
    real_cases, made_up_cases = (scores.sum(axis=1) >= 10 for scores in (real, made_up))
    assert abs(real_cases.mean() - made_up_cases.mean()) < 0.02
