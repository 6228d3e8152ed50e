"""Whether a run is asked for by batches, as the command line says or as it was begun."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ai_psychiatrist.cli.console import say
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
class BatchFlags:
    """The options of a command that can submit its calls as batches."""

    batch: Annotated[
        bool | None,
        typer.Option(
            "--batch/--no-batch",
            help="Ask by the provider's batch interface; --resume of such a run does so again.",
            show_default=False,
        ),
    ] = None
    wait: Annotated[bool, typer.Option("--wait", help="Wait for batches instead of ending.")] = (
        False
    )
    hand_in_again: Annotated[
        bool,
        typer.Option(
            "--hand-in-again",
            help="With --resume: ask anew what a batch held that is gone; may be paid twice.",
        ),
    ] = False

    def options(self, settings: Settings, out: Path, *, is_resumed: bool) -> "BatchOptions | None":
        """Return how calls are submitted; `None` where models are asked live.

        Raises `InputError` for options that mean nothing without batches.
        """
        is_wanted = self.batch
        if is_wanted is None and is_resumed:
            is_wanted = _has_batches(out, cipher_of(settings.data.key_file))
        if not is_wanted:
            for name, is_given in (("--wait", self.wait), ("--hand-in-again", self.hand_in_again)):
                if is_given:
                    raise InputError(
                        f"{name} is for runs by a batch interface: add --batch", field=name
                    )
            return None
        # Libraries of model servers, which a run of the baseline does without.
        from ai_psychiatrist.llm.batch_rounds import BatchOptions  # noqa: PLC0415
        from ai_psychiatrist.llm.batches import BatchModels  # noqa: PLC0415

        return BatchOptions(
            models=BatchModels(),
            settings=settings.batch,
            tell=say,
            waits=self.wait,
            hands_in_again=self.hand_in_again,
        )


def _has_batches(folder: Path, cipher: Cipher | None) -> bool:
    """Return whether a folder holds a run, or runs, that were begun or resumed by batches."""
    for path in (folder, *(run.path for run in RunFolder(folder).inside())):
        # A ledger of an earlier version, and one that is none, hold no batches.
        with (
            suppress(InputError, LedgerUnusable),
            RunStore.open(path, cipher=cipher, is_read_only=True) as ledger,
        ):
            # A run may have been killed before its first batch.
            if BY_BATCHES in ledger.about or ledger.batches.all():
                return True
    return False
