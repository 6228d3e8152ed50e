"""Where the store of a run is, by the settings and by what its folder says."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.store.cipher import cipher_of
from ai_psychiatrist.store.run_places import DatabaseRuns, RunFiles, RunPlace, run_in_database
from ai_psychiatrist.store.stores import Stores

_NO_DATABASE: Final = (
    "a run in the database needs a PostgreSQL: set DATABASE_URL, and DATA_KEY_FILE, as for the "
    "workers"
)


def run_place(
    settings: Settings, stores: Callable[[], Stores], folder: Path, *, is_in_database: bool = False
) -> RunPlace:
    """Return where a run is: as its folder says, or for a new one as is wanted.

    `stores`: those of the settings, asked for only by a run in the database. Raises
    `ConfigurationError` where there is no such database, and `StoreUnusable`.
    """
    if not is_in_database and run_in_database(folder) is None:
        return RunFiles(cipher=cipher_of(settings.data.key_file))
    if not settings.database.url.get_secret_value().strip():
        raise ConfigurationError(_NO_DATABASE)
    return DatabaseRuns(runs=stores().open(LOCAL.tenant).runs)
