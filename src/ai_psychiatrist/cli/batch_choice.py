"""Whether a run is asked for by batches, as the command line says or as it was begun."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.store.cipher import Cipher, cipher_of
from ai_psychiatrist.store.errors import LedgerUnusable
from ai_psychiatrist.store.run_batches import BY_BATCHES
from ai_psychiatrist.store.runs import RunStore

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batch_rounds import BatchOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchChoice:
    """What the command line says about batches."""

    wanted: bool | None = None
    """`None`: as the run was made until now."""
    waits: bool = False
    hands_in_again: bool = False

    def options(self, settings: Settings, out: Path, *, is_resumed: bool) -> "BatchOptions | None":
        """Return how calls are submitted; `None` where models are asked live.

        Raises `InputError` for options that mean nothing without batches.
        """
        if self.wanted is False or (self.wanted is None and not is_resumed):
            self._refuse_what_is_left()
            return None
        # Libraries of model servers, which a run of the baseline does without.
        from ai_psychiatrist.llm.batch_rounds import BatchOptions  # noqa: PLC0415
        from ai_psychiatrist.llm.batches import BatchModels  # noqa: PLC0415

        if self.wanted is None and not _was_made_by_batches(out, cipher_of(settings.data.key_file)):
            self._refuse_what_is_left()
            return None
        return BatchOptions(
            models=BatchModels(),
            settings=settings.batch,
            tell=lambda line: typer.echo(line, err=True),
            waits=self.waits,
            hands_in_again=self.hands_in_again,
        )

    def _refuse_what_is_left(self) -> None:
        for name, is_given in (("--wait", self.waits), ("--hand-in-again", self.hands_in_again)):
            if is_given:
                msg = f"{name} is for runs by a batch interface: add --batch"
                raise InputError(msg, field=name)


def _was_made_by_batches(folder: Path, cipher: Cipher | None) -> bool:
    """Return whether a folder holds a run, or runs, that were begun or gone on with by batches."""
    return any(
        _holds_batches(path, cipher)
        for path in (folder, *(run.path for run in RunFolder(folder).inside()))
    )


def _holds_batches(folder: Path, cipher: Cipher | None) -> bool:
    # A ledger of an earlier version, and one that is none, hold no batches.
    with (
        suppress(InputError, LedgerUnusable),
        RunStore.open(folder, cipher=cipher, is_read_only=True) as ledger,
    ):
        # A run may have been killed before its first batch.
        return BY_BATCHES in ledger.about or bool(ledger.batches.all())
    return False


LIVE: Final = BatchChoice(wanted=False)
"""Models are asked live."""
