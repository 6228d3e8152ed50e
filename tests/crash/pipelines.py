"""The pipelines that are killed: one of ours, and three of another program where they are there."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from ai_psychiatrist.store.run_file import holds_run
from tests.crash.runs import Backend, Campaign

EXAMPLE = Path(__file__).parents[2] / "examples" / "pipeline"
REPETITIONS = {"NPCDialog": 10, "Blackjack": 300, "DrunkenSailor": 500}
"""With which the three have 2,000 units: of 60, of 3, and of 1."""


def example_campaign(folder: Path, backend: Backend, *, units: int) -> Campaign:
    """Return the campaign of our own pipeline."""
    return _campaign(EXAMPLE / "pipeline.yaml", _example_units(folder, units), backend)


def real_campaigns(folder: Path, backend: Backend, *, units: int) -> Iterator[Campaign]:
    """Yield a campaign for each real pipeline, at most so many units of each."""
    for config in _real_pipelines(folder):
        yield _campaign(config, ["--max-units", str(units)], backend)


def _real_pipelines(folder: Path) -> Iterator[Path]:
    """Yield copies of the real pipelines, which wait for no failed call; none without the data."""
    data = os.environ.get("TEST_DATA_DIR")
    source = None if data is None else Path(data) / "octobatch"
    if source is None or not source.is_dir():
        return
    for name, times in REPETITIONS.items():
        copy = Path(shutil.copytree(source / name, folder / name))
        config = copy / "config.yaml"
        text = config.read_text("utf-8").replace("delay_seconds: 30", "delay_seconds: 0.01")
        lines = [line for line in text.splitlines() if not line.startswith("  repeat:")]
        lines.insert(lines.index("processing:") + 1, f"  repeat: {times}")
        if "delay_seconds" not in text:
            lines.insert(lines.index("  retry:") + 1, "    initial_delay_seconds: 0.01")
        config.chmod(0o600)
        config.write_text("\n".join(lines), "utf-8")
        yield config


def _campaign(config: Path, units: list[str], backend: Backend) -> Campaign:
    return Campaign(
        command=["pipeline", "run", str(config), *units],
        backend=backend,
        result_files=("summary.json", "export/*.jsonl"),
        is_begun=holds_run,
        concurrency=8,
        patience_seconds=1800,
    )


def _example_units(folder: Path, count: int) -> list[str]:
    """Write units like those of the example, whose excerpts differ."""
    path = folder / "units.jsonl"
    line = '{{"unit_id": "u{0}", "excerpt": "I woke up {0} times.", "min_quotes": 1}}\n'
    path.write_text("".join(line.format(number) for number in range(count)), "utf-8")
    return ["--units", str(path)]
