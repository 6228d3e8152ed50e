"""How soon a page is painted, and how soon it answers a key, in Chromium.

The page of one assessment with 400 turns and 200 marks, made up, as a file and as a server shows it
live, and the list of ten thousand; beside them, as controls, a page of plain text with as many
bytes as the file, read from a file and answered by a server that does nothing else. The pages take
turns, so that what else the machine does falls on all of them. `--url` measures any other page.
"""

import argparse
import html
import shutil
import socket
import statistics
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from ai_psychiatrist.results.page.pages import sheet_html
from ai_psychiatrist.results.page.views import sheet_view
from benchmarks.archive import STORED
from benchmarks.marked_interview import interview, marked_assessment
from benchmarks.stored_site import MARKED, StoredSite, stored_site

LOADS: Final = 9
KEYS: Final = ("j", "k", "]", "[", "3", "j", "1", "?", "Escape")
LIVE: Final = {
    "live": f"/assessments/{MARKED}",
    "live, rated blind": f"/assessments/{MARKED}/rate",
    f"list of {STORED:,}": "/",
    "… by danger": "/?sort=danger",
}
CONTROLS: Final = {"plain text, a file": "× a file", "plain text, served": "× served"}
"""Pages of nothing but text → the column that compares with them."""
_POLL_MILLISECONDS: Final = 5
_FIRST_PAINT: Final = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
_WATCH: Final = """
window.answered = [];
addEventListener("keydown", (event) => {
  const pressed = event.timeStamp;
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => window.answered.push(performance.now() - pressed);
    channel.port2.postMessage(0);
  });
}, true);
"""
"""What follows a frame's callbacks comes after its paint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Milliseconds of one page: medians, and the slowest answer."""

    first_paint: float
    answer: float
    slowest_answer: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPage:
    """A page, and in how many milliseconds a server makes it."""

    name: str
    url: str
    served: str = "–"


def write_pages(folder: Path) -> tuple[Path, Path]:
    """Write the page of the made-up assessment, and plain text of the same size."""
    text = interview()
    page = sheet_html(sheet_view(*marked_assessment()))
    plain = (text * (len(page) // len(text) + 1))[: len(page)]
    control = f"<!doctype html><meta charset=utf-8><title>Text</title><pre>{html.escape(plain)}"
    names = folder / "sheet.html", folder / "control.html"
    for name, content in zip(names, (page, control), strict=True):
        name.write_text(content, "utf-8")
    return names


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Milliseconds of one load: its first paint, and the answers to the keys."""

    first_paint: float
    answers: Sequence[float]


def timed(browser: Browser, urls: Sequence[str]) -> list[Timed]:
    """Load the pages several times in turn, and press keys on them each time."""
    rounds = [[_load(browser, url) for url in urls] for _ in range(LOADS)]
    return [_timed(loads) for loads in zip(*rounds, strict=True)]


def _load(browser: Browser, url: str) -> Load:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(_WATCH)
    page.goto(url, wait_until="load")
    _wait(page, f"({_FIRST_PAINT}) !== null")
    first_paint = float(page.evaluate(_FIRST_PAINT))
    load = Load(first_paint=first_paint, answers=_answers(page))
    context.close()
    return load


def _timed(loads: Sequence[Load]) -> Timed:
    answers = [one for load in loads for one in load.answers]
    return Timed(
        first_paint=statistics.median(load.first_paint for load in loads),
        answer=statistics.median(answers),
        slowest_answer=max(answers),
    )


def _answers(page: Page) -> list[float]:
    for pressed, key in enumerate(KEYS, start=1):
        page.keyboard.press(key)
        _wait(page, f"window.answered.length >= {pressed}")
    return [float(one) for one in page.evaluate("window.answered")]


def _wait(page: Page, expression: str) -> None:
    """Ask until it is true; the page's policy forbids waiting for a text inside it."""
    while not page.evaluate(expression):
        page.wait_for_timeout(_POLL_MILLISECONDS)


@contextmanager
def _browser(path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def rows(urls: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the table."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        yield "There is no Chromium: install the package chromium."
        return
    heads = (
        "page",
        "the server, ms",
        "first paint, ms",
        *CONTROLS.values(),
        "a key, ms",
        "slowest",
    )
    yield f"| {' | '.join(heads)} |"
    yield f"| --- |{' ---: |' * (len(heads) - 1)}"
    with _pages(urls) as pages, _browser(chromium) as browser:
        found = timed(browser, [page.url for page in pages])
    paints = {page.name: one.first_paint for page, one in zip(pages, found, strict=True)}
    for page, one in zip(pages, found, strict=True):
        ratios = (
            f"{one.first_paint / paints[control]:.2f}" if control in paints else "–"
            for control in CONTROLS
        )
        yield (
            f"| {page.name} | {page.served} | {one.first_paint:.0f} | {' | '.join(ratios)} | "
            f"{one.answer:.0f} | {one.slowest_answer:.0f} |"
        )


@contextmanager
def _pages(urls: Sequence[str]) -> Iterator[Sequence[MeasuredPage]]:
    if urls:
        yield [MeasuredPage(name=url, url=url) for url in urls]
        return
    with TemporaryDirectory() as folder, stored_site(STORED) as site:
        sheet, control = write_pages(Path(folder))
        size = sheet.stat().st_size // 1024
        file_control, served_control = CONTROLS
        with _served_files(Path(folder)) as files:
            yield [
                MeasuredPage(name=file_control, url=control.as_uri()),
                MeasuredPage(name=served_control, url=f"{files}/{control.name}"),
                MeasuredPage(name=f"a file, {size} kB", url=sheet.as_uri()),
                *_live(site),
            ]


@contextmanager
def _served_files(folder: Path) -> Iterator[str]:
    """Answer with the files of a folder by the server that the program runs on."""
    heard = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Mount("/", StaticFiles(directory=folder))])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    serving = threading.Thread(target=server.run, args=([heard],))
    serving.start()
    try:
        yield f"http://127.0.0.1:{heard.getsockname()[1]}"
    finally:
        server.should_exit = True
        serving.join()


def _live(site: StoredSite) -> Iterator[MeasuredPage]:
    for name, path in LIVE.items():
        served = f"{site.server_ms(path, rounds=LOADS):.0f}"
        yield MeasuredPage(name=name, url=site.url + path, served=served)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="pages", description=__doc__)
    parser.add_argument("--url", action="append", default=[], help="a page to measure instead")
    for line in rows(parser.parse_args(arguments).url):
        print(line, flush=True)


if __name__ == "__main__":
    main()
