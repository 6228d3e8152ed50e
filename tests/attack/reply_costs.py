"""What replies cost that are made to cost time and memory: processor, peak, and what is kept.

`python -m tests.attack.reply_costs [--seed N] [--grown N]` has every reader read replies made by
hand and others grown of random motifs, and prints the worst. Ends with 1 when a bar is missed.
"""

import argparse
import gc
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

import structlog

from ai_psychiatrist.agents.danger_replies import danger_in_part, extract_danger
from ai_psychiatrist.agents.extractors import (
    extract_evidence,
    extract_judge_metric,
    extract_judges,
    extract_meta_review,
    extract_qualitative,
    extract_quantitative,
    judgement_in_part,
    judgements_in_part,
    meta_review_in_part,
    scores_in_part,
)
from ai_psychiatrist.agents.interview.schemas import DIGEST_ANSWER
from ai_psychiatrist.llm.replies import ReplyRejected
from tests.attack.costly_replies import COSTLY_REPLIES, grown
from tests.attack.verdicts import Verdict, at_most

MOST_SECONDS: Final = 0.3
MOST_MEGABYTES: Final = 30.0
MOST_KEPT_MEGABYTES: Final = 0.5

Read = Callable[[str], object]
READERS: Final[Mapping[str, tuple[Read, ...]]] = {
    "evidence": (extract_evidence,),
    "scores": (extract_quantitative, scores_in_part),
    "danger": (extract_danger, danger_in_part),
    "meta-review": (extract_meta_review, meta_review_in_part),
    "narrative": (extract_qualitative,),
    "judge": (extract_judge_metric, judgement_in_part),
    "judges": (extract_judges, judgements_in_part),
    "interview": (DIGEST_ANSWER.extract,),
}
"""All that reads one reply: its extractor, and what keeps the valid parts of one it refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What reading a reply once cost, and what is left of it in the process."""

    seconds: float
    """Of the processor, all readers of one agent together."""
    megabytes: float
    """At the peak, the reply itself not counted."""
    kept_megabytes: float
    """While the rejection is kept, before the collector of cycles has run."""


def cost_of(readers: tuple[Read, ...], reply: str) -> Cost:
    """Have a reply read twice: for the time, and for the memory, which takes longer to watch."""
    began = time.process_time()
    for read in readers:
        _outcome(read, reply)
    seconds = time.process_time() - began
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        kept = [_outcome(read, reply) for read in readers]
        left, peak = tracemalloc.get_traced_memory()
        del kept
    finally:
        tracemalloc.stop()
        gc.enable()
    return Cost(seconds=seconds, megabytes=peak / 1e6, kept_megabytes=left / 1e6)


def _outcome(read: Read, reply: str) -> ReplyRejected | None:
    """Return the rejection as it is kept; what was read of a good reply is not counted."""
    try:
        read(reply)
    except ReplyRejected as rejection:
        return rejection.detached()
    return None


def main() -> int:
    """Measure, print the worst, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--grown", type=int, default=100, help="how many to grow of motifs")
    parser.add_argument("--shown", type=int, default=5, help="how many of the worst to print")
    arguments = parser.parse_args()
    structlog.configure(processors=[_dropped])
    # As the server does when it has started: else its collector walks over all that is loaded.
    gc.collect()
    gc.freeze()
    missed = 0
    for verdict in verdicts(arguments.seed, arguments.grown, shown=arguments.shown):
        missed += not verdict.is_met
        sys.stdout.write(f"{verdict}\n")
        sys.stdout.flush()
    return 1 if missed else 0


def verdicts(seed: int, count: int, *, shown: int = 1) -> Iterator[Verdict]:
    """Yield the worst figures of each kind over all readers."""
    draw = Random(seed)  # noqa: S311
    replies = [(name, reply) for name, reply in COSTLY_REPLIES.items()]
    replies += [(name, reply) for reply, name in (grown(draw) for _ in range(count))]
    costs = [
        (f"{agent}: {name}", cost_of(readers, reply))
        for name, reply in replies
        for agent, readers in READERS.items()
    ]
    for name, cost in sorted(costs, key=lambda one: -one[1].seconds)[:shown]:
        yield at_most("processor's time of one reply", cost.seconds, MOST_SECONDS, "s", note=name)
    for name, cost in sorted(costs, key=lambda one: -one[1].megabytes)[:shown]:
        yield at_most("memory of one reply", cost.megabytes, MOST_MEGABYTES, "MB", note=name)
    for name, cost in sorted(costs, key=lambda one: -one[1].kept_megabytes)[:shown]:
        figure = "memory kept of one reply"
        yield at_most(figure, cost.kept_megabytes, MOST_KEPT_MEGABYTES, "MB", note=name)


def _dropped(*_: object) -> structlog.typing.EventDict:
    raise structlog.DropEvent


if __name__ == "__main__":
    sys.exit(main())
