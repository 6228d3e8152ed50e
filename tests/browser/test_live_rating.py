"""Raters who judge blind, and what they see once they have."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser

from tests.browser.site import TALK, Person, Site, site_of

_OF_SCORES: Final = ("", "/evidence", "/certificate", "/html")


@pytest.fixture
def site(browser: Browser, tmp_path: Path) -> Iterator[Site]:
    """Serve, as after a fresh installation."""
    with site_of(browser, tmp_path) as site:
        yield site


def test_the_second_rater_sees_nothing_before_committing(site: Site) -> None:
    first, second = site.person().named("Ada"), site.person().named("Bo")
    path = first.assess()
    first.rate(path, "uu3uuuuu")
    assert first.page.locator(".ratings thead th").all_inner_texts() == ["Item", "Program", "You"]
    page = second.open("/")
    assert "hidden until you have rated" in page.inner_text("table.cohort")
    second.open("/next")
    assert page.url.endswith("/rate")
    _knows_nothing(second, path)
    assert "Ada" not in page.content()
    second.rate(path, "01u23u12")
    heads = page.locator(".ratings thead th").all_inner_texts()
    assert heads == ["Item", "Program", "You", "ada"]
    sleep = page.locator(".ratings tbody tr", has_text="Sleep").locator("td").all_inner_texts()
    assert sleep[0] == "3"
    assert sleep[1].startswith("cannot tell")
    assert sleep[2] == "3"


def test_who_gives_a_name_after_seeing_scores_is_no_blind_rater(site: Site) -> None:
    owner = site.person().named("Cy")
    seen, listed = owner.assess(), owner.assess(TALK.replace("four", "five"))
    late = site.person()
    page = late.open("/")
    page.click("table.cohort tbody th a")
    page.wait_for_selector(".evidence")
    late.named("Ada").open(f"{seen}/rate")
    assert page.inner_text("h1").startswith("Rate: ")
    assert "counted apart from blind ones" in page.inner_text(".title")
    late.rate(listed, "uu3uuuuu")
    assert [_rows(late, listed)[0]["phase"]] == ["seen"]
    other = site.person().named("Bo")
    other.open(f"{seen}/rate").wait_for_selector("h1:has-text('Rate blind')")
    other.page.wait_for_function("document.querySelector('#commit').disabled === false")
    other.page.click("text=Change")
    other.page.wait_for_url("**/login")
    other.open(seen).wait_for_selector(".evidence")
    other.named("Bo").open(f"{seen}/rate")
    assert other.page.inner_text("h1").startswith("Rate: ")
    fresh = site.person().named("Di").open(f"{seen}/rate")
    assert fresh.inner_text("h1").startswith("Rate blind: ")


def _knows_nothing(person: Person, path: str) -> None:
    api = path.replace("/assessments", "/v1/assessments")
    person.page.wait_for_timeout(200)
    for part in _OF_SCORES:
        answer = person.fetch("GET", api + part)
        assert (answer["status"], json.loads(answer["text"])["code"]) == (403, "still_blind"), part
    listed = json.loads(person.fetch("GET", "/v1/assessments")["text"])["assessments"]
    assert [(one["hidden"], one["total_max"], one["width"]) for one in listed] == [
        (True, None, None)
    ]
    rows = json.loads(person.fetch("GET", f"{api}/review")["text"])["rows"]
    assert rows == []
    content = person.page.content()
    assert not re.search(r'class="(card|evidence|score|belief)[ "]', content)


def test_by_keyboard_alone_one_rates_marks_and_judges(site: Site) -> None:
    person = site.person().named("Ada")
    path = person.assess()
    page, press = person.open(f"{path}/rate"), person.page.keyboard.press
    person.select("four nearly every night 😴")
    for key in ("3", "m", "3", "1", "0", "j", "1"):
        press(key)
    for key in "45678":
        press(key)
        press("u")
    assert page.inner_text("#left") == "All items are rated."
    assert page.inner_text("mark") == "four nearly every night 😴"
    press("Control+Enter")
    page.wait_for_selector("#confirm[open]")
    assert page.inner_text("#unmarked") == "Scored above 0 without marked words: Low mood."
    person.axe()
    press("Escape")
    assert page.locator("fieldset.rate input:checked").count() == 8
    press("v")
    page.wait_for_selector("#confirm[open]")
    press("Enter")
    page.wait_for_selector(".judge >> nth=0")
    rows = _rows(person, path)
    start = TALK.index("four nearly")
    assert rows[0]["items"]["PHQ8_Sleep"] == {
        "score": 3,
        "cannot_tell": False,
        "evidence": [{"start": start, "end": start + len("four nearly every night 😴")}],
    }
    assert rows[0]["items"]["PHQ8_Depressed"]["score"] == 1
    press("j")
    press("j")
    press("r")
    page.locator("#said:has-text('Choose why')").wait_for()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        press(key)
    page.wait_for_selector(".card .mine:has-text('rejected by you: it is denied')")
    press("a")
    page.wait_for_selector(".card .mine:has-text('accepted by you')")
    person.select("I lie there")
    press("m")
    page.wait_for_selector(
        ".by-people li:has-text('You, missed by the program: I lie there turn 2')"
    )
    press("Shift+2")
    press("2")
    page.wait_for_selector(".mine:has-text('changed to 2')")
    press("?")
    page.wait_for_selector("dialog[open]")
    press("Escape")
    assert [row["kind"] for row in _rows(person, path)] == [
        "committed",
        "evidence",
        "evidence",
        "missed",
        "score",
    ]


def _rows(person: Person, path: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(person.fetch("GET", f"/v1{path}/review")["text"])[
        "rows"
    ]
    return rows


def test_marking_without_a_chosen_item_asks_which_one_it_is_for(site: Site) -> None:
    person = site.person().named("Ada")
    path = person.assess()
    other = person.assess(TALK.replace("four", "five"))
    page, press = person.open(f"{path}/rate"), person.page.keyboard.press
    assert page.inner_text("#waiting").startswith("2 assessments are left")
    person.select("four nearly every night 😴")
    press("m")
    assert page.inner_text("#said").startswith("Which item do these words speak of?")
    assert page.locator(".marked li").count() == 0
    press("3")
    assert page.locator("[data-item=PHQ8_Sleep] .marked li").count() == 1
    person.select("I eat well")
    press("m")
    assert page.locator("[data-item=PHQ8_Sleep] .marked li").count() == 2
    person.rate(path, "uu3uuuuu")
    assert person.open(f"{other}/rate").inner_text("#waiting").startswith("1 assessment is left")


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_the_transcript_is_in_sight_beside_each_item(site: Site, width: int) -> None:
    person = site.person(viewport={"width": width, "height": 740}).named("Ada")
    path = person.assess(TALK * 20)
    page, press = person.open(f"{path}/rate"), person.page.keyboard.press
    page.wait_for_function("document.querySelector('#commit').disabled === false")
    for key in ("1", "8", "4"):
        press("Shift+" + key)
        field = page.locator("fieldset.rate[aria-current]")
        seen = page.evaluate(
            """() => {
              const box = (found) => found.getBoundingClientRect();
              const words = box(document.querySelector(".middle"));
              const item = box(document.querySelector("fieldset.rate[aria-current]"));
              const bar = box(document.querySelector(".commit"));
              const at = document.elementFromPoint(words.left + 40, Math.max(words.top, 0) + 60);
              const isSeen = at.closest(".middle") !== null;
              const isApart = words.right <= item.left || words.bottom <= item.top + 1;
              return {isSeen, isApart, isFree: item.bottom <= bar.top + 1, isIn: item.top >= 0};
            }"""
        )
        assert seen == {"isSeen": True, "isApart": True, "isFree": True, "isIn": True}, key
        assert field.count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 360:
        page.check(".words-alone")
        assert page.locator(".turn").last.is_visible()
        assert not page.locator("#rating").is_visible()
        page.check(".entered-alone")
        assert not page.locator(".turn").first.is_visible()
        person.axe()


def test_by_buttons_alone_one_judges_and_finds_it_again(site: Site) -> None:
    person = site.person().named("Ada")
    path = person.assess()
    person.rate(path, "uu3uuuuu")
    page = person.page
    card = page.locator(".card").first
    card.locator("select").select_option("past")
    card.get_by_text("Reject", exact=True).click()
    card.locator(".mine:has-text('it is past')").wait_for()
    section = page.locator("section.evidence").nth(3)
    section.locator("input[value='1']").check()
    section.get_by_text("Save").click()
    section.locator(".mine:has-text('changed to 1')").wait_for()
    person.select("I lie there")
    section.get_by_text("Mark selected words as missed").click()
    section.locator(".by-people li:has-text('I lie there')").wait_for()
    person.open(path)
    page.wait_for_selector(".card .mine:has-text('rejected by you: it is past')")
    assert "cannot tell, now 1" in page.inner_text(".ratings")
    assert page.locator(".by-people li").all_inner_texts() == [
        "You, missed by the program: I lie there turn 2"
    ]


def test_nothing_entered_is_lost_when_a_save_fails(site: Site) -> None:
    person = site.person().named("Ada")
    path = person.assess()
    page = person.open(f"{path}/rate")
    page.wait_for_function("document.querySelectorAll('fieldset.rate').length === 8")
    for place in range(8):
        page.locator("fieldset.rate").nth(place).locator("input[value='1']").check()
    person.context.set_offline(True)
    person.commit()
    page.wait_for_selector("#failed:has-text('cannot be reached')")
    assert page.locator("fieldset.rate input:checked").count() == 8
    person.context.set_offline(False)
    person.commit()
    page.wait_for_selector("#ratings-name")
    person.open("/")
    again = person.fetch("POST", f"/v1{path}/review/ratings", {"items": {}})
    assert again["status"] in {409, 422}


def test_single_keys_can_be_switched_off_and_rest_while_typing(site: Site) -> None:
    person = site.person().named("Ada")
    path = person.assess()
    person.rate(path, "uu3uuuuu")
    page = person.page
    page.focus("#erase-word")
    page.keyboard.type("jkar?")
    assert page.input_value("#erase-word") == "jkar?"
    page.click("#show-keys")
    page.locator("dialog input").uncheck()
    page.click("dialog button")
    page.keyboard.press("j")
    assert page.locator(".card.at").count() == 0


def test_agreement_of_two_raters_is_shown_beside_the_program(site: Site) -> None:
    first, second = site.person().named("Ada"), site.person().named("Bo")
    page = first.open("/agreement")
    assert "nothing to compare" in page.inner_text("main")
    path = first.assess()
    first.rate(path, "1231uu0u")
    second.rate(path, "1231uu0u")
    page = second.open("/agreement")
    cells = page.locator("table.agreement >> nth=0").locator("tbody tr >> nth=0").locator("td")
    assert cells.first.inner_text().startswith("1.00")
    assert "rater 2 (you): 1 blind" in page.inner_text(".people")
    second.axe()


def test_by_keyboard_alone_an_adjudicator_decides_where_two_raters_differ(site: Site) -> None:
    first, second = site.person().named("Ada"), site.person().named("Bo")
    path = first.assess()
    first.open(f"{path}/rate")
    first.select("I wake up at four")
    first.page.get_by_label("Mark selected words for Sleep").click()
    first.rate(path, "uu3uuuu1")
    second.rate(path, "uu1uuuu1")
    third = site.person().named("Cy")
    page, press = third.open(path), third.page.keyboard.press
    for way in ("?show=result", "/adjudicate"):
        _tab_to(third, f"a[href$='{way}']")
        with page.expect_navigation():
            press("Enter")
    sleep = page.locator("fieldset.rate", has_text="Sleep")
    assert page.locator("fieldset.rate:has(.differs)").count() == 1
    assert sleep.locator(".rater p").all_inner_texts() == ["ada: 3", "bo: 1"]
    assert sleep.locator("li").all_inner_texts() == ["I wake up at four turn 2", "no words marked"]
    one, other = (sleep.locator(".rater").nth(place).bounding_box() for place in (0, 1))
    assert one is not None
    assert other is not None
    assert (one["y"], one["x"] + one["width"]) < (other["y"] + 1, other["x"])
    assert page.inner_text("mark.of-sleep") == "I wake up at four"
    third.axe()
    _tab_to(third, "#save")
    press("Enter")
    page.wait_for_selector("#failed:has-text('Sleep: choose a gold score')")
    press("2")
    _tab_to(third, "#save")
    press("Enter")
    page.wait_for_selector("#missing:has-text('Sleep: say why')")
    assert sleep.locator("#missing").count() == 1
    third.axe()
    page.keyboard.type("nearly every night, and she says why")
    with page.expect_navigation():
        press("Enter")
    page.wait_for_selector(".done:has-text('Saved')")
    assert "All items are decided" in page.inner_text(".title")
    assert sleep.locator("select").input_value() == "2"
    assert sleep.locator("input").input_value() == "nearly every night, and she says why"
    third.axe()
    (gold,) = (row["gold"] for row in _rows(third, path) if row["kind"] == "gold")
    assert (gold["PHQ8_Sleep"]["score"], gold["PHQ8_Sleep"]["reason"]) == (
        2,
        "nearly every night, and she says why",
    )
    assert (gold["PHQ8_Moving"]["score"], gold["PHQ8_Tired"]["score"]) == (1, None)


def _tab_to(person: Person, selector: str) -> None:
    """Press the Tab key until an element has the focus."""
    is_there = "(selector) => document.activeElement.matches(selector)"
    for _ in range(200):
        person.page.keyboard.press("Tab")
        if person.page.evaluate(is_there, selector):
            return
    pytest.fail(f"no Tab leads to {selector}")


def test_erasing_asks_for_the_word_and_leaves_nothing(site: Site) -> None:
    person = site.person()
    path = person.assess()
    page = person.open(path)
    page.click("text=Erase this assessment")
    assert page.inner_text("#said") == "Type the word erase first."
    page.fill("#erase-word", "ERASE")
    page.click("text=Erase all of this person (1)")
    page.wait_for_url(site.url + "/?erased=1")
    assert page.inner_text(".done") == "Erased 1 assessment."
    assert page.inner_text("h1") == "This is an example"
    assert person.open(path).inner_text("h1") == "Not here"


def test_chosen_cases_are_rated_one_after_another_and_counted(site: Site) -> None:
    person = site.person().named("Ada")
    paths = [person.assess(TALK.replace("four", word)) for word in ("three", "four", "five")]
    wanted = [one.rpartition("/")[2] for one in paths[:2]]
    page = person.open("/")
    for one in wanted:
        page.check(f"#chosen input[value='{one}']")
    page.click("text=Rate next")
    for number in (1, 2):
        page.wait_for_selector(f"#in-queue:has-text('Case {number} of 2')")
        if number == 1:
            person.axe()
        for place in range(8):
            page.locator("fieldset.rate").nth(place).locator("input[value='u']").check()
        person.commit()
        page.wait_for_selector("#ratings-name")
        if number == 1:
            assert page.inner_text("#next") == "Next to rate: case 2 of 2"
        page.click("#next")
    page.wait_for_selector("h1:has-text('Nothing is left to rate here')")
    assert "every assessment that was chosen" in page.inner_text("main")
    page.click("text=Next of all assessments")
    page.wait_for_url(f"**{paths[2]}/rate")
    assert page.locator("#in-queue").count() == 0
