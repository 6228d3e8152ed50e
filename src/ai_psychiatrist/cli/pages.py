"""The command `pages`: results that were kept become pages, and a table that leads to them."""

import os
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

import typer
from pydantic import ValidationError

from ai_psychiatrist.cli.console import ExitCode, plain, require, say
from ai_psychiatrist.cli.files import write_file
from ai_psychiatrist.cli.progress import unit_progress
from ai_psychiatrist.cli.settings import read_settings
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.given_files import read_regular, reading_from, reason_of
from ai_psychiatrist.infrastructure.private_files import make_folder
from ai_psychiatrist.interface.given import MOST_BYTES
from ai_psychiatrist.results.page.pages import index_html, index_row, sheet_html
from ai_psychiatrist.results.page.views import sheet_view
from ai_psychiatrist.results.reading import transcript_again
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels

EXAMPLES: Final = """
Examples:

  ai-psychiatrist pages results --out pages

  ai-psychiatrist pages results --texts interviews --out pages

A result is a file NAME.json that `assess --json` or the HTTP API gave. Where it does not hold its
transcript, which is so for a text as sent, the file NAME.txt beside it, or in the folder of
--texts, is read. The pages hold what was said, are named as the results are, and are their owner's
alone.

Exit status: 0 written, 1 some were left out or have no transcript, 2 bad input.
"""
INDEX: Final = "index.html"
SHEETS: Final = "sheets"
_MOST_RESULT_BYTES: Final = 1 << 26
_MOST_NAME_BYTES: Final = 200
"""A file system has room for 255, of which the ending and the draft of a file take some."""


class Unusable(Exception):
    """A file is no result; says why, without a word of it."""


def pages(
    results: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder with the results, NAME.json each.")
    ],
    *,
    out: Annotated[Path, typer.Option("--out", help="The new folder to write to.")],
    texts: Annotated[
        Path | None,
        typer.Option("--texts", help="The folder with the transcripts, NAME.txt each."),
    ] = None,
) -> None:
    """Make a page of each result in a folder, and a table that leads to them."""
    labels = read_settings().transcript.labels
    paths = _results_in(results)
    _make_folder(out)
    rows, complaints, taken = [], [], dict[str, str]()
    with unit_progress("pages", requested=len(paths), done=0) as on_unit:
        for path in paths:
            try:
                _take_name(path, taken)
                result = _result(path)
            except Unusable as unusable:
                complaints.append(f"{path.name}: {unusable}; it is left out")
                on_unit("result")
                continue
            text_path = (texts or results) / f"{path.stem}.txt"
            transcript, complaint = _transcript(result, text_path, labels)
            if complaint:
                complaints.append(f"{path.name}: {complaint}; its page has no transcript")
            sheet = f"{SHEETS}/{path.stem}.html"
            _write(out / sheet, sheet_html(sheet_view(result, transcript, name=path.stem)))
            rows.append(
                index_row(
                    result,
                    name=path.stem,
                    href=quote(sheet),
                    has_transcript=transcript is not None,
                )
            )
            on_unit(None)
    _write(out / INDEX, index_html(rows))
    say(*map(plain, complaints), f"written to {out / INDEX}")
    if complaints:
        raise typer.Exit(ExitCode.PARTIAL)


def _results_in(folder: Path) -> Sequence[Path]:
    """Return the results of a folder in the order of their names; raises `InputError` for none."""
    with reading_from("FOLDER: the folder", field="FOLDER"):
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    require(
        not (folder / "predictions.jsonl").exists(),
        "FOLDER: this is the folder of a run, which keeps figures and no whole results; for "
        "figures on a page use `ai-psychiatrist evaluate report`",
        field="FOLDER",
    )
    require(
        paths,
        "FOLDER: there is no NAME.json; make results with `ai-psychiatrist assess --json`",
        field="FOLDER",
    )
    return paths


def _make_folder(out: Path) -> None:
    try:
        make_folder(out)
        has_files = any(out.iterdir())
        if not has_files:
            (out / SHEETS).mkdir(mode=0o700)
    except OSError as error:
        raise InputError(
            f"--out: the folder cannot be made: {reason_of(error)}", field="--out"
        ) from None
    require(not has_files, "--out: something is in it already; name a new folder", field="--out")


def _take_name(path: Path, taken: dict[str, str]) -> None:
    """Note the name of a page; raises `Unusable` for one that not every file system can keep.

    `taken`: the files of the pages so far, by names in which upper and lower case are one.
    """
    if len(os.fsencode(path.stem)) > _MOST_NAME_BYTES:
        raise Unusable(f"its name is longer than {_MOST_NAME_BYTES} bytes; rename it")
    try:
        path.stem.encode()
    except UnicodeEncodeError:
        raise Unusable("its name is no UTF-8; rename it") from None
    composed = unicodedata.normalize("NFC", path.stem).casefold()  # noqa: TID251  a name is short
    known = taken.setdefault(unicodedata.normalize("NFC", composed), path.name)  # noqa: TID251
    if known != path.name:
        raise Unusable(f"many systems take its name for that of {known}; rename one of them")


def _result(path: Path) -> Assessment:
    try:
        return Assessment.model_validate_json(read_regular(path, most_bytes=_MOST_RESULT_BYTES))
    except OSError as error:
        raise Unusable(f"it cannot be read: {reason_of(error)}") from None
    except ValidationError:
        raise Unusable(
            "it holds no result; make one with `ai-psychiatrist assess FILE --json`"
        ) from None


def _transcript(
    result: Assessment, text_path: Path, labels: SpeakerLabels
) -> tuple[Transcript | None, str]:
    """Return the transcript with its turns, or `None` and why there is none."""
    try:
        kept = result.transcript_text
        text = kept or read_regular(text_path, most_bytes=MOST_BYTES).decode("utf-8")
        return transcript_again(result, text, labels), ""
    except FileNotFoundError:
        return None, f"it does not hold its transcript, and there is no {text_path.name}"
    except (OSError, UnicodeDecodeError):
        return None, f"{text_path.name} cannot be read as UTF-8 text"
    except InputError:
        return None, f"{text_path.name} is not the text that was assessed"


def _write(path: Path, page: str) -> None:
    write_file(path, [page.encode("utf-8", "replace")], option="--out")
