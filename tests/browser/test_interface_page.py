"""The page about the interface, as a browser shows it: whole without scripts and without a net."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.site import VIOLATIONS
from tests.integration.running_app import RunningApp, settings_with


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with RunningApp(settings_with(tmp_path_factory.mktemp("state"))) as app:
        yield app.url


def test_nobody_is_kept_out(page: Page, url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    page.emulate_media(color_scheme="dark")
    page.goto(f"{url}/docs")
    # All are made by one template; of hundreds each sixth tells as much.
    page.evaluate(
        "document.querySelectorAll('details').forEach((one, at) => { one.open = at % 6 === 0 })"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate(
        "document.querySelectorAll('article, details, tr').forEach("
        "(one, at) => { if (at % 6) one.remove(); else one.open = true })"
    )
    # Its script is put in by the test; what the page itself forbids is another test's matter.
    found = Axe().run(page, options=VIOLATIONS)
    assert found.violations_count == 0, found.generate_report()


def test_it_is_whole_without_scripts_and_asks_nobody_else(browser: Browser, url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(f"{url}/docs")
    assert page.get_by_role("heading", name="POST /v1/full_pipeline").is_visible()
    fields = page.get_by_role("region", name="Fields of the body of assess_transcript")
    assert not fields.is_visible()
    page.get_by_text("Fields of AssessmentRequest").first.click()
    assert fields.is_visible()
    assert all(one.startswith(url) for one in asked)
    assert f"{url}/docs/style.css" in asked
    assert said == []
    context.close()
