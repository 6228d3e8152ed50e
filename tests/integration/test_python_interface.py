"""The public interface as its users call it: the same results, errors and runs as elsewhere."""

import asyncio
import copy
import gc
import json
import logging
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from structlog.contextvars import get_contextvars

import ai_psychiatrist as ap
from tests.fakes.faults import FAULTS
from tests.fakes.model_server import ModelServerThread, fault
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, model_at, settings_with

UNKNOWN_LABELS = "Anna: How are you?\nTom: I am tired every day.\n"
SAID = "Interviewer: How are you?\nParticipant: I am tired nearly every day.\n"
OF_ONE_CALL = {"assessment_id", "attempts"}
"""What no two assessments have in common: ids, durations and digests of another key."""


def told(result: ap.Assessment) -> dict[str, object]:
    """Return what a result says of the interview."""
    return {name: value for name, value in result.model_dump().items() if name not in OF_ONE_CALL}


@pytest.fixture
def settings(tmp_path: Path) -> ap.Settings:
    return settings_with(tmp_path / "state")


@pytest.fixture
def interviews(tmp_path: Path) -> Path:
    folder = tmp_path / "interviews"
    folder.mkdir()
    for name in ("1", "2", "3"):
        (folder / f"{name}.txt").write_text(SAID.replace("tired", "sad" * int(name)), "utf-8")
    return folder


def test_nothing_has_to_be_configured(example_interview: str) -> None:
    result = ap.assess_sync(example_interview)
    assert result.status.value == "complete"
    assert all(models.rule_baseline for models in result.models.values())


def test_python_command_and_http_give_the_same_result(
    settings: ap.Settings, tmp_path: Path, example_interview: str
) -> None:
    (tmp_path / "interview.txt").write_text(example_interview, "utf-8")
    done = run_here(["assess", "interview.txt", "--json"], tmp_path)
    by_command = ap.Assessment.model_validate_json(done.out)
    with client_of(settings) as client:
        response = client.post("/full_pipeline", json={"transcript_text": example_interview})
    by_http = ap.Assessment.model_validate_json(response.text)
    as_text = ap.assess_sync(example_interview, settings=settings)
    as_file = ap.assess_sync(tmp_path / "interview.txt", settings=settings)
    assert told(as_text) == told(by_http)
    assert told(as_file) == told(by_command)


def test_one_application_assesses_many_at_the_same_time(settings: ap.Settings) -> None:
    texts = [SAID.replace("tired", word) for word in ("tired", "sad", "hungry")]

    async def assessed() -> list[ap.Assessment]:
        async with ap.open(settings) as app:
            return await asyncio.gather(*map(app.assess, texts))

    results = asyncio.run(assessed())
    assert [told(one) for one in results] == [
        told(ap.assess_sync(text, settings=settings)) for text in texts
    ]
    assert len({one.assessment_id for one in results}) == 3


def test_parts_are_told_as_they_finish(settings: ap.Settings) -> None:
    parts: list[ap.Part] = []
    ap.assess_sync(SAID, settings=settings, on_progress=parts.append)
    assert set(parts) == {ap.Part.FINDINGS, ap.Part.SCORES, ap.Part.META_REVIEW}
    assert parts[-1] is ap.Part.META_REVIEW


class ListenerError(Exception):
    """What a caller's own code raises."""


@pytest.mark.parametrize("part", [ap.Part.FINDINGS, ap.Part.SCORES, ap.Part.META_REVIEW])
@pytest.mark.parametrize("error", [ListenerError("mine"), TimeoutError("mine")], ids=repr)
def test_an_error_of_who_is_told_ends_the_assessment_unchanged(
    part: ap.Part, error: Exception, settings: ap.Settings
) -> None:
    told: list[ap.Part] = []

    def listen(finished: ap.Part) -> None:
        told.append(finished)
        if finished is part:
            raise error

    async def assessed() -> None:
        async with ap.open(settings) as app:
            before = asyncio.all_tasks()
            with pytest.raises(type(error)) as raised:
                await app.assess(SAID, on_progress=listen, deadline_seconds=60)
            assert raised.value is error
            assert asyncio.all_tasks() <= before
            assert (await app.assess(SAID)).status.value == "complete"

    asyncio.run(assessed())
    assert told[-1] is part
    with pytest.raises(type(error)) as raised:
        ap.assess_sync(SAID, settings=settings, on_progress=listen)
    assert raised.value is error
    assert error.__cause__ is None
    assert error.__context__ is None


