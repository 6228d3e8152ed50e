"""Debian's Chromium, driven by playwright; without it the tests of this folder are skipped."""

import shutil
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.patience import PATIENCE_SECONDS

_BROWSERS: Final = ("chromium-headless-shell", "chromium", "chromium-browser")
"""The first that is there: without windows of its own it takes a third of the time."""
_NO_OUTSIDE: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""It looks for nothing outside this machine."""
_PATIENCE_MILLISECONDS: Final = 1000 * PATIENCE_SECONDS / 2


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Start the browser once for this folder: while it runs, no other loop can in its thread."""
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        pytest.skip("there is no Chromium: install the package chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=list(_NO_OUTSIDE))
        yield started
        started.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Give a browser without cookies; what goes wrong on a page fails the test."""
    context = browser.new_context()
    context.set_default_timeout(_PATIENCE_MILLISECONDS)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """Give a page; an exception of a script of the page fails the test."""
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    assert errors == []
