"""How long starts take, beside importing what they use: the package, help, a command, the server.

Every figure is the CPU time of a process of its own, as a ratio to that of a control which takes
turns with it: the interpreter alone, or the libraries that the command uses and nothing of ours.
A server's is until it is ready, and no longer.
"""

import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

EXAMPLE: Final = Path(__file__).parents[1] / "examples" / "interview.txt"
OF_HELP: Final = "import typer"
OF_ASSESS: Final = (
    "import asyncio, dotenv, jsonschema_rs, orjson, rtoml, structlog, typer, typer.main, webvtt, "
    "yaml, anyio, pydantic.main, rich.console, rich.padding, rich.progress, rich.table"
)
# The last two are imported by FastAPI for the first route and by Pydantic AI for the first model.
OF_SERVER: Final = (
    "import aiohttp, fastapi, httpx, jsonschema_rs, openai, orjson, sqlite3, "
    "structlog, uvicorn, yaml, "
    "fastapi.middleware.cors, pydantic_ai.models.ollama, pydantic_ai.models.openai, "
    "pydantic_ai.models.wrapper, pydantic_ai.providers.ollama, pydantic_ai.providers.openai, "
    "pydantic.v1, genai_prices.data, os; os._exit(0)"
)
READY: Final = """
import asyncio
from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.config import load_settings
async def ready():
    app = create_app(load_settings({{{settings}}}, None))
    async with app.router.lifespan_context(app):
        pass
asyncio.run(ready())
import os
os._exit(0)
"""
COMMAND: Final = "import sys; from ai_psychiatrist.cli import main; main(sys.argv[1:])"
ROUNDS: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A program that starts, and what it is compared with."""

    name: str
    program: str
    control: str
    arguments: tuple[str, ...] = ()
    target: str = "–"


STARTS: Final = (
    Start(name="`import ai_psychiatrist`", program="import ai_psychiatrist", control="pass"),
    Start(name="`--help`", program=COMMAND, control=OF_HELP, arguments=("--help",)),
    Start(
        name="`assess examples/interview.txt`",
        program=COMMAND,
        control=OF_ASSESS,
        arguments=("assess", str(EXAMPLE)),
    ),
    Start(
        name="server, the baseline",
        program=READY.format(settings=""),
        control=OF_SERVER,
        target="1.3 ×",
    ),
    Start(
        name="server, a model of Ollama",
        program=READY.format(settings="'MODEL_DEFAULT': 'ollama:any'"),
        control=OF_SERVER,
        target="1.3 ×",
    ),
)


def cpu_seconds(program: str, arguments: Sequence[str] = ()) -> float:
    """Run a program in a new interpreter, from its start to its end."""
    before = os.times()
    subprocess.run(
        [sys.executable, "-c", program, *arguments], check=True, stdout=subprocess.DEVNULL
    )
    after = os.times()
    spent = after.children_user + after.children_system
    return spent - before.children_user - before.children_system


def main() -> None:
    """Print the table."""
    print("| start | of its own | the control | ratio | target |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for start in STARTS:
        own, control = [], []
        for _ in range(ROUNDS):
            control.append(cpu_seconds(start.control))
            own.append(cpu_seconds(start.program, start.arguments))
        ours, theirs = statistics.median(own), statistics.median(control)
        print(
            f"| {start.name} | {ours:.2f} s | {theirs:.2f} s | {ours / theirs:.2f} × "
            f"| {start.target} |"
        )


if __name__ == "__main__":
    main()