def test_results_can_be_copied_pickled_and_read_again(settings: ap.Settings) -> None:
    result = ap.assess_sync(SAID, settings=settings)
    for other in (
        copy.copy(result),
        copy.deepcopy(result),
        pickle.loads(pickle.dumps(result)),  # noqa: S301  made a moment ago
        ap.Assessment.model_validate_json(result.model_dump_json()),
        ap.Assessment.model_validate(result.model_dump()),
    ):
        assert other == result
        assert other.model_dump_json() == result.model_dump_json()
    assert type(result.model_dump()["models"]) is dict


def test_who_speaks_can_be_said(settings: ap.Settings) -> None:
    with pytest.raises(ap.SpeakersUnknown) as raised:
        ap.assess_sync(UNKNOWN_LABELS, settings=settings)
    assert raised.value.labels == ("Anna", "Tom")
    result = ap.assess_sync(UNKNOWN_LABELS, settings=settings, participant="Tom")
    roles = {one.label: one.role.value for one in result.transcript.speakers}
    assert roles == {"Anna": "interviewer", "Tom": "participant"}


@pytest.mark.parametrize(
    "given",
    [
        pytest.param("", id="empty"),
        pytest.param("Interviewer: Hello?\n", id="no participant"),
        pytest.param("Participant: \ud800", id="half a character"),
        pytest.param(b"Participant: I am \x81\x8d", id="no text"),
        pytest.param(Path("there-is-none.txt"), id="no file"),
        pytest.param(Path(), id="a folder"),
    ],
)
def test_what_is_no_transcript_is_an_input_error(
    given: str | bytes | Path, settings: ap.Settings
) -> None:
    with pytest.raises(ap.InputError):
        ap.assess_sync(given, settings=settings)


def test_a_transcript_longer_than_the_settings_allow_is_refused(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, API_MAX_TRANSCRIPT_CHARS="20")
    with pytest.raises(ap.TranscriptTooLong):
        ap.assess_sync(SAID, settings=settings)


def test_inside_an_event_loop_the_error_says_what_to_write() -> None:
    async def call() -> None:
        ap.assess_sync(SAID)

    with pytest.raises(RuntimeError, match=r"await app\.assess\(text\)"):
        asyncio.run(call())


def test_settings_that_cannot_be_used_are_refused(settings: ap.Settings) -> None:
    with pytest.raises(ap.ConfigurationError, match="names no provider"):
        ap.assess_sync(SAID, settings=settings, model="gemma3")


def test_what_failed_is_told_with_its_cure(tmp_path: Path) -> None:
    with ModelServerThread(FAULTS["status_400"]) as models:
        settings = settings_with(tmp_path, **model_at(models.url))

        async def assessed() -> None:
            async with ap.open(settings) as app:
                result = await app.assess(SAID)
                assert result.status.value == "failed"
                assert result.quantitative is None
                causes = app.causes(result)
                assert causes
                assert all(
                    cause.model == "openai-chat:fake-model" and cause.cure for cause in causes
                )

        asyncio.run(assessed())


def test_at_the_deadline_what_finished_is_kept(tmp_path: Path) -> None:
    # On a busy machine what does not hang may be late too: then there is more time.
    for seconds in (1.5, 15, 60):
        with ModelServerThread(fault("hang", tasks=["scoring"])) as models:
            settings = settings_with(tmp_path, **model_at(models.url))
            result = ap.assess_sync(SAID, settings=settings, deadline_seconds=seconds)
        if result.qualitative is not None:
            break
    assert result.status.value == "partial"
    assert result.qualitative is not None


