"""Takes the pictures of the pages that `serve` shows: `make pictures`.

Two raters rate a few interviews with a real browser, and somebody answers on a telephone; no test
compares what comes out.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright
from tests.integration.running_app import RunningApp, settings_with

FOLDER: Final = Path(__file__).parent
EXAMPLES: Final = FOLDER.parents[1] / "examples"
WIDE: Final = ViewportSize(width=1240, height=640)
HELP: Final = "Somebody to talk to, day and night: 116 123."
NARROW: Final = ViewportSize(width=390, height=760)
NAMELESS: Final = (
    "Kit: How have you slept since we last met?\n"
    "Robin: Badly. I wake at four nearly every night, and then I lie there.\n"
    "Kit: And how is your appetite?\n"
    "Robin: No problem there, I eat well.\n"
)
ADA: Final = ("12312u0u", "uu3uuuuu", "12301u0u")
BO: Final = ("11312u1u", "uu3u0uuu", "22311u0u")


def main() -> int:
    """Take all pictures; returns the exit status."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        sys.stderr.write("there is no Chromium: install the package chromium\n")
        return 1
    with (
        TemporaryDirectory() as folder,
        RunningApp(settings_with(Path(folder), RISK_CRISIS_RESOURCES=HELP)) as app,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-lcd-text"]
        )
        _take(browser, app.url)
        _take_interview(browser, app.url)
        browser.close()
    return 0


def _take(browser: Browser, url: str) -> None:
    ada, bo = _rater(browser, url, "Ada"), _rater(browser, url, "Bo")
    ada.goto(f"{url}/new")
    ada.fill("#text", NAMELESS)
    ada.click("#preview")
    ada.wait_for_selector("#speakers tr")
    ada.evaluate("scrollTo(0, 260)")
    _picture(ada, "live_new.png")
    ada.select_option("#speakers tr >> nth=1 >> select", "participant")
    ada.select_option("#speakers tr >> nth=0 >> select", "interviewer")
    short = (EXAMPLES / "short_interview.txt").read_text("utf-8")
    named = ((_LABELLED, "P-001"), (short, "P-002"))
    paths = [_begun(ada, url), *(_pasted(ada, url, text, study_id) for text, study_id in named)]
    ada.goto(f"{url}{paths[0]}/rate")
    ada.wait_for_selector("#rating")
    ada.keyboard.press("3")
    ada.keyboard.press("3")
    ada.evaluate("scrollTo(0, 180)")
    _picture(ada, "live_rate.png")
    for path, first, second in zip(paths, ADA, BO, strict=True):
        _rate(ada, f"{url}{path}", first)
        _rate(bo, f"{url}{path}", second)
    ada.goto(f"{url}{paths[0]}")
    ada.wait_for_selector(".judge")
    ada.evaluate("document.querySelector('.ratings').scrollIntoView()")
    _picture(ada, "live_ratings.png")
    ada.goto(f"{url}/agreement")
    _picture(ada, "live_agreement.png")
    unrated = NAMELESS.replace("Kit", "Interviewer").replace("Robin", "Patient")
    _pasted(ada, url, unrated, "P-003")
    ada.goto(f"{url}/")
    _picture(ada, "live_cohort.png")


def _take_interview(browser: Browser, url: str) -> None:
    """Take what the person of an interview sees after an answer in words."""
    body = {"protocol": "phq8", "link": True, "inputs": {}}
    begun = httpx.post(f"{url}/v1/interviews", json=body).json()
    telephone = browser.new_context(viewport=NARROW, has_touch=True)
    page = telephone.new_page()
    page.goto(begun["link"]["address"])
    page.wait_for_selector("#asking:visible")
    page.fill("#words", "hardly anything was fun on about eight days")
    page.click("#free button")
    page.wait_for_selector("#question:has-text('I noted')")
    page.screenshot(path=FOLDER / "live_interview.png")


_LABELLED: Final = NAMELESS.replace("Kit", "Interviewer").replace("Robin", "Participant")


def _rater(browser: Browser, url: str, name: str) -> Page:
    page = browser.new_context(viewport=WIDE).new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{url}/login")
    page.fill("#rater", name)
    page.click("text=Go on")
    return page


def _begun(page: Page, url: str) -> str:
    page.goto(f"{url}/new")
    page.click("#example")
    return _place(page, url)


def _pasted(page: Page, url: str, text: str, study_id: str) -> str:
    page.goto(f"{url}/new")
    page.fill("#text", text)
    page.fill("#subject", study_id)
    page.click("#assess")
    return _place(page, url)


def _place(page: Page, url: str) -> str:
    page.wait_for_url("**/assessments/*")
    page.wait_for_selector("h1:not(:has-text('under way'))")
    return page.url.removeprefix(url)


def _rate(page: Page, address: str, scores: str) -> None:
    page.goto(f"{address}/rate")
    for place, score in enumerate(scores):
        page.locator("fieldset.rate").nth(place).locator(f"input[value='{score}']").check()
    page.click("#commit")
    page.click("#confirm button[value=commit]")
    page.wait_for_selector("#ratings-name")


def _picture(page: Page, name: str) -> None:
    page.evaluate("document.getElementById('said').replaceChildren()")
    page.screenshot(path=FOLDER / name)


if __name__ == "__main__":
    sys.exit(main())
