"""Words that want to be more than words: in a browser they are read, and do nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from ai_psychiatrist.results.page.pages import index_html, index_row, sheet_html
from tests.browser.site import Site, site_of
from tests.fakes.shown_results import EXAMPLE, eventful_fields, result_json, view_of

HOSTILE = (
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    '"><svg onload=window.hacked=1>',
    "'onmouseover='window.hacked=1",
    "javascript:window.hacked=1",
    "</script></style></title></textarea><iframe srcdoc='<script>parent.hacked=1</script>'>",
    "{{ 7*7 }}{% raw %}{{ request }}",
    "<style>*{display:none}</style>",
    "<form action=http://127.0.0.1:9/><base href=http://127.0.0.1:9/>",
    "]]><!--",
    "\u2028\u2029\x1b[31m\x85\u202e\u2066\U000e0041\ufeff",
    "&#60;script&#62;",
)
ALL = " ".join(HOSTILE)
LOUD = (
    f"Interviewer: {ALL}\n"
    f"Participant: {ALL} I sleep badly every night. {'x' * 5000}\n"
    '"><b>Kim: I am here, too.\n'
    "Participant: I feel tired every day and I want to kill myself. I lie awake\x00 then.\n"
)
UNSEEN = (
    "Interviewer: How are you?\n"
    "Participant: I \u202ewant to kill myself\x00, \U0001f634 I lie awake each night.\n"
)
LISTEN = """
  window.hacked = 0;
  window.forbidden = [];
  const note = (event) => forbidden.push(event.violatedDirective);
  document.addEventListener("securitypolicyviolation", note);
