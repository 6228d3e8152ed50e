"""Runs whose calls have a price: short interviews, and a model that counts a hundred tokens."""

from pathlib import Path

from tests.fakes.model_server import Reply, Request, good_replies
from tests.integration.command import Finished
from tests.integration.command_here import run_here

OLLAMA = "ollama:fake"
PRICE = f"{OLLAMA}=1000/0"
"""A tenth of a cent a token."""
TOKENS = 100
CALL_USD = 0.1
CALLS = 9
"""Of one interview."""


def write_interviews(folder: Path, count: int) -> Path:
    """Write short interviews into a folder of texts, and return it."""
    folder.mkdir()
    for number in range(count):
        text = f"Interviewer: Hello?\nParticipant: I am tired all day, I am {number}.\n"
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    return folder


def evaluate(folder: Path, *arguments: object, **settings: str) -> Finished:
    """Run `evaluate` in a folder."""
    return run_here(["evaluate", *map(str, arguments)], folder, settings)


def hundred_tokens(request: Request) -> Reply:
    """Reply well, to a prompt of a hundred tokens."""
    return Reply(text=good_replies()(request).text, prompt_tokens=TOKENS)


def served(url: str) -> dict[str, str]:
    """Name the model of a server, which is asked as often each time."""
    return {"MODEL_DEFAULT": OLLAMA, "OLLAMA_HOST": url, "FEEDBACK_ENABLED": "false"}
