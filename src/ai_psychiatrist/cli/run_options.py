"""Options of a run: where it lies, how much it does, what it keeps and how it goes on."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

OutOption: TypeAlias = Annotated[
    Path | None, typer.Option("--out", metavar="RUN", help="Folder for the run.")
]
LimitOption: TypeAlias = Annotated[int | None, typer.Option(min=1, help="Only the first N units.")]
ShardOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="I/N",
        help="Only part I of N, for N processes; --split and --limit apply before. "
        "`evaluate merge` makes one run of the parts.",
    ),
]
ConcurrencyOption: TypeAlias = Annotated[
    int, typer.Option(min=1, help="Units assessed at the same time.")
]
RepeatsOption: TypeAlias = Annotated[
    int | None, typer.Option(min=1, max=99, help="Make N runs in RUN, all asked anew.")
]
PromptsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--prompts",
        metavar="NAME=FILE",
        help="Make runs in RUN with these prompts, or with `shipped` ones; can be repeated.",
    ),
]
ResumeOption: TypeAlias = Annotated[bool, typer.Option("--resume", help="Go on with a run.")]
RetryFailedOption: TypeAlias = Annotated[
    bool, typer.Option("--retry-failed", help="Do failed units anew, with --resume.")
]
AcceptChangedOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--accept-changed",
        help="With --resume: go on under another version, prompts, rules, calls or servers.",
    ),
]
DatabaseOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--database",
        help="Keep the run in the PostgreSQL of DATABASE_URL; workers help with its units.",
    ),
]
DetachOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--detach", help="With --database: leave all units to the workers, and end at once."
    ),
]
CertificatesOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--certificates",
        help="Leave a certificate of each unit in OUT/certificates, for `verify`.",
    ),
]
MaxFailuresOption: TypeAlias = Annotated[
    int | None, typer.Option(min=0, help="Begin no unit once more than N have failed.")
]
PlanAsJsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="With --plan: print it as JSON.")
]
NoRawOption: TypeAlias = Annotated[
    bool,
    typer.Option("--no-raw", help="Keep no text; a stopped unit then starts from its beginning."),
]
UnrelatedOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--unrelated", help="None is about depression: all that is found is false evidence."
    ),
]
BatchOption: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--batch/--no-batch",
        help="Ask by the provider's batch interface; --resume of such a run does so again.",
        show_default=False,
    ),
]
WaitOption: TypeAlias = Annotated[
    bool, typer.Option("--wait", help="Wait for batches instead of ending.")
]
HandInAgainOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--hand-in-again",
        help="With --resume: ask anew what a batch held that is gone; may be paid twice.",
    ),
]
