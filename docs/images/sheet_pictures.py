"""Takes the pictures of the pages that `assess --html` and `pages` write: `make pictures`.

A real browser takes them, so their bytes differ from one to the next: no test compares them.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import ViewportSize, sync_playwright

import ai_psychiatrist as ap
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.results.page.pages import sheet_html
from ai_psychiatrist.results.page.views import sheet_view
from ai_psychiatrist.results.reading import transcript_again

FOLDER: Final = Path(__file__).parent
EXAMPLE: Final = FOLDER.parents[1] / "examples" / "interview.txt"
PICTURES: Final = {
    "sheet.png": (ViewportSize(width=1240, height=620), "light", ""),
    "sheet_dark.png": (ViewportSize(width=1210, height=480), "dark", "#q-sleep-1"),
    "sheet_narrow.png": (ViewportSize(width=390, height=844), "light", "#t22"),
}


def page_of(example: Path) -> str:
    """Assess an interview by rules, and return its page."""
    text = example.read_text("utf-8")
    with TemporaryDirectory() as folder:
        settings = load_settings({"DATA_STATE_DIR": folder}, dotenv=None)
        result = ap.assess_sync(text, settings=settings)
    return sheet_html(sheet_view(result, transcript_again(result, text), name=example.name))


def main() -> int:
    """Take all pictures; returns the exit status."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        sys.stderr.write("there is no Chromium: install the package chromium\n")
        return 1
    page_text = page_of(EXAMPLE)
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "sheet.html"
        file.write_text(page_text, encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-lcd-text"]
        )
        for name, (size, scheme, place) in PICTURES.items():
            page = browser.new_page(
                viewport=size, color_scheme="dark" if scheme == "dark" else "light"
            )
            page.goto(f"{file.as_uri()}{place}")
            page.screenshot(path=FOLDER / name)
            page.close()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
