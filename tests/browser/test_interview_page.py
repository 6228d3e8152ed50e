"""The page of an interview as its person meets it: on a telephone, by keyboard, over a bad line."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route

from tests.browser.site import Person, Site, site_of
from tests.integration.running_app import RunningApp, client_at, settings_with
from tests.integration.test_interview_german import GERMAN, english_in

_HELP: Final = "Crisis line 0800 111, day and night."
_SETTINGS: Final = {"MODEL_DEFAULT": "baseline", "RISK_CRISIS_RESOURCES": _HELP}
_NARROW: Final = {"viewport": {"width": 360, "height": 640}}
_ANSWERED: Final = ("PHQ8_NoInterest", "PHQ8_Depressed", "PHQ8_Sleep", "PHQ8_Tired")
_FOUR_OPEN: Final = {"items": {item: {"score": 0} for item in _ANSWERED}}
Json = dict[str, Any]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state folder of the server."""
    return tmp_path / "state"


@pytest.fixture
def site(browser: Browser, state: Path) -> Iterator[Site]:
    """Serve to all of this machine."""
    with site_of(browser, state, **_SETTINGS) as site:
        yield site


def begun(url: str, protocol: str = "phq8") -> Json:
    """Begin an interview about four items, with a link."""
    body = {"protocol": protocol, "link": True, "assessment": _FOUR_OPEN}
    with client_at(url) as client:
        told: Json = client.post("/v1/interviews", json=body).json()
    return told


def stands(url: str, interview: Json) -> Json:
    """Return the interview as its operator sees it."""
    with client_at(url) as client:
        told: Json = client.get(f"/v1/interviews/{interview['interview_id']}").json()
    return told


def opened(person: Person, interview: Json) -> Page:
    """Open the link and wait for the question."""
    person.page.goto(interview["link"]["address"])
    at(person.page, 1)
    return person.page


def at(page: Page, number: int) -> None:
    """Wait for a question by its number."""
    page.wait_for_selector(f"#progress:text-is('Question {number} of 4')")
    page.wait_for_selector("body:not([aria-busy])")


def is_refused(page: Page) -> bool:
    """Wait until the page says that the link opens nothing; return whether it says only that."""
    page.wait_for_selector("#refused:visible")
    return not page.locator("#asking, #spoken, #earlier").locator("visible=true").count()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_whole_interview_by_touch_on_a_telephone(site: Site, theme: Any) -> None:
    interview = begun(site.url)
    person = site.person(**_NARROW, has_touch=True, color_scheme=theme)
    page = opened(person, interview)
    assert page.url == f"{site.url}/interview"
    person.axe()
    for number in range(1, 5):
        at(page, number)
        assert page.evaluate("document.activeElement.id") == "question"
        help_from = page.locator("#help").bounding_box()["y"]  # type: ignore[index]
        sizes = [one.bounding_box() for one in page.locator("#options button").all()]
        assert all(box is not None and box["y"] + box["height"] < help_from for box in sizes)
        assert len(sizes) == 5
        assert all(box is not None and box["height"] >= 48 for box in sizes)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.locator("#options button").nth(number - 1).tap()
    all_right = page.get_by_role("button", name="No, this is right")
    all_right.wait_for()
    person.axe()
    all_right.tap()
    page.wait_for_selector("#over:visible")
    person.axe()
    assert _HELP in page.inner_text("#help")
    told = stands(site.url, interview)
    assert (told["state"], told["operator"]["total"]["total_score"]) == ("done", 0 + 1 + 2 + 3)
    kept = page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")
    assert kept == [0, 0, ""]
    page.reload()
    page.wait_for_selector("#over:visible")


