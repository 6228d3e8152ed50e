"""What a rater has entered and not committed: kept by the tab, and nobody else's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser

from tests.browser.site import ITEMS, Site, site_of

_IN_DANGER: Final = (
    "Interviewer: How do you sleep?\n"
    "Participant: I want to kill myself. I wake at four nearly every night, I do.\n"
)


@pytest.fixture
def site(browser: Browser, tmp_path: Path) -> Iterator[Site]:
    """Serve, as after a fresh installation."""
    with site_of(browser, tmp_path) as site:
        yield site


def test_scores_and_marks_are_there_after_loading_the_page_again(site: Site) -> None:
    person = site.person().named("Ada")
    path = person.assess()
    page = person.open(f"{path}/rate")
    person.select("four nearly every night 😴")
    page.get_by_label("Mark selected words for Sleep").click()
    for place in range(3):
        page.locator("fieldset.rate").nth(place).locator("input[value='2']").check()
    stored = page.evaluate("JSON.stringify(sessionStorage)")
    assert "night" not in stored
    assert "Ada" not in stored
    page.reload()
    page.locator("#said:has-text('is back')").wait_for()
    assert page.locator("fieldset.rate input:checked").count() == 3
    assert page.inner_text("#left") == "5 items are left."
    assert page.inner_text("mark") == "four nearly every night 😴"
    person.axe()
    person.rate(path, "22222222")
    assert page.evaluate("sessionStorage.length") == 0


def test_another_rater_in_the_same_tab_finds_nothing_of_the_first(site: Site) -> None:
    person = site.person().named("Ada")
    path = person.assess()
    page = person.open(f"{path}/rate")
    page.locator("fieldset.rate").nth(0).locator("input[value='2']").check()
    person.named("Bo").open(f"{path}/rate")
    assert page.locator("fieldset.rate input:checked").count() == 0
    person.named("Ada").open(f"{path}/rate")
    assert page.locator("fieldset.rate input:checked").count() == 1


def test_after_a_session_has_ended_one_logs_in_again_and_commits(site: Site) -> None:
    person = site.person().named("Ada")
    path = person.assess()
    page = person.open(f"{path}/rate")
    for place in range(ITEMS):
        page.locator("fieldset.rate").nth(place).locator("input[value='1']").check()
    person.context.clear_cookies()
    person.commit()
    page.locator("#failed:has-text('session has ended')").wait_for()
    person.axe()
    with person.context.expect_page() as opened:
        page.click("text=Log in again in a new tab")
    other = opened.value
    other.fill("#rater", "Ada")
    other.click("text=Go on")
    other.wait_for_selector(".who-am-i:has-text('Ada')")
    assert page.locator("fieldset.rate input:checked").count() == ITEMS
    person.commit()
    page.wait_for_selector("#ratings-name")
    assert page.locator(".ratings thead th").all_inner_texts() == ["Item", "Program", "You"]


def test_nothing_is_committed_in_the_name_of_who_logged_in_meanwhile(site: Site) -> None:
    person = site.person().named("Ada")
    path = person.assess()
    page = person.open(f"{path}/rate")
    for place in range(ITEMS):
        page.locator("fieldset.rate").nth(place).locator("input[value='1']").check()
    other = person.context.new_page()
    other.goto(f"{site.url}/login")
    other.fill("#rater", "Bo")
    other.click("text=Go on")
    other.wait_for_selector(".who-am-i:has-text('Bo')")
    person.commit()
    page.locator("#failed:has-text('Another person')").wait_for()
    assert page.url.endswith("/rate")


def test_only_the_participants_words_can_be_marked(site: Site) -> None:
    person = site.person().named("Ada")
    path = person.assess()
    page = person.open(f"{path}/rate")
    person.select("How do you sleep")
    page.get_by_label("Mark selected words for Sleep").click()
    page.locator("#said:has-text('Only the participant’s words')").wait_for()
    assert page.locator(".marked li").count() == 0


def test_a_mark_leaves_the_signs_of_danger_and_can_be_taken_away(site: Site) -> None:
    person = site.person().named("Ada")
    path = person.assess(_IN_DANGER)
    page = person.open(f"{path}/rate")
    said = page.locator(".said").nth(1)
    before = said.inner_html()
    person.select("four nearly every night")
    sleep = page.get_by_label("Mark selected words for Sleep")
    sleep.click()
    assert said.locator("mark.of-sleep").inner_text() == "four nearly every night"
    assert said.locator("mark.of-danger").count() == 1
    page.locator(".marked button").click()
    assert said.inner_html() == before
    assert sleep.evaluate("one => one === document.activeElement")


def test_without_scripts_no_score_is_sent_anywhere(site: Site) -> None:
    path = site.person().named("Ada").assess()
    page = site.person(java_script_enabled=False).open(f"{path}/rate")
    assert "Rating needs scripts" in page.inner_text("noscript")
    assert page.locator("#commit").is_disabled()
