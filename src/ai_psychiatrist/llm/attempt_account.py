"""The account of one agent's calls for one output: each is begun, noted and settled once."""

from dataclasses import fields, replace
from typing import Any, Final

from ai_psychiatrist.domain.failures import Attempt, AttemptOutcome, CallPath, FailureCode
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.telemetry.watching import tell
from ai_psychiatrist.llm.call_log import CallLog
from ai_psychiatrist.llm.call_store import Judgement
from ai_psychiatrist.llm.output import ModelOutput
from ai_psychiatrist.llm.routes import ModelRoute

logger = get_logger(__name__)

_FIELDS: Final = tuple(one.name for one in fields(Attempt))


class AttemptAccount:
    """What became of the calls of one agent; at most one of them is under way."""

    def __init__(self, agent: str, log: CallLog) -> None:
        self.attempts: list[Attempt] = []
        self.known: dict[str, Any] = {}
        """What was noted of the attempt that is under way."""
        self._agent = agent
        self._log = log
        self._round = log.asked[agent]
        log.asked[agent] += 1
        self._under_way: Attempt | None = None
        self._is_kept = False
        """Whether the attempt that is under way was made, and paid for, some other time."""

    def begin(
        self, route: ModelRoute, path: CallPath, prompt_digest: str, *, is_kept: bool
    ) -> Attempt:
        """Take a call from the budget; until it is settled, it counts as cut short."""
        self._log.budget.spend()
        self._under_way = Attempt(
            agent=self._agent,
            model=route.name,
            path=path,
            outcome=AttemptOutcome.FAILED,
            code=FailureCode.DEADLINE_EXCEEDED,
            prompt_digest=prompt_digest,
        )
        self._is_kept = is_kept
        self.known = {}
        return self._under_way

    def note(self, **known: Any) -> None:  # noqa: ANN401  the fields of an attempt
        """Note what is known of the call that is under way."""
        self.known.update(known)

    def settle(
        self,
        *,
        text: str | None = None,
        output: ModelOutput | None = None,
        feedback: str | None = None,
        error_type: str | None = None,
    ) -> None:
        """Put the call that was under way among the attempts, and tell of it."""
        attempt, self._under_way = self._open(), None
        self.attempts.append(attempt)
        self._log.attempts.append(attempt)
        if not self._is_kept:
            tell(attempt)
        if self._log.store is not None:
            self._log.store.judged(
                Judgement(
                    attempt=attempt,
                    round=self._round,
                    text=text,
                    output=None if output is None else output.model_dump(mode="json"),
                    feedback=feedback,
                )
            )
        known = {name: getattr(attempt, name) for name in _FIELDS}
        logger.info("attempt_finished", **known, error_type=error_type)

    def drop(self) -> None:
        """Forget the call that is under way."""
        self._under_way = None

    def close(self, code: FailureCode) -> None:
        """Settle the call that is still under way, because something cut it short."""
        if self._under_way is not None:
            self.note(code=code)
            self.settle()

    def _open(self) -> Attempt:
        if self._under_way is None:
            msg = "no call is under way"
            raise RuntimeError(msg)
        return replace(self._under_way, **self.known)
