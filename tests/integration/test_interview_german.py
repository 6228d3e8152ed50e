"""An interview in another language than English, led by a protocol file alone."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.integration.running_app import client_of, settings_with
from tests.integration.test_interview_http import Json, answered, begin

GERMAN: Final = Path(__file__).parents[1] / "data" / "protocols" / "phq8_de"
HELP: Final = "Krisentelefon 0800 111, Tag und Nacht."
_ENGLISH: Final = re.compile(
    r"\b(?:the|you|your|and|of|please|answers?|questions?|yes|not|noted|change|send|sleep|energy"
    r"|that|this|for|can|nearly|several|days|link|program|pause)\b",
    re.IGNORECASE,
)


def english_in(text: str) -> list[str]:
    """Return English words in what a person is shown; "Link" is a German one as well."""
    return [one for one in _ENGLISH.findall(text) if one != "Link"]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    """Serve the German protocol beside the built-in ones."""
    settings = settings_with(
        tmp_path, INTERVIEW_PROTOCOLS=str(GERMAN), RISK_CRISIS_RESOURCES=HELP, DANGER_NOTICE=""
    )
    with client_of(settings) as client:
        yield client


def shown(interview: Json) -> str:
    """Return what the person of an interview is shown of a snapshot."""
    question = interview["question"] or {"text": "", "options": []}
    return "\n".join([interview["spoken"], question["text"], *map(_text, question["options"])])


def _text(option: Json) -> str:
    text: str = option["text"]
    return text


def option(interview: Json, text: str) -> str:
    """Return the option of these words."""
    offered = interview["question"]["options"]
    return next(str(one["id"]) for one in offered if one["text"] == text)


def test_a_whole_interview_is_held_in_german(client: httpx.Client) -> None:
    at = begin(client, protocol="phq8-de", inputs={"asked_by": "Es fragt die Praxis am Markt."})
    said: list[Json] = [at]

    def answer(**sent: Any) -> Json:
        said.append(answered(client, said[-1], **sent))
        return said[-1]

    assert "Es sind 8 kurze Fragen" in at["spoken"]
    answer(text="An einigen Tagen.")
    answer(text="an fast allen tagen")
    # Words that are not read: the item is asked about again, with the four answers.
    again = answer(text="jede zweite Nacht")
    assert again["spoken"].startswith("Das konnte ich nicht lesen.")
    kinds = [one["kind"] for one in again["question"]["options"]]
    assert kinds == ["anchor"] * 4 + ["decline"]
    assert again["question"]["item"] == "PHQ8_Sleep"
    answer(option_id=option(again, "An über der Hälfte der Tage"))
    # A number of days is read, and read back.
    back = answer(text="5")
    assert back["question"]["text"].startswith("Sie sagten „5“. Zum Thema Kraft habe ich notiert:")
    answer(text="Ja")
    answer(text="3")
    answer(text="nein")
    answer(text="An keinem Tag")
    answer(text="Das möchte ich nicht sagen")
    answer(text="Haben Sie die Nachrichten gelesen?")
    assert said[-1]["spoken"].startswith("Ich kann nur nach den letzten zwei Wochen fragen.")
    answer(text="an keinem Tag")
    answer(text="gar nicht, aber manchmal doch")
    answer(text="An keinem Tag")
    refused = answer(text="nein")
    assert refused["question"]["purpose"] == "review"
    assert "Schlaf: An über der Hälfte der Tage" in refused["question"]["text"]
    # What is not read ends nothing.
    asked = answer(text="ich würde gern etwas ändern")
    assert asked["question"]["purpose"] == "review"
    answer(option_id=option(asked, "Ändern: Kraft"))
    answer(text="An fast allen Tagen")
    done = answer(text="Nein, das stimmt so")
    assert done["state"] == "done"
    items = done["operator"]["items"]
    assert [one["score"] for one in items.values()] == [1, 3, 2, 3, 0, None, 0, 0]
    assert items["PHQ8_Failure"]["unknown_reason"] == "declined"
    unread = {one["language"] for one in done["operator"]["not_examined"]}
    assert "de" in unread
    assert english_in("\n".join(map(shown, said))) == []
    assert english_in("\n".join(one["text"] for one in done["messages"])) == []


def test_danger_that_the_rules_find_is_answered_in_german(client: httpx.Client) -> None:
    """In German itself nothing is found: the answers are listed as not examined."""
    at = begin(client, protocol="phq8-de")
    missed = answered(client, at, text="Ich möchte nicht mehr leben.")
    assert missed["state"] == "awaiting"
    assert [one["language"] for one in missed["operator"]["not_examined"]] == ["de"]
    held = answered(client, missed, text="I want to kill myself.")
    assert held["state"] == "safety_hold"
    over = answered(client, held, text="Nein danke.")
    assert english_in(shown(held) + shown(over)) == []
    assert f"{HELP}\nEs kann sein, dass das gerade niemand liest." in over["spoken"]
