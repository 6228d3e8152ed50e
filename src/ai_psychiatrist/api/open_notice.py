"""Servers that let anybody in: refused unless they are wanted, and told of again and again."""

from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.logging import get_logger

logger = get_logger(__name__)


async def tell_it_is_open() -> None:
    """Log it once."""
    logger.warning("open_without_authentication", name="API_ALLOW_UNAUTHENTICATED")


def refuse_open_address(settings: Settings) -> None:
    """Raise `ConfigurationError` for an address of other machines where nobody is asked for a key.

    What `is_open_to_anybody` tells is wanted only where the settings say so.
    """
    if is_open_to_anybody(settings) and not settings.api.allow_unauthenticated:
        msg = (
            f"other machines can reach API_HOST={settings.api.host}, and nobody is asked for a "
            "key: set AUTH_REQUIRED=true and make a key with `ai-psychiatrist keys create`; or, "
            "where something before the server asks instead, set API_ALLOW_UNAUTHENTICATED=true"
        )
        raise ConfigurationError(msg)


def is_open_to_anybody(settings: Settings) -> bool:
    """Return whether other machines can call without a credential."""
    return not (settings.api.is_for_this_machine or settings.auth.required)
