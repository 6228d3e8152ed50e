"""The `interview` command: typed on a terminal, from a file, left and gone on with."""

import json
import os
import pty
import re
import select
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from ai_psychiatrist.cli.interview_session import read_line
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.interview import (
    AnswerKind,
    AnswerOption,
    Question,
    QuestionPurpose,
)
from ai_psychiatrist.interview import protocol as protocols
from tests.fakes.exchange import Reply
from tests.fakes.interview_model import calling_tools
from tests.fakes.model_server import ModelServerThread
from tests.fakes.replies import ITEMS
from tests.integration.command import COMMAND, Finished, environment_of
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at
from tests.integration.started import start
from tests.patience import PATIENCE_SECONDS, wait_until

PROTOCOLS = Path(protocols.__file__).parent.parent / "protocols"
EIGHT = "a\nb\nc\nd\nnot at all\nSeveral days\nnearly every day\na\na\n"
SCORES = [0, 1, 2, 3, 0, 1, 3, 0]
INCIDENT = (
    *("--input", "title=The lunch", "--input", "summary=@summary.txt"),
    *("--input", "interviewee_name=Sam", "--input", "interviewee_role=a colleague"),
    *("--input", "confidence_threshold=40"),
)


def interview(
    folder: Path,
    *arguments: str,
    settings: Mapping[str, str] | None = None,
    stdin: str = "",
) -> Finished:
    return run_here(["interview", *arguments], folder, settings, stdin=stdin.encode())


def script(folder: Path, answers: str) -> tuple[str, str]:
    (folder / "answers.txt").write_text(answers, "utf-8")
    return "--answers", "answers.txt"


def document(done: Finished) -> dict[str, Any]:
    assert done.out, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def scores(report: dict[str, Any]) -> list[int | None]:
    return [item["score"] for item in report["items"].values()]


def id_in(done: Finished) -> str:
    found = re.search(r"^interview ([\w-]{32}),", done.err, re.MULTILINE)
    assert found is not None, done.err
    return found[1]


class Terminal:
    """The command on a terminal of its own."""

    def __init__(
        self, folder: Path, *arguments: str, settings: Mapping[str, str] | None = None
    ) -> None:
        self._ours, theirs = pty.openpty()
        self._process = start(
            [COMMAND, "interview", *arguments],
            folder,
            environment_of(folder, {"TERM": "xterm"} | dict(settings or {})),
            streams=dict.fromkeys(range(3), theirs),
            is_on_terminal=True,
        )
        os.close(theirs)
        self.shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.end()
        os.close(self._ours)

    def type(self, keys: str) -> None:
        """Wait for the prompt and press keys."""
        self._read_until("> ")
        self.shown = ""
        os.write(self._ours, keys.encode())

    def leave(self) -> int:
        """Press Ctrl-C in the middle of an answer and read on."""
        self.type("ne")
        self._read_until("ne")
        # A signal between two calls of the line editor would wait for one more key.
        wait_until(self._process.is_waiting)
        os.write(self._ours, b"\x03")
        return self.end()

    def press(self, keys: str) -> None:
        """Press keys that no prompt waits for."""
        os.write(self._ours, keys.encode())

    def end(self) -> int:
        """Read to the end and return the exit status."""
        self._read_until(None)
        return self._process.wait()

    def _read_until(self, wanted: str | None) -> None:
        while wanted is None or not self.shown.endswith(wanted):
            ready, _, _ = select.select([self._ours], [], [], PATIENCE_SECONDS)
            assert ready, self.shown
            try:
                read = os.read(self._ours, 4096)
            except OSError:
                read = b""
            if not read:
                assert wanted is None, self.shown
                return
            self.shown += read.decode("utf-8", "replace").replace("\r\n", "\n")


QUESTION = Question(
    id="q1",
    text="How often?",
    goal_id="g1",
    item=None,
    options=tuple(
        AnswerOption(id=f"a{number}", text=text, kind=AnswerKind.OFFERED)
        for number, text in enumerate(("Not at all", "Several days"), start=1)
    ),
    allows_free_text=True,
    is_clarifying=False,
    turn=1,
)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("b", ("a2", None, False)),
        (" B ", ("a2", None, False)),
        ("2", (None, "2", False)),
        ("several  DAYS.", ("a2", None, False)),
        ("several days, I think", (None, "several days, I think", False)),
        ("2 days", (None, "2 days", False)),
        ("-2", (None, "-2", False)),
        ("STOP", (None, None, True)),
        ("stop it", (None, "stop it", False)),
    ],
)
def test_line_is_a_letter_a_wording_words_or_the_wish_to_stop(
    line: str, meant: tuple[str | None, str | None, bool]
) -> None:
    answer = read_line(line, QUESTION, version=1)
    assert (answer.option_id, answer.text, answer.is_stop) == meant


