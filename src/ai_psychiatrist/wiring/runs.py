"""Runs in the database that the settings name."""

from typing import Final

from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.store.run_places import DatabaseRuns
from ai_psychiatrist.store.stores import Stores

_NO_DATABASE: Final = (
    "a run in the database needs a PostgreSQL: set DATABASE_URL, and DATA_KEY_FILE, as for the "
    "workers"
)


def database_runs(stores: Stores) -> DatabaseRuns:
    """Return the runs in the database.

    Raises `ConfigurationError` where there is no PostgreSQL, and `StoreUnusable`.
    """
    if stores.place.url is None:
        raise ConfigurationError(_NO_DATABASE)
    return DatabaseRuns(runs=stores.open(LOCAL.tenant).runs)
