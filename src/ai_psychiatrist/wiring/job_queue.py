"""The queue of jobs that workers do, by the settings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import ConfigurationError

if TYPE_CHECKING:
    from ai_psychiatrist.jobs.dbos.database import JobsDatabase
    from ai_psychiatrist.jobs.dbos.engine import DbosEngine

_NO_LIBRARY: Final = "JOBS_ENGINE=dbos needs the extra: pip install 'ai-psychiatrist[jobs]'"


@asynccontextmanager
async def submitting_engine(settings: Settings) -> AsyncIterator["DbosEngine"]:
    """Open the queue for a process that hands jobs in; raises `ConfigurationError`."""
    database = queue_database(settings)
    from ai_psychiatrist.jobs.dbos.engine import DbosEngine  # noqa: PLC0415  brings the library

    engine = DbosEngine(database)
    try:
        yield engine
    finally:
        engine.close()


def queue_database(settings: Settings) -> "JobsDatabase":
    """Return where the queue is kept; raises `ConfigurationError`, also without the extra."""
    try:
        from ai_psychiatrist.jobs.dbos.database import jobs_database  # noqa: PLC0415  as above
    except ModuleNotFoundError:
        raise ConfigurationError(_NO_LIBRARY) from None
    return jobs_database(
        url=settings.jobs.database_url,
        state_dir=settings.data.state_dir,
        password_file=settings.jobs.database_password_file,
    )
