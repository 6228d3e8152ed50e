"""A folder of results as `assess --json` writes them, with their transcripts beside them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.interface.given import MOST_BYTES
from ai_psychiatrist.results.reading import transcript_again
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels

_MOST_RESULT_BYTES: Final = 1 << 26


class Unusable(Exception):
    """A file is no result; says why, without a word of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptResult:
    """One result in its file, read when it is asked for."""

    path: Path
    text_path: Path
    """Where its transcript is, if it does not hold it."""
    labels: SpeakerLabels

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem

    def result(self) -> Assessment:
        """Read it; raises `Unusable`."""
        try:
            content = read_regular(self.path, most_bytes=_MOST_RESULT_BYTES)
            return Assessment.model_validate_json(content)
        except OSError as error:
            raise Unusable(f"it cannot be read: {reason_of(error)}") from None
        except ValidationError:
            msg = "it holds no result; make one with `ai-psychiatrist assess FILE --json`"
            raise Unusable(msg) from None

    def transcript(self, result: Assessment) -> tuple[Transcript | None, str]:
        """Return the transcript with its turns, or `None` and why there is none."""
        try:
            text = result.transcript_text or self._text()
            return transcript_again(result, text, self.labels), ""
        except FileNotFoundError:
            return None, f"it does not hold its transcript, and there is no {self.text_path.name}"
        except (OSError, UnicodeDecodeError):
            return None, f"{self.text_path.name} cannot be read as UTF-8 text"
        except InputError:
            return None, f"{self.text_path.name} is not the text that was assessed"

    def _text(self) -> str:
        return read_regular(self.text_path, most_bytes=MOST_BYTES).decode("utf-8")


def kept_results(folder: Path, texts: Path, settings: Settings) -> list[KeptResult]:
    """Return the results of a folder in the order of their names; raises `InputError` for none."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except OSError as error:
        msg = f"FOLDER: the folder cannot be read: {reason_of(error)}"
        raise InputError(msg, field="FOLDER") from None
    if (folder / "predictions.jsonl").exists():
        msg = (
            "FOLDER: this is the folder of a run, which keeps figures and no whole results; for "
            "figures on a page use `ai-psychiatrist evaluate report`"
        )
        raise InputError(msg, field="FOLDER")
    if not paths:
        msg = "FOLDER: there is no NAME.json; make results with `ai-psychiatrist assess --json`"
        raise InputError(msg, field="FOLDER")
    return [
        KeptResult(
            path=path,
            text_path=texts / f"{path.stem}.txt",
            labels=settings.transcript.labels,
        )
        for path in paths
    ]
