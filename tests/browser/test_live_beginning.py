"""From the first visit to a result that can be read."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.site import TALK, Site, site_of
from tests.fakes.model_server import ModelServerThread, fault
from tests.integration.running_app import model_at

_UNKNOWN = TALK.replace("Interviewer", "Tom").replace("Participant", "Eva")


@pytest.fixture
def site(browser: Browser, tmp_path: Path) -> Iterator[Site]:
    """Serve, as after a fresh installation."""
    with site_of(browser, tmp_path) as site:
        yield site


def test_a_first_visit_shows_the_example_and_stores_nothing(site: Site) -> None:
    person = site.person()
    page = person.open("/")
    assert page.inner_text("h1") == "This is an example"
    assert page.locator("mark").count() > 5
    assert "Made by a rule baseline" in page.inner_text("#account")
    assert '"total":0' in person.fetch("GET", "/v1/assessments")["text"]
    page.click("text=Start with your own")
    assert page.inner_text("h1") == "New assessment"


def test_pasted_text_of_known_labels_becomes_a_result(site: Site) -> None:
    person = site.person()
    path = person.assess()
    assert "Eva" not in person.page.inner_text("body")
    assert "nearly every night" in person.page.inner_text("mark >> nth=0")
    assert person.open("/").locator("table.cohort tbody tr").count() == 1
    person.page.click("table.cohort tbody a")
    assert person.page.url == site.url + path


def test_unknown_labels_are_mapped_by_hand(site: Site) -> None:
    page = site.person().open("/new")
    page.fill("#text", _UNKNOWN)
    page.click("#assess")
    row = page.locator("#speakers tr", has_text="Eva")
    assert "nearly every night" in row.inner_text()
    assert page.inner_text("#said") == "Choose who the participant is."
    row.locator("select").select_option("participant")
    page.locator("#speakers tr", has_text="Tom").locator("select").select_option("interviewer")
    page.click("#assess")
    page.wait_for_selector(".by-participant >> nth=1")
    assert page.locator(".by-participant .speaker").all_inner_texts() == ["Eva", "Eva"]


def test_a_file_is_read_with_its_times(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "talk.vtt"
    file.write_text(
        "WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n<v Tom>How do you sleep?\n\n"
        "00:01:05.000 --> 00:01:09.000\n<v Eva>I wake up at four nearly every night.\n"
    )
    page = site.person().open("/new")
    page.set_input_files("#file", file)
    page.fill("#subject", "Eva from the ward 😴")
    page.click("#assess")
    page.locator("#speakers tr", has_text="Eva").locator("select").select_option("participant")
    page.locator("#speakers tr", has_text="Tom").locator("select").select_option("interviewer")
    page.click("#assess")
    page.wait_for_selector(".time >> nth=1")
    assert page.locator(".time").all_inner_texts() == ["0:01", "1:05"]


def test_what_cannot_be_assessed_is_said_and_kept(site: Site) -> None:
    page = site.person().open("/new")
    page.fill("#subject", "somebody")
    page.evaluate("() => { document.getElementById('text').value = ' '; }")
    page.click("#assess")
    page.wait_for_selector("#failed p")
    assert "There is no interview yet" in page.inner_text("#failed")
    assert page.input_value("#subject") == "somebody"


def test_without_scripts_one_can_read_and_begin(site: Site) -> None:
    person = site.person(java_script_enabled=False)
    assert person.open("/").locator("mark").count() > 5
    page = person.open("/new")
    page.fill("#text", _UNKNOWN)
    page.click("#assess")
    page.wait_for_selector("#text")
    assert page.input_value("#text").strip() == _UNKNOWN.strip()
    assert page.locator("#speakers tr").count() == 2
    page.locator("#speakers tr", has_text="Eva").locator("select").select_option("participant")
    page.click("#assess")
    page.wait_for_selector("mark")
    assert page.locator(".by-participant .speaker").first.inner_text() == "Eva"


def test_a_step_that_failed_has_no_tick(browser: Browser, tmp_path: Path) -> None:
    with (
        ModelServerThread(fault("prose")) as models,
        site_of(browser, tmp_path, PYDANTIC_AI_RETRIES="0", **model_at(models.url)) as site,
    ):
        page = site.person().open("/new")
        page.fill("#text", TALK)
        page.click("#assess")
        page.wait_for_selector("h1:has-text('failed')")
        signs = page.evaluate(
            """() => [...document.querySelectorAll("#stages li")].map((one) =>
              [one.dataset.outcome, getComputedStyle(one, "::before").content])"""
        )
    assert {tuple(one) for one in signs} >= {("begun", '"✓"'), ("", '"…"')}
    assert ("failed", '"✓"') not in {tuple(one) for one in signs}


def test_progress_is_told_as_it_comes(site: Site) -> None:
    person = site.person()
    page = person.open("/new")
    page.click("#example")
    page.wait_for_selector("mark")
    events = person.fetch("GET", page.url.replace("/assessments/", "/v1/jobs/") + "/events")
    assert events["text"].count("event: stage") >= 4
    assert "sleep" not in events["text"]


def test_without_labels_one_is_asked_before_all_words_count(site: Site) -> None:
    person = site.person()
    page = person.open("/new")
    page.click("#assess")
    page.locator("#failed:has-text('There is no interview yet')").wait_for()
    page.fill("#text", "I sleep badly, most nights.")
    page.click("#assess")
    page.locator("#said:has-text('Press Assess again')").wait_for()
    assert "all words count as the participant’s" in page.inner_text("#who-note")
    person.axe()
    page.click("#assess")
    page.wait_for_url("**/assessments/*")


def test_a_file_that_holds_no_interview_is_refused_with_what_to_do(
    site: Site, tmp_path: Path
) -> None:
    person = site.person()
    page = person.open("/new")
    for name, content, told in (
        ("empty.txt", b"", "This file is empty: choose another."),
        (
            "scan.pdf",
            b"%PDF-1.4\n\x00\xff\xd8\x81" * 40,
            "save it as plain text (.txt) or as a Word document (.docx)",
        ),
    ):
        (tmp_path / name).write_bytes(content)
        page.set_input_files("#file", tmp_path / name)
        page.click("#assess")
        page.locator(f"#failed:has-text('{told}')").wait_for()


def test_the_study_id_is_the_title_of_each_page_and_in_no_history(site: Site) -> None:
    person = site.person()
    page = person.open("/new")
    page.fill("#text", TALK)
    page.fill("#subject", "P-001")
    page.click("#assess")
    page.wait_for_selector("h1:has-text('P-001')")
    path = page.url.removeprefix(site.url)
    assert page.inner_text("h1").startswith("P-001 20")
    assert "P-001" in page.inner_text(".erase")
    titles = [page.title()]
    assert person.open(f"{path}/rate").inner_text("h1").startswith("Rate: P-001 20")
    titles.append(page.title())
    page = person.open("/")
    assert page.inner_text(".cohort th[scope=row]").startswith("P-001")
    page.fill("#find input[name=subject]", "P-001")
    page.click("text=Find")
    page.wait_for_selector("#count:has-text('1 assessment of one study id')")
    titles.append(page.title())
    assert not any("P-001" in one for one in (*titles, page.url))


def test_several_files_become_an_assessment_each(site: Site, tmp_path: Path) -> None:
    """What is wrong with one keeps no other back, and no question about a file is left out."""
    files = {
        "P-01.txt": TALK,
        "P-02.txt": _UNKNOWN,
        "P-03.pdf": "%PDF-1.4\n\x00",
        "P-04.txt": "I sleep badly, most nights.",
        "P-05.txt": TALK,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    person = site.person()
    page = person.open("/new")
    page.set_input_files("#file", [tmp_path / name for name in files])
    assert page.locator("#subject").is_hidden()
    rows = page.locator("#files-list tr")
    assert [one.input_value() for one in rows.locator("input").all()] == [
        f"P-0{number}" for number in range(1, 6)
    ]
    rows.nth(4).locator("input").fill("P-50")
    person.axe()
    page.click("#assess")
    page.wait_for_selector("#who-title:has-text('Who is who in P-02.txt?')")
    page.click("#assess")
    page.locator("#said:has-text('P-02.txt: Choose who')").wait_for()
    page.locator("#speakers tr", has_text="Eva").locator("select").select_option("participant")
    page.click("#assess")
    page.locator("#said:has-text('P-04.txt: No line says who speaks')").wait_for()
    page.click("#assess")
    page.locator("#said:has-text('4 of 5 interviews are sent.')").wait_for()
    person.axe()
    states = [one.locator("td").last.inner_text() for one in rows.all()]
    assert states[:2] + states[3:] == ["sent"] * 4
    assert "save it as plain text" in states[2]
    page.click("#assess")
    page.locator("#said:has-text('4 of 5 interviews are sent.')").wait_for()
    page.click("#files-sent a")
    names = page.locator(".cohort tbody th[scope=row] a").all_inner_texts()
    assert sorted(name.split()[0] for name in names) == ["P-01", "P-02", "P-04", "P-50"]


def test_files_are_dropped_on_the_page(site: Site) -> None:
    page = site.person().open("/new")
    page.evaluate(
        """(talk) => {
          const dataTransfer = new DataTransfer();
          for (const name of ["a.txt", "b.txt"]) dataTransfer.items.add(new File([talk], name));
          const dropped = new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true});
          document.getElementById("text").dispatchEvent(dropped);
        }""",
        TALK,
    )
    page.click("#assess")
    page.locator("#said:has-text('2 of 2 interviews are sent.')").wait_for()
