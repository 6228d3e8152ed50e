"""What the log says, again and again, of a server that lets anybody in."""

from ai_psychiatrist.infrastructure.logging import get_logger

logger = get_logger(__name__)


async def tell_it_is_open() -> None:
    """Log it once."""
    logger.warning("open_without_authentication", name="API_ALLOW_UNAUTHENTICATED")
