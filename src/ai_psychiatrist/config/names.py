"""Names in the environment and in `.env` that set nothing: misspelt, retired, or stray lines."""

import io
import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from dotenv.parser import Binding, parse_stream

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import FileTooLarge, read_regular
from ai_psychiatrist.infrastructure.logging import get_logger

logger = get_logger(__name__)

RETIRED: Final = {
    "INTERVIEW_STORE_FILE": "is gone: interviews are in the store in DATA_STATE_DIR; remove it",
    "API_MAX_TOTAL_CHARS": "is gone: five transcripts of API_MAX_TRANSCRIPT_CHARS are worked on at "
    "a time; remove it",
    "BATCH_MOST_BYTES": "is gone: BATCH_MOST_CALLS bounds a batch; remove it",
    "BATCH_MOST_POLL_SECONDS": "is gone: waits grow from BATCH_POLL_SECONDS to a quarter of an "
    "hour; remove it",
    "FEEDBACK_TARGET_SCORE": "is now FEEDBACK_SCORE_THRESHOLD",
    "JOBS_DATABASE_PASSWORD_FILE": "is now DATABASE_PASSWORD_FILE",
    "JOBS_DATABASE_URL": "is now DATABASE_URL, which everything that is stored goes to",
    "JOBS_ENGINE": "is gone: servers and workers share one queue; remove it, and set "
    "JOBS_CONCURRENCY=0 for a server that does no jobs itself",
    "LEDGER_KEY_FILE": "is now DATA_KEY_FILE",
    "MODEL_EMBEDDING_MODEL": "is now REFERENCES_EMBEDDER, with its provider: ollama:NAME",
}
"""Setting that is no longer read → what is to be done about it; starting is refused with it."""
_MOST_BYTES: Final = 1 << 20
_LIKENESS: Final = 0.9
_LIKENESS_IN_GROUP: Final = 0.85
"""Where the first word is right; another one may be right elsewhere, such as APP_PORT."""
_PLAIN_NAME: Final = re.compile(r"[A-Z][A-Z0-9]{0,15}(_[A-Z0-9]{1,15}){0,9}")
"""What is shown of a name; another one may be a key, or have one glued to it."""


def read_env_file(path: Path | None) -> tuple[Binding, ...]:
    """Read a file; one that is not there, and what is no file, sets nothing.

    `$` is a character like any other. Raises `ConfigurationError` for a file that cannot be read.
    """
    if path is None or not path.is_file():
        return ()
    try:
        text = read_regular(path, most_bytes=_MOST_BYTES).decode("utf-8")
    except FileTooLarge:
        msg = f"{path} cannot be read; it is larger than {_MOST_BYTES} bytes"
        raise ConfigurationError(msg) from None
    except (OSError, UnicodeDecodeError):
        msg = f"{path} cannot be read; it has to be a text file in UTF-8"
        raise ConfigurationError(msg) from None
    return tuple(parse_stream(io.StringIO(text)))


def _line(binding: Binding) -> int:
    """Return where a binding stands; the blank lines before it count as its own."""
    text = binding.original.string
    blank = text[: len(text) - len(text.lstrip())]
    return binding.original.line + len(blank.splitlines())


def require_known_names(
    known: Collection[str], environment: Iterable[str], file: Iterable[Binding]
) -> None:
    """Raise `ConfigurationError` for names that are retired, or almost those of settings.

    What else is not known is ignored in the environment, and warned of where it stands in the file.
    """
    lines = {one.key: one for one in file if one.key is not None}
    problems: list[str] = []
    ignored: set[str] = set()
    stray = {_line(one) for one in file if one.error}
    for name in dict.fromkeys([*environment, *lines]):
        plain = name.upper()
        if plain in known:
            continue
        if plain in RETIRED:
            problems.append(f"{plain} {RETIRED[plain]}")
        elif (nearest := _nearest(plain, known)) is not None:
            shown = name if _PLAIN_NAME.fullmatch(plain) else _place(lines.get(name))
            problems.append(f"{shown} is not a setting; did you mean {nearest}?")
        elif name in lines:
            # A stray word is a name without a value, and of a stray line any part may be a key.
            if lines[name].value is not None and _PLAIN_NAME.fullmatch(name):
                ignored.add(name)
            else:
                stray.add(_line(lines[name]))
    if problems:
        raise ConfigurationError("\n".join(problems))
    for name in sorted(ignored):
        logger.warning("setting_ignored", name=name, reason="unknown_name_in_env_file")
    for line in sorted(stray):
        logger.warning("setting_ignored", line=line, reason="no_setting_in_line_of_env_file")


def _nearest(name: str, known: Collection[str]) -> str | None:
    group = [other for other in known if other.partition("_")[0] == name.partition("_")[0]]
    close = get_close_matches(name, group, n=1, cutoff=_LIKENESS_IN_GROUP)
    return next(iter(close or get_close_matches(name, known, n=1, cutoff=_LIKENESS)), None)


def _place(binding: Binding | None) -> str:
    """Say where a name is that a key may be glued to."""
    if binding is None:
        return "a variable of the environment"
    return f"line {_line(binding)} of the env file"
