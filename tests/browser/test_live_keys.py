"""Rating and marking by keys alone, and what keys must not do."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.site import TALK, Person, Site, site_of


@pytest.fixture
def site(browser: Browser, tmp_path: Path) -> Iterator[Site]:
    """Serve, as after a fresh installation."""
    with site_of(browser, tmp_path) as site:
        yield site


@pytest.fixture
def person(site: Site) -> Person:
    """Name a rater."""
    return site.person().named("Ada")


def _rating(person: Person, text: str = TALK) -> Page:
    page = person.open(f"{person.assess(text)}/rate")
    page.wait_for_function("document.querySelector('#commit').disabled === false")
    return page


def _scores(page: Page) -> str:
    fields = page.locator("fieldset.rate")
    given: str = fields.evaluate_all(
        "(all) => all.map((one) => one.querySelector('input:checked')?.value ?? '-').join('')"
    )
    return given


def _press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_an_item_and_then_its_score_score_no_other_item(person: Person) -> None:
    page = _rating(person)
    status = page.locator("#next-key[role=status]")
    assert status.inner_text() == "1 to 8, j or k chooses an item."
    _press(page, "1")
    assert status.inner_text() == "0 to 3, or u, scores Interest or pleasure."
    assert page.locator("[data-waits]").get_attribute("data-item") == "PHQ8_NoInterest"
    _press(page, "2")
    assert status.inner_text() == "Interest or pleasure: 2. 1 to 8, j or k chooses an item."
    _press(page, "2", "1")
    assert _scores(page) == "21------"
    assert page.locator("[data-waits]").count() == 0


def test_a_digit_that_is_no_score_chooses_and_what_waits_can_be_changed(person: Person) -> None:
    page = _rating(person)
    _press(page, "0", "u")
    assert _scores(page) == "--------"
    _press(page, "1", "5", "3", "j", "u", "k", "2", "3", "Shift+1", "0")
    assert _scores(page) == "0---2u--"
    page.locator("fieldset.rate").nth(6).locator("input[value='1']").check()
    _press(page, "2", "3")
    assert _scores(page) == "03--2u1-"
    page.keyboard.press("8")
    page.get_by_label("Mark selected words for Sleep").focus()
    page.keyboard.press("2")
    assert _scores(page) == "03--2u1-"


def test_the_question_before_committing_lists_all_scores_and_marks(person: Person) -> None:
    page = _rating(person)
    _press(page, "3", "n", "n", "m", "3")
    for item in "1245678":
        _press(page, item, "u" if item == "8" else "1")
    _press(page, "v")
    page.wait_for_selector("#confirm[open]")
    rows = page.locator("#summary tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [
        ["Interest or pleasure", "1", "none"],
        ["Low mood", "1", "none"],
        ["Sleep", "3", "1 passage"],
        ["Energy", "1", "none"],
        ["Appetite", "1", "none"],
        ["Self-worth", "1", "none"],
        ["Concentration", "1", "none"],
        ["Slowed or restless", "cannot tell", "none"],
    ]
    assert "Sleep" not in page.inner_text("#unmarked")
    person.axe()


def test_sentences_turns_and_words_are_marked_without_a_mouse(person: Person) -> None:
    page = _rating(person)
    own = page.locator("[data-item=PHQ8_Sleep] .marked q")
    _press(page, "3", "n")
    assert page.inner_text("#said") == "Turn 2: Badly."
    _press(page, "n", "-", "-", "-", "-", "w", "m")
    assert own.all_inner_texts() == ["wake up at four nearly every night"]
    _press(page, "p", "+", "m")
    assert own.all_inner_texts()[1:] == ["Badly. I"]
    _press(page, "5", "]", "]", "m")
    appetite = page.locator("[data-item=PHQ8_Appetite] .marked q")
    assert appetite.all_inner_texts() == ["I eat well, no problem there."]
    _press(page, "[", "m")
    assert "Only the participant" in page.inner_text("#said")
    assert appetite.count() == 1
    assert page.locator(".turn[data-current]").get_attribute("id") == "t3"
    _press(page, "n")
    assert page.inner_text("#said") == "Turn 4: I eat well, no problem there."


def test_after_giving_a_name_the_same_statement_is_open_again(site: Site) -> None:
    somebody = site.person()
    path = somebody.assess(TALK + "Interviewer: And?\nParticipant: I want to kill myself.\n")
    page = somebody.page
    page.locator(".signs a:has-text('Give your name')").first.click()
    assert page.inner_text("h1") == "Your name"
    page.fill("#rater", "Coordinator M.")
    page.click("text=Go on")
    page.wait_for_selector(".signs button:has-text('I have read it')")
    assert page.url.startswith(site.url + path)
    assert "#" in page.url
    page.locator(".signs button:has-text('I have read it')").first.click()
    page.wait_for_selector(".read")
    assert page.locator("text=Confirm it as well").count() == 0


def test_enter_on_a_box_of_the_list_exports_nothing(person: Person) -> None:
    person.assess()
    page = person.open("/")
    page.locator("#chosen tbody input").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    assert page.url.rstrip("/") == person.url
