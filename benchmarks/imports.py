"""How long it takes until the server is ready, beside importing its libraries alone."""

import statistics
import subprocess
import sys
from typing import Final

# The last two are imported by FastAPI for the first route and by Pydantic AI for the first model.
LIBRARIES: Final = (
    "import aiohttp, fastapi, httpx, jsonschema_rs, openai, orjson, pydantic_settings, sqlite3, "
    "structlog, uvicorn, yaml, "
    "fastapi.middleware.cors, pydantic_ai.models.ollama, pydantic_ai.models.openai, "
    "pydantic_ai.models.wrapper, pydantic_ai.providers.ollama, pydantic_ai.providers.openai, "
    "pydantic.v1, genai_prices.data"
)
READY: Final = """
import asyncio
from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.config import load_settings
async def ready():
    app = create_app(load_settings({}, None))
    async with app.router.lifespan_context(app):
        pass
asyncio.run(ready())
"""
HELP: Final = """
import sys
from ai_psychiatrist.cli import main
sys.argv = ["ai-psychiatrist", "--help"]
try:
    main()
except SystemExit:
    assert "pydantic_ai" not in sys.modules
"""
ROUNDS: Final = 7
_TIMED: Final = "import time as _time\n_start = _time.perf_counter()\n{}\n"
_PRINT: Final = "import sys as _sys\nprint(_time.perf_counter() - _start, file=_sys.stderr)"


def seconds_of(program: str) -> float:
    """Run a program in a new interpreter and return the time that it measured itself."""
    code = _TIMED.format(program) + _PRINT
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(run.stderr.splitlines()[-1])


def main() -> None:
    """Print the table; the two programs take turns."""
    libraries, ready = [], []
    for _ in range(ROUNDS):
        libraries.append(seconds_of(LIBRARIES))
        ready.append(seconds_of(READY))
    alone, whole = statistics.median(libraries), statistics.median(ready)
    print("| figure | earlier system | ours | target |")
    print("| --- | ---: | ---: | ---: |")
    print(f"| libraries alone | – | {alone:.2f} s | – |")
    print(f"| import to ready | 1.8 s | {whole:.2f} s ({whole / alone:.2f} ×) | 1.25 × |")
    print(f"| `--help` | – | {help_seconds():.2f} s, no pydantic_ai | no pydantic_ai |")


def help_seconds() -> float:
    """Return the time of `--help`; fails when it imports pydantic_ai."""
    return statistics.median(seconds_of(HELP) for _ in range(ROUNDS))


if __name__ == "__main__":
    main()
