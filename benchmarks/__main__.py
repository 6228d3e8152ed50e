"""All benchmarks, one table after the other: `python -m benchmarks`."""

from benchmarks import (
    ablation,
    agreement,
    archive,
    calibration_error,
    calls,
    certificates,
    challenge,
    conformal,
    coverage,
    evidence,
    grounding_volume,
    imports,
    interview,
    interview_answers,
    jobs,
    labelled_sets,
    metrics,
    pages,
    retrieval,
    risk,
    run_throughput,
    stages,
    validation,
)
from benchmarks.meaning import tables as meaning

SUBJECTS = ("skeleton", "libraries", "ours", "http", "bare")


def main() -> None:
    """Print every table; takes some minutes."""
    print("## Model calls of one assessment\n", flush=True)
    calls.main()
    print("\n## Evidence checks\n", flush=True)
    evidence.main()
    print("\n## Lies and truths by volume\n", flush=True)
    grounding_volume.main([])
    print("\n## Sets labelled by hand\n", flush=True)
    labelled_sets.main()
    print("\n## Signs of danger\n", flush=True)
    risk.main()
    print("\n## What words mean\n", flush=True)
    meaning.main([])
    print("\n## The challenge\n", flush=True)
    challenge.main([])
    print("\n## Validation of JSON lines\n", flush=True)
    validation.main([])
    print("\n## References\n", flush=True)
    retrieval.main([])
    print("\n## Metrics\n", flush=True)
    metrics.main([])
    print("\n## What intervals hold\n", flush=True)
    coverage.main([])
    print("\n## Agreement of raters, as it was planted\n", flush=True)
    agreement.main([])
    print("\n## What sets of scores hold\n", flush=True)
    conformal.main([])
    print("\n## Calibration errors of signals that have none\n", flush=True)
    calibration_error.main([])
    print("\n## Answers to an interviewer, labelled by hand\n", flush=True)
    interview_answers.main()
    print("\n## Interviews with a simulated participant\n", flush=True)
    interview.main([])
    print("\n## Certificates, changed and checked\n", flush=True)
    certificates.main([])
    print("\n## Does the evidence drive the score?\n", flush=True)
    ablation.main([])
    print("\n## Pages in a browser\n", flush=True)
    pages.main([])
    _stored()
    print("\n## Start\n", flush=True)
    imports.main()
    print("\n## Where the time of an assessment goes\n", flush=True)
    stages.main()
    print("\n## Assessments at 100 ms a call\n", flush=True)
    run_throughput.compare(SUBJECTS, in_flight=(1, 8, 32), delay_ms=100, rounds=3)
    print(
        "\n## Assessments at 1 s a call; the ideal is a third of the number in flight\n", flush=True
    )
    run_throughput.compare(("skeleton", "ours"), in_flight=(8, 32), delay_ms=1000, rounds=1)


def _stored() -> None:
    print("\n## Stored assessments\n", flush=True)
    archive.main([])
    print("\n## Jobs\n", flush=True)
    jobs.main([])


if __name__ == "__main__":
    main()
