"""Damage known answers and count how they are read; ends with status 1 when one is read wrongly."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeAlias

import json_repair

from ai_psychiatrist.agents.extractors import extract_evidence, extract_quantitative
from ai_psychiatrist.infrastructure.logging import EventLog, logging_to
from ai_psychiatrist.llm.replies import ModelOutput, ReplyRejected
from tests.fuzz.known_answers import FRAMES, Answer, Task, drawn_answer, framed
from tests.fuzz.reply_damage import DAMAGE, Damage
from tests.fuzz.unseen_damage import UNSEEN

Outcome: TypeAlias = Literal["right", "refused", "rightly refused", "wrong"]

ENOUGH_READ = 0.8
"""Share of the replies with a whole answer that have to be read."""
KINDS: dict[str, Damage] = DAMAGE | UNSEEN
_REPLIES = 10_000
_EXTRACT: dict[Task, Callable[[str], ModelOutput]] = {
    "scoring": extract_quantitative,
    "evidence": extract_evidence,
}


@dataclass(slots=True)
class KindTally:
    """How the replies of one kind of damage were read."""

    whole: int = 0
    read_whole: int = 0
    ours: Counter[Outcome] = field(default_factory=Counter)
    library: Counter[Outcome] = field(default_factory=Counter)
    """json-repair alone, on the same replies."""
    wrong_replies: list[str] = field(default_factory=list)

    def add(self, other: "KindTally") -> None:
        """Add the counts of another kind."""
        self.whole += other.whole
        self.read_whole += other.read_whole
        self.ours.update(other.ours)
        self.library.update(other.library)
        self.wrong_replies += other.wrong_replies


def run_damaged_replies(seeds: range, kinds: Mapping[str, Damage] = KINDS) -> dict[str, KindTally]:
    """Damage one answer a seed, task, frame and kind in turn, and return the counts by kind."""
    tallies = {kind: KindTally() for kind in kinds}
    for seed in seeds:
        kind = list(kinds)[seed % len(kinds)]
        _run_one(seed, kinds[kind], tallies[kind])
    return tallies


def total(tallies: Mapping[str, KindTally]) -> KindTally:
    """Return the counts of all kinds."""
    everything = KindTally()
    for tally in tallies.values():
        everything.add(tally)
    return everything


def share_read(tallies: Mapping[str, KindTally]) -> float:
    """Return the share of the replies with a whole answer that were read right."""
    return total(tallies).read_whole / total(tallies).whole


def table(tallies: Mapping[str, KindTally]) -> Iterator[str]:
    """Yield the counts as lines of text."""
    yield f"{'':34}|{'ours':^31}|{'json-repair alone':^31}"
    heads = ("right", "refused", "rightly", "wrong")
    yield f"{'damage':34}|" + "|".join("".join(f"{head:>8}"[:8] for head in heads) for _ in "ab")
    for kind, tally in (*tallies.items(), ("all", total(tallies))):
        yield f"{kind:34}|{_columns(tally.ours)}|{_columns(tally.library)}"


def _columns(counts: Counter[Outcome]) -> str:
    outcomes: tuple[Outcome, ...] = ("right", "refused", "rightly refused", "wrong")
    return "".join(f"{counts[outcome]:>8}" for outcome in outcomes)


def _run_one(seed: int, damage: Damage, tally: KindTally) -> None:
    draw = Random(seed)  # noqa: S311 - repeatable on purpose
    task: Task = draw.choice(("scoring", "evidence"))
    damaged = damage(draw, drawn_answer(draw, task))
    frame = draw.choice(tuple(FRAMES))
    reply = framed(draw, frame, damaged, _other(draw, task, damaged.value))
    expected = _bare(_EXTRACT[task](json.dumps(damaged.value)))
    tally.whole += damaged.is_whole
    ours = _outcome(lambda: _EXTRACT[task](reply), expected, is_whole=damaged.is_whole)
    tally.ours[ours] += 1
    tally.read_whole += damaged.is_whole and ours == "right"
    if ours == "wrong":
        tally.wrong_replies.append(f"seed {seed}, {task}, {frame}:\n{reply}")
    tally.library[
        _outcome(lambda: _by_library(reply, task), expected, is_whole=damaged.is_whole)
    ] += 1


def _other(draw: Random, task: Task, value: Answer) -> Answer:
    other = drawn_answer(draw, task)
    return other if other != value else _other(draw, task, value)


def _outcome(read: Callable[[], ModelOutput], expected: object, *, is_whole: bool) -> Outcome:
    try:
        output = read()
    except ReplyRejected:
        return "refused" if is_whole else "rightly refused"
    return "right" if _bare(output) == expected else "wrong"


def _by_library(reply: str, task: Task) -> ModelOutput:
    return _EXTRACT[task](json.dumps(json_repair.loads(reply)))


def _bare(output: ModelOutput) -> dict[str, object]:
    return output.model_dump(exclude={"repaired", "coercions"})


def report_damaged_replies(seeds: range, *, shown: int = 3) -> bool:
    """Print the counts by kind of damage; returns whether none was read wrongly and enough were."""
    with logging_to(EventLog("CRITICAL")):
        tallies = run_damaged_replies(seeds)
    everything, read = total(tallies), share_read(tallies)
    wrong = everything.ours["wrong"]
    sys.stdout.write("\n".join(table(tallies)) + "\n")
    sys.stdout.write(
        f"{everything.whole} of {len(seeds)} replies hold a whole answer, {read:.1%} of them were "
        f"read. Read wrongly: {wrong}.\n"
    )
    for reply in everything.wrong_replies[:shown]:
        sys.stdout.write(f"\n{reply}\n")
    return not wrong and read >= ENOUGH_READ


def main() -> int:
    """Damage replies and print how they are read; returns the exit status."""
    parser = argparse.ArgumentParser(prog="tests.fuzz.damaged_replies", description=__doc__)
    parser.add_argument("--replies", type=int, default=_REPLIES)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--show", type=int, default=3, help="how many wrong replies to print")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.replies)
    return 0 if report_damaged_replies(seeds, shown=options.show) else 1


if __name__ == "__main__":
    sys.exit(main())
