"""Where tables and reports for people are printed."""

from rich.console import Console


class _Output(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command, which knows what its exit statuses mean."""
        raise BrokenPipeError


def console_of(
    pipe_width: int, *, widest: int | None = None, is_error_stream: bool = False
) -> Console:
    """Return a console that obeys nothing of what it prints.

    `pipe_width`: columns where there is no terminal; `widest`: the most that are used of one.
    """
    console = _Output(markup=False, highlight=False, emoji=False, stderr=is_error_stream)
    if not console.is_terminal:
        console.width = pipe_width
    elif widest is not None:
        console.width = min(console.width, widest)
    return console
