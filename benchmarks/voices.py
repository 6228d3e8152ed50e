"""How often danger alarms in ten voices that no other set has: by rules alone, and with the reader.

`labelled/voices_tuned.jsonl` is the half that rules were tuned to, `voices_held_out.jsonl` the one
that was set aside by the digest of each text. `--misses` lists the wrong ones of the tuned half.
"""

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ai_psychiatrist.services.reader.learned_reader import LearnedReader
from benchmarks.meaning.agreement import share_of
from benchmarks.meaning.sets import records_of
from benchmarks.reader.__main__ import Read, readings

LABELLED: Final = Path(__file__).with_name("labelled")
TUNED: Final = LABELLED / "voices_tuned.jsonl"
HELD_OUT: Final = LABELLED / "voices_held_out.jsonl"
_OWN: Final = "affirmed"
_EVASIVE: Final = "hypothetical_or_unclear"
_LOOKALIKE: Final = ""
_SYSTEMS: Final = ("rules", "both")


def table(read: Sequence[Read]) -> Iterator[str]:
    """Yield the lines of a table: shares of alarms with their 95 % Wilson intervals."""
    yield "| alarm: moderate or high | rules | with the reader |"
    yield "| --- | ---: | ---: |"
    groups = {
        "own danger, now": [one for one in read if one.status == _OWN],
        "asked of danger, not answered": [one for one in read if one.status == _EVASIVE],
        "danger of either sort": [one for one in read if _is_danger(one)],
        "look-alikes": [one for one in read if one.status == _LOOKALIKE],
        "denied, past, another's": [
            one for one in read if not _is_danger(one) and one.status != _LOOKALIKE
        ],
        "no danger of any sort": [one for one in read if not _is_danger(one)],
    }
    for voice in sorted({one.record["voice"] for one in read}):
        groups[f"{voice}: danger"] = [
            one for one in read if one.record["voice"] == voice and _is_danger(one)
        ]
        groups[f"{voice}: none"] = [
            one for one in read if one.record["voice"] == voice and not _is_danger(one)
        ]
    for name, of in groups.items():
        cells = (_alarms(of, system) for system in _SYSTEMS)
        yield f"| {name} | {' | '.join(cells)} |"


def _alarms(of: Sequence[Read], system: str) -> str:
    return str(share_of(of, lambda one: one.by[system].alarms))


def _is_danger(one: Read) -> bool:
    return one.status in {_OWN, _EVASIVE}


def misses(read: Sequence[Read]) -> Iterator[str]:
    """Yield what the rules read wrongly: danger without an alarm, then alarms without danger."""
    for is_danger, name in ((True, "missed"), (False, "alarmed")):
        for one in read:
            if _is_danger(one) is is_danger and one.by["rules"].alarms is not is_danger:
                both = "both" if one.by["both"].alarms is not is_danger else "rules"
                asked = f"[{one.record['question']}] " if one.record["question"] else ""
                yield f"{name} {both} {one.record['voice']}: {asked}{one.record['text']}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--half", choices=("tuned", "held_out", "both"), default="both")
    wanted = parser.parse_args()
    reader = LearnedReader.load()
    for name, path in (("tuned", TUNED), ("held_out", HELD_OUT)):
        if wanted.half in {name, "both"}:
            read = asyncio.run(readings(list(records_of(path)), reader))
            print(f"\n### {path.stem}, {len(read)} statements\n")
            print("\n".join(table(read)))
            if wanted.misses and path == TUNED:
                print("\n".join(misses(read)))


if __name__ == "__main__":
    main()
