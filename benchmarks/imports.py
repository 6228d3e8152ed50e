"""How long starts take, beside importing what they use: the package, help, a command, the server.

Every figure is the CPU time of a process of its own, as a ratio to that of a control which takes
turns with it: the interpreter alone, or one that imports those libraries which the program has
imported when it is done, and nothing of ours. A server is done when it is ready. Wall time stands
beside it. Bytecode is kept, as it is where the package is installed.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

EXAMPLE: Final = Path(__file__).parents[1] / "examples" / "interview.txt"
_NOISE_SECONDS: Final = 0.01
_DONE: Final = """
import os, sys
def done():
    if "IMPORTED" in os.environ:
        with open(os.environ["IMPORTED"], "w") as listed:
            listed.write("\\n".join(sys.modules))
    sys.stdout.flush()
    os._exit(0)
"""
IMPORT: Final = f"{_DONE}import ai_psychiatrist\ndone()"
COMMAND: Final = f"""{_DONE}
from ai_psychiatrist.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
done()
"""
SERVER: Final = f"""{_DONE}
import uvicorn
async def ready(server):
    done()
uvicorn.Server.main_loop = ready
from ai_psychiatrist.cli import main
main()
"""
"""The real command: the server's loop is what begins when the server is ready."""
CONTROL: Final = f"""{_DONE}
import importlib
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception:
        pass  # One that only its own library can import; its library has.
done()
"""
OURS: Final = {"ai_psychiatrist", "__main__"}
ROUNDS: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A program that starts, and what is asked of it."""

    name: str
    program: str
    arguments: tuple[str, ...] = ()
    target: str = "–"


STARTS: Final = (
    Start(name="`import ai_psychiatrist`", program=IMPORT, target="0.3 s"),
    Start(name="`--help`", program=COMMAND, arguments=("--help",), target="0.4 s"),
    Start(
        name="`assess examples/interview.txt`",
        program=COMMAND,
        arguments=("assess", str(EXAMPLE)),
        target="1.0 s",
    ),
    Start(name="server, the baseline", program=SERVER, arguments=("serve",), target="1.3 ×"),
    Start(
        name="server, a model of Ollama",
        program=SERVER,
        arguments=("serve", "--model", "ollama:any"),
        target="1.3 ×",
    ),
)


@dataclass(frozen=True, slots=True, order=True)
class Cost:
    """What a process took from its start to its end."""

    cpu_seconds: float
    wall_seconds: float


def cost(program: str, arguments: Sequence[str], environment: dict[str, str]) -> Cost:
    """Run a program in a new interpreter."""
    before, began = os.times(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wall, after = time.perf_counter() - began, os.times()
    spent = after.children_user + after.children_system
    return Cost(spent - before.children_user - before.children_system, wall)


def libraries_of(start: Start, folder: Path, environment: dict[str, str]) -> tuple[str, ...]:
    """Return the modules of others that a program has imported when it is done.

    What they need of the standard library they import themselves.
    """
    listed = folder / "imported"
    cost(start.program, start.arguments, environment | {"IMPORTED": str(listed)})
    names = listed.read_text().splitlines()
    left_out = OURS | sys.stdlib_module_names
    return tuple(name for name in names if name.partition(".")[0] not in left_out)


def main() -> None:
    """Print the table: of each the best of several."""
    print("| start | CPU | wall | its libraries, CPU | ratio | target |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with TemporaryDirectory() as folder:
        environment = _environment(Path(folder))
        for start in STARTS:
            libraries = libraries_of(start, Path(folder), environment)
            own, control = [], []
            for _ in range(ROUNDS):
                control.append(cost(CONTROL, libraries, environment))
                own.append(cost(start.program, start.arguments, environment))
            ours, theirs = min(own), min(control)
            wall = min(one.wall_seconds for one in own)
            # Of what uses no library the control is noise about 0.
            is_told = theirs.cpu_seconds > _NOISE_SECONDS
            ratio = f"{ours.cpu_seconds / theirs.cpu_seconds:.2f} ×" if is_told else "–"
            print(
                f"| {start.name} | {ours.cpu_seconds:.2f} s | {wall:.2f} s "
                f"| {theirs.cpu_seconds:.2f} s | {ratio} | {start.target} |"
            )


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME"}}
    return kept | {"API_PORT": "0", "DATA_STATE_DIR": str(folder)}


if __name__ == "__main__":
    main()
