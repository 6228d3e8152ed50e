"""Prints how well language is read: in the tuning sets, and once per release in the sealed ones."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from benchmarks import interview_answers, labelled_sets
from benchmarks.meaning import answers, danger, items, other_talk
from benchmarks.meaning.sets import SEALED, open_sealed, tuning

_AGREEMENT: Final = "| labels | the same | Cohen's kappa |\n| --- | ---: | ---: |"


def tuning_tables() -> Iterator[str]:
    """Yield the lines of all tables of the tuning sets."""
    conversations, sessions = tuning("interviews"), tuning("sessions")
    yield from _titled("Tuning: items in single statements", items.findings(tuning("items")))
    yield from _titled("Tuning: items in whole interviews", items.findings(conversations))
    yield from _titled("Tuning: items in sessions", items.findings(sessions))
    yield "### Tuning: danger in statements\n"
    yield from danger.statement_tables(danger.readings(tuning("danger")))
    yield "\n### Tuning: danger in conversations\n"
    yield from danger.conversation_table(danger.readings((*conversations, *sessions)))
    yield from other_talk.tables()
    for title, name in interview_answers.SETS:
        yield f"\n### Interview answers, {title}\n"
        yield from answers.table(answers.readings(labelled_sets.read_lines(name)))


def sealed_tables(folder: Path) -> Iterator[str]:
    """Open the sealed sets and yield the lines of all their tables, then those where both agree."""
    interviews, sessions = open_sealed("interviews", folder), open_sealed("sessions", folder)
    in_interviews, in_sessions = items.findings(interviews), items.findings(sessions)
    statements = danger.readings(open_sealed("danger", folder))
    answered = answers.readings(open_sealed("answers", folder))
    yield "### Sealed: two people's labels\n"
    yield _AGREEMENT
    yield from _of_set("interviews", items.agreement_rows(in_interviews))
    yield from _of_set("sessions", items.agreement_rows(in_sessions))
    yield from chain(danger.agreement_rows(statements), answers.agreement_rows(answered))
    yield ""
    yield from _titled("Sealed: items in interviews", in_interviews)
    yield from _titled("… where both people agree", items.agreed(in_interviews))
    yield from _titled("Sealed: items in sessions", in_sessions)
    yield from _titled("… where both people agree", items.agreed(in_sessions))
    yield "### Sealed: danger in statements\n"
    yield from danger.statement_tables(statements)
    yield "\n### … where both people agree\n"
    yield from danger.statement_tables(danger.agreed(statements))
    yield "\n### Sealed: danger in conversations\n"
    yield from danger.conversation_table(danger.readings((*interviews, *sessions)))
    yield "\n### Sealed: interview answers\n"
    yield from answers.table(answered)
    yield "\n### … where both people agree\n"
    yield from answers.table(answers.agreed(answered))


def _titled(title: str, found: Sequence[items.Finding]) -> Iterator[str]:
    yield f"### {title}\n"
    yield from items.tables(found)
    yield ""


def _of_set(name: str, rows: Iterable[str]) -> Iterator[str]:
    return (row.replace("| ", f"| {name}, ", 1) for row in rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="meaning", description=__doc__)
    parser.add_argument(
        "--open-sealed",
        action="store_true",
        help="open the sealed sets too: once per release, after which they are tuning sets",
    )
    parser.add_argument("--sealed", type=Path, default=SEALED, help="the folder of the sealed sets")
    options = parser.parse_args(arguments)
    print("\n".join(tuning_tables()))
    if options.open_sealed:
        print()
        print("\n".join(sealed_tables(options.sealed)))
