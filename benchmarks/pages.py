"""How soon a page is painted, and how soon it answers a key, in Chromium.

The page of one assessment with 400 turns and 200 marks, made up; beside it, as the control, a page
of plain text with as many bytes. `--url` measures any other page instead, such as one of a server.
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

from ai_psychiatrist import assess_sync
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.results.page.sheet import sheet_html
from ai_psychiatrist.results.page.views import sheet_view
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

TURNS: Final = 400
MARKS: Final = 200
LOADS: Final = 9
KEYS: Final = ("j", "k", "]", "[", "3", "j", "1", "?", "Escape")
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


def interview() -> str:
    """Return an interview of so many turns."""
    return "".join(
        f"Interviewer: And how was day {number} for you, all in all?\n"
        f"Participant: On day {number} I hardly slept, and I felt tired nearly all the time.\n"
        for number in range(TURNS // 2)
    )


def marked(result: FullResult, transcript: Transcript) -> FullResult:
    """Return the result with as many quotes, dealt out to the items in turn."""
    turns = [turn for turn in transcript.turns if turn.index % 2]
    quotes: dict[str, list[dict[str, object]]] = {item.value: [] for item in Item}
    for number in range(MARKS):
        turn, item = turns[number % len(turns)], tuple(Item)[number % len(Item)]
        start = turn.words_start + number % 7
        segment = {"turn": turn.index, "start": start, "end": start + 40}
        text = transcript.text[start : start + 40]
        quotes[item.value].append({"text": text, "match": "exact", "segments": [segment]})
    found = result.model_dump(mode="json")
    for item, one in found["quantitative"]["items"].items():
        one["evidence"] = quotes[item]
    return FullResult.model_validate(found)


def write_pages(folder: Path) -> tuple[Path, Path]:
    """Write the page of the made-up assessment, and plain text of the same size."""
    text = interview()
    transcript = parse_transcript(text)
    page = sheet_html(sheet_view(marked(assess_sync(text), transcript), transcript))
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
    yield "| page | first paint, ms | a key answered, ms | slowest |"
    yield "| --- | ---: | ---: | ---: |"
    with TemporaryDirectory() as folder:
        pages = dict(zip(urls, urls, strict=True)) or _own_pages(Path(folder))
        with _browser(chromium) as browser:
            for name, url in pages.items():
                found = timed(browser, url)
                yield (
                    f"| {name} | {found.first_paint:.0f} | {found.answer:.0f} | "
                    f"{found.slowest_answer:.0f} |"
                )


def _own_pages(folder: Path) -> dict[str, str]:
    sheet, control = write_pages(folder)
    size = sheet.stat().st_size // 1024
    return {
        "plain text, the control": control.as_uri(),
        f"assessment, {size} kB": sheet.as_uri(),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="pages", description=__doc__)
    parser.add_argument("--url", action="append", default=[], help="a page to measure instead")
    for line in rows(parser.parse_args(arguments).url):
        print(line, flush=True)


if __name__ == "__main__":
    main()
