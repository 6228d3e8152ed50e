"""Predictions are read strictly: what is wrong with one is told by line and field, not repeated."""

import json
from pathlib import Path
from typing import Any

import pytest

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.prediction import read_challenge_predictions

TEXTS = {
    "a": "Interviewer: hi\nParticipant: i lie awake, marigold\n",
    "b": "Participant: fine\n",
}
SECRET = "marigold"
ITEMS: dict[str, Any] = {item.value: {"score": None} for item in Item}


def line(unit_id: str = "a", **fields: object) -> dict[str, object]:
    return {"unit_id": unit_id, "items": ITEMS} | fields


def sleep(**fields: object) -> dict[str, object]:
    return line(items=ITEMS | {"PHQ8_Sleep": {"score": 1} | fields})


def quoted(**fields: object) -> dict[str, object]:
    return sleep(quotes=[{"text": "lie awake"} | fields])


def written(folder: Path, *lines: object) -> Path:
    path = folder / "system.jsonl"
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


START = TEXTS["a"].index("lie awake")
GOOD: dict[str, dict[str, object]] = {
    "scores alone": line(),
    "failed": line(items={}),
    "a quote": quoted(),
    "a quote with its place": quoted(start=START, end=START + 9, polarity="affirmed"),
    "probabilities": sleep(probabilities=[0, 0.5, 0.25, 0.25, 0]),
    "a set": sleep(set=[1, 2, None]),
    "danger, calls and cost": line(danger=True, calls=3, cost_usd=0.01),
}


@pytest.mark.parametrize("case", GOOD)
def test_lines_that_say_what_they_may_are_read_and_written_back(tmp_path: Path, case: str) -> None:
    (found,) = read_challenge_predictions(written(tmp_path, GOOD[case]), TEXTS).values()
    again = written(tmp_path, found.to_line().decode().strip())
    assert list(read_challenge_predictions(again, TEXTS).values()) == [found]


BAD: dict[str, tuple[object, str]] = {
    "no JSON": (f'{{"unit_id": "{SECRET}', "is no JSON"),
    "no object": ([SECRET], "at the top"),
    "no id": ({"items": ITEMS}, "at unit_id"),
    "another interview": (line(SECRET), "at unit_id: this challenge has no such interview"),
    "no items": ({"unit_id": "a"}, "at items"),
    "seven items": (
        line(items={key: ITEMS[key] for key in list(ITEMS)[1:]}),
        "all eight items are given, or none",
    ),
    "an item of another name": (line(items=ITEMS | {SECRET: {"score": 1}}), "at items"),
    "no score": (line(items=ITEMS | {"PHQ8_Sleep": {}}), "at items.PHQ8_Sleep.score"),
    "a score of four": (sleep(score=4), "at items.PHQ8_Sleep.score"),
    "a score as a text": (sleep(score="2"), "at items.PHQ8_Sleep.score"),
    "a score that is true": (sleep(score=True), "at items.PHQ8_Sleep.score"),
    "a score of 2.5": (sleep(score=2.5), "at items.PHQ8_Sleep.score"),
    "an unknown field": (sleep(**{SECRET: 1}), "at items.PHQ8_Sleep"),
    "probabilities that are four": (
        sleep(probabilities=[0.25] * 4),
        "at items.PHQ8_Sleep.probabilities",
    ),
    "probabilities beyond 1": (sleep(probabilities=[0.5] * 5), "add up to 1"),
    "a negative probability": (
        sleep(probabilities=[-0.5, 0.5, 0.5, 0.5, 0]),
        "at items.PHQ8_Sleep.probabilities.0",
    ),
    "an empty set": (sleep(set=[]), "at items.PHQ8_Sleep.set"),
    "a set with one outcome twice": (sleep(set=[1, 1]), "each outcome once"),
    "an empty quote": (quoted(text=""), "at items.PHQ8_Sleep.quotes.0.text"),
    "a start without an end": (quoted(start=1), "start and end are given together"),
    "a quote that stands elsewhere": (
        quoted(start=START + 1, end=START + 10),
        "at items.PHQ8_Sleep.quotes.0: other words stand from start to end",
    ),
    "a quote in another order": (quoted(start=9, end=3), "items.PHQ8_Sleep.quotes.0"),
    "a polarity of another name": (quoted(polarity=SECRET), "quotes.0.polarity"),
    "danger as a text": (line(danger=SECRET), "at danger"),
    "calls below 0": (line(calls=-1), "at calls"),
    "an endless cost": (
        json.dumps(line(cost_usd=1)).replace('"cost_usd": 1', '"cost_usd": 1e999'),
        "at cost_usd",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_lines_that_cannot_be_used_are_named_and_not_repeated(tmp_path: Path, case: str) -> None:
    bad, says = BAD[case]
    path = written(tmp_path, line("b"), bad)
    with pytest.raises(InputError) as raised:
        read_challenge_predictions(path, TEXTS)
    assert str(raised.value).startswith("system.jsonl: line 2 ")
    assert says in str(raised.value)
    assert SECRET not in str(raised.value)


def test_an_interview_that_comes_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 3 is unusable at unit_id: .* comes twice"):
        read_challenge_predictions(written(tmp_path, line(), line("b"), line()), TEXTS)


def test_a_file_without_any_prediction_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no prediction"):
        read_challenge_predictions(written(tmp_path, ""), TEXTS)