"""


@pytest.fixture
def site(browser: Browser, tmp_path: Path) -> Iterator[Site]:
    with site_of(browser, tmp_path) as found:
        yield found


def assert_calm(page: Page) -> None:
    """Fail where something of the words became a part of the page."""
    assert page.evaluate("[window.hacked, window.forbidden]") == [0, []]
    strange = "iframe, base, img, object, embed, [onerror], [onload], [srcdoc]"
    assert page.locator(f"{strange}, [onmouseover], a[href^='javascript']").count() == 0
    assert page.locator("b", has_text="Kim").count() == 0
    assert page.locator("style").count() <= 1
    assert page.evaluate("document.body.getBoundingClientRect().height") > 0
    assert "49{{" not in page.content()


def test_hostile_words_stay_words_on_every_live_page(site: Site) -> None:
    person = site.person()
    person.context.add_init_script(LISTEN)
    page = person.open("/login")
    page.fill("#rater", "Kim")
    page.click("text=Go on")
    page.wait_for_selector(".who-am-i:has-text('Kim')")
    page = person.open("/new")
    page.fill("#text", LOUD.replace("\0", ""))
    page.fill("#subject", HOSTILE[0] + HOSTILE[3])
    page.click("#preview")
    page.wait_for_selector("#speakers tr")
    assert_calm(page)
    page.click("#assess")
    page.wait_for_url("**/assessments/*")
    page.wait_for_selector("h1:not(:has-text('under way'))")
    path = page.url.removeprefix(site.url).partition("?")[0]
    for place in (path, f"{path}?show=result", f"{path}/rate", "/", "/docs", "/agreement"):
        assert_calm(person.open(place))
    for place in (f"/?band={HOSTILE[1]}", f"/assessments/{HOSTILE[1]}", f"/{HOSTILE[2]}"):
        answer = page.goto(site.url + place)
        assert answer is not None
        assert "script-src 'self'" in answer.headers["content-security-policy"] or (
            answer.headers["content-security-policy"].startswith("default-src 'none'")
        )
        assert page.evaluate("window.hacked") == 0
        assert page.locator("img, svg:not(.bar-of-total), b").count() == 0


def hostile_fields(text: str) -> dict[str, Any]:
    """Return a result in which every free text is hostile."""
    fields = eventful_fields(text)
    for item in fields["quantitative"]["items"].values():
        item["reason"] = ALL
        for quote in item["unverified_quotes"]:
            quote["text"] = ALL
    for part in ("overall", "phq8_symptoms", "social_factors", "biological_factors"):
        fields["qualitative"][part] = ALL
    for quote in fields["qualitative"]["supporting_quotes"]:
        quote["text"] = ALL
    fields["meta_review"]["explanation"] = ALL
    for judged in fields["evaluation"].values():
        if isinstance(judged, dict) and "explanation" in judged:
            judged["explanation"] = ALL
    for attempt in fields["attempts"]:
        attempt["model"] = ALL
    for model in fields["models"].values():
        model |= {"chain": [ALL], "answered_by": [ALL]}
    fields["failures"][0] |= {"message": ALL, "stage": ALL, "context": {ALL: ALL}}
    return fields


def test_hostile_words_stay_words_in_files_that_fetch_nothing(page: Page, tmp_path: Path) -> None:
    text = EXAMPLE.read_text("utf-8")
    view = view_of(hostile_fields(text), text, name=ALL)
    row = index_row(view.result, name=ALL, href="sheets/a.html", has_transcript=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script(LISTEN)
    for name, content in (("sheet", sheet_html(view)), ("index", index_html([row]))):
        path = tmp_path / f"{name}.html"
        path.write_text(content, encoding="utf-8", newline="")
        page.goto(path.as_uri())
        assert_calm(page)
        assert page.locator("h1, td, p, th").count() > 3
        assert page.evaluate("document.scripts.length") == 1
    assert {url.partition(":")[0] for url in asked} == {"file"}
    assert len(asked) == 2


def test_what_turns_the_direction_is_seen_and_turns_nothing(page: Page, tmp_path: Path) -> None:
    view = view_of(json.loads(result_json(UNSEEN)), UNSEEN)
    path = tmp_path / "sheet.html"
    path.write_text(sheet_html(view), encoding="utf-8", newline="")
    page.goto(path.as_uri())
    left = page.evaluate(
        """() => [...document.querySelectorAll(".by-participant .said, .signs q")].map((said) => {
          const walker = document.createTreeWalker(said, NodeFilter.SHOW_TEXT);
          const lefts = [];
          while (walker.nextNode()) {
            const at = walker.currentNode.data.indexOf("want");
            if (at < 0) continue;
            for (const place of [at, at + 3]) {
              const range = document.createRange();
              range.setStart(walker.currentNode, place);
              range.setEnd(walker.currentNode, place + 1);
              lefts.push(range.getBoundingClientRect().left);
            }
          }
          return lefts;
        })"""
    )
    places = [one for one in left if one]
    assert places
    assert all(first < last for first, last in places)
    codes = page.locator(".by-participant .said .unseen").evaluate_all(
        "all => all.map(one => one.dataset.code)"
    )
    assert codes == ["U+202E", "U+0000"]
    said = page.locator(".by-participant .said").evaluate(
        """said => {
          for (const tag of said.querySelectorAll(".tags")) tag.remove();
          return said.textContent;
        }"""
    )
    assert said == UNSEEN.partition("Participant: ")[2].replace("\0", "\ufffd")


def test_marked_words_are_those_of_the_transcript_beside_signs_and_unseen_ones(site: Site) -> None:
    person = site.person().named("Kim")
    path = site_assessed(person, UNSEEN)
    page = person.open(f"{path}/rate")
    for words in ("lie awake", "each night"):
        person.select(words)
        page.locator("fieldset.rate").nth(2).locator("button.mark").click()
    for item in range(8):
        page.locator("fieldset.rate").nth(item).locator("input[value='1']").check()
    assert page.locator(".by-participant .said mark.of-danger").count() == 1
    assert page.locator(".by-participant .said mark.of-sleep").count() == 2
    assert page.locator(".by-participant .said .unseen").count() == 2
    person.commit()
    page.wait_for_selector("#ratings-name")
    answer = json.loads(person.fetch("GET", f"/v1{path}/review")["text"])
    assert "lie awake" in UNSEEN
    found = [span for one in spans_of(answer) for span in [(one["start"], one["end"])]]
    assert [UNSEEN[start:end] for start, end in sorted(set(found))] == ["lie awake", "each night"]


def site_assessed(person: Any, text: str) -> str:
    """Assess by the interface: a text field would not keep every character."""
    answer = person.fetch("POST", "/v1/assessments", {"transcript_text": text})
    assert answer["status"] == 201, answer
    return f"/assessments/{json.loads(answer['text'])['assessment_id']}"


def spans_of(found: Any) -> list[dict[str, int]]:
    """Return all spans of an answer, wherever they stand in it."""
    if isinstance(found, list):
        return [span for one in found for span in spans_of(one)]
    if not isinstance(found, dict):
        return []
    own = [found] if {"start", "end"} <= found.keys() and "turn" not in found else []
    return own + [span for one in found.values() for span in spans_of(one)]
