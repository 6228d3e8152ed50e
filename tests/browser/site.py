"""The running application as people meet it: each with a browser of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from tests.integration.running_app import RunningApp, settings_with
from tests.patience import PATIENCE_SECONDS

VIOLATIONS: Final = {"resultTypes": ["violations"]}
"""What axe is to tell: of all that is sound it would make long lists."""
OF_LOOKS: Final = VIOLATIONS | {
    "runOnly": ["color-contrast", "link-in-text-block", "scrollable-region-focusable"]
}
"""What is another matter in each look, and in a window of another width."""
_PATIENCE_MILLISECONDS = 1000 * PATIENCE_SECONDS / 2
TALK = (
    "Interviewer: How do you sleep?\n"
    "Participant: Badly. I wake up at four nearly every night 😴, and I lie there.\n"
    "Interviewer: And your appetite?\n"
    "Participant: I eat well, no problem there.\n"
)
ITEMS = 8


@dataclass(kw_only=True)
class Person:
    """Somebody at a browser; what the browser complains of is kept."""

    url: str
    context: BrowserContext
    page: Page
    told: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Go to a page of the server."""
        self.page.goto(self.url + path)
        return self.page

    def named(self, name: str) -> "Person":
        """Give the name of a rater."""
        self.open("/login").fill("#rater", name)
        self.page.click("text=Go on")
        self.page.wait_for_selector(f".who-am-i:has-text('{name}')")
        return self

    def assess(self, text: str = TALK) -> str:
        """Assess a text by the page and return the path of its page."""
        page = self.open("/new")
        page.fill("#text", text)
        page.click("#assess")
        page.wait_for_url("**/assessments/*")
        page.wait_for_selector("h1:not(:has-text('under way'))")
        return page.url.removeprefix(self.url).partition("?")[0]

    def fetch(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Ask the interface as the page itself can, with its cookie and token."""
        answer: dict[str, Any] = self.page.evaluate(
            """async ([method, path, body]) => {
              const headers = {"Content-Type": "application/json"};
              headers["X-CSRF-Token"] = document.documentElement.dataset.csrf;
              const sent = {method, headers, body: body && JSON.stringify(body)};
              const answer = await fetch(path, sent);
              return {status: answer.status, text: await answer.text()};
            }""",
            [method, path, body],
        )
        return answer

    def select(self, words: str) -> None:
        """Select words of the transcript, as a mouse does; waits until they are there."""
        self.page.locator("[data-start]", has_text=words).first.wait_for()
        self.page.evaluate(
            """(words) => {
              for (const turn of document.querySelectorAll("[data-start]")) {
                const walker = document.createTreeWalker(turn, NodeFilter.SHOW_TEXT);
                while (walker.nextNode()) {
                  const at = walker.currentNode.data.indexOf(words);
                  if (at < 0) continue;
                  const range = document.createRange();
                  range.setStart(walker.currentNode, at);
                  range.setEnd(walker.currentNode, at + words.length);
                  getSelection().removeAllRanges();
                  getSelection().addRange(range);
                  return;
                }
              }
              throw new Error("no such words");
            }""",
            words,
        )

    def rate(self, path: str, scores: str) -> None:
        """Rate blind by buttons alone: a digit or `u` an item, in their order."""
        page = self.open(f"{path}/rate")
        for place, score in enumerate(scores):
            page.locator("fieldset.rate").nth(place).locator(f"input[value='{score}']").check()
        self.commit()
        page.wait_for_selector("#ratings-name")

    def commit(self) -> None:
        """Commit what was rated, after the question whether it is meant so."""
        self.page.click("#commit")
        self.page.click("#confirm button[value=commit]")

    def axe(self, *, of_looks_alone: bool = False) -> None:
        """Fail where the page is not accessible, in all or in what colours and width change."""
        found = Axe().run(self.page, options=OF_LOOKS if of_looks_alone else VIOLATIONS)
        assert found.violations_count == 0, found.generate_report()


class Site:
    """A server, and the people who use it."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.url = url
        self._browser = browser
        self._people: list[Person] = []

    def person(self, **look: Any) -> Person:
        """Let somebody come with a browser without cookies."""
        context = self._browser.new_context(**look)
        context.set_default_timeout(_PATIENCE_MILLISECONDS)
        page = context.new_page()
        person = Person(url=self.url, context=context, page=page)
        page.on("pageerror", lambda error: person.told.append(str(error)))
        page.on("console", lambda one: person.told.append(one.text) if _is_bad(one) else None)
        page.on("dialog", lambda dialog: dialog.accept())
        self._people.append(person)
        return person

    def leave(self) -> None:
        """Close all browsers; a complaint of any of them is a failure."""
        for person in self._people:
            person.context.close()
        assert [person.told for person in self._people if person.told] == []


@contextmanager
def site_of(browser: Browser, state: Path, **environment: str) -> Iterator[Site]:
    """Serve with these settings while the block runs."""
    with RunningApp(settings_with(state, **environment)) as app:
        site = Site(browser, app.url)
        yield site
        site.leave()


def _is_bad(one: ConsoleMessage) -> bool:
    # That an answer is a refusal is told there, too; the page itself says why.
    is_answer = one.text.startswith("Failed to load resource") and "status of 5" not in one.text
    return one.type in {"error", "warning"} and not is_answer
