"""The page of one assessment: every mark has its card, and nothing that was said is markup."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from pydantic import ValidationError
from tests.fakes.parsed_page import ParsedPage
from tests.fakes.shown_results import (
    EXAMPLE,
    eventful_fields,
    eventful_view,
    example_result,
    example_view,
    failed_fields,
    view_of,
)

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.results.page.pages import index_html, index_row, packaged, sheet_html
from ai_psychiatrist.results.page.views import SheetView, sheet_view
from ai_psychiatrist.results.reading import transcript_again

TEXT = EXAMPLE.read_text("utf-8")
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "</title></head><body onload=alert(1)>",
    "<!-- --><iframe srcdoc='<script>alert(1)</script>'>",
    "{{ 7 * 7 }}{% include 'sheet.css' %}",
    "&lt;script&gt;&#60;script&#62;",
    "\u202e<b>\ufeff\u2028&\U0001f600",
    "]]><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
]


def test_stored_result_is_read_back_as_it_was() -> None:
    result = example_result()
    kept = result.model_dump_json()
    assert Assessment.model_validate_json(kept).model_dump_json() == kept


@pytest.mark.parametrize("view", [example_view, eventful_view])
def test_every_link_and_description_leads_somewhere(view: Callable[[], SheetView]) -> None:
    page = ParsedPage(sheet_html(view()))
    ids = [one.attributes["id"] for one in page.elements if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    named = [
        name
        for one in page.elements
        for key in ("aria-describedby", "aria-labelledby")
        for name in one.attributes.get(key, "").split()
    ]
    links = [one.attributes["href"] for one in page.of("a")]
    assert {link[0] for link in links} == {"#"}
    assert {*named, *(link[1:] for link in links)} <= set(ids)


def test_every_mark_leads_to_its_card_and_back() -> None:
    page = ParsedPage(sheet_html(eventful_view()))
    marks = {one.attributes["id"]: one for one in page.of("mark")}
    links = {one.attributes["href"] for one in page.of("a")}
    cards = {one.attributes["id"] for one in page.with_class("card")}
    described = {
        name.removesuffix("-what")
        for mark in marks.values()
        for name in mark.attributes["aria-describedby"].split()
    }
    assert cards == {name for name in described if name.startswith("q-")}
    assert {f"#{name}" for name in described} <= links
    back = {one.attributes["href"] for one in page.with_class("place")}
    assert back <= {f"#{name}" for name in marks}
    shared = [one for one in marks.values() if one.attributes["data-items"].count(" ")]
    assert {"sleep tired"} <= {one.attributes["data-items"] for one in shared}


def test_turns_hold_the_whole_transcript() -> None:
    view = example_view()
    said = ["".join(piece.text for piece in turn.pieces) for turn in view.danger.turns]
    again = transcript_again(view.result, TEXT)
    assert said == [again.words(turn) for turn in again.turns]
    turns = ParsedPage(sheet_html(view)).with_class("turn")
    assert [one.attributes["id"] for one in turns][:2] == ["t1", "t2"]


def test_page_says_what_was_found_refused_and_failed() -> None:
    page = sheet_html(eventful_view())
    for told in (
        "these words are not in the transcript",
        "these are the interviewer&#39;s words",
        "it was not looked up",
        "no quote says clearly that it is so",
        "the quotes do not drive this score",
        "failed (the model took too long)",
        "no example is like enough",
        "a plan",
        "found by a model",
        "Found and not listed: 1.",
        "not judged: the call failed",
        "too many calls, or the quota is spent (HTTP 429)",
        "The item scores do not allow this severity.",
        "Not verified",
        "Partial: some parts failed.",
        "Made by a rule baseline",
    ):
        assert told in page, told


def test_failed_assessment_is_shown_as_failed_with_its_danger() -> None:
    page = sheet_html(view_of(failed_fields(TEXT), TEXT))
    assert page.count("Failed: there is no result.") == 4
    assert "the model&#39;s server could not be reached" in page
    assert "Total: none" in page
    assert "Asked about suicide: denied (turn 68)" in page
    assert page.count(">not scored<") == 8


def test_page_without_its_text_still_has_the_quotes() -> None:
    view = sheet_view(example_result(), None)
    page = ParsedPage(sheet_html(view))
    assert page.of("mark") == []
    assert len(page.with_class("card")) == 13
    assert any("transcript is not in this result" in one.text for one in page.of("p"))


def test_another_text_is_refused() -> None:
    with pytest.raises(InputError, match="not the text that was assessed") as refused:
        transcript_again(example_result(), TEXT.replace("exhausted", "exhaustive"))
    assert "exhausted" not in str(refused.value)


def test_turns_are_told_again_where_the_caller_said_who_is_who() -> None:
    text = TEXT.replace("Interviewer:", "Kim:").replace("Participant:", "Sam:")
    fields = json.loads(json.dumps(eventful_fields(TEXT)))
    shift = {"Interviewer": "Kim", "Participant": "Sam"}
    for speaker in fields["transcript"]["speakers"]:
        speaker["label"] = shift[speaker["label"]]
    fields["risk"] |= {"signals": [], "signal_count": 0, "level": "none"}
    fields["quantitative"] = None
    view = view_of(fields, text)
    assert [one.turn.label for one in view.danger.turns[:2]] == ["Kim", "Sam"]


@pytest.mark.parametrize("payload", HOSTILE)
def test_nothing_in_a_result_becomes_markup(payload: str) -> None:
    harmless, hostile = (ParsedPage(_page_with(words)) for words in ("word", payload))
    assert hostile.shape == harmless.shape
    assert any(payload in one.text for one in hostile.of("blockquote"))


@pytest.mark.parametrize("payload", HOSTILE)
def test_nothing_in_a_transcript_becomes_markup(payload: str) -> None:
    harmless, hostile = (
        # As long as the payload: the page tells where in the text each turn begins.
        ParsedPage(_transcript_page_with(words))
        for words in ("x" * len(payload), payload)
    )
    assert hostile.shape == harmless.shape
    assert sum(payload in one.text for one in hostile.with_class("said")) == 2


@pytest.mark.parametrize("payload", HOSTILE)
def test_nothing_in_the_table_becomes_markup(payload: str) -> None:
    shapes = []
    for words in ("word", payload):
        row = index_row(example_result(), name=words, href="a.html", has_transcript=False)
        shapes.append(ParsedPage(index_html([row])).shape)
    assert shapes[0] == shapes[1]


def test_page_has_no_style_attribute_and_one_script() -> None:
    page = ParsedPage(sheet_html(eventful_view()))
    assert len(page.of("script")) == len(page.of("style")) == 1
    for one in page.elements:
        assert "style" not in one.attributes
        assert not [name for name in one.attributes if name.startswith("on")]
        assert "src" not in one.attributes
    assert "http:" not in sheet_html(eventful_view())
    assert "https:" not in sheet_html(eventful_view())


def test_styles_and_script_stay_small() -> None:
    assert len(packaged("sheet.css").splitlines()) <= 350
    assert len(packaged("sheet.js").splitlines()) <= 120


def _page_with(payload: str) -> str:
    fields = _fields_with(payload)
    for path in _open_places():
        own = [one.replace(" word", f" {payload}") if isinstance(one, str) else one for one in path]
        _put(fields, tuple(own), payload)
    result = Assessment.model_validate_json(json.dumps(fields))
    return sheet_html(sheet_view(result, None, name=payload))


def _fields_with(payload: str) -> dict[str, Any]:
    fields = eventful_fields(TEXT)
    fields["models"] = {f"{name} {payload}": one for name, one in fields["models"].items()}
    fields["prompts"] = {f"{name} {payload}": one for name, one in fields["prompts"].items()}
    fields["certificate"] = {"sha256": payload, "signed_by": payload, "text": payload}
    return fields


def _texts(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    match value:
        case dict():
            for key, one in value.items():
                yield from _texts(one, (*path, key))
        case list():
            for at, one in enumerate(value):
                yield from _texts(one, (*path, at))
        case str():
            yield path


@cache
def _open_places() -> tuple[tuple[str | int, ...], ...]:
    """Return where in a result with "word" any words may stand: to try each place takes long."""
    fields, found = _fields_with("word"), []
    for path in list(_texts(fields)):
        before = _put(fields, path, "word")
        try:
            Assessment.model_validate(fields)
        except ValidationError:
            _put(fields, path, before)
        else:
            found.append(path)
    assert len(found) > 100
    return tuple(found)


def _put(fields: dict[str, Any], path: tuple[str | int, ...], words: str) -> str:
    """Put words in one place, and return those that stood there."""
    place: Any = fields
    for key in path[:-1]:
        place = place[key]
    before: str = place[path[-1]]
    place[path[-1]] = words
    return before


def _transcript_page_with(payload: str) -> str:
    text = f"Interviewer: What {payload}\nParticipant: I am {payload}\nParticipant: ok"
    fields = failed_fields(TEXT)
    fields["risk"] |= {"signals": [], "signal_count": 0, "level": "none"}
    fields["transcript"] |= {
        "turns": 3,
        "speakers": [
            {"label": "Interviewer", "role": "interviewer", "turns": 1},
            {"label": "Participant", "role": "participant", "turns": 2},
        ],
    }
    return sheet_html(view_of(fields, text))
