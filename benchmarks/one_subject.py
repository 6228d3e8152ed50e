"""Measure one subject in a process of its own and print one line of JSON."""

import argparse
import asyncio
import gc
import json
from collections.abc import Sequence
from dataclasses import asdict

from benchmarks.subjects import SUBJECTS
from benchmarks.throughput import Measurement, measure


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure one subject in this process and print one line of JSON."""
    parser = argparse.ArgumentParser(prog="one_subject", description=__doc__)
    parser.add_argument("--subject", choices=sorted(SUBJECTS), required=True)
    parser.add_argument("--in-flight", type=int, default=8)
    parser.add_argument("--total", type=int, default=64)
    parser.add_argument("--url", required=True, help="address of the fake model server")
    options = parser.parse_args(arguments)

    async def run() -> Measurement:
        async with SUBJECTS[options.subject](options.url) as subject:
            # As docs/http.md advises programs that assess much; the server does so itself.
            gc.collect()
            gc.freeze()
            gc.set_threshold(100_000)
            return await measure(subject, in_flight=options.in_flight, total=options.total)

    print(json.dumps({"subject": options.subject, **asdict(asyncio.run(run()))}))


if __name__ == "__main__":
    main()
