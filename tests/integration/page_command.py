"""`ai-psychiatrist` as a page's shell finds it: it asks the runner of pages to start the command.

It hands over its own streams, folder, environment and arguments, and ends as the command ends.
Nothing but the standard library is imported: it starts in the time of a bare interpreter.
"""

import json
import os
import socket
import sys


def main() -> int:
    """Ask for the command and wait for its end."""
    asked = {"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}  # noqa: PTH109  pathlib takes long to import
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as runner:
        runner.connect(os.environ["PAGE_COMMANDS"])
        socket.send_fds(runner, [b"."], [0, 1, 2])
        runner.sendall(json.dumps(asked).encode())
        runner.shutdown(socket.SHUT_WR)
        code = int(runner.makefile().read())
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