def test_a_whole_interview_by_keyboard(site: Site) -> None:
    interview = begun(site.url)
    person = site.person()
    page = opened(person, interview)

    def press_until(name: str) -> None:
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == name:
                page.keyboard.press("Enter")
                return
        pytest.fail(f"{name!r} is not reached by Tab")

    press_until("Several days")
    at(page, 2)
    for _ in range(6):
        page.keyboard.press("Tab")
    page.keyboard.type("nearly every day")
    press_until("Send")
    at(page, 3)
    page.locator("#pause").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#waiting:visible")
    person.axe()
    assert stands(site.url, interview)["state"] == "paused"
    page.reload()
    page.wait_for_selector("#waiting:visible")
    press_until("Go on")
    page.wait_for_selector("#asking:visible")
    press_until("I prefer not to say")
    at(page, 4)
    page.locator("#stop").focus()
    page.keyboard.press("Enter")
    person.axe()
    page.keyboard.press("Escape")
    assert page.locator("#asking").is_visible()
    page.keyboard.press("Enter")
    press_until("Yes, finish now")
    page.wait_for_selector("#over:visible")
    items = stands(site.url, interview)["operator"]["items"]
    assert [items[item]["score"] for item in list(items)[4:]] == [1, 3, None, None]


def test_another_browser_gets_nothing_and_the_first_goes_on(site: Site) -> None:
    interview = begun(site.url)
    page = opened(site.person(), interview)
    another = site.person()
    another.page.goto(interview["link"]["address"])
    assert is_refused(another.page)
    another.axe()
    page.reload()
    at(page, 1)
    page.goto("about:blank")
    opened(Person(url=site.url, context=page.context, page=page), interview)


@pytest.mark.parametrize("end", ["expired", "revoked", "deleted"])
def test_an_end_in_the_middle_is_said_plainly(site: Site, state: Path, end: str) -> None:
    interview = begun(site.url)
    page = opened(site.person(), interview)
    if end == "expired":
        with closing(sqlite3.connect(state / "keys.sqlite")) as keys, keys:
            keys.execute("UPDATE access_keys SET expires_at = ?", (int(time.time()),))
    else:
        of = "" if end == "deleted" else "/link"
        httpx.delete(f"{site.url}/v1/interviews/{interview['interview_id']}{of}", trust_env=False)
    if end == "deleted":
        # The person comes back to the page and does nothing.
        page.evaluate("dispatchEvent(new Event('focus'))")
    else:
        page.click("#options button")
    assert is_refused(page)
    assert "was deleted" in page.inner_text("#refused")


def test_what_is_sent_twice_over_a_bad_line_counts_once(site: Site) -> None:
    interview = begun(site.url)
    person = site.person()
    lost: list[str] = []
    is_down = True

    def lose_the_first(route: Route) -> None:
        body = route.request.post_data or ""
        if body in lost and not (is_down and "answers" in route.request.url):
            route.continue_()
        else:
            lost.append(body)
            route.fetch()
            route.abort()

    person.page.route("**/interview/session", lose_the_first)
    person.page.route("**/interview/answers", lose_the_first)
    page = opened(person, interview)
    page.fill("#words", "nearly every day")
    page.click("#free button")
    page.wait_for_selector("#trouble:visible")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    box = page.locator("#trouble").bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 100
    person.axe()
    is_down = False
    page.click("#again")
    at(page, 2)
    assert page.locator("#trouble").is_hidden()
    assert len(set(lost)) == 2
    assert stands(site.url, interview)["turn"] == 1


def test_it_goes_on_when_the_server_was_started_anew_in_the_middle(
    browser: Browser, state: Path
) -> None:
    settings = settings_with(state, **_SETTINGS)
    with RunningApp(settings) as app:
        site = Site(browser, app.url)
        interview = begun(app.url)
        page = opened(site.person(), interview)
        page.click("#options button")
        at(page, 2)
    page.locator("#options button").nth(1).click()
    page.wait_for_selector("#trouble:visible")
    with RunningApp(settings, port=int(app.url.rpartition(":")[2])):
        page.click("#again")
        at(page, 3)
        assert stands(app.url, interview)["turn"] == 2
        site.leave()


@pytest.mark.parametrize("stage", ["digesting", "failed"])
def test_a_step_that_was_cut_short_or_failed_is_taken_again(site: Site, stage: str) -> None:
    person = site.person()

    def cut_short(route: Route) -> None:
        answer = route.fetch()
        told = {**answer.json(), "state": stage, "question": None, "can_retry": True}
        route.fulfill(response=answer, json=told)

    person.page.route("**/interview/state", cut_short)
    person.page.goto(begun(site.url)["link"]["address"])
    if stage == "failed":
        person.page.wait_for_selector("#waiting:has-text('did not work')")
        person.axe()
        person.page.click("#go-on")
    at(person.page, 1)
    assert person.page.locator("#waiting").is_hidden()


