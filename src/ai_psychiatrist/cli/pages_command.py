"""The command `pages`: results that were kept become pages, and a table that leads to them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

import typer

from ai_psychiatrist.cli.exits import ExitCode, refusing_bad_input
from ai_psychiatrist.cli.plain_text import plain
from ai_psychiatrist.cli.progress import unit_progress
from ai_psychiatrist.cli.result_folder import KeptResult, Unusable, kept_results
from ai_psychiatrist.cli.settings_source import read_settings
from ai_psychiatrist.cli.sheet_names import SheetNames
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.given_files import reason_of
from ai_psychiatrist.infrastructure.private_files import make_folder, write_whole, writing_to
from ai_psychiatrist.results.page.pages import index_html, index_row, sheet_html
from ai_psychiatrist.results.page.views import sheet_view

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
    with refusing_bad_input():
        kept = kept_results(results, texts or results, read_settings(None))
        _make_folder(out)
        complaints = _write(kept, out)
    for complaint in complaints:
        typer.echo(plain(complaint), err=True)
    typer.echo(f"written to {out / INDEX}", err=True)
    if complaints:
        raise typer.Exit(ExitCode.PARTIAL)


def _make_folder(out: Path) -> None:
    try:
        make_folder(out)
        has_files = any(out.iterdir())
        if not has_files:
            (out / SHEETS).mkdir(mode=0o700)
    except OSError as error:
        msg = f"--out: the folder cannot be made: {reason_of(error)}"
        raise InputError(msg, field="--out") from None
    if has_files:
        msg = "--out: something is in it already; name a new folder"
        raise InputError(msg, field="--out")


def _write(kept: Sequence[KeptResult], out: Path) -> list[str]:
    """Write the pages one after the other; return what is to be said of them."""
    rows, complaints = [], []
    names = SheetNames()
    with unit_progress("pages", requested=len(kept), done=0) as on_unit:
        for one in kept:
            try:
                sheet = names.taken_for(one.path)
                result = one.result()
                transcript, complaint = one.transcript(result)
            except Unusable as unusable:
                complaints.append(f"{one.path.name}: {unusable}; it is left out")
                on_unit("result")
                continue
            if complaint:
                complaints.append(f"{one.path.name}: {complaint}; its page has no transcript")
            page = sheet_html(sheet_view(result, transcript, name=one.name))
            _write_page(out / SHEETS / sheet, page)
            rows.append(
                index_row(
                    result,
                    name=one.name,
                    href=quote(f"{SHEETS}/{sheet}"),
                    has_transcript=transcript is not None,
                )
            )
            on_unit(None)
    _write_page(out / INDEX, index_html(rows))
    return complaints


def _write_page(path: Path, page: str) -> None:
    with writing_to(path, field="--out"):
        write_whole(path, [page.encode("utf-8", "replace")])
