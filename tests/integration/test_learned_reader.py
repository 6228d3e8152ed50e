"""The learned reader that is shipped, through the ways in which people meet it."""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ai_psychiatrist as ap
from ai_psychiatrist.agents.context import assessment_context
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.config import Settings, load_settings
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.reader.learned_reader import LISTING, SHIPPED, LearnedReader
from ai_psychiatrist.services.reader.passages import Passage
from ai_psychiatrist.services.reader.second_voice import SecondVoice
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from tests.fakes.replies import evidence_text, scoring_answer, scoring_text
from tests.fakes.scripted import ScriptedModel, route

DATA = Path(__file__).parents[1] / "data"
EXAMPLE = Path(__file__).parents[2] / "examples" / "interview.txt"
SHARED_DANGER = (
    "Interviewer: What has the week been like?\n"
    "Participant: They'd all be better off without me. I've put my things in boxes for my sister.\n"
)
WEATHER = (
    "It rained on the washing the whole of Monday.",
    "The bus was late again because of the roadworks.",
    "We had the neighbours round to look at the fence.",
    "The parcel went to number nine by mistake.",
)


def settings_in(folder: Path, **more: str) -> Settings:
    return load_settings({"DATA_STATE_DIR": str(folder), "LOG_LEVEL": "CRITICAL", **more}, None)


def result_of(text: str, folder: Path, **more: str) -> Assessment:
    return ap.assess_sync(text, settings=settings_in(folder, **more))


def comparable(result: Assessment) -> dict[str, Any]:
    """Return what a result says, without ids, times and the reader's own field."""
    fields: dict[str, Any] = json.loads(result.model_dump_json())
    for name in ("assessment_id", "attempts"):
        fields.pop(name)
    for name in ("reader", "statement"):
        fields["risk"].pop(name)
    return fields


def test_the_reader_takes_part_by_default_and_names_itself(tmp_path: Path) -> None:
    result = result_of(EXAMPLE.read_text("utf-8"), tmp_path)
    reader = result.risk.reader
    assert reader.status.value == "answered"
    assert reader.digest == LearnedReader.load().digest
    assert "learned reader" in result.risk.statement


def test_the_same_transcript_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (result_of(SHARED_DANGER, tmp_path) for _ in range(2))
    assert comparable(first) == comparable(second)
    assert first.risk == second.risk


def assessed_by_command(
    folder: Path, *, is_installed: bool, enabled: str
) -> tuple[Assessment, set[str]]:
    """Return a result of the command, and which libraries of the reader it imported."""
    hidden = "" if is_installed else "sys.modules['onnxruntime'] = None"
    program = (
        f"import sys; {hidden}\n"
        "from ai_psychiatrist.cli import main\n"
        "try: main()\n"
        "finally:\n"
        "    names = {'onnxruntime', 'tokenizers', 'numpy'} & sys.modules.keys()\n"
        "    print(*names, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "assess", str(EXAMPLE), "--json"],
        check=False,
        capture_output=True,
        text=True,
        env={"DATA_STATE_DIR": str(folder), "READER_ENABLED": enabled, "LOG_LEVEL": "CRITICAL"},
    )
    assert done.returncode == 0, done.stderr
    imported = set(done.stderr.splitlines()[-1].split())
    return Assessment.model_validate_json(done.stdout), imported


def test_switched_off_and_not_installed_differ_in_what_they_say_alone(tmp_path: Path) -> None:
    off, imported = assessed_by_command(tmp_path, is_installed=True, enabled="false")
    missing, _ = assessed_by_command(tmp_path, is_installed=False, enabled="true")
    assert imported == set()
    assert (off.risk.reader.status.value, off.risk.reader.digest) == ("off", None)
    assert (missing.risk.reader.status.value, missing.risk.reader.digest) == ("missing", None)
    assert comparable(off) == comparable(missing)


def test_a_passage_is_read_the_same_whatever_was_read_before() -> None:
    reader = LearnedReader.load()
    passage = Passage(
        turn=1, start=0, end=9, question="How do you sleep?", words="Badly, every night."
    )
    first = reader.read(passage)
    for other in WEATHER:
        reader.read(replace(passage, words=other))
    assert reader.read(passage) == first
    assert first.present[Item.SLEEP] > first.denied[Item.SLEEP]


@contextmanager
def copied_files(folder: Path) -> Iterator[Path]:
    copy = folder / "model"
    shutil.copytree(SHIPPED, copy)
    yield copy
    shutil.rmtree(copy)


@pytest.mark.parametrize("name", json.loads((SHIPPED / LISTING).read_text("utf-8"))["files"])
def test_a_file_with_one_other_byte_is_not_loaded(tmp_path: Path, name: str) -> None:
    with copied_files(tmp_path) as copy:
        content = bytearray((copy / name).read_bytes())
        content[len(content) // 2] ^= 1
        (copy / name).write_bytes(content)
        with pytest.raises(ArtifactMismatch, match=name):
            LearnedReader.load(copy)


@pytest.mark.parametrize("order", (DATA / "hidden_orders.txt").read_text("utf-8").splitlines())
def test_an_order_that_a_model_obeys_with_quotes_of_other_things_scores_nothing(order: str) -> None:
    said = [*WEATHER[:2], order, *WEATHER[2:]]
    text = "".join(f"Interviewer: Go on.\nParticipant: {one}\n" for one in said)
    transcript = parse_transcript(text)
    answer = scoring_answer([])
    for at, item in enumerate(Item):
        quote = WEATHER[at % len(WEATHER)]
        answer[item.value] |= {"score": 3, "evidence": [quote], "confidence": 5}
    quotes = {item.value: [WEATHER[at % len(WEATHER)]] for at, item in enumerate(Item)}
    chain = (route(ScriptedModel([evidence_text(quotes), scoring_text(answer)])),)
    agent = QuantitativeAssessmentAgent(chain, pydantic_ai_settings=PydanticAISettings(retries=0))

    async def assessed() -> dict[Item, UnknownReason | None]:
        reading = await SecondVoice(is_enabled=True).reading_of(transcript)
        found = await agent.assess(replace(assessment_context(transcript), learned_reading=reading))
        assert found is not None
        assert [one.proposed_score for one in found.items.values()] == [3] * len(Item)
        return {
            key: one.unknown_reason for key, one in found.items.items() if one.score is not None
        }

    assert not asyncio.run(assessed())
