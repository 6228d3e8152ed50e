"""A PostgreSQL of the test's own, to be stopped and started: never the machine's."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A server that listens on 127.0.0.1 alone."""

    programs: Path
    folder: Path
    port: int

    @property
    def url(self) -> str:
        """The address of its database."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        # A stop loses nothing that the machine has been given: only its own crash would.
        volatile = "-c fsync=off -c full_page_writes=off"
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 {volatile}"
        log = str(self.folder / "log")
        self.do("pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        """Stop it as a crash does: whoever is connected is cut off."""
        self.do("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "immediate", "stop")

    def do(self, program: str, *arguments: str) -> None:
        """Run a program of it, as the user that may."""
        subprocess.run(
            [str(self.programs / program), *arguments],
            check=True,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            user="postgres" if os.geteuid() == 0 else None,
        )


@contextmanager
def own_cluster() -> Iterator[Cluster]:
    """Yield a running server in a folder of its own; skips the test where none is installed."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="jobs-", dir="/tmp"))
    try:
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
        cluster = Cluster(programs=programs, folder=folder, port=_free_port())
        cluster.do("initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "postgres", "-N")
        cluster.start()
        try:
            yield cluster
        finally:
            if (folder / "data" / "postmaster.pid").exists():
                cluster.stop()
    finally:
        shutil.rmtree(folder)


def _programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    if not found and on_path is None:
        pytest.skip("no PostgreSQL is installed: there is no initdb")
    return found[-1].parent if found else Path(str(on_path)).parent


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
