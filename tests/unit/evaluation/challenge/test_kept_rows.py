"""The rows of the public measure that ship with the project are those that the code makes."""

from pathlib import Path

from benchmarks.challenge import (
    BASELINE,
    COMMAND,
    SLICE,
    WHOLE,
    difficulty_rows,
    kept,
    page_rows,
    scored,
)
from benchmarks.challenge_systems import SYSTEMS
from docs.images import challenge as picture

from ai_psychiatrist.evaluation.challenge.folder import Manifest
from ai_psychiatrist.evaluation.challenge.make import challenge_contents


def test_a_slice_of_the_rows_is_made_again_as_it_stands() -> None:
    assert kept()["slice"] == scored(SLICE), COMMAND


def test_the_rows_are_of_the_interviews_that_are_made_now() -> None:
    manifest = Manifest.model_validate_json(challenge_contents(WHOLE)["challenge.json"])
    assert kept()["whole"]["challenge"] == manifest.model_dump(), COMMAND


def test_pages_show_the_rows_as_they_are() -> None:
    for page, rows in (
        ("docs/evaluation.md", page_rows),
        ("benchmarks/README.md", difficulty_rows),
    ):
        text = (Path(__file__).parents[4] / page).read_text("utf-8")
        assert "\n".join(rows(kept()["whole"])) in text, page


def test_picture_of_the_page_shows_the_rows_as_they_are() -> None:
    assert picture.PICTURE.read_text("utf-8") == picture.draw(), "make house"
    assert {row.name for row in picture.rows_of_systems()} == {BASELINE, *SYSTEMS}


def test_reading_pays_and_guessing_does_not() -> None:
    charged = {
        system["name"]: system["all"]["charged_error"] for system in kept()["whole"]["systems"]
    }
    assert set(charged) == {BASELINE, *SYSTEMS}
    silent = charged["always-unknown"]["value"]
    assert charged[BASELINE]["interval"][1] < charged["keywords"]["interval"][0]
    assert charged["keywords"]["interval"][1] < silent
    assert silent < charged["prior-only"]["value"] < charged["always-zero"]["value"]
