"""Pages for people: of one assessment, and of a folder of results with the table of them."""

import json
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.golden.answer import Answer, Json, folder_masks
from tests.golden.exports_given import RESULTS, Given
from tests.golden.page_text import page_value
from tests.golden.ways import EXAMPLES, run

_HTML: Final[dict[str, Sequence[str]]] = {
    "folder": ("--html", "."),
    "no_folder": ("--html", "no/such/page.html"),
    "standard_output": ("--html", "-"),
    "interview_itself": ("--html", "interview.txt"),
    "of_the_certificate": ("--html", "proof.json", "--certificate", "proof.json"),
    "with_refused_speaker": ("--html", "page.html", "--participant", "Nobody"),
}


def answers(folder: Path, given: Sequence[Given]) -> Iterator[Answer]:
    """Yield the pages, and what is told where there are none."""
    masks = folder_masks(folder)
    texts = [one.text for one in given]
    ended = run(["pages", RESULTS, "--out", "pages"], folder)
    written = {
        path.relative_to(folder / "pages").as_posix(): f"{stat.S_IMODE(path.stat().st_mode):o}"
        for path in sorted((folder / "pages").rglob("*"))
    }
    index = page_value((folder / "pages" / "index.html").read_text("utf-8"))
    value: Json = {"ended": ended.value, "written": written, "index": index}
    yield Answer(name="pages/index", value=value, masks=masks)
    for one in given:
        page = (folder / "pages" / "sheets" / f"{one.name}.html").read_text("utf-8")
        shown = page_value(page)
        yield Answer(name=f"pages/{one.name}", value=shown, given=texts, masks=masks)
    yield from _of_one(folder)
    yield from _odd_folders(folder, given)


def _of_one(folder: Path) -> Iterator[Answer]:
    """Yield pages that `assess` writes beside its result, and refused places for them."""
    text = (EXAMPLES / "short_interview.txt").read_text("utf-8")
    (folder / "interview.txt").write_text(text, "utf-8")
    for name, source in {"of_a_file": "interview.txt", "of_standard_input": "-"}.items():
        arguments = ["assess", source, "--json", "--html", "page.html", "--certificate", "c.json"]
        ended = run(arguments, folder, stdin=text.encode())
        attempts = json.loads(ended.out)["attempts"]
        took = {f"{one['duration_ms'] / 1000:.1f} s": "<took>" for one in attempts}
        place = folder / "page.html"
        value: Json = {
            "exit": ended.code,
            "mode": f"{stat.S_IMODE(place.stat().st_mode):o}",
            "page": page_value(place.read_text("utf-8")),
        }
        masks = folder_masks(folder) | took
        yield Answer(name=f"assess_html/{name}", value=value, given=[text], masks=masks)
        place.unlink()
    for name, options in _HTML.items():
        ended = run(["assess", "interview.txt", *options], folder)
        value = {"ended": ended.value, "written": (folder / "page.html").exists()}
        yield Answer(name=f"assess_html/{name}", value=value, masks=folder_masks(folder))


def _odd_folders(folder: Path, given: Sequence[Given]) -> Iterator[Answer]:
    """Yield what is told of folders and of files in them that cannot be shown."""
    masks = folder_masks(folder)
    (folder / "vacant").mkdir()
    (folder / "texts").mkdir()
    mixed = folder / "mixed"
    mixed.mkdir()
    one = next(one for one in given if one.name == "danger")
    result = json.dumps(one.result)
    for name in ("good", "other", "textless", "unreadable", "two & <b>", "Same", "same", "l" * 230):
        (mixed / f"{name}.json").write_text(result, "utf-8")
    for name in ("two & <b>", "Same", "same", "good"):
        (folder / "texts" / f"{name}.txt").write_text(one.text, "utf-8")
    (folder / "texts" / "other.txt").write_text("Participant: Something else.\n", "utf-8")
    (folder / "texts" / "unreadable.txt").write_bytes(b"Participant: \xff\xfe\n")
    (mixed / "cut_off.json").write_text(result[:500], "utf-8")
    (mixed / "earlier.json").write_text(json.dumps({**one.result, "schema_version": "1"}), "utf-8")
    (mixed / "folder.json").mkdir()
    for name, arguments in {
        "mixed": ("mixed", "--texts", "texts", "--out", "of_mixed"),
        "without_texts": ("mixed", "--texts", "vacant", "--out", "without_texts"),
        "no_folder": ("none", "--out", "never"),
        "file": (f"{RESULTS}/danger.json", "--out", "never"),
        "empty": ("vacant", "--out", "never"),
        "run": ("run", "--out", "never"),
        "out_in_use": (RESULTS, "--out", "texts"),
        "out_is_a_file": (RESULTS, "--out", "interview.txt"),
        "texts_not_there": (RESULTS, "--texts", "none", "--out", "no_texts"),
        "out_not_named": (RESULTS,),
    }.items():
        ended = run(["pages", *arguments], folder)
        out = folder / arguments[-1]
        sheets = sorted(path.name for path in out.glob("sheets/*"))
        value: dict[str, Json] = {"ended": ended.value, "sheets": sheets}
        if name == "mixed":
            value["index"] = page_value((out / "index.html").read_text("utf-8"))
        yield Answer(name=f"pages_refused/{name}", value=value, masks=masks)
        if sheets:
            shutil.rmtree(out)