def test_what_keeps_it_from_being_shown_at_all_is_said_without_words_for_the_operator(
    site: Site,
) -> None:
    """It has no language yet: the texts come with what could not be read."""
    page = site.person().page
    problem = {"detail": "put that version back to go on", "code": "protocol_changed"}
    page.route("**/interview/state", lambda route: route.fulfill(status=409, json=problem))
    page.goto(begun(site.url)["link"]["address"])
    page.wait_for_selector("#failed:visible")
    assert page.inner_text("main").strip().startswith("Something did not work here.")
    assert "version" not in page.inner_text("main")


def test_text_is_read_at_twice_its_size(site: Site) -> None:
    """A window of 360 pixels at 200 % shows 180."""
    person = site.person(viewport={"width": 180, "height": 320})
    page = opened(person, begun(site.url))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    last = page.locator("#options button").last
    last.focus()
    box, aside = last.bounding_box(), page.locator("#help").bounding_box()
    assert box is not None
    assert aside is not None
    assert box["y"] + box["height"] <= aside["y"] + 1


def test_without_scripts_the_page_says_what_to_do(site: Site) -> None:
    person = site.person(java_script_enabled=False)
    page = person.open("/interview")
    assert "JavaScript" in page.inner_text("main")
    assert _HELP in page.inner_text("#help")


def test_an_answer_is_changed_where_the_interview_takes_changes(site: Site) -> None:
    """The list is shown for what the server says can be changed, and asks for it by its item."""
    person = site.person(**_NARROW)
    sent: list[str] = []
    one = {"item": "PHQ8_Sleep", "question": "Sleep?", "words": "badly", "noted": "Several days"}

    def with_changeable(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "changeable": [one]})

    def note(route: Route) -> None:
        sent.append(route.request.post_data or "")
        route.continue_()

    person.page.route("**/interview/state", with_changeable)
    person.page.route("**/interview/answers", note)
    page = opened(person, begun(site.url))
    page.click("#changes summary")
    person.axe()
    assert "Noted: Several days" in page.inner_text("#changes")
    page.click("#changes button")
    page.wait_for_selector("#trouble:visible")
    assert '"change":"PHQ8_Sleep"' in sent[0]


def say(page: Page, words: str) -> None:
    """Answer in words of one's own."""
    page.fill("#words", words)
    page.click("#free button")
    page.wait_for_function("!document.querySelector('#words').value")
    page.wait_for_selector("body:not([aria-busy])")


def test_what_is_new_stands_at_the_top_and_typed_words_are_received_at_once(site: Site) -> None:
    person = site.person(viewport={"width": 320, "height": 480})
    page = opened(person, begun(site.url))
    assert page.evaluate("scrollY") == 0
    page.fill("#words", "three days")
    page.click("#free button")
    page.wait_for_selector("#sent:has-text('three days')")
    assert page.inner_text("#status").startswith("Received.")
    person.axe()
    page.wait_for_selector("#question:has-text('You said')")
    assert page.locator("#sent").is_hidden()
    assert page.evaluate("scrollY") == 0
    page.click("#pause")
    page.wait_for_selector("#waiting:visible")
    page.click("#go-on")
    page.wait_for_selector("#question:has-text('You said')")
    assert page.inner_text("#status") == "Question 1 of 4"
    top = page.locator("#status").bounding_box()["y"]  # type: ignore[index]
    tools = page.locator("#tools").bounding_box()
    assert tools is not None
    assert tools["y"] + tools["height"] <= top
    assert page.evaluate("[document.activeElement.id, scrollY]") == ["question", 0]
    page.wait_for_selector("#status:empty", state="attached")


