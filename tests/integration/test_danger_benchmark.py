"""The table of what a model adds to the rules counts what it finds, and alarms for nothing."""

import asyncio
from pathlib import Path

from benchmarks.danger_model import pairs, rows
from benchmarks.risk import STATEMENTS, labelled_statements

from ai_psychiatrist.wiring import bootstrap
from tests.fakes.model_server import ModelServer, Reply, Request
from tests.fakes.replies import danger_text
from tests.integration.running_app import model_at, settings_with


def alarming(request: Request) -> Reply:
    """Take the participant's last words for danger, whatever they are."""
    return Reply(text=danger_text(request.transcript.rpartition("Participant: ")[2].strip()))


def test_alarms_are_counted_with_and_without_the_model(tmp_path: Path) -> None:
    statements = labelled_statements(STATEMENTS)
    chosen = [*[one for one in statements if one.is_urgent][:5]]
    chosen += [one for one in statements if not one.is_danger][:5]

    async def table() -> list[str]:
        async with (
            ModelServer(alarming) as server,
            bootstrap(settings_with(tmp_path, **model_at(server.url))) as services,
        ):
            agent = services.assessor.danger
            assert agent is not None
            return list(rows(await pairs(agent, chosen)))

    _, _, danger, look_alike, failed, refused = asyncio.run(table())
    assert danger.endswith("| 5 |")
    assert look_alike.endswith("| 5 |")
    assert failed == "| readings that failed | 10 | – | 0 |"
    assert refused == "| signs in words that nobody said | 10 | – | 0 |"