@pytest.mark.parametrize(
    ("line", "kind", "score"),
    [
        ("y", AnswerKind.CONFIRM, 1),
        ("N", AnswerKind.REJECT, None),
        ("a", AnswerKind.ANCHOR, 0),
        ("b", AnswerKind.CONFIRM, 1),
        ("d", AnswerKind.ANCHOR, 3),
        ("x", AnswerKind.DECLINE, None),
    ],
)
def test_letters_mean_the_four_answers_in_what_is_read_back_too(
    line: str, kind: AnswerKind, score: int | None
) -> None:
    options = [
        *(("Yes, so it is", AnswerKind.CONFIRM, 1), ("No", AnswerKind.REJECT, None)),
        *(("Not at all", AnswerKind.ANCHOR, 0), ("Half the days", AnswerKind.ANCHOR, 2)),
        *(("Every day", AnswerKind.ANCHOR, 3), ("I will not say", AnswerKind.DECLINE, None)),
    ]
    made = tuple(
        AnswerOption(id=f"a{number}", text=text, kind=kind, score=score)
        for number, (text, kind, score) in enumerate(options)
    )
    asked = replace(QUESTION, options=made, purpose=QuestionPurpose.READ_BACK)
    chosen = asked.option(read_line(line, asked, version=1).option_id)
    assert chosen is not None
    assert (chosen.kind, chosen.score) == (kind, score)
    assert list(asked.lettered) == ["y", "n"]
    assert read_line("not at all", asked, version=1).text == "not at all"


def test_line_that_is_no_text_is_refused() -> None:
    with pytest.raises(InputError):
        read_line("days \udcff", QUESTION, version=1)


def test_person_answers_on_a_terminal_leaves_and_goes_on(tmp_path: Path) -> None:
    with Terminal(tmp_path, "--protocol", "phq8") as terminal:
        terminal.type("b\r")
        terminal.type("oh, nearly every day\r")
        assert terminal.leave() == 130
        assert "Traceback" not in terminal.shown
        found = re.search(r"--resume ([\w-]{32})", terminal.shown)
    assert found is not None
    with Terminal(tmp_path, "--resume", found[1]) as terminal:
        for _ in range(7):
            terminal.type("a\r")
        assert terminal.end() == 0
        assert "Total: 4 of 24, minimal" in terminal.shown
        assert "answer 2: “nearly every day”" in terminal.shown


def test_end_of_input_leaves_the_interview(tmp_path: Path) -> None:
    done = interview(tmp_path, "--protocol", "phq8", stdin="b\n")
    assert done.code == 130
    assert f"--resume {id_in(done)}" in done.err
    rest = interview(tmp_path, "--resume", id_in(done), "--json", stdin="a\n" * 8)
    assert rest.code == 0
    assert scores(document(rest)["report"]) == [1, 0, 0, 0, 0, 0, 0, 0]


def test_file_of_answers_holds_the_whole_interview(tmp_path: Path) -> None:
    done = interview(tmp_path, "--protocol", "phq8", *script(tmp_path, EIGHT))
    assert done.code == 0
    assert "Total: 10 of 24, moderate" in done.out
    as_json = interview(tmp_path, "--protocol", "phq8", "--json", *script(tmp_path, EIGHT))
    assert scores(document(as_json)["report"]) == SCORES
    assert document(as_json)["interview"]["state"] == "done"


def test_answers_that_run_out_leave_an_interview_that_goes_on(tmp_path: Path) -> None:
    first = interview(tmp_path, "--protocol", "phq8", "--json", *script(tmp_path, "\nb\n\nc\n"))
    assert first.code == 1
    assert document(first)["report"] is None
    assert document(first)["interview"]["state"] == "paused"
    rest = interview(tmp_path, "--resume", id_in(first), *script(tmp_path, "a\n" * 7))
    assert rest.code == 0
    assert "Total: 3 of 24, minimal" in rest.out