def test_what_is_read_back_takes_a_yes_or_a_no_and_what_was_noted_is_a_list(site: Site) -> None:
    person = site.person(**_NARROW)
    page = opened(person, begun(site.url))
    first = page.inner_text("#spoken")
    assert all(
        words in first for words in ("the person who invited you", "4 short questions", "stop when")
    )
    say(page, "three days")
    asked = page.locator("#question")
    assert asked.inner_text() == (
        "You said “three days”. For trouble with eating I noted: Several days. Is that right?"
    )
    replies = ["Yes, that is right", "No, that is not right"]
    assert page.locator("#options button").all_inner_texts() == replies
    page.click("#options button")
    for number in range(2, 5):
        at(page, number)
        page.locator("#options button").nth(4 if number == 2 else 0).click()
    page.get_by_role("button", name="No", exact=True).click()
    page.wait_for_selector("#noted:visible")
    person.axe()
    assert asked.inner_text() == "That was my last question. This is what I have noted:"
    lines = [line.splitlines() for line in page.locator("#noted li > div").all_inner_texts()]
    assert [list(filter(None, one)) for one in lines] == [
        ["Trouble with eating", "You: “three days”", "Noted: Several days"],
        ["Feeling bad about yourself", "Noted: I prefer not to say"],
        ["Trouble concentrating", "Noted: Not at all"],
        ["Being slowed down or restless", "Noted: Not at all"],
    ]
    assert page.inner_text("#closing") == "Would you like to change anything?"
    assert page.locator("#options button").all_inner_texts() == ["No, this is right"]
    page.locator("#noted button").nth(2).click()
    page.wait_for_selector("#spoken:has-text('concentrating')")
    page.locator("#options button").nth(3).click()
    page.wait_for_selector("#noted:has-text('Nearly every day')")


def test_a_page_whose_interview_was_held_goes_on_by_itself(site: Site) -> None:
    interview = begun(site.url)
    person = site.person(**_NARROW)
    page = opened(person, interview)
    assert page.get_by_role("textbox", name="Or in your own words").is_visible()
    say(page, "I want to kill myself.")
    # Nothing can be chosen: there is no other way that this would be the "or" of.
    assert page.get_by_role("textbox", name="I ask no further questions now.").is_visible()
    assert page.locator("#own-words").is_hidden()
    person.axe()
    say(page, "That is all.")
    page.wait_for_selector("#over:has-text('they appear here')")
    assert page.inner_text("#progress") == ""
    assert page.inner_text("main").count(_HELP) == 1
    assert page.locator("#help").is_hidden()
    assert page.get_attribute("#spoken a", "href") == "tel:0800111"
    with client_at(site.url) as client:
        path = f"/v1/interviews/{interview['interview_id']}/reopen"
        client.post(path, json={"reason": "Called back."}).raise_for_status()
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.wait_for_selector("#spoken:has-text('Welcome back')")
    assert page.locator("#over").is_hidden()
    assert page.get_attribute("#help a", "href") == "tel:0800111"
    page.click("#options button")
    at(page, 2)


def test_a_whole_interview_in_german_shows_nothing_in_english(
    browser: Browser, state: Path
) -> None:
    german = "Krisentelefon 0800 111, Tag und Nacht."
    settings = {
        **_SETTINGS,
        "RISK_CRISIS_RESOURCES": german,
        "INTERVIEW_PROTOCOLS": str(GERMAN),
    }
    with site_of(browser, state, **settings) as site:
        interview = begun(site.url, "phq8-de")
        person = site.person(**_NARROW)
        page, seen = person.page, []

        def look() -> None:
            page.wait_for_selector("body:not([aria-busy])")
            # Also what is folded up, or only read aloud.
            seen.append(
                page.evaluate(
                    """() => {
                      const left = "noscript, #loading, #refused, #failed, #unreached, script";
                      const body = document.body.cloneNode(true);
                      for (const one of body.querySelectorAll(left)) one.remove();
                      return document.title + " " + body.textContent;
                    }"""
                )
            )

        page.goto(interview["link"]["address"])
        page.wait_for_selector("#progress:text-is('Frage 1 von 4')")
        look()
        assert page.evaluate("document.documentElement.lang") == "de"
        for words in ("etwa jeden zweiten Tag", "An einigen Tagen", "5", "nein"):
            say(page, words)
            look()
        page.locator("#options button").nth(3).click()
        page.wait_for_selector("#progress:text-is('Frage 3 von 4')")
        page.click("#pause")
        page.wait_for_selector("#waiting:visible")
        look()
        page.click("#go-on")
        for number in (4, 2):
            page.wait_for_selector("#options button:nth-child(4)")
            look()
            page.locator("#options button").nth(number).click()
            page.wait_for_selector("body:not([aria-busy])")
        page.wait_for_selector("#question:has-text('lieber nicht')")
        page.locator("#options button").nth(1).click()
        page.wait_for_selector("#noted:visible")
        look()
        person.axe()
        page.get_by_role("button", name="Nein, das stimmt so").click()
        page.wait_for_selector("#over:visible")
        look()
        assert [english_in(text) for text in seen] == [[]] * len(seen)
        items = stands(site.url, interview)["operator"]["items"]
        assert [items[item]["score"] for item in list(items)[4:]] == [1, 3, None, 2]


