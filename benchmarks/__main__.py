"""All benchmarks, one table after the other: `python -m benchmarks`."""

from collections.abc import Callable
from functools import partial
from typing import Final

from benchmarks import (
    ablation,
    agreement,
    archive,
    calibration_error,
    calls,
    certificates,
    challenge,
    conformal,
    costly_replies,
    coverage,
    evidence,
    grounding_volume,
    imports,
    interview,
    interview_answers,
    jobs,
    labelled_sets,
    metrics,
    million,
    pages,
    retrieval,
    risk,
    run_throughput,
    stages,
    telemetry,
    validation,
)
from benchmarks.meaning import tables as meaning

SUBJECTS = ("skeleton", "libraries", "ours", "http", "bare")


TABLES: Final[tuple[tuple[str, Callable[[], object]], ...]] = (
    ("Model calls of one assessment", calls.main),
    ("Evidence checks", evidence.main),
    ("Lies and truths by volume", partial(grounding_volume.main, [])),
    ("Sets labelled by hand", labelled_sets.main),
    ("Signs of danger", risk.main),
    ("What words mean", partial(meaning.main, [])),
    ("The challenge", partial(challenge.main, [])),
    ("Validation of JSON lines", partial(validation.main, [])),
    ("References", partial(retrieval.main, [])),
    ("Metrics", partial(metrics.main, [])),
    ("A million units", partial(million.main, [])),
    ("What intervals hold", partial(coverage.main, [])),
    ("Agreement of raters, as it was planted", partial(agreement.main, [])),
    ("What sets of scores hold", partial(conformal.main, [])),
    ("Calibration errors of signals that have none", partial(calibration_error.main, [])),
    ("Answers to an interviewer, labelled by hand", interview_answers.main),
    ("Interviews with a simulated participant", partial(interview.main, [])),
    ("Certificates, changed and checked", partial(certificates.main, [])),
    ("Does the evidence drive the score?", partial(ablation.main, [])),
    ("Pages in a browser", partial(pages.main, [])),
    ("Stored assessments", partial(archive.main, [])),
    ("Jobs", partial(jobs.main, [])),
    ("Start", imports.main),
    ("Where the time of an assessment goes", stages.main),
    ("Replies that cost", partial(costly_replies.main, [])),
    ("What it costs to be watched", telemetry.main),
)
"""What each is about, and what prints it."""


def main() -> None:
    """Print every table; takes some minutes."""
    for heading, tell in TABLES:
        print(f"## {heading}\n", flush=True)
        tell()
        print(flush=True)
    print("## Assessments at 100 ms a call\n", flush=True)
    run_throughput.compare(SUBJECTS, in_flight=(1, 8, 32), delay_ms=100, rounds=3)
    print(
        "\n## Assessments at 1 s a call; the ideal is a third of the number in flight\n", flush=True
    )
    run_throughput.compare(("skeleton", "ours"), in_flight=(8, 32), delay_ms=1000, rounds=1)


if __name__ == "__main__":
    main()