def test_evaluate_reads_labels_as_its_keywords_say(
    settings: ap.Settings, tmp_path: Path, interviews: Path
) -> None:
    names = sorted(path.stem for path in interviews.glob("*.txt"))
    scores = ",".join(["9", *"2345678"])
    header = ",".join(f"phq8_{number}" for number in range(1, 9))
    rows = [f"{name.upper()},{visit},{scores}\n" for name in names for visit in "12"]
    labels = f"record_id,visit,{header}\n{''.join(rows)}".replace("5,6,7,8", "4,4,4,4")
    (interviews / "labels.csv").write_text(labels, encoding="utf-8")

    async def evaluated() -> ap.DatasetRunResult:
        async with ap.open(settings) as app:
            return await app.evaluate(
                interviews,
                tmp_path / "run",
                missing=[9],
                label_codes="1-4",
                label_row={"visit": "2"},
                match_ids="loose",
            )

    assert asyncio.run(evaluated()).requested == len(names)
    kept = (tmp_path / "run/labels.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["items"]["PHQ8_Depressed"] for line in kept] == [1] * len(names)


def test_evaluate_makes_the_run_of_the_command(
    settings: ap.Settings, tmp_path: Path, interviews: Path
) -> None:
    counts: list[tuple[int, int]] = []

    async def evaluated(folder: Path) -> ap.DatasetRunResult:
        async with ap.open(settings) as app:
            first = await app.evaluate(interviews, folder, limit=2)
            with pytest.raises(ap.InputError, match="holds a run already"):
                await app.evaluate(interviews, folder)
            assert (first.requested, first.valid, first.is_complete) == (2, 2, True)
            return await app.evaluate(
                interviews, folder, resume=True, on_progress=lambda *count: counts.append(count)
            )

    last = asyncio.run(evaluated(tmp_path / "in-python"))
    assert (last.requested, last.valid, last.failed, last.pending) == (3, 3, 0, 0)
    assert counts == [(3, 3)]
    done = run_here(["evaluate", "run", str(interviews), "--out", "by-command"], tmp_path)
    assert done.code == 0
    made, commanded = (
        (tmp_path / folder / "predictions.jsonl").read_bytes()
        for folder in ("in-python", "by-command")
    )
    assert made == commanded
    resumed = run_here(
        ["evaluate", "run", str(interviews), "--out", "in-python", "--resume"], tmp_path
    )
    assert resumed.code == 0
    assert "0 model calls made now" in resumed.err


def test_a_run_stops_at_its_bound_on_failures(tmp_path: Path, interviews: Path) -> None:
    with ModelServerThread(FAULTS["status_400"]) as models:
        settings = settings_with(tmp_path, **model_at(models.url))

        async def evaluated() -> ap.DatasetRunResult:
            async with ap.open(settings) as app:
                return await app.evaluate(
                    interviews, tmp_path / "run", concurrency=1, max_failures=0
                )

        run_result = asyncio.run(evaluated())
    assert (run_result.failed, run_result.pending) == (1, 2)
    assert not run_result.is_complete


def digests_of(result: ap.Assessment) -> list[str]:
    return [attempt.prompt_digest for attempt in result.attempts]


def test_two_applications_do_not_disturb_one_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], interviews: Path
) -> None:
    """Each has its key and its log, in whatever order they are opened, used and closed."""
    loud = settings_with(tmp_path / "loud", LOG_LEVEL="DEBUG", LOG_FORMAT="json")
    silent = settings_with(tmp_path / "silent", LOG_LEVEL="CRITICAL")
    alone = {
        name: digests_of(ap.assess_sync(SAID, settings=settings))
        for name, settings in {"loud": loud, "silent": silent}.items()
    }
    assert alone["loud"] != alone["silent"]
    capsys.readouterr()

    async def together() -> None:
        first, second = ap.open(loud), ap.open(silent)
        app, other = await first.__aenter__(), await second.__aenter__()
        await other.evaluate(interviews, tmp_path / "run")
        results = await asyncio.gather(app.assess(SAID), other.assess(SAID))
        assert [digests_of(one) for one in results] == [alone["loud"], alone["silent"]]
        await first.__aexit__(None, None, None)
        again = await other.assess(SAID)
        assert digests_of(again) == alone["silent"]
        await second.__aexit__(None, None, None)

    asyncio.run(together())
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines].count("assessment_finished") == 1
    assert len({line["assessment_id"] for line in lines if "assessment_id" in line}) == 1


def test_validation_refuses_a_text_as_a_path_without_its_words() -> None:
    text = Path(SAID * 20)
    for lines, schema in ((text, {"type": "object"}), (["{}"], text)):
        with pytest.raises(ap.InputError) as refused:
            ap.validate(lines, schema)
        assert SAID[:20] not in str(refused.value)


@pytest.fixture
def _unchanged_process() -> Iterator[None]:
    """Fail when anything that belongs to the whole process is another one afterwards."""

    def state() -> tuple[object, ...]:
        root = logging.getLogger()
        return (
            *(tuple(root.handlers), root.level, tuple(logging.getLogger("py.warnings").handlers)),
            *(gc.get_threshold(), gc.isenabled()),
            *(structlog.is_configured(), get_contextvars(), threading.excepthook),
        )

    before, frozen = state(), gc.get_freeze_count()
    yield
    assert state() == before
    assert gc.get_freeze_count() <= frozen  # What another test froze may end meanwhile.


