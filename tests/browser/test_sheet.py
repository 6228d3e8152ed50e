"""The page of an assessment as a file, in a real browser: nothing but the file is needed."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize

from ai_psychiatrist.results.page.pages import index_html, index_row, sheet_html
from ai_psychiatrist.results.page.views import SheetView
from tests.browser.site import VIOLATIONS
from tests.fakes.shown_results import (
    EXAMPLE,
    dangerous_view,
    eventful_view,
    example_result,
    example_view,
    failed_fields,
    result_json,
    view_of,
)

VIEWS: dict[str, Callable[[], SheetView]] = {
    "example": example_view,
    "eventful": eventful_view,
    "dangerous": dangerous_view,
    "failed": lambda: view_of(failed_fields(_text()), _text()),
}
LOOKS: dict[str, dict[str, Any]] = {
    "dark": {"color_scheme": "dark"},
    "forced": {"forced_colors": "active"},
    "contrast": {"contrast": "more"},
}
"""Beside the usual one, which is light; each is told apart from the one before it."""
_USUAL: dict[str, Any] = {
    "color_scheme": "light",
    "forced_colors": "none",
    "contrast": "no-preference",
}
_COLOURS: dict[str, Any] = {
    "runOnly": ["color-contrast", "link-in-text-block"],
    "resultTypes": ["violations"],
}
"""What is another matter in each look."""
WIDTHS = (390, 900, 1600)
_OF_EVERY_KIND = ("eventful", "dangerous")
"""What these show has each colour; the others have some of them."""


@pytest.mark.parametrize("name", VIEWS)
def test_axe_finds_nothing_in_any_look_and_it_fits_any_width(
    name: str, page: Page, tmp_path: Path
) -> None:
    told = _listening(page)
    page.goto(_file(tmp_path, VIEWS[name]()))
    for width in WIDTHS:
        page.set_viewport_size(ViewportSize(width=width, height=900))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert _found_in_looks(page, LOOKS if name in _OF_EVERY_KIND else {}) == {}
    assert told == []


@pytest.mark.parametrize("media", ["screen", "print"])
def test_all_signs_of_danger_are_seen_at_every_width(
    media: Literal["screen", "print"], page: Page, tmp_path: Path
) -> None:
    view = dangerous_view()
    page.goto(_file(tmp_path, view))
    page.emulate_media(media=media)
    for width in (390, 768, 1280):
        page.set_viewport_size(ViewportSize(width=width, height=700))
        assert page.locator("#danger .signs li").count() == len(view.result.risk.signals) > 8
        assert page.evaluate(_CUT) == []


_CUT = """() => {
  const panel = document.getElementById("danger").getBoundingClientRect();
  const seen = [...document.querySelectorAll("#danger, #danger *")];
  const scrolls = (one) => one.scrollHeight > one.clientHeight + 1
    && !["visible", ""].includes(getComputedStyle(one).overflowY);
  const is_out = (one) => {
    const place = one.getBoundingClientRect();
    const [left, right] = [panel.left - 1, panel.right + 1];
    return place.height < 1 || place.left < left || place.right > right
      || place.top < panel.top - 1 || place.bottom > panel.bottom + 1;
  };
  return seen.filter((one) => scrolls(one) || is_out(one)).map((one) => one.outerHTML.slice(0, 80));
}"""
"""What of the panel scrolls inside, is cut off, or is not there at all."""


def test_axe_finds_nothing_in_the_table_of_many(page: Page, tmp_path: Path) -> None:
    told = _listening(page)
    page.goto(_index(tmp_path))
    assert _found_in_looks(page, LOOKS) == {}
    assert told == []


def _found_in_looks(page: Page, looks: Mapping[str, dict[str, Any]]) -> dict[str, str]:
    """Return what axe finds: all in the usual look, and in others what is of colours."""
    axe = Axe()
    page.emulate_media(**_USUAL)
    found = {"light": axe.run(page, options=VIOLATIONS)}
    for name, look in looks.items():
        page.emulate_media(**(_USUAL | look))
        found[name] = axe.run(page, options=_COLOURS)
    return {name: one.generate_report() for name, one in found.items() if one.violations_count}


def test_marks_hold_the_words_to_the_character(page: Page, tmp_path: Path) -> None:
    text = (
        "\ufeffInterviewer: How do you sleep?\r\nParticipant: \U0001f469\u200d\U0001f467 Badly "
        "e\u0301, I lie awake for hours, most nights. \u05e9\u05dc\u05d5\u05dd\r\n\r\nI am "
        "exhausted, every single day.\r\nInterviewer: Is your appetite fine?\r\n"
        "Participant: <b>My appetite's been fine.</b>\r\n"
    )
    view = view_of(_fields(text), text)
    page.goto(_file(tmp_path, view))
    marks = page.evaluate(
        "[...document.querySelectorAll('mark')].map((one) => [one.id, one.textContent])"
    )
    assert len(marks) >= 2
    for anchor, words in marks:
        start = int(anchor.removeprefix("m"))
        assert words == text[start : start + len(words)]
    said = page.evaluate(
        """[...document.querySelectorAll('.said')].map((one) => {
            const own = one.cloneNode(true);
            for (const tags of own.querySelectorAll('.tags')) tags.remove();
            return [Number(one.dataset.start), own.textContent];
        })"""
    )
    for start, words in said:
        assert words == text[start : start + len(words)]


def test_hostile_words_do_nothing(page: Page, tmp_path: Path) -> None:
    hostile = "</style></script><script>document.title='ran'</script><img src=x onerror=alert(1)>"
    fields = _fields(_text())
    for item in fields["quantitative"]["items"].values():
        item["reason"] = hostile
        item["unverified_quotes"] = [{"text": hostile, "reason": "not_found"}]
    fields["qualitative"]["overall"] = hostile
    fields["notice"] = fields["risk"]["resources"] = hostile
    told = _listening(page)
    page.goto(_file(tmp_path, view_of(fields, _text(), name=hostile)))
    assert page.locator("script").count() == 1
    assert page.locator("img").count() == 0
    assert page.title() == f"PHQ-8 assessment: {hostile}"
    assert told == []


def test_policy_holds_against_what_a_script_would_try(page: Page, tmp_path: Path) -> None:
    page.goto(_file(tmp_path, example_view()))
    tried = page.evaluate(
        """() => {
            const tries = {
                html: () => { document.body.innerHTML = "<b>x</b>"; },
                policy: () => trustedTypes.createPolicy("any", {}),
            };
            const failed = [];
            for (const [name, attempt] of Object.entries(tries)) {
                try { attempt(); } catch { failed.push(name); }
            }
            return failed;
        }"""
    )
    assert tried == ["html", "policy"]


def test_keys_move_through_evidence_turns_and_items(page: Page, tmp_path: Path) -> None:
    page.goto(_file(tmp_path, eventful_view()))
    focused = "document.activeElement.id"
    page.keyboard.press("j")
    assert page.evaluate(focused) == "danger-1"
    for _ in range(2):
        page.keyboard.press("j")
    assert page.evaluate(focused) == "q-nointerest-1"
    lit = page.locator("mark.at")
    assert lit.count() == 1
    assert "q-nointerest-1-what" in (lit.get_attribute("aria-describedby") or "")
    assert _is_seen(page, "mark.at")
    page.keyboard.press("k")
    assert page.evaluate(focused) == "danger-2"
    page.keyboard.press("3")
    assert page.evaluate(focused) == "item-sleep"
    assert _is_seen(page, "#item-sleep h3")
    page.keyboard.press("]")
    assert page.locator(".turn.at").get_attribute("id") == "t1"
    page.keyboard.press("]")
    assert page.locator(".turn.at").get_attribute("id") == "t2"
    page.keyboard.press("[")
    assert page.locator(".turn.at").get_attribute("id") == "t1"
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    page.get_by_role("button", name="Keys").click()
    assert page.locator("dialog").is_visible()
    page.get_by_role("button", name="Close").click()
    assert not page.locator("dialog").is_visible()


def test_tag_leads_to_its_card_and_the_card_back(page: Page, tmp_path: Path) -> None:
    page.goto(_file(tmp_path, example_view()))
    page.locator("a.tag", has_text="Sleep 1").first.click()
    assert page.locator(".card.at").get_attribute("id") == "q-sleep-1"
    assert _is_seen(page, "#q-sleep-1")
    page.locator("#q-sleep-1 a.place").click()
    assert _is_seen(page, "mark:target")
    assert "q-sleep-1-what" in (page.locator("mark:target").get_attribute("aria-describedby") or "")


def test_page_reads_without_script(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{_file(tmp_path, example_view())}#q-sleep-1")
    assert page.locator("#q-sleep-1").is_visible()
    assert page.locator("mark").count() >= 13
    assert not page.locator("#show-keys").is_visible()
    context.close()


def test_print_opens_folds_and_leaves_columns(page: Page, tmp_path: Path) -> None:
    page.goto(_file(tmp_path, eventful_view()))
    refused = page.get_by_text("I never sleep at all")
    assert not refused.is_visible()
    page.emulate_media(media="print")
    assert refused.is_visible()
    assert page.locator(".columns").evaluate("(one) => getComputedStyle(one).display") == "block"
    assert len(page.pdf()) > 10_000


def test_words_far_off_the_screen_are_found_reached_and_printed(page: Page, tmp_path: Path) -> None:
    text = "".join(
        f"Interviewer: And day {day}?\nParticipant: On day {day} I hardly slept.\n"
        for day in range(150)
    )
    sheet = _file(tmp_path, view_of(_fields(text), text))
    top = "(id) => document.getElementById(id).getBoundingClientRect().top"
    page.goto(sheet)
    assert page.evaluate("find('On day 140 I hardly')")
    page.goto(f"{sheet}#t280")
    height = page.evaluate("innerHeight")
    # The turns before it stay in sight.
    assert height / 5 < page.evaluate(top, "t280") < height / 2
    page.emulate_media(media="print")
    shown = "(turns) => turns.map((one) => getComputedStyle(one).contentVisibility)"
    assert set(page.locator(".turn").evaluate_all(shown)) == {"visible"}


def test_table_of_many_sorts_by_its_columns(page: Page, tmp_path: Path) -> None:
    page.goto(_index(tmp_path))
    names = "[...document.querySelectorAll('tbody a')].map((one) => one.textContent)"
    assert page.evaluate(names) == ["a", "b", "c"]
    page.get_by_role("button", name="Danger").click()
    page.get_by_role("button", name="Danger").click()
    assert page.evaluate(names)[0] == "b"
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    page.get_by_role("link", name="a", exact=True).click()
    page.wait_for_load_state()
    assert page.title() == "PHQ-8 assessment: interview.txt"


def _text() -> str:
    return EXAMPLE.read_text("utf-8")


def _fields(text: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(result_json(text))
    return fields


def _file(folder: Path, view: SheetView) -> str:
    path = folder / "sheet.html"
    path.write_bytes(sheet_html(view).encode())
    return path.as_uri()


def _index(folder: Path) -> str:
    _file(folder, example_view())
    results = {"b": eventful_view().result, "c": example_result(), "a": example_result()}
    rows = [
        index_row(result, name=name, href="sheet.html", has_transcript=True)
        for name, result in results.items()
    ]
    path = folder / "index.html"
    path.write_bytes(index_html(rows).encode())
    return path.as_uri()


def _listening(page: Page) -> list[str]:
    """Collect what a page complains of, and whatever it asks for but itself."""
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("dialog", lambda dialog: told.append(dialog.message))
    page.on(
        "request",
        lambda request: None if request.is_navigation_request() else told.append(request.url),
    )
    return told


def _is_seen(page: Page, selector: str) -> bool:
    """Whether the first such element is on the screen."""
    seen: bool = page.locator(selector).first.evaluate(
        """(one) => {
            const box = one.getBoundingClientRect();
            return box.top < innerHeight && box.bottom > 0;
        }"""
    )
    return seen


def test_choosing_an_item_leaves_the_transcript_where_it_is(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size(ViewportSize(width=1280, height=900))
    page.goto(_file(tmp_path, example_view()))
    page.evaluate("document.querySelector('#t24').scrollIntoView()")
    before = page.evaluate("scrollY")
    for slug in ("sleep", "tired", "nointerest"):
        page.click(f".items a[href='#item-{slug}']")
        page.wait_for_function(f"location.hash === '#item-{slug}'")
        place = page.evaluate(f"document.getElementById('item-{slug}').getBoundingClientRect().top")
        assert 0 <= place < 100
        assert page.evaluate("scrollY") == before


def test_evidence_has_its_sentence_and_question_and_a_place_in_the_bar(
    page: Page, tmp_path: Path
) -> None:
    page.goto(_file(tmp_path, example_view()))
    card = page.locator("#q-sleep-1")
    assert card.locator(".around q").inner_text() == "How have you been sleeping?"
    assert not card.locator("dl").is_visible()
    card.locator("summary").click()
    assert card.locator("dl").is_visible()
    lanes = page.locator("svg.lanes")
    assert "Sleep: turns 28, 32." in (lanes.get_attribute("aria-label") or "")
    assert lanes.locator(".of-sleep rect").count() == 2
