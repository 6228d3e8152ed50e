"""What is kept of interviews: left and gone on with, listed, deleted, and refused."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.golden.answer import Answer
from tests.golden.interviews_own import write_protocol
from tests.golden.interviews_ways import answer_of, hold, ids_in
from tests.golden.ways import scratch

_PHQ8: Final = ("--protocol", "phq8", "--json")
_NOBODY: Final = "x" * 31 + "7"
_REFUSED: Final[dict[str, tuple[str, ...]]] = {
    "nothing": (),
    "two_beginnings": ("--protocol", "phq8", "--from", "a.json", "--transcript", "a.txt"),
    "resume_and_begin": ("--resume", _NOBODY, "--from", "a.json"),
    "resume_nobody": ("--resume", _NOBODY),
    "resume_a_path": ("--resume", "../outside"),
    "no_file": ("--protocol", "phq8", "--from", "none.json"),
    "no_transcript": ("--protocol", "phq8", "--transcript", "none.txt"),
    "no_answers": ("--protocol", "phq8", "--answers", "none.txt"),
    "answer_out_of_range": ("--protocol", "phq8", "--answers", "nine.txt"),
    "answers_in_latin": ("--protocol", "phq8", "--answers", "latin.txt"),
    "unknown_option": ("--protocol", "phq8", "--answer", "nine.txt"),
    "unknown_command": ("show", _NOBODY),
    "delete_nobody": ("delete", _NOBODY),
    "delete_dashes": ("delete", "-" * 32),
    "delete_nothing": ("delete",),
}


def answers() -> Iterator[Answer]:
    """Yield what becomes of interviews that are kept."""
    with scratch() as folder:
        (folder / "nine.txt").write_text("1\n9\n", "utf-8")
        (folder / "latin.txt").write_bytes(b"caf\xe9\n")
        for name, arguments in _REFUSED.items():
            yield answer_of(f"kept/refused/{name}", folder, hold(folder, *arguments))
        yield from _by_steps(folder)
        yield from _with_files_of_answers(folder)
        yield from _changed_protocol(folder)
    with scratch() as folder:
        yield from _listed_and_deleted(folder)
    with scratch() as folder:
        yield from _settings(folder)


def _by_steps(folder: Path) -> Iterator[Answer]:
    """Yield an interview that is left after each answer, with its open questions."""
    said = ["2", "wait, every day", "1", "some", "5 days", "I'd rather not say", "stop"]
    held = [hold(folder, *_PHQ8)]
    resume = ("--resume", ids_in(held[0].err)[0], "--json")
    held += [hold(folder, *resume, said=[line]) for line in said]
    held += [hold(folder, *resume), hold(folder, *resume[:2])]
    yield answer_of("kept/by_steps", folder, *held, said=said)


def _with_files_of_answers(folder: Path) -> Iterator[Answer]:
    for name, text in {
        "whole": "1\n2\n3\n4\nnot at all\nSeveral days\nnearly every day\n1\n",
        "run_out": "\n2\n\n3 days\n",
        "too_many": "1\n" * 12,
        "none": "",
        "stop": "4\nstop\n4\n",
    }.items():
        (folder / "answers.txt").write_text(text, "utf-8")
        held = hold(folder, "--protocol", "phq8", "--answers", "answers.txt")
        yield answer_of(f"kept/answers/{name}", folder, held, said=text.splitlines())


def _changed_protocol(folder: Path) -> Iterator[Answer]:
    own = write_protocol(folder / "own")
    begun = hold(folder, "--protocol", "own", "--json", said=["2"])
    resume = ("--resume", ids_in(begun.err)[0], "--json")
    unnamed = hold(folder, *resume, said=["1"])
    write_protocol(own, ("max_turns: 20", "max_turns: 19"))
    changed = hold(folder, "--protocol", "own", *resume, said=["1"])
    write_protocol(own)
    named = hold(folder, "--protocol", "own", *resume, said=["1"] * 7)
    yield answer_of("kept/changed_protocol", folder, begun, unnamed, changed, named)


def _listed_and_deleted(folder: Path) -> Iterator[Answer]:
    yield answer_of("kept/list/none", folder, hold(folder, "list"))
    held = [
        hold(folder, *_PHQ8, said=said)
        for said in (["1"], ["I want to kill myself."], ["stop"], [], ["1"] * 8)
    ]
    ids = ids_in(*(one.err for one in held))
    # Masked by when they were begun: the list has another order.
    order = {each: f"<number {number}>" for number, each in enumerate(ids, start=1)}
    steps = [hold(folder, "list"), hold(folder, "--resume", ids[1])]
    steps += [hold(folder, "delete", ids[1]), hold(folder, "delete", ids[1])]
    steps += [hold(folder, "list"), hold(folder, "--resume", ids[1])]
    (folder / "state" / "records.key").rename(folder / "key")
    steps += [hold(folder, "list"), hold(folder, "--resume", ids[0])]
    shutil.move(folder / "key", folder / "state" / "records.key")
    steps += [hold(folder, "--resume", ids[0], said=["stop"])]
    yield answer_of("kept/list/five", folder, *steps, masks=order)


def _settings(folder: Path) -> Iterator[Answer]:
    for name, settings in {
        "one_at_most": {"INTERVIEW_MAX_STORED": "1"},
        "few_bytes": {"INTERVIEW_MAX_STORED_BYTES": "10"},
        "no_days": {"INTERVIEW_KEEP_DAYS": "0"},
        "seven_days": {"INTERVIEW_KEEP_DAYS": "7"},
        "own_file": {"INTERVIEW_STORE_FILE": str(folder / "other.sqlite")},
        "no_key": {"DATA_KEY_FILE": str(folder / "no.key")},
        "baseline": {"INTERVIEW_MODEL": "baseline"},
        "unknown_model": {"INTERVIEW_MODEL": "nobody:fake"},
        "unknown_mode": {"INTERVIEW_OUTPUT_MODE": "xml"},
        "no_calls": {"INTERVIEW_MAX_CALLS": "0"},
        "no_such_protocol": {"INTERVIEW_PROTOCOLS": str(folder / "nowhere")},
    }.items():
        times = 2 if name == "one_at_most" else 1
        held = [hold(folder, *_PHQ8, said=["stop"], settings=settings) for _ in range(times)]
        yield answer_of(f"kept/settings/{name}", folder, *held)
    (folder / "state" / "store.sqlite").write_bytes(b"no database")
    yield answer_of("kept/settings/no_database", folder, hold(folder, "list"))
