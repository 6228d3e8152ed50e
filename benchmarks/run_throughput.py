"""Compare subjects side by side: each run in its own process, the subjects taking turns.

The first subject is the control. Taking turns cancels the drift of a shared machine; the table
shows medians over the rounds.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import httpx

from benchmarks.throughput import Measurement

ASSESSMENTS_PER_SLOT = 8
FEWEST_ASSESSMENTS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Medians of one subject at one load."""

    subject: str
    in_flight: int
    calls_per_assessment: float
    """As the server counted them: subjects are comparable when equal."""
    medians: Measurement


def compare(
    subjects: Sequence[str], *, in_flight: Sequence[int], delay_ms: float, rounds: int
) -> None:
    """Measure the subjects in turns at each load and print the table."""
    with fake_server(delay_ms) as url:
        rows = [
            row for load in in_flight for row in measure_in_turns(subjects, load, rounds, url=url)
        ]
    print(format_table(rows, control=subjects[0]))


@contextmanager
def fake_server(delay_ms: float) -> Iterator[str]:
    """Run the fake model server in a process of its own and yield its address."""
    command = [sys.executable, "-m", "tests.fakes.model_server", "--delay-ms", str(delay_ms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().removeprefix("listening on ").strip()
        finally:
            process.terminate()


def measure_in_turns(
    subjects: Sequence[str], in_flight: int, rounds: int, *, url: str
) -> list[Row]:
    """Run every subject once a round, in the opposite order every second round."""
    runs: dict[str, list[tuple[Measurement, float]]] = {subject: [] for subject in subjects}
    for number in range(rounds):
        for subject in subjects if number % 2 == 0 else reversed(subjects):
            runs[subject].append(_measure_once(subject, in_flight, url))
    return [
        Row(
            subject=subject,
            in_flight=in_flight,
            calls_per_assessment=statistics.median(calls for _, calls in runs[subject]),
            medians=_medians([measurement for measurement, _ in runs[subject]]),
        )
        for subject in subjects
    ]


def format_table(rows: Sequence[Row], *, control: str) -> str:
    """Write a Markdown table with the ratios to the control at the same load."""
    controls = {row.in_flight: row.medians for row in rows if row.subject == control}
    lines = [
        "| in flight | subject | per s | × control | CPU ms | × control | p50 s | p95 s | calls |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        found, base = row.medians, controls[row.in_flight]
        speed = found.assessments_per_second / base.assessments_per_second
        cost = found.cpu_ms_per_assessment / base.cpu_ms_per_assessment
        lines.append(
            f"| {row.in_flight} | {row.subject} | {found.assessments_per_second:.2f} "
            f"| {speed:.2f} | {found.cpu_ms_per_assessment:.1f} | {cost:.2f} "
            f"| {found.wall_p50_seconds:.3f} | {found.wall_p95_seconds:.3f} "
            f"| {row.calls_per_assessment:.1f} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare subjects named on the command line."""
    parser = argparse.ArgumentParser(prog="run_throughput", description=__doc__)
    parser.add_argument("--subjects", default="skeleton,bare", help="the first is the control")
    parser.add_argument("--in-flight", default="1,8,32")
    parser.add_argument("--delay-ms", type=float, default=100.0, help="of the fake server")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    compare(
        options.subjects.split(","),
        in_flight=[int(load) for load in options.in_flight.split(",")],
        delay_ms=options.delay_ms,
        rounds=options.rounds,
    )


def _measure_once(subject: str, in_flight: int, url: str) -> tuple[Measurement, float]:
    total = max(FEWEST_ASSESSMENTS, ASSESSMENTS_PER_SLOT * in_flight)
    httpx.post(f"{url}/reset")
    command = [sys.executable, "-m", "benchmarks.one_subject", "--subject", subject, "--url", url]
    command += ["--in-flight", str(in_flight), "--total", str(total)]
    finished = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    fields = json.loads(finished.stdout)
    del fields["subject"]
    made = total + in_flight
    return Measurement(**fields), httpx.get(f"{url}/stats").json()["requests"] / made


def _medians(runs: Sequence[Measurement]) -> Measurement:
    fields = [asdict(run) for run in runs]
    return Measurement(
        **{name: statistics.median(run[name] for run in fields) for name in fields[0]}
    )


if __name__ == "__main__":
    main()
