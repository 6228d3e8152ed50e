"""The `evaluate challenge` commands: a measure for any system, on interviews of known truth."""

from typing import Final

from ai_psychiatrist.cli.command_app import CommandGroup, LazyCommand, lazy_group

COMMANDS: Final = {
    "make": LazyCommand(
        place="challenge_files:files_app",
        help="Make up interviews of difficult patients, and apart from them their truth.",
    ),
    "run": LazyCommand(
        place="challenge_run:run",
        help="Assess the interviews of a challenge, and write what is said of them.",
    ),
    "score": LazyCommand(
        place="challenge_files:files_app",
        help="Score the predictions of one or several systems, ours or any other.",
    ),
}

challenge_app = CommandGroup(
    cls=lazy_group(COMMANDS),
    name="challenge",
)


@challenge_app.callback()
def challenge() -> None:
    """Measure any system on interviews of difficult patients whose truth is known."""
