"""Words with a role in grounding: they carry no content, answer a question, or fill a pause."""

from importlib.resources import files
from typing import Final

import rtoml

_TABLES: Final = rtoml.loads(files(__package__).joinpath("words.toml").read_bytes().decode())


def _words(key: str, section: str = "words") -> frozenset[str]:
    return frozenset(_TABLES[section][key].split())


ANSWER_WORDS: Final = _words("answers")
FILLERS: Final = _words("fillers")
NUMBER_WORDS: Final = _words("numbers")
NEGATIONS: Final = _words("negations")
PERSONS: Final = _words("persons")
QUANTITIES: Final = _words("quantities")
PROTECTED: Final = ANSWER_WORDS | NEGATIONS | NUMBER_WORDS | _words("frequencies")
"""Words that a tolerant match never leaves out."""
STOP_WORDS: Final = ANSWER_WORDS | FILLERS | _words("other_stop_words")
BARE_WORDS: Final = ANSWER_WORDS | FILLERS | NEGATIONS | _words("other_bare_words")
"""Words that say by themselves nothing of what somebody is, has or does."""

OPENERS: Final = FILLERS | _words("openers", "utterances")
CLOSERS: Final = FILLERS | _words("closers", "utterances")
WELL: Final = _words("well", "utterances")
SELF: Final = _words("self", "utterances")
SINGLE_ANSWERS: Final = ANSWER_WORDS | _words("other_single_answers", "utterances")

SOUNDS: Final = _words("sounds", "sounds")
SOUND_MODIFIERS: Final = _words("modifiers", "sounds")
SOUND_PHRASES: Final[frozenset[str]] = frozenset(_TABLES["sounds"]["phrases"])

WITH_SHORTENED_VERB: Final = _words("with_shortened_verb", "verbs")
ADVERBS: Final = _words("adverbs", "verbs")
PERFECTS: Final = _words("perfects", "verbs")
PARTICIPLES: Final = _words("participles", "verbs")
TIMELESS_PARTICIPLES: Final = _words("timeless_participles", "verbs")
WITH_APOSTROPHE: Final = {
    form.replace("'", ""): form for form in _words("forms", "without_apostrophe")
}
"""Words written without their apostrophe, and with it."""
EXPANSIONS: Final[dict[str, tuple[str, ...]]] = {
    written: tuple(meant.split()) for written, meant in _TABLES["expansions"].items()
}
NEGATED_STEMS: Final[dict[str, str]] = _TABLES["negated_stems"]
SHORTENED_AUXILIARIES: Final[dict[str, str]] = _TABLES["shortened_auxiliaries"]
