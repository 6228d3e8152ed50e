"""The `evaluate challenge` commands: a measure for any system, on interviews of known truth."""

from typing import Final

from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.loaded_later import Later, group_of

COMMANDS: Final = {
    "make": Later(
        place="challenge_files:files_app",
        help="Make up interviews of difficult patients, and apart from them their truth.",
    ),
    "run": Later(
        place="challenge_run:run",
        help="Assess the interviews of a challenge, and write what is said of them.",
    ),
    "score": Later(
        place="challenge_files:files_app",
        help="Score the predictions of one or several systems, ours or any other.",
    ),
}

challenge_app = CommandGroup(
    cls=group_of(COMMANDS),
    name="challenge",
)


@challenge_app.callback()
def challenge() -> None:
    """Measure any system on interviews of difficult patients whose truth is known."""