def test_finished_interview_shows_its_report_again(tmp_path: Path) -> None:
    done = interview(tmp_path, "--protocol", "phq8", *script(tmp_path, EIGHT))
    again = interview(tmp_path, "--resume", id_in(done))
    assert again.code == 0
    assert "Total: 10 of 24" in again.out


def test_what_is_unknown_is_left_unknown_and_told_by_the_status(tmp_path: Path) -> None:
    answers = "x\n" * 2 + "I prefer not to say.\n" * 6 + "n\n" * 8
    done = interview(tmp_path, "--protocol", "phq8", *script(tmp_path, answers))
    assert done.code == 1
    assert "unknown: declined" in done.out
    assert "between 0 and 24" in done.out


def test_no_after_a_refusal_stays_unknown(tmp_path: Path) -> None:
    answers = "x\n" * 8 + "no\nnope\nn\nyes\nno\nyes\nskip\nI said no\nyes\na\nno\na\n"
    done = interview(tmp_path, "--protocol", "phq8", "--json", *script(tmp_path, answers))
    assert scores(document(done)["report"]) == [None, None, None, None, None, None, 0, None]


def test_correction_is_read_back_in_a_file_of_answers(tmp_path: Path) -> None:
    answers = "b\nsorry, I meant most days\ny\n" + "a\n" * 8
    done = interview(tmp_path, "--protocol", "phq8", "--json", *script(tmp_path, answers))
    assert scores(document(done)["report"]) == [2, 0, 0, 0, 0, 0, 0, 0]


def test_danger_holds_the_interview_and_says_where_to_turn(tmp_path: Path) -> None:
    done = interview(
        tmp_path,
        *("--protocol", "phq8", *script(tmp_path, "a\nI want to kill myself.\nthat is all\n")),
        settings={"RISK_CRISIS_RESOURCES": "Call 000, the line of this test."},
    )
    assert done.code == 1
    assert "Call 000, the line of this test." in done.out
    assert done.out.count("Over the last two weeks") == 2
    told = done.out[done.out.index("Thank you for telling me") :]
    assert not any(word in told for word in ("high", "suicid", "Score", "Total", "RISK_", "Found"))
    again = interview(tmp_path, "--resume", id_in(done))
    assert "Signs of danger: high (suicid" in again.out
    assert "answer 2, to “Over the last two weeks" in again.out
    assert "“I want to kill myself.”" in again.out
    assert "Total: between" in again.out


@pytest.mark.parametrize(
    ("settings", "is_told"),
    [({}, True), ({"RISK_CRISIS_RESOURCES": "Call 000."}, False)],
    ids=["not_set", "set"],
)
def test_missing_crisis_line_is_told_at_the_start(
    tmp_path: Path, settings: dict[str, str], *, is_told: bool
) -> None:
    done = interview(tmp_path, "--protocol", "phq8", *script(tmp_path, "stop\n"), settings=settings)
    assert ("no crisis line is set. Set RISK_CRISIS_RESOURCES" in done.err) is is_told
    assert "RISK_CRISIS_RESOURCES" not in done.out


def test_assessment_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("Participant: I feel tired nearly every day.\n")
    assessed = run_here(["assess", "talk.txt", "--json"], tmp_path)
    (tmp_path / "assessment.json").write_text(assessed.out)
    answers = script(tmp_path, "a\n" * 8)
    for source in (("--from", "assessment.json"), ("--transcript", "talk.txt")):
        done = interview(tmp_path, "--protocol", "phq8", "--json", *source, *answers)
        assert done.code == 0, done.err
        report = document(done)["report"]
        assert report["items"]["PHQ8_Tired"]["source"] == "transcript"
        assert report["total"]["total_score"] == 3
        assert [item for item in ITEMS if report["items"][item]["source"] == "answer"] == [
            item for item in ITEMS if item != "PHQ8_Tired"
        ]


