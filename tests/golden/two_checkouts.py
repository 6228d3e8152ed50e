"""Two checkouts over the same transcripts and the same replies: what differs.

A script of replies is a TOML file; of each call the first entry that fits decides:

    [[reply]]
    task = "scoring"     # without it: every task
    attempt = 1          # without it: every attempt
    fault = "truncated"  # a name of tests/fakes/faults.py, or
    text = "no idea"     # the reply itself, or
    status = 503         # an HTTP error
"""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.faults import fault
from tests.fakes.replies import good_replies
from tests.golden.answer import Answer, Frozen, folder_masks, frozen
from tests.golden.kept import compared, read, write
from tests.golden.ways import REPOSITORY, model_server, run, scratch

_AREA: Final = "compared"


def compare_checkouts(
    old: Path, folder: Path | None, script: Path | None, *, most_lines: int
) -> int:
    """Print every difference between two checkouts; returns 1 where there is one."""
    transcripts = folder or _public_conversations()
    with scratch() as place:
        made = {}
        for name, checkout in (("old", old.resolve()), ("new", REPOSITORY)):
            command = [sys.executable, "-m", "tests.golden.two_checkouts", str(place / name)]
            command += [str(transcripts.resolve()), *([] if script is None else [str(script)])]
            source = os.pathsep.join([str(checkout / "src"), str(REPOSITORY)])
            subprocess.run(
                command, check=True, cwd=REPOSITORY, env=os.environ | {"PYTHONPATH": source}
            )
            made[name] = read(place / name, _AREA)
    lines = [f"{kind}  {case}  {line}" for kind, case, line in compared(made["old"], made["new"])]
    shown = [*lines[:most_lines], *([f"… of {len(lines)}"] if len(lines) > most_lines else [])]
    sys.stdout.write("\n".join([*shown, f"{len(made['new'])} transcripts, {len(lines)} differ"]))
    sys.stdout.write("\n")
    return 1 if lines else 0


def scripted(path: Path) -> Script:
    """Return the script that a file describes; raises `ValueError` for an entry without a reply."""
    entries = [
        (one.get("task"), one.get("attempt"), _reply(one))
        for one in tomllib.loads(path.read_text(encoding="utf-8"))["reply"]
    ]
    good = good_replies()

    def script(request: Request) -> Reply:
        for task, attempt, answer in entries:
            if task in (None, request.task) and attempt in (None, request.attempt):
                return answer(request)
        return good(request)

    return script


def _reply(entry: Mapping[str, Any]) -> Script:
    if "fault" in entry:
        return fault(entry["fault"])
    if "text" in entry:
        return lambda _request: Reply(text=entry["text"])
    if "status" in entry:
        return lambda _request: Reply(status=entry["status"], raw_body=b"{}")
    msg = f"a reply needs one of fault, text and status: {sorted(entry)}"
    raise ValueError(msg)


def _public_conversations() -> Path:
    folder = os.environ.get("TEST_DATA_DIR")
    if folder is None:
        sys.exit("name a folder of transcripts, or set TEST_DATA_DIR")
    return Path(folder) / "transcripts" / "conversations.jsonl"


def _assessed(transcripts: Path, script: Path | None) -> Iterator[Frozen]:
    """Yield what the program of this process makes of each transcript."""
    with scratch() as folder, model_server(good_replies()) as (server, models):
        settings: dict[str, str] = {}
        if script is not None:
            server.server.script = scripted(script)
            settings = models
        for name, content in _texts(transcripts):
            ended = run(["assess", "-", "--json"], folder, settings, stdin=content)
            yield frozen(
                Answer(
                    name=name,
                    value=ended.value,
                    given=[content.decode("utf-8", "replace")],
                    masks=folder_masks(folder),
                )
            )


def _texts(transcripts: Path) -> Iterator[tuple[str, bytes]]:
    if transcripts.is_dir():
        for path in sorted(transcripts.rglob("*")):
            if path.is_file():
                yield str(path.relative_to(transcripts)), path.read_bytes()
        return
    for number, line in enumerate(transcripts.read_text(encoding="utf-8").splitlines()):
        one = json.loads(line)
        turns = one["turns"]
        said = [f"{turn['speaker'].title()}: {' '.join(turn['text'].split())}" for turn in turns]
        yield str(one.get("id", number)), "\n".join(said).encode()


if __name__ == "__main__":
    given = list(map(Path, sys.argv[1:]))
    write(given[0], _AREA, _assessed(given[1], given[2] if len(given) > 2 else None))
