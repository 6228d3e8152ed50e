"""Who may see the pages, and who may not, where keys are needed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import Browser

from ai_psychiatrist.access.keys import KeyRequest
from ai_psychiatrist.domain.access import Scope
from tests.browser.site import Person, Site, site_of
from tests.fakes.access import Access

_MARKUP: Final = """<img src=x onerror=alert(1)>"'><script>alert(2)</script>{{7*7}}"""
_TALK: Final = (
    f"{_MARKUP[:50]}: How do you sleep? {_MARKUP}\nEva: I hardly sleep. {_MARKUP} Every night.\n"
)


@pytest.fixture
def site(browser: Browser, tmp_path: Path) -> Iterator[Site]:
    """Serve to those alone who have a key."""
    with site_of(browser, tmp_path, AUTH_REQUIRED="true") as site:
        yield site


def _key(tmp_path: Path, *scopes: Scope, name: str = "ward") -> str:
    access = Access(tmp_path)
    made = access.keys.create(
        KeyRequest(name=name, tenant="local", scopes=frozenset(scopes), lasts_seconds=3600)
    )
    access.close()
    written: str = made.text
    return written


def _login(person: Person, key: str) -> None:
    person.page.fill("#key", key)
    person.page.click("main button")
    person.page.wait_for_selector(".who-am-i >> text=Log out")


@pytest.mark.parametrize("java_script_enabled", [True, False], ids=["scripts", "none"])
def test_a_key_opens_the_pages_and_logging_out_closes_them(
    site: Site, tmp_path: Path, *, java_script_enabled: bool
) -> None:
    key = _key(tmp_path, *Scope)
    person = site.person(java_script_enabled=java_script_enabled)
    page = person.open("/new")
    assert page.inner_text("h1") == "Log in"
    page.fill("#key", key[:-1] + "x")
    page.click("main button")
    assert "does not work" in page.inner_text("#failed")
    _login(person, key)
    cookies = person.context.cookies()
    assert [(one["httpOnly"], one["sameSite"]) for one in cookies] == [(True, "Strict")]
    assert key not in str(cookies) + page.content()
    page.click("text=Log out")
    assert person.open("/").inner_text("h1") == "Log in"


def test_what_a_session_changes_needs_its_token(site: Site, tmp_path: Path) -> None:
    person = site.person()
    person.open("/login")
    _login(person, _key(tmp_path, *Scope))
    path = person.assess()
    cookie = {one["name"]: one["value"] for one in person.context.cookies()}
    with httpx.Client(base_url=site.url, cookies=cookie, trust_env=False) as client:
        for method, target in (("DELETE", f"/v1{path}"), ("POST", "/new"), ("POST", "/logout")):
            refused = client.request(method, target)
            assert (refused.status_code, refused.json()["code"]) == (403, "csrf_token_wrong")
    assert person.fetch("DELETE", f"/v1{path}")["status"] == 204


def test_somebody_sees_what_the_scopes_of_the_key_allow(site: Site, tmp_path: Path) -> None:
    admin, rater = site.person(), site.person()
    admin.open("/login")
    _login(admin, _key(tmp_path, *Scope))
    path = admin.assess()
    rater.open("/login")
    rater.page.fill("#key", _key(tmp_path, Scope.REVIEW, name="second rater"))
    rater.page.click("main button")
    rater.page.wait_for_load_state()
    assert rater.open("/next").url == f"{site.url}{path}/rate"
    assert rater.page.locator("nav a").all_inner_texts() == ["Rate"]
    rater.open(path)
    assert rater.page.url.endswith("/rate") or "Rate it first" in rater.page.content()
    assert rater.fetch("GET", f"/v1{path}")["status"] == 403
    rater.rate(path, "uuuuuuuu")
    assert rater.page.locator("[data-what]").count() == 0


def test_markup_in_any_field_stays_words(site: Site, tmp_path: Path) -> None:
    person = site.person()
    person.open("/login")
    _login(person, _key(tmp_path, *Scope, name="<b>ward"))
    page = person.open("/new")
    page.fill("#text", _TALK)
    page.fill("#subject", _MARKUP)
    page.click("#assess")
    page.locator("#speakers tr", has_text="Eva").locator("select").select_option("participant")
    _is_only_words(person)
    page.click("#assess")
    page.wait_for_url("**/assessments/*")
    page.wait_for_selector("h1:has-text('Rate it first')")
    path = page.url.removeprefix(site.url)
    page.click("text=Rate it blind")
    person.select("hardly sleep")
    _is_only_words(person)
    person.rate(path, "uuuuuuuu")
    assert _MARKUP in page.inner_text(".turns")
    _is_only_words(person)
    person.open("/?scores=<script>&band=<b>")
    _is_only_words(person)


def _is_only_words(person: Person) -> None:
    found: dict[str, Any] = person.page.evaluate(
        """() => ({
          images: document.querySelectorAll("img").length,
          inline: [...document.scripts].filter((one) => !one.src).length,
          handlers: document.querySelectorAll("[onerror], [onclick], [style]").length,
        })"""
    )
    assert found == {"images": 0, "inline": 0, "handlers": 0}
