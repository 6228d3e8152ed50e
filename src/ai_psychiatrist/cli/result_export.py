"""Write exported results to their place."""

from collections.abc import Iterator
from pathlib import Path

import typer

from ai_psychiatrist.cli.exits import writing_output
from ai_psychiatrist.cli.export_wanted import ExportWanted, refuse
from ai_psychiatrist.infrastructure.private_files import is_device, write_whole, writing_to


def write_results(path: Path, wanted: ExportWanted, out: Path | None) -> None:
    """Write results to a file that its owner alone can read, or to standard output."""
    # Imported here: exporting steps needs none of it.
    from ai_psychiatrist.cli.exported_results import exported  # noqa: PLC0415

    chunks = exported(path, wanted)
    if out is None:
        _print(chunks)
        return
    _check_place(out, path)
    with writing_to(out, field="--out"):
        write_whole(out, chunks)
    typer.echo(f"written to {out}", err=True)


def _print(chunks: Iterator[bytes]) -> None:
    with writing_output():
        stream = typer.get_binary_stream("stdout")
        for chunk in chunks:
            stream.write(chunk)
        stream.flush()


def _check_place(out: Path, path: Path) -> None:
    if out.is_dir():
        refuse("--out", "it is a folder; name a file")
    if is_device(out):
        refuse("--out", "it is a device or a pipe; leave --out away for standard output")
    if not out.parent.is_dir():
        refuse("--out", "its folder is not there; make it first")
    if out.exists() and path.exists() and out.samefile(path):
        refuse("--out", "this is what is exported; name another file")
