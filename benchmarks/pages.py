"""How soon a page is painted, and how soon it answers a key, in Chromium.

The page of one assessment with 400 turns and 200 marks, made up, as a file and as a server shows it
live, and the list of ten thousand; beside them, as the control, a page of plain text with as many
bytes as the file. `--url` measures any other page instead.
"""

import argparse
import html
import shutil
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright

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


def timed(browser: Browser, url: str) -> Timed:
    """Load a page several times, and press keys on it each time."""
    paints, answers = [], []
    for _ in range(LOADS):
        context = browser.new_context()
        page = context.new_page()
        page.add_init_script(_WATCH)
        page.goto(url, wait_until="load")
        _wait(page, f"({_FIRST_PAINT}) !== null")
        paints.append(float(page.evaluate(_FIRST_PAINT)))
        answers += _answers(page)
        context.close()
    return Timed(
        first_paint=statistics.median(paints),
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
    yield "| page | the server, ms | first paint, ms | × control | a key answered, ms | slowest |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    control = 0.0
    with _pages(urls) as pages, _browser(chromium) as browser:
        for page in pages:
            found = timed(browser, page.url)
            control = control or found.first_paint
            yield (
                f"| {page.name} | {page.served} | {found.first_paint:.0f} | "
                f"{found.first_paint / control:.2f} | {found.answer:.0f} | "
                f"{found.slowest_answer:.0f} |"
            )


@contextmanager
def _pages(urls: Sequence[str]) -> Iterator[Sequence[MeasuredPage]]:
    if urls:
        yield [MeasuredPage(name=url, url=url) for url in urls]
        return
    with TemporaryDirectory() as folder, stored_site(STORED) as site:
        yield [*_files(Path(folder)), *_live(site)]


def _live(site: StoredSite) -> Iterator[MeasuredPage]:
    for name, path in LIVE.items():
        served = f"{site.server_ms(path, rounds=LOADS):.0f}"
        yield MeasuredPage(name=name, url=site.url + path, served=served)


def _files(folder: Path) -> Iterator[MeasuredPage]:
    sheet, control = write_pages(folder)
    size = sheet.stat().st_size // 1024
    yield MeasuredPage(name="plain text, the control", url=control.as_uri())
    yield MeasuredPage(name=f"a file, {size} kB", url=sheet.as_uri())


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="pages", description=__doc__)
    parser.add_argument("--url", action="append", default=[], help="a page to measure instead")
    for line in rows(parser.parse_args(arguments).url):
        print(line, flush=True)


if __name__ == "__main__":
    main()
