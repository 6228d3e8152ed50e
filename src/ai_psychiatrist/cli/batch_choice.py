"""Whether a run is asked for by batches, as the command line says or as it was begun."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.store.cipher import cipher_of

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.batches.rounds import BatchOptions


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
        from ai_psychiatrist.evaluation.batches.rounds import (  # noqa: PLC0415
            BatchOptions,
            was_made_by_batches,
        )
        from ai_psychiatrist.llm.batches import BatchModels  # noqa: PLC0415

        if self.wanted is None and not was_made_by_batches(out, cipher_of(settings.data.key_file)):
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


LIVE: Final = BatchChoice(wanted=False)
"""Models are asked live."""