def test_the_operator_asks_follows_and_sees_what_came_from_where(site: Site) -> None:
    operator = site.person()
    path = operator.assess("Interviewer: How do you sleep?\nParticipant: Badly, most nights.\n")
    page = operator.open(path)
    assert "unknown items" in page.inner_text(".interview")
    operator.axe()
    page.click("text=Ask the person")
    address = page.input_value("#link")
    page.click("#copy")
    page.wait_for_selector("#copy:text-is('Copied')")
    operator.axe()
    page.reload()
    assert page.locator("#link").count() == 0
    assert "was shown once" in page.inner_text("#interview")
    operator.axe()
    person = site.person(**_NARROW)
    person.page.goto(address)
    person.page.wait_for_selector("#asking:visible")
    page.wait_for_selector("#interview:has-text('link opened')")
    assert "1 of 7 items" in page.inner_text("#interview")
    assert "opened" in page.inner_text("#interview")
    operator.axe()
    person.page.click("#options button:nth-child(4)")
    page.wait_for_selector(".participant:has-text('Nearly every day')")
    person.page.click("#stop")
    person.page.click("#sure-yes")
    page.wait_for_selector("#interview:has-text('It is over')")
    operator.open(path)
    rows = page.locator(".interview tbody tr").all_inner_texts()
    assert sum("transcript" in row for row in rows) == 1
    assert sum("interview, answer 1" in row for row in rows) == 1
    assert page.locator(".interview tfoot").inner_text().count("unknown") == 1
    operator.axe()
    answer = page.locator(".interview .dialogue .participant", has_text="Nearly every day")
    digests = page.locator(".account summary")
    assert (answer.is_visible(), digests.is_visible()) == (False, True)
    page.emulate_media(media="print")
    assert (answer.is_visible(), digests.is_visible()) == (True, False)


def test_new_danger_is_announced_on_every_page_that_is_open(site: Site) -> None:
    """Where something is typed or a link is shown, the page stays and has the alarm above it."""
    at_list, at_case, asking = site.person(), site.person(), site.person()
    path = asking.assess("Interviewer: How do you sleep?\nParticipant: Badly, most nights.\n")
    asking.open(path).click("text=Ask the person")
    address = asking.page.input_value("#link")
    at_list.open("/")
    at_case.open(path)
    busy = site.person()
    busy.open("/").fill("#find input[name=subject]", "P-01")
    person = site.person(**_NARROW)
    person.page.goto(address)
    say(person.page, "I want to kill myself.")
    for one in (at_list, at_case, asking, busy):
        one.page.wait_for_selector("[role=alert]:has-text('New signs of danger in an interview')")
        assert one.page.title().startswith("⚠ New danger")
        one.axe()
    at_list.page.wait_for_selector("h2:has-text('Interviews with signs of danger')")
    at_case.page.wait_for_selector("text=Signs of danger in the interview")
    assert asking.page.input_value("#link") == address
    assert busy.page.input_value("#find input[name=subject]") == "P-01"


def test_no_empty_field_and_no_button_of_danger_is_printed(site: Site) -> None:
    operator = site.person().named("Ada")
    path = operator.assess("Participant: I think about killing myself.\n")
    page = operator.open(path)
    note = page.locator("#danger input[name=note]")
    assert note.is_visible()
    page.click("#danger button")
    page.wait_for_selector("#danger .read")
    assert not page.locator("#danger summary").count()
    page = site.person().named("Ben").open(path)
    again = page.locator("#danger summary")
    assert again.is_visible()
    page.emulate_media(media="print")
    assert not again.is_visible()
    assert not page.locator("#danger button").is_visible()
    assert page.locator("#danger .read").is_visible()
