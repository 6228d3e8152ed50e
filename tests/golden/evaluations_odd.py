"""Runs over odd datasets, and several runs in one folder."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.golden.answer import Answer, Json
from tests.golden.evaluations_shown import (
    all_shown,
    evaluate,
    json_file,
    record_of,
    shown,
    told,
    units_of,
)
from tests.golden.evaluations_talks import TIRED, jsonl, session, three_texts, write


def answers(folder: Path) -> Iterator[Answer]:
    """Yield what comes of datasets that nobody would wish for, and of repeats."""
    three_texts(folder / "texts")
    yield from _of_odd_datasets(folder)
    yield from _several(folder)


def _of_odd_datasets(folder: Path) -> Iterator[Answer]:
    odd: Mapping[str, Mapping[str, str | bytes]] = {
        "unreadable_unit": {"a.txt": TIRED, "b.txt": "Interviewer: Nobody answers.\n"},
        "files_not_read": {"a.txt": TIRED, "d.pdf": b"%PDF-1.7", "older/e.txt": TIRED},
        "mixed": session(300) | {"a.txt": TIRED},
        "nothing_readable": {"a.txt": "Interviewer: Nobody answers.\n"},
        "same_words_twice": {"a.txt": TIRED, "b.txt": TIRED},
        "another_language": {
            "a.txt": "Interviewer: ¿Cómo duerme?\nParticipant: Duermo muy mal todas las noches.\n"
        },
        "dangers": {
            "a.txt": f"{TIRED}Participant: I want to kill myself.\n",
            "b.txt": f"{TIRED}Participant: Sometimes I wish I were dead.\n",
            "c.txt": "Interviewer: Any thoughts of suicide?\nParticipant: No, never.\n",
        },
        "many_dangers": {
            f"p{at:02}.txt": f"{TIRED}Participant: I want to kill myself.\n" for at in range(22)
        },
        "empty": {},
    }
    for name, files in odd.items():
        write(folder / "odd" / name, files)
        ended = evaluate(folder, "run", f"odd/{name}", "--out", f"run-{name}")
        run = folder / f"run-{name}"
        is_run = (run / "run.json").exists()
        value: dict[str, Json] = {"run": shown(ended)}
        if is_run and name != "many_dangers":
            value |= {
                "record": record_of(run),
                "units": units_of(run),
                "failures": json_file(run / "failures.jsonl"),
            }
        yield told(f"runs/odd/{name}", value, folder)
    lines: Mapping[str, Sequence[object]] = {
        "broken_lines": [{"id": "a", "text": TIRED}, "{oops", {"id": "a", "text": TIRED}],
        "empty_lines": [],
        "sessions_of_a_person": [
            {"id": f"{who}-{at}", "participant_id": who, "text": TIRED, "items": [who % 2] * 8}
            for who in range(2)
            for at in range(2)
        ],
    }
    for name, records in lines.items():
        jsonl(folder / f"{name}.jsonl", records)
        ended = evaluate(folder, "run", f"{name}.jsonl", "--out", f"run-{name}")
        units = json_file(folder / f"run-{name}" / "units.jsonl")
        yield told(f"runs/odd/{name}", {"run": shown(ended), "units": units}, folder)


def _several(folder: Path) -> Iterator[Answer]:
    several = ("run", "texts", "--out", "several", "--repeats", "2")
    value = all_shown(
        folder,
        {
            "run": several,
            "again": several,
            "resumed": (*several, "--resume"),
            "more": ("run", "texts", "--out", "several", "--repeats", "3", "--resume"),
            "as_one": ("run", "texts", "--out", "several"),
            "nothing_to_go_on_with": (
                *("run", "texts", "--out", "none-yet", "--repeats", "2", "--resume"),
            ),
            "failures_bounded": (
                *("run", "odd/nothing_readable", "--out", "failing", "--repeats", "2"),
                *("--max-failures", "0"),
            ),
            "compare": ("compare", "several"),
            "compare_json": ("compare", "several", "--json"),
            "table": ("table", "several", "--out", "several.csv"),
            "runs": ("runs", "several"),
        },
    )
    yield told("runs/several", value, folder)