def test_danger_in_the_transcript_is_shown_before_the_first_question(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("Participant: I want to kill myself.\n")
    done = interview(
        tmp_path, "--protocol", "phq8", "--transcript", "talk.txt", *script(tmp_path, "stop\n")
    )
    at = done.out.index("Signs of danger in the transcript: high")
    assert at < done.out.index("Over the last two weeks")


def test_incident_is_held_with_a_model(tmp_path: Path) -> None:
    (tmp_path / "summary.txt").write_text("Somebody ate the lunch of somebody else.")
    with ModelServerThread(calling_tools()) as models:
        done = interview(
            tmp_path,
            *("--protocol", "incident", *INCIDENT, *script(tmp_path, "1\nI saw it.\n" * 10)),
            settings=model_at(models.url),
        )
    assert done.code == 0, done.err
    assert "Verdict, as a model sees it" in done.out


def test_failed_model_leaves_an_interview_that_goes_on(tmp_path: Path) -> None:
    (tmp_path / "summary.txt").write_text("Somebody ate the lunch of somebody else.")
    with ModelServerThread(lambda _: Reply(status=400, raw_body=b"{}")) as models:
        settings = model_at(models.url)
        failed = interview(tmp_path, "--protocol", "incident", *INCIDENT, settings=settings)
        assert failed.code == 3
        assert "a model failed" in failed.err
        models.server.script = calling_tools()
        answers = script(tmp_path, "1\n" * 20)
        done = interview(tmp_path, "--resume", id_in(failed), *answers, settings=settings)
    assert done.code == 0, done.err


def test_leaving_while_a_model_works_keeps_the_answer(tmp_path: Path) -> None:
    (tmp_path / "summary.txt").write_text("Somebody ate the lunch of somebody else.")
    good = calling_tools()
    with ModelServerThread(good) as models:
        settings = model_at(models.url)
        begin = ("--protocol", "incident", *INCIDENT)
        with Terminal(tmp_path, *begin, settings=settings) as terminal:
            terminal.type("I saw it.")
            models.server.script = lambda _: Reply(hang=True)
            before = len(models.requests)
            terminal.press("\r")
            wait_until(lambda: len(models.requests) > before)
            terminal.press("\x03")
            assert terminal.end() == 130
            found = re.search(r"--resume ([\w-]{32})", terminal.shown)
        assert found is not None
        models.server.script = good
        resumed = interview(tmp_path, "--resume", found[1], "--json", settings=settings)
    messages = document(resumed)["interview"]["messages"]
    said = [message["text"] for message in messages if message["speaker"] == "participant"]
    assert said == ["I saw it."]


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "nothing": ((), "--protocol"),
    "unknown protocol": (("--protocol", "nonesuch"), "phq8"),
    "folder that is no protocol": (("--protocol", "."), "protocol"),
    "unknown id": (("--resume", "x" * 32), "no interview"),
    "path as id": (("--resume", "../outside"), "no interview"),
    "incident without a model": (("--protocol", "incident", *INCIDENT), "INTERVIEW_MODEL"),
    "two beginnings": (
        ("--protocol", "phq8", "--from", "a.json", "--transcript", "a.txt"),
        "not both",
    ),
    "resume and begin": (("--resume", "x" * 32, "--from", "a.json"), "--resume"),
    "no such file": (("--protocol", "phq8", "--from", "none.json"), "No such file"),
    "no assessment": (("--protocol", "phq8", "--from", "summary.txt"), "assess FILE --json"),
    "no such answers": (("--protocol", "phq8", "--answers", "none.txt"), "No such file"),
    "input without a name": (("--protocol", "phq8", "--input", "text"), "NAME=TEXT"),
    "unknown input": (("--protocol", "phq8", "--input", "a=b"), "no such input"),
    "answer that is no text": (("--protocol", "phq8", "--answers", "bytes.txt"), "line 2"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_said_with_its_cure(tmp_path: Path, case: str) -> None:
    (tmp_path / "summary.txt").write_text("Somebody ate the lunch.")
    (tmp_path / "bytes.txt").write_text("a\n" + "x" * 5_000)
    arguments, cure = REFUSED[case]
    done = interview(tmp_path, *arguments)
    assert done.code == 2
    assert cure in done.err
    assert "Traceback" not in done.err


def test_kept_interviews_are_listed_and_deleted(tmp_path: Path) -> None:
    ids = [
        id_in(interview(tmp_path, "--protocol", "phq8", *script(tmp_path, answers)))
        for answers in ("stop", "a")
    ]
    listed = interview(tmp_path, "list").out.splitlines()
    assert [line.split()[:3] for line in listed] == [
        [ids[1], "phq8", "paused"],
        [ids[0], "phq8", "done"],
    ]
    assert interview(tmp_path, "delete", ids[0]).code == 0
    assert interview(tmp_path, "delete", ids[0]).code == 2
    assert interview(tmp_path, "delete", "-" * 32).code == 2
    assert ids[0] not in interview(tmp_path, "list").out


def test_held_interviews_are_listed_first(tmp_path: Path) -> None:
    ids = [
        id_in(interview(tmp_path, "--protocol", "phq8", *script(tmp_path, answers)))
        for answers in ("a", "I want to kill myself.", "stop")
    ]
    listed = interview(tmp_path, "list").out.splitlines()
    assert [tuple(line.split()[:3:2]) for line in listed] == [
        (ids[1], "safety_hold"),
        (ids[2], "done"),
        (ids[0], "paused"),
    ]


def test_a_held_interview_is_reopened_by_a_command(tmp_path: Path) -> None:
    answers = script(tmp_path, "I want to kill myself.")
    held = id_in(interview(tmp_path, "--protocol", "phq8", *answers))
    reopen = ("reopen", held, "--reason")
    refused = [(" ", "reason"), ("y" * 2_001, "2000")]
    for reason, said in refused:
        done = interview(tmp_path, *reopen, reason)
        assert (done.code, said in done.err) == (2, True)
    assert interview(tmp_path, "reopen", held).code == 2
    assert interview(tmp_path, *reopen, "Called back: safe at home.").code == 0
    assert interview(tmp_path, *reopen, "Once more.").code == 2
    assert interview(tmp_path, "reopen", "-" * 32, "--reason", "None.").code == 2
    again = interview(tmp_path, "--resume", held, "--json", stdin="b\nstop\n")
    report = document(again)["report"]
    assert [(one["author"], one["reason"]) for one in report["reopenings"]] == [
        ("local", "Called back: safe at home.")
    ]
    assert scores(report)[0] == 1
    rows = run_here(["audit", "show", "--json"], tmp_path).out.splitlines()
    done_by = [
        (one["actor"], one["outcome"])
        for one in map(json.loads, rows)
        if one["action"] == "interview_reopened"
    ]
    assert done_by.count(("command", "done")) == 1
    assert done_by.count(("command", "failed")) == len(refused) + 1


def own_protocol(folder: Path, old: str = "", new: str = "") -> Path:
    """Copy the items' protocol under an id of its own, with one more change."""
    own = folder / "own"
    own.mkdir()
    text = (PROTOCOLS / "phq8" / "protocol.yaml").read_text("utf-8")
    text = text.replace("id: phq8", "id: own", 1)
    if old:
        assert old in text
        text = text.replace(old, new, 1)
    (own / "protocol.yaml").write_text(text, "utf-8")
    return own


def test_protocol_of_a_folder_is_followed_and_named_again_to_go_on(tmp_path: Path) -> None:
    own_protocol(tmp_path)
    first = interview(tmp_path, "--protocol", "own", *script(tmp_path, "b\n"))
    assert first.code == 1
    rest = script(tmp_path, "a\n" * 8)
    unnamed = interview(tmp_path, "--resume", id_in(first), *rest)
    assert unnamed.code == 2
    assert "'own'" in unnamed.err
    done = interview(tmp_path, "--protocol", "own", "--resume", id_in(first), *rest)
    assert done.code == 0
    assert "Total: 1 of 24" in done.out


def test_settings_can_name_protocols_once_for_all(tmp_path: Path) -> None:
    own_protocol(tmp_path)
    settings = {"INTERVIEW_PROTOCOLS": str(tmp_path / "own")}
    answers = script(tmp_path, EIGHT)
    assert interview(tmp_path, "--protocol", "own", *answers, settings=settings).code == 0


def test_folder_of_a_protocol_is_linted(tmp_path: Path) -> None:
    own_protocol(tmp_path, "max_asks: 2", "max_askes: 2")
    done = run_here(["lint-config", "own"], tmp_path)
    assert done.code == 2
    assert "max_askes" in done.out
    refused = interview(tmp_path, "--protocol", "own")
    assert refused.code == 2
    assert "max_askes" in refused.err


def test_schemas_of_the_seven_agents_are_printed(tmp_path: Path) -> None:
    found = json.loads(interview(tmp_path, "schemas").out)
    assert list(found) == [
        "generate_investigation_goals",
        "extract_facts",
        "detect_answer_drift",
        "update_goal_progress",
        "generate_question_with_answers",
        "match_answer_to_frequency",
        "generate_analysis_report",
    ]
    assert all(set(one) == {"name", "description", "input_schema"} for one in found.values())
