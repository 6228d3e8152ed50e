"""What all tests share."""

import faulthandler
import gc
import itertools
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from tests.log_as_it_was import log_as_it_was
from tests.sweeps import DRAWN_EXAMPLES

EXAMPLES = Path(__file__).parents[1] / "examples"
_NUMBERS = itertools.count()
_MEMORY: Final = Path("/dev/shm")  # noqa: S108  pytest makes a private folder of its own there
_MEMORY_BYTES: Final = 2_000_000_000
"""A hundred times what the files of all tests take at one time."""
_INHERITED: Final = (
    *("HOME", "LANG", "LC_", "LOGNAME", "PATH", "PYTEST_", "PYTHON", "SHELL", "TERM", "TEST_"),
    *("TMPDIR", "TZ", "USER", "XDG_"),
)
"""What variables begin with that tests and their commands are given; a command looks at each."""
_HANGING_SECONDS: Final = 960.0
"""No limit of a test, with what takes it down, is as long."""
_LOOKED_AT_EVERY_SECONDS: Final = 60.0


def pytest_configure(config: pytest.Config) -> None:
    """Let files lie in memory, bytecode be kept, and nothing else come in from the tester's shell.

    That holds for the commands that tests start as well.

    What is made durable waits for the disk, thousands of times; a program without its bytecode is
    compiled anew each time that it starts.
    """
    _set_examples(is_whole=config.getoption("--whole"))
    if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _MEMORY_BYTES:
        os.environ.setdefault("TMPDIR", str(_MEMORY))
        tempfile.tempdir = None
    for name in list(os.environ):
        if not name.startswith(_INHERITED):
            del os.environ[name]
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if config.getoption("--timeout") != 0:
        config.pluginmanager.register(_Hanging())


def _set_examples(*, is_whole: bool) -> None:
    """Set how many examples are drawn; on a busy machine any may take long to draw and to try."""
    settings.register_profile(
        "sweep",
        max_examples=DRAWN_EXAMPLES.size(is_whole=is_whole),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("sweep")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests without collecting garbage: nearly nothing of it can be thrown away."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Make every test of drawn examples a sweep."""
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("sweep")


class _Hanging:
    """Ends the process, and says where it was, when a test hangs that its own limit cannot end.

    To set the limit starts a thread: it is set once a minute, not for each of thousands of tests.
    """

    def __init__(self) -> None:
        # While a test runs, what it writes to the stream itself is caught.
        self._stderr = os.dup(2)
        self._set = -_LOOKED_AT_EVERY_SECONDS

    def pytest_runtest_logstart(self) -> None:
        """Set the limit anew, a minute after it was set."""
        now = time.monotonic()
        if now - self._set >= _LOOKED_AT_EVERY_SECONDS:
            self._set = now
            after = _HANGING_SECONDS + _LOOKED_AT_EVERY_SECONDS
            faulthandler.dump_traceback_later(after, exit=True, file=self._stderr)

    def pytest_unconfigure(self) -> None:
        """Take the limit back."""
        faulthandler.cancel_dump_traceback_later()


def pytest_xdist_auto_num_workers() -> int:
    """Return a worker more than there are cores: some tests wait, and each worker has a start."""
    return (os.cpu_count() or 1) + 1


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the sweeps be asked for as a whole."""
    parser.addoption("--whole", action="store_true", help="do the sweeps, not a slice of each")


def pytest_collection_finish() -> None:
    """Let no collection of garbage look at what lives to the end: modules and tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def is_whole(pytestconfig: pytest.Config) -> bool:
    """Whether the sweeps are to be done as a whole."""
    return bool(pytestconfig.getoption("whole"))


@pytest.fixture(scope="session")
def example_interview() -> str:
    """The text of the example interview."""
    return (EXAMPLES / "interview.txt").read_bytes().decode("utf-8")


@pytest.fixture(scope="session")
def public_data() -> Path:
    """The folder of public data; tests that need it are skipped where it is not set."""
    folder = os.environ.get("TEST_DATA_DIR")
    if not folder:
        pytest.skip("TEST_DATA_DIR is not set: the public data is not here")
    return Path(folder)


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep the tester's own settings out of the tests; yields a folder for what they keep."""
    from ai_psychiatrist.config import variables  # noqa: PLC0415

    with pytest.MonkeyPatch.context() as environment:
        for variable in variables():
            environment.delenv(variable.name, raising=False)
        yield tmp_path_factory.mktemp("states")


@pytest.fixture(autouse=True)
def _state_of_its_own(monkeypatch: pytest.MonkeyPatch, _no_settings_from_outside: Path) -> None:
    """Give each test a place for its state, made only by what keeps some there."""
    place = _no_settings_from_outside / str(next(_NUMBERS))
    monkeypatch.setenv("DATA_STATE_DIR", str(place))


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """Take back what setting up the logging changes in the process."""
    with log_as_it_was():
        yield
