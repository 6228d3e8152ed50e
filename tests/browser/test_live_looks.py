"""Every live page in each look: accessible, and within its window."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, ViewportSize

from tests.browser.site import Person, Site, site_of

_LOOKS: Final[dict[str, dict[str, Any]]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
}
_LOOKED_AT: Final = {"light": 1280, "dark": 390}
"""The width in which axe looks at each."""
_WIDTHS: Final = (390, 1280)


@pytest.fixture
def site(browser: Browser, tmp_path: Path) -> Iterator[Site]:
    """Serve, as after a fresh installation."""
    with site_of(browser, tmp_path) as site:
        yield site


@pytest.mark.parametrize("look", _LOOKS)
def test_axe_finds_nothing_in_any_state(site: Site, look: str) -> None:
    person = site.person(**_LOOKS[look])
    person.open("/")
    _fits(person, look)
    person.named("Ada")
    person.open("/login")
    _fits(person, look)
    page = person.open("/new")
    page.fill("#text", "Tom: How do you sleep?\nEva: Badly, every night.")
    page.click("#preview")
    page.wait_for_selector("#speakers tr")
    _fits(person, look)
    path = person.assess()
    _fits(person, look)
    page = person.open(f"{path}/rate")
    person.select("nearly every night")
    page.keyboard.press("3")
    page.keyboard.press("m")
    _fits(person, look)
    person.rate(path, "uu3uu0uu")
    page.wait_for_selector(".judge")
    _fits(person, look)
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    person.axe()
    for path in ("/", "/?band=severe&state=failed", "/agreement", "/next", "/assessments/none"):
        person.open(path)
        _fits(person, look)


def _fits(person: Person, look: str) -> None:
    for width in _WIDTHS:
        person.page.set_viewport_size(ViewportSize(width=width, height=800))
        if width == _LOOKED_AT[look]:
            person.axe()
        assert person.page.evaluate("document.documentElement.scrollWidth") <= width
