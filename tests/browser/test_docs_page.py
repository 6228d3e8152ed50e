"""The page at /docs, as a browser shows it under its content policy: whole without a network."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.integration.running_app import RunningApp, settings_with


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with RunningApp(settings_with(tmp_path_factory.mktemp("state"))) as app:
        yield app.url


def test_it_shows_the_routes_and_asks_no_other_server(page: Page, url: str) -> None:
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(f"{url}/docs")
    page.get_by_text("/v1/full_pipeline").first.wait_for()
    assert all(one.startswith((url, "data:")) for one in asked)
    assert [line for line in said if "Content Security Policy" in line] == []
