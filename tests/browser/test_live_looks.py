"""Every live page in each look: accessible, and within its window."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

import pytest
from playwright.sync_api import Browser, ViewportSize

from tests.browser.site import Person, Site, site_of
from tests.fakes.shown_results import DANGEROUS

_LOOKS: Final[dict[int, Literal["light", "dark"]]] = {1280: "light", 800: "light", 360: "dark"}
"""The width of each window, and the colours in it."""


_MOVED_SIDEWAYS: Final = """() => [...document.querySelectorAll(".danger .scroll, #chosen .scroll")]
  .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)"""
"""Lists with danger in them are in sight at every width."""


@pytest.fixture
def site(browser: Browser, tmp_path: Path) -> Iterator[Site]:
    """Serve, as after a fresh installation."""
    with site_of(browser, tmp_path) as site:
        yield site


def _confirms_reading(person: Person, path: str) -> None:
    """Confirm what held the interview about an assessment on its page."""
    person.open(path).click("#interview-danger button")
    person.page.wait_for_selector("#interview-danger .read")
    _is_open_to_all(person)


def test_axe_finds_nothing_in_any_state(site: Site) -> None:
    person = site.person()
    person.open("/")
    _is_open_to_all(person)
    person.named("Ada")
    person.open("/login")
    _is_open_to_all(person)
    page = person.open("/new")
    page.fill("#text", "Tom: How do you sleep?\nEva: Badly, every night.")
    page.click("#preview")
    page.wait_for_selector("#speakers tr")
    _is_open_to_all(person)
    path = person.assess()
    _is_open_to_all(person)
    page = person.open(f"{path}/rate")
    person.select("nearly every night")
    page.keyboard.press("3")
    page.keyboard.press("m")
    _is_open_to_all(person)
    person.rate(path, "uu3uu0uu")
    page.wait_for_selector(".judge")
    _is_open_to_all(person)
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    person.axe()
    about = json.loads(person.fetch("GET", f"/v1{path}")["text"])
    begun = person.fetch("POST", "/v1/interviews", {"protocol": "phq8", "assessment": about})
    held = f"/v1/interviews/{json.loads(begun['text'])['interview_id']}"
    said = {
        "question_id": "q1",
        "text": "I want to kill myself.",
        "idempotency_key": "k",
        "version": 1,
    }
    person.fetch("POST", f"{held}/answers", said)
    person.open("/").click("#held-name ~ * a")
    page.wait_for_url("**/interviews/*")
    _is_open_to_all(person)
    page.fill("#reason", "Called at once.")
    page.click("text=Reopen the interview")
    page.wait_for_selector("text=Reopened by")
    _is_open_to_all(person)
    _confirms_reading(person, path)
    person.fetch(
        "POST",
        f"{held}/answers",
        said | {"question_id": "q2", "idempotency_key": "l", "version": 3},
    )
    page = person.open("/")
    page.check("#all")
    assert page.locator("#chosen tbody input:checked").count() == 1
    page.click("text=Erase …")
    page.wait_for_url("**/chosen/erase")
    _is_open_to_all(person)
    page = person.open("/")
    page.click("#chosen >> text=Export")
    page.wait_for_selector("h1:has-text('Nothing is chosen')")
    _is_open_to_all(person)
    for path in ("/", "/?band=severe&state=failed", "/agreement", "/next", "/assessments/none"):
        person.open(path)
        _is_open_to_all(person)


def _is_open_to_all(person: Person) -> None:
    for number, (width, colours) in enumerate(_LOOKS.items()):
        person.page.set_viewport_size(ViewportSize(width=width, height=800))
        person.page.emulate_media(color_scheme=colours)
        person.axe(of_looks_alone=number > 0)
        assert person.page.evaluate("document.documentElement.scrollWidth") <= width
        assert person.page.evaluate(_MOVED_SIDEWAYS) == []


_SMALL: Final = """(least) => {
  const fields = "input:not([type=hidden], [type=radio], [type=checkbox]), select";
  const boxes = "label:has([type=radio], [type=checkbox])";
  return [...document.querySelectorAll(`a, button, summary, ${boxes}, ${fields}`)]
    // A link in running text has the room of its line.
    .filter((one) => one.checkVisibility() && !(one.matches("a") && one.closest("p, li, td, th")))
    .map((one) => [one, one.getBoundingClientRect()])
    .filter(([, box]) => box.width && (box.width < least || box.height < least))
    .map(([one, box]) => `${one.outerHTML.slice(0, 80)} ${box.width} × ${box.height}`);
}"""
_FINGER_PIXELS: Final = 44
_PHONE: Final = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}


def test_by_taps_alone_one_rates_and_adjudicates_on_a_telephone(site: Site) -> None:
    ada, ben = site.person(**_PHONE).named("Ada"), site.person().named("Ben")
    path, page = ada.assess(), ada.page

    def is_for_fingers() -> None:
        assert page.evaluate(_SMALL, _FINGER_PIXELS) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

    ada.open("/")
    is_for_fingers()
    ada.open(f"{path}/rate")
    ada.select("nearly every night")
    page.locator("fieldset.rate").nth(2).get_by_role("button", name="Mark").tap()
    page.wait_for_selector(".marked q")
    is_for_fingers()
    for place, score in enumerate("uu3uu0uu"):
        item = page.locator("fieldset.rate").nth(place)
        item.locator(f"label:has([value='{score}'])").tap()
    page.locator("#commit").tap()
    page.locator("#confirm button[value=commit]").tap()
    page.wait_for_selector(".judge")
    is_for_fingers()
    page.get_by_role("button", name="Accept").first.tap()
    page.wait_for_selector(".mine:has-text('accepted by you')")
    ben.rate(path, "uu2uu0uu")
    ada.open(f"{path}/adjudicate")
    is_for_fingers()
    page.get_by_role("link", name="Sleep").first.tap()
    decided = page.locator("#of-PHQ8_Sleep")
    decided.locator("select").select_option("3")
    decided.locator("input").tap()
    page.keyboard.type("Nearly every night.")
    page.locator("#save").tap()
    page.wait_for_selector(".done:has-text('Saved')")


def test_filters_are_folded_on_a_telephone_alone(site: Site) -> None:
    person = site.person()
    person.assess()
    page, fields = person.open("/"), person.page.locator(".filters select")
    assert fields.first.is_visible()
    page.set_viewport_size(ViewportSize(width=360, height=800))
    assert not fields.first.is_visible()
    page.click("summary:has-text('Search and sort')")
    page.select_option("select[name=danger]", "high")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_selector("#count:has-text('0 assessments')")
    assert fields.first.is_visible()


def test_a_failed_assessment_is_open_to_all_and_tried_again_by_its_button(
    browser: Browser, tmp_path: Path
) -> None:
    gone = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "MODEL_DEFAULT": "openai-chat:gone"}
    with site_of(browser, tmp_path, **gone) as site:
        person = site.person()
        person.named("Ada")
        page = person.page
        person.assess(DANGEROUS)
        assert page.inner_text("h1") == "The assessment failed"
        assert page.locator("#danger .signs li").count() > 8
        assert page.locator(".turn").count() == 18
        _is_open_to_all(person)
        first = page.url
        person.open("/").wait_for_selector("#unread")
        assert "not yet read" in page.inner_text(".danger-cell")
        _is_open_to_all(person)
        person.open(first.removeprefix(site.url))
        page.click("text=Try again")
        page.wait_for_url(lambda url: url != first and "/assessments/" in url)
        page.wait_for_selector("h1:not(:has-text('under way'))")
        assert page.inner_text("h1") == "The assessment failed"
