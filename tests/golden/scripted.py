"""Assessments whose models answer from a script: well, badly, late and not at all."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.fakes.faults import FAULTS, first_attempts
from tests.golden.answer import Answer
from tests.golden.assessments_parts import own_transcripts
from tests.golden.scripted_doctor import doctor_answers
from tests.golden.scripted_prompts import prompt_answers
from tests.golden.scripted_references import made_references, reference_answers
from tests.golden.scripted_replies import reply_cases
from tests.golden.scripted_settings import setting_cases, waiting_cases
from tests.golden.scripted_shown import shown_answers
from tests.golden.scripted_way import SHORT, Case, answers_at_once, answers_of, answers_of_replies
from tests.golden.ways import EXAMPLES, scratch

_YOUNG_OBJECTS: Final = 100_000
_WAITING: Final = ("hang", "slow_drip")
_PLAIN: Final = {"PYDANTIC_AI_ENABLED": "false"}
_TALKS: Final = (
    "frequencies/more_than_half",
    "meaning/contradicted",
    "meaning/all_past",
    "danger/many_kinds",
    "danger/evaded",
    "languages/changing_over",
    "odd/control_tokens",
    "odd/odd_characters",
)
_WHOLE_FAULTS: Final = ("list_instead_of_object", "nan")


def answers() -> Iterator[Answer]:
    """Yield what becomes of interviews when models answer as the scripts say."""
    with _rarely_collecting(), scratch() as folder:
        yield from answers_of(_good(), folder)
        yield from answers_of(_faulty(), folder)
        yield from answers_of_replies(reply_cases(), folder)
        yield from answers_of(setting_cases(), folder)
        yield from answers_at_once([*waiting_cases()], folder)
        references = made_references(folder)
        yield from reference_answers(references, folder)
        yield from prompt_answers(references, folder)
        yield from shown_answers()
        yield from doctor_answers()


@contextmanager
def _rarely_collecting() -> Iterator[None]:
    """Look for garbage seldom: it takes a tenth of the time."""
    thresholds = gc.get_threshold()
    gc.set_threshold(_YOUNG_OBJECTS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def _good() -> Iterator[Case]:
    long = (EXAMPLES / "interview.txt").read_text(encoding="utf-8")
    talks = {"long": long, "short": SHORT, **{name: own_transcripts()[name] for name in _TALKS}}
    for name, text in talks.items():
        yield Case(name=f"good/{name}", text=text, is_whole=True)
        yield Case(name=f"good_ollama/{name}", text=text, wire="ollama")


def _faulty() -> Iterator[Case]:
    """Yield each fault always, in each first attempt, and where one plain call is made."""
    for name, script in FAULTS.items():
        if name in _WAITING:
            continue
        yield Case(name=f"always/{name}", script=script)
        yield Case(name=f"at_first/{name}", script=first_attempts(1, script), wire="ollama")
        yield Case(name=f"plain/{name}", script=script, wire="ollama", settings=_PLAIN)
        if name in _WHOLE_FAULTS:
            yield Case(name=f"whole/{name}", script=script, is_whole=True)