@pytest.mark.usefixtures("_unchanged_process")
def test_the_process_stays_as_it_was(settings: ap.Settings, interviews: Path) -> None:
    async def used() -> None:
        async with ap.open(settings) as app:
            await app.assess(SAID)
            await app.evaluate(interviews, interviews.with_name("run"))
        assert get_contextvars() == {}

    asyncio.run(used())
    ap.assess_sync(SAID, settings=settings)
    ap.ground(["I am tired"], SAID)
    ap.validate(["{}"], {"type": "object"})


def test_nothing_is_said_where_no_level_is_set(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ap.assess_sync(SAID, settings=ap.load_settings({"DATA_STATE_DIR": str(tmp_path)}, None))
    assert capfd.readouterr() == ("", "")


SECRET = "copper lanterns of Valparaiso"
SAID = f"Interviewer: How do you sleep?\nParticipant: Badly, under {SECRET}."


@pytest.mark.parametrize(
    ("place", "given"),
    [
        ("dataset", SAID),
        ("dataset", SAID.replace("\n", " ")),
        ("dataset", SAID * 200),
        ("folder", SAID),
        ("folder", SAID * 200),
    ],
)
def test_a_text_in_place_of_a_path_is_refused_without_its_words(
    place: str, given: str, settings: ap.Settings, interviews: Path, tmp_path: Path
) -> None:
    named = {"dataset": str(interviews), "folder": str(tmp_path / "run"), place: given}

    async def evaluate() -> object:
        async with ap.open(settings) as app:
            return await app.evaluate(named["dataset"], named["folder"])

    with pytest.raises(ap.InputError) as caught:
        asyncio.run(evaluate())
    assert SECRET not in shown_by(caught.value)
    assert [one for one in tmp_path.rglob("*") if SECRET in one.name] == []


@pytest.mark.parametrize(
    "given",
    [
        SAID.encode() + b"\x81\x8d",
        SAID + "\ud800",
        Path(SAID * 100),
        Path(SAID),
    ],
    ids=["no encoding", "lone surrogate", "long path", "path of lines"],
)
def test_an_error_keeps_nothing_that_led_to_it(given: str | bytes | Path) -> None:
    with pytest.raises(ap.InputError) as caught:
        ap.assess_sync(given)
    assert SECRET not in shown_by(caught.value)
    with pytest.raises(ap.InputError) as caught:
        ap.ground(["badly"], given)
    assert SECRET not in shown_by(caught.value)


def shown_by(error: BaseException | None) -> str:
    shown = ""
    while error is not None:
        shown += f"{error} {error!r} {error.args} "
        error = error.__context__ or error.__cause__
    return shown


@pytest.mark.parametrize("name", ["interveiw.txt", "data/patients/interview 7.VTT"])
def test_the_name_of_a_file_that_is_not_there_is_no_interview(name: str) -> None:
    with pytest.raises(ap.InputError, match=r"pathlib\.Path"):
        ap.assess_sync(name)


@pytest.mark.parametrize("given", [None, 3, ["I sleep badly."], {"text": "I sleep badly."}])
def test_what_is_no_transcript_by_its_type_is_named(given: Any) -> None:
    with pytest.raises(ap.InputError, match=type(given).__name__):
        ap.assess_sync(given)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "soon"])
def test_a_deadline_is_a_time(seconds: Any) -> None:
    with pytest.raises(ap.InputError, match="deadline_seconds"):
        ap.assess_sync("I sleep badly.", deadline_seconds=seconds)


@pytest.mark.parametrize("flag", ["ablate", "certificate"])
@pytest.mark.parametrize("value", ["no", "yes", 1, None])
def test_a_flag_is_true_or_false(flag: str, value: Any) -> None:
    with pytest.raises(ap.InputError, match=f"{flag} has to be True or False"):
        ap.assess_sync("I sleep badly.", **{flag: value})


def test_a_closed_application_says_so(settings: ap.Settings, tmp_path: Path) -> None:
    async def closed() -> ap.Application:
        async with ap.open(settings) as app:
            return app

    app = asyncio.run(closed())
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(app.assess("I sleep badly."))
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(app.evaluate(tmp_path, tmp_path / "run"))


@pytest.mark.parametrize(
    "options",
    [
        {"quotes": "I sleep badly"},
        {"quotes": [None]},
        {"mode": "nope"},
        {"fuzzy_threshold": 5},
    ],
)
def test_quotes_and_their_options_are_checked(options: Any) -> None:
    with pytest.raises(ap.InputError):
        ap.ground(**{"quotes": ["I sleep badly"], "transcript": "I sleep badly."} | options)


def test_other_things_are_no_settings() -> None:
    other: Any = {}
    with pytest.raises(TypeError, match="dict"):
        ap.create_app(other)
